//! Places: expressions that are read, assigned to, updated, or referred to.
//!
//! Where raw pointers can be dereferenced, everything that is reached through a `*` is given to
//! `racelog::__private::PointerProbe` or `Pointer`, which know whether the pointer is one. The form
//! of the access itself does not change, and the address is computed from the same place.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, UnOp};

use super::expr::{Borrow, Called, Rewriter, Use, address, address_of};
use super::forms;
use super::shapes;
use super::variables::variable;

/// How a place depends on a pointer.
enum Through {
    /// Not on one that may be raw.
    Nothing,
    /// On one that can be named again; here is its type.
    Named(TokenStream),
    /// On the value of an expression, which can be evaluated only once.
    Value,
}

/// What is called to say that a place changes, by the way to the place.
struct Change {
    of_static: &'static str,
    /// Through a pointer that can be named again.
    named: &'static str,
    /// Through the value of an expression.
    by_value: &'static str,
    /// What says where values come from, of a pointer that can be named again.
    said_named: &'static str,
    /// The same of the value of an expression, and its arguments.
    said_by_value: &'static str,
    said: fn(&TokenStream) -> TokenStream,
}

impl Change {
    const WRITE: Self = Self {
        of_static: "writing_static",
        named: "writing",
        by_value: "writing",
        said_named: "leaving",
        said_by_value: "leaving",
        said: |slot| slot.clone(),
    };
    const UPDATE: Self = Self {
        of_static: "updating_static",
        named: "operand",
        by_value: "updating",
        said_named: "begin_unnamed",
        said_by_value: "naming",
        said: |slot| quote_spanned!(Span::mixed_site()=> #slot, ""),
    };
}

impl Rewriter<'_> {
    /// The parts of a place, which itself is not accessed.
    pub(super) fn place(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Paren(paren) => self.place(&mut paren.expr),
            Expr::Group(group) => self.place(&mut group.expr),
            Expr::Path(_) => {}
            Expr::Field(field) => self.place(&mut field.base),
            Expr::Index(index) => {
                let span = index.span();
                if self.follow_index(index) {
                    return;
                }
                self.place(&mut index.expr);
                self.expr(&mut index.index, Use::Value);
                if !forms::is_constant(&index.index, self.in_unsafe) {
                    self.emit.after(&mut index.index, span);
                }
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => {
                self.pointer_value(&mut unary.expr);
            }
            other => self.expr(other, Use::Value),
        }
    }

    /// The pointer that a place is reached through, whose value is used.
    fn pointer_value(&mut self, pointer: &mut Expr) {
        let is_place = matches!(forms::bare(pointer), Expr::Field(_) | Expr::Index(_));
        let is_deref = matches!(
            forms::bare(pointer),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_))
        );
        if is_place || is_deref || self.is_static(pointer) {
            self.used_place(pointer, Borrow::Look, None);
        } else {
            self.place(pointer);
        }
    }

    /// A place that is referred to, or of which a part is.
    pub(super) fn used_place(&mut self, expr: &mut Expr, borrow: Borrow, called: Option<Called>) {
        let before = expr.clone();
        let span = before.span();
        if self.is_static(expr) {
            self.place(expr);
            if called.as_ref().is_none_or(|called| !called.later) {
                self.used_static(&before, borrow, called.as_ref());
            }
            return;
        }
        match self.through(expr) {
            Through::Nothing => self.place(expr),
            through if !self.in_unsafe => self.compared_place(expr, borrow, through, span),
            Through::Value if forms::pointer(expr).is_some_and(forms::is_inferred_pointer) => {
                self.place(expr);
                self.hooks.push(self.emit.hook("raw_reference", span, TokenStream::new()));
            }
            Through::Named(probe) => {
                self.place(expr);
                let address = self.address(&before);
                let seen = self.seen(&address, borrow, called.as_ref());
                let later = called.is_some_and(|called| called.later);
                let method = if later {
                    self.armed = Some(span);
                    "arming"
                } else {
                    "using"
                };
                let arguments = quote_spanned!(Span::mixed_site()=> #seen, #address);
                let hook = self.emit.method(&probe, method, span, arguments);
                self.hooks.push(hook);
            }
            Through::Value => {
                self.place(expr);
                let pointer = pointer_name();
                let place = forms::with_pointer(&before, &pointer);
                let target = quote_spanned!(Span::mixed_site()=> || target);
                let seen = if called.as_ref().is_some_and(|called| called.later) {
                    // It is done after the arguments are evaluated, and they come after this.
                    let krate = self.emit.krate();
                    quote_spanned!(Span::mixed_site()=> #krate::__private::Seen::Unknown)
                } else {
                    self.seen(&target, borrow, called.as_ref())
                };
                let address = address_of(&place.to_token_stream());
                let target = quote_spanned! {Span::mixed_site()=> |#pointer| {
                    let target = #address;
                    (target, #seen)
                }};
                self.wrap_pointer(expr, true, ("using", target), None);
            }
        }
    }

    /// What to record of the use of a place.
    fn seen(&self, pointer: &TokenStream, borrow: Borrow, called: Option<&Called>) -> TokenStream {
        match borrow {
            Borrow::Mutable => self.emit.seen_mutable(pointer),
            Borrow::Look | Borrow::Compare | Borrow::Receiver => {
                self.emit.seen(pointer, called.map(|called| &*called.name))
            }
        }
    }

    /// A `static mut`, or something that looks like one, that is referred to, or of which a part
    /// is.
    fn used_static(&mut self, place: &Expr, borrow: Borrow, called: Option<&Called>) {
        let pointer = static_pointer(place);
        let seen = self.seen(&quote_spanned!(Span::mixed_site()=> || #pointer), borrow, called);
        let arguments = quote_spanned!(Span::mixed_site()=> #seen, #pointer);
        let hook = self.emit.hook("using_static", place.span(), arguments);
        self.hooks.push(hook);
    }

    /// A place whose value is used.
    pub(super) fn read(&mut self, expr: &mut Expr) {
        let span = expr.span();
        if self.is_static(expr) {
            let pointer = static_pointer(expr);
            self.place(expr);
            let next = self.emit.hook("reading_static", span, pointer);
            let tokens = self.emit.method(&next, "done", span, expr.to_token_stream());
            *expr = Expr::Verbatim(tokens);
            return;
        }
        if matches!(expr, Expr::Path(_)) {
            return;
        }
        match self.through(expr) {
            Through::Nothing => {
                let dereferences = forms::pointer(expr).is_some();
                self.place(expr);
                if dereferences {
                    // Perhaps by a `Deref` of the program.
                    self.emit.after(expr, span);
                }
            }
            Through::Named(probe) => {
                let clean = self.is_clean_pointer(expr);
                let address = self.address(expr);
                self.place(expr);
                let method = if clean { "reading" } else { "decided_reading" };
                let next = self.emit.method(&probe, method, span, address);
                let tokens = self.emit.method(&next, "done", span, expr.to_token_stream());
                *expr = Expr::Verbatim(tokens);
            }
            Through::Value => self.read_by_value(expr, span, None),
        }
    }

    /// A place that is reached through the value of an expression, and is read. What is to be said
    /// just before is a method of that value.
    pub(super) fn read_by_value(
        &mut self,
        expr: &mut Expr,
        span: Span,
        said: Option<(&str, TokenStream)>,
    ) {
        let (target, decided) = (target(expr), self.is_decided_pointer(expr));
        self.place(expr);
        self.wrap_pointer(expr, decided, ("reading", target), said);
        let tokens = self.emit.hook("made", span, expr.to_token_stream());
        *expr = Expr::Verbatim(tokens);
    }

    /// An assignment.
    pub(super) fn assign(&mut self, expr: &mut Expr) {
        let span = expr.span();
        let Expr::Assign(assign) = expr else { return };
        if let Some(name) = variable(&assign.left).filter(|name| self.variables.get(name).is_some())
        {
            let name = name.clone();
            let given = self.given(Some(&name), &mut assign.right, Use::Value);
            let has = self.has(&name, given, false);
            *expr = Expr::Verbatim(quote_spanned!(Span::mixed_site()=> { #expr; #has }));
            return;
        }
        let left = match self.through(&assign.left) {
            Through::Nothing => {
                self.escaping(&mut assign.right, Use::Value);
                None
            }
            _ => self.kept(&mut assign.right),
        };
        if !self.change(&mut assign.left, &mut assign.right, span, &Change::WRITE, left.as_ref()) {
            self.assigned_pattern(&mut assign.left);
            self.emit.unit_after(expr, span);
            return;
        }
        *expr = Expr::Verbatim(self.emit.unit_hook("made", span, expr.to_token_stream()));
    }

    /// An assignment by an operator.
    pub(super) fn update(&mut self, expr: &mut Expr) {
        let span = expr.span();
        let Expr::Binary(update) = expr else { return };
        let operator = shapes::operator(&update.op);
        let operand = match self.through(&update.left) {
            Through::Nothing => {
                self.escaping(&mut update.right, Use::Value);
                None
            }
            _ => self.kept(&mut update.right),
        };
        let found = operand.as_ref().map(|_| self.slot());
        let change = Change::UPDATE;
        if !self.change(&mut update.left, &mut update.right, span, &change, found.as_ref()) {
            self.place(&mut update.left);
            self.emit.unit_after(expr, span);
            return;
        }
        let guard = self.emit.unit_hook("updating", span, TokenStream::new());
        let tokens = match operand.zip(found).zip(operator) {
            Some(((operand, found), operator)) => {
                let (operator, panics) = (self.operator(operator), self.emit.overflow_panics());
                let arguments = quote_spanned! {Span::mixed_site()=>
                    #expr, #found, #operator, #panics, || #operand.take()
                };
                self.emit.unit_method(&guard, "computed", span, arguments)
            }
            None => self.emit.unit_method(&guard, "done", span, expr.to_token_stream()),
        };
        *expr = Expr::Verbatim(tokens);
    }

    /// Has it said that a place changes, once the right side is evaluated. False, and nothing is
    /// said, if it is neither a `static mut` nor reached through a pointer that may be raw.
    /// A slot has what is said of it.
    fn change(
        &mut self,
        left: &mut Expr,
        right: &mut Expr,
        span: Span,
        change: &Change,
        slot: Option<&TokenStream>,
    ) -> bool {
        let mixed = Span::mixed_site();
        if self.is_static(left) {
            let place = left.clone();
            self.assigned_place(left, right);
            let arguments = quote_spanned!(Span::mixed_site()=> #right, &raw mut #place);
            *right = Expr::Verbatim(self.emit.hook(change.of_static, span, arguments));
            return true;
        }
        match self.through(left) {
            Through::Nothing => return false,
            Through::Named(probe) => {
                if !self.is_clean_pointer(left) {
                    self.emit.after(right, span);
                }
                let address = self.address(left);
                self.assigned_place(left, right);
                if let Some(slot) = slot {
                    let said = Ident::new(change.said_named, mixed);
                    *right = Expr::Verbatim(quote_spanned! {mixed=>
                        #slot.#said(#right, #probe.ours())
                    });
                }
                let arguments = quote_spanned!(mixed=> #right, #address);
                *right = Expr::Verbatim(self.emit.method(&probe, change.named, span, arguments));
            }
            Through::Value => {
                let (target, decided) = (target(left), self.is_decided_pointer(left));
                self.assigned_place(left, right);
                let said = slot.map(|slot| (change.said_by_value, (change.said)(slot)));
                self.wrap_pointer(left, decided, (change.by_value, target), said);
            }
        }
        true
    }

    /// The place on the left of an assignment. What is read to find it is read after the right side
    /// is evaluated.
    fn assigned_place(&mut self, left: &mut Expr, right: &mut Expr) {
        let outer = std::mem::take(&mut self.hooks);
        self.place(left);
        let late = std::mem::replace(&mut self.hooks, outer);
        if !late.is_empty() {
            let say = quote_spanned!(Span::mixed_site()=> #right, || { #(#late;)* });
            *right = Expr::Verbatim(self.emit.hook("late", left.span(), say));
        }
    }

    /// What stands on the left of an assignment, which may be a pattern of places.
    fn assigned_pattern(&mut self, left: &mut Expr) {
        match left {
            Expr::Tuple(tuple) => {
                tuple.elems.iter_mut().for_each(|part| self.assigned_pattern(part));
            }
            Expr::Array(array) => {
                array.elems.iter_mut().for_each(|part| self.assigned_pattern(part));
            }
            Expr::Field(_) | Expr::Index(_) | Expr::Unary(_) | Expr::Paren(_) => self.place(left),
            _ => {}
        }
    }

    /// Whether a path is a `static mut`, as far as one can see.
    pub(super) fn is_static(&self, expr: &Expr) -> bool {
        self.in_unsafe
            && forms::item_of(expr)
                .is_some_and(|path| forms::may_be_static(path) && !self.names.is_variable(path))
    }

    /// A place that is referred to where no pointer can be raw: what a lock guards may be compared.
    fn compared_place(&mut self, expr: &mut Expr, borrow: Borrow, through: Through, span: Span) {
        let compared = borrow == Borrow::Compare;
        match through {
            Through::Named(probe) => {
                self.place(expr);
                if compared {
                    let hook = self.emit.method(&probe, "looking", span, TokenStream::new());
                    self.hooks.push(hook);
                }
            }
            Through::Value if compared => {
                let decided = self.is_decided_pointer(expr);
                self.place(expr);
                self.wrap_pointer(expr, decided, ("looking", TokenStream::new()), None);
            }
            Through::Value | Through::Nothing => self.place(expr),
        }
    }

    fn through(&self, place: &Expr) -> Through {
        if !self.in_unsafe {
            return self.through_guard(place);
        }
        let Some(pointer) = forms::pointer(place) else { return Through::Nothing };
        if forms::is_simple(pointer) {
            Through::Named(self.emit.wrap("PointerProbe::of", &address(pointer)))
        } else if forms::is_pure_pointer(pointer) && !forms::is_inferred_pointer(pointer) {
            let value = quote_spanned!(Span::mixed_site()=> || #pointer);
            Through::Named(self.emit.wrap("PointerProbe::by", &value))
        } else {
            Through::Value
        }
    }

    /// Where no pointer can be raw, a `*` may still be that of a guard of ours.
    fn through_guard(&self, place: &Expr) -> Through {
        let Expr::Unary(unary) = forms::bare(place) else { return Through::Nothing };
        if !matches!(unary.op, UnOp::Deref(_)) {
            return Through::Nothing;
        }
        if forms::is_simple(&unary.expr) {
            Through::Named(self.emit.wrap("PointerProbe::of", &address(&unary.expr)))
        } else if forms::taken_lock(&unary.expr).is_some() {
            Through::Value
        } else {
            Through::Nothing
        }
    }

    /// Whether it may depend on what was read where a place is that is reached through a pointer:
    /// not if that is the guard of a lock, for which lock it is was decided before it was taken.
    pub(super) fn is_decided_pointer(&self, place: &Expr) -> bool {
        let lock = forms::pointer(place).and_then(forms::taken_lock);
        lock.is_none_or(|call| self.in_unsafe && call.method != "lock")
    }

    /// A closure that names a place. A call on the way there is made once more when the place is
    /// accessed.
    fn address(&self, place: &Expr) -> TokenStream {
        let named = address(place);
        if forms::pointer(place).is_some_and(|pointer| !forms::is_simple(pointer)) {
            let named = self.emit.wrap("named", &named);
            return quote_spanned!(Span::mixed_site()=> || #named);
        }
        named
    }

    fn is_clean_pointer(&self, place: &Expr) -> bool {
        forms::pointer(place).is_some_and(|pointer| self.names.is_clean(pointer))
    }

    /// Puts what records around the pointer that a place is reached through.
    pub(super) fn wrap_pointer(
        &self,
        place: &mut Expr,
        decided: bool,
        (method, target): (&str, TokenStream),
        said: Option<(&str, TokenStream)>,
    ) {
        let outer = match place {
            Expr::Paren(paren) => &mut paren.expr,
            Expr::Group(group) => &mut group.expr,
            Expr::Field(field) => &mut field.base,
            Expr::Index(index) => &mut index.expr,
            Expr::Unary(unary) => {
                let span = unary.span();
                // Where it points to may depend on what was read.
                if decided {
                    self.emit.after(&mut unary.expr, span);
                }
                let mut pointer = self.emit.wrap("Pointer", &unary.expr.to_token_stream());
                if let Some((said, arguments)) = said {
                    pointer = self.emit.method(&pointer, said, span, arguments);
                }
                let tokens = self.emit.method(&pointer, method, span, target);
                *unary.expr = Expr::Verbatim(tokens);
                return;
            }
            _ => return,
        };
        self.wrap_pointer(outer, decided, (method, target), said);
    }
}

/// What a pointer is called in a closure that says which part of what it points to is meant.
fn pointer_name() -> Ident {
    Ident::new("pointer", Span::mixed_site())
}

/// A closure from the pointer that a place is reached through to the place.
fn target(place: &Expr) -> TokenStream {
    let pointer = pointer_name();
    let place = forms::with_pointer(place, &pointer);
    let address = address_of(&place.to_token_stream());
    quote_spanned!(Span::mixed_site()=> |#pointer| #address)
}

/// The address of a static, or of a constant: that has none that could be taken without a
/// reference.
fn static_pointer(place: &Expr) -> TokenStream {
    quote_spanned! {Span::mixed_site()=> {
        #[allow(static_mut_refs)]
        let place = &#place;
        ::core::ptr::from_ref(place)
    }}
}
