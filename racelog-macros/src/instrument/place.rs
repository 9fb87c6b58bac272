//! Places: what is read, assigned to, updated, or referred to.
//!
//! Where raw pointers can be dereferenced, everything that is reached through a `*` is given to
//! `racelog::__private::Place` or `Pointee`, which know whether the pointer is one. What the access
//! itself looks like does not change, and the address is computed from the same place.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, UnOp};

use super::expr::{Rewriter, Use, address};
use super::forms;

/// How a place depends on a pointer.
enum Through {
    /// Not on one that may be raw.
    Nothing,
    /// On one that can be named again; here is its type.
    Named(TokenStream),
    /// On the value of an expression, which can be evaluated only once; with so many fields and
    /// elements around it.
    Value(usize),
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
                self.place(&mut index.expr);
                self.expr(&mut index.index, Use::Value);
                if !forms::is_constant(&index.index, self.in_unsafe) {
                    self.emit.after(&mut index.index, span);
                }
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => self.place(&mut unary.expr),
            other => self.expr(other, Use::Value),
        }
    }

    /// A place that is referred to, or of which a part is: nobody knows what becomes of it.
    pub(super) fn used_place(&mut self, expr: &mut Expr) {
        let before = expr.clone();
        match self.through(expr) {
            Through::Nothing => self.place(expr),
            Through::Named(probe) => {
                self.place(expr);
                let is_shim = self.emit.is_shim(&before);
                let address = address(expr);
                let arguments = quote_spanned!(Span::mixed_site()=> #is_shim, #address);
                let hook = self.emit.method(&probe, "using", before.span(), arguments);
                self.hooks.push(hook);
            }
            Through::Value(_) => {
                self.place(expr);
                self.wrap_pointer(expr, "using");
            }
        }
    }

    /// A place whose value is used.
    pub(super) fn read(&mut self, expr: &mut Expr) {
        let span = expr.span();
        if matches!(expr, Expr::Path(_)) {
            if self.is_static(expr) {
                // A constant has no address that could be taken without a reference.
                let pointer = quote_spanned! {Span::mixed_site()=> {
                    #[allow(static_mut_refs)]
                    let place = &#expr;
                    ::core::ptr::from_ref(place)
                }};
                let next = self.emit.here("reading_static", span, pointer);
                let tokens = self.emit.method(&next, "done", span, expr.to_token_stream());
                *expr = Expr::Verbatim(tokens);
            }
            return;
        }
        match self.through(expr) {
            Through::Nothing => {
                let dereferences = forms::pointer(expr).is_some();
                self.place(expr);
                if dereferences {
                    // Perhaps by somebody's own `Deref`.
                    self.emit.after(expr, span);
                }
            }
            Through::Named(probe) => {
                let clean = self.is_clean_pointer(expr);
                self.place(expr);
                let address = address(expr);
                let method = if clean { "reading" } else { "decided_reading" };
                let next = self.emit.method(&probe, method, span, address);
                let tokens = self.emit.method(&next, "done", span, expr.to_token_stream());
                *expr = Expr::Verbatim(tokens);
            }
            Through::Value(around) => {
                self.place(expr);
                self.wrap_pointer(expr, if around == 0 { "reading" } else { "using" });
                let tokens = self.emit.here("made", span, expr.to_token_stream());
                *expr = Expr::Verbatim(tokens);
            }
        }
    }

    /// An assignment.
    pub(super) fn assign(&mut self, expr: &mut Expr) {
        let span = expr.span();
        let Expr::Assign(assign) = expr else { return };
        self.expr(&mut assign.right, Use::Value);
        let right = &mut assign.right;
        if self.is_static(&assign.left) {
            let place = &assign.left;
            let arguments = quote_spanned!(Span::mixed_site()=> #right, &raw mut #place);
            **right = Expr::Verbatim(self.emit.here("writing_static", span, arguments));
        } else {
            match self.through(&assign.left) {
                Through::Nothing => {
                    self.assigned_pattern(&mut assign.left);
                    self.emit.after(expr, span);
                    return;
                }
                Through::Named(probe) => {
                    if !self.is_clean_pointer(&assign.left) {
                        self.emit.after(right, span);
                    }
                    self.place(&mut assign.left);
                    let address = address(&assign.left);
                    let arguments = quote_spanned!(Span::mixed_site()=> #right, #address);
                    **right = Expr::Verbatim(self.emit.method(&probe, "writing", span, arguments));
                }
                Through::Value(around) => {
                    self.place(&mut assign.left);
                    let what = if around == 0 { "writing" } else { "using" };
                    self.wrap_pointer(&mut assign.left, what);
                }
            }
        }
        let tokens = self.emit.here("made", span, expr.to_token_stream());
        *expr = Expr::Verbatim(tokens);
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

    /// An assignment by an operator.
    pub(super) fn update(&mut self, expr: &mut Expr) {
        let span = expr.span();
        let Expr::Binary(update) = expr else { return };
        self.expr(&mut update.right, Use::Value);
        let right = &mut update.right;
        if self.is_static(&update.left) {
            let place = &update.left;
            let arguments = quote_spanned!(Span::mixed_site()=> #right, &raw mut #place);
            **right = Expr::Verbatim(self.emit.here("updating_static", span, arguments));
        } else {
            match self.through(&update.left) {
                Through::Nothing => {
                    self.place(&mut update.left);
                    self.emit.after(expr, span);
                    return;
                }
                Through::Named(probe) => {
                    if !self.is_clean_pointer(&update.left) {
                        self.emit.after(right, span);
                    }
                    self.place(&mut update.left);
                    let address = address(&update.left);
                    let arguments = quote_spanned!(Span::mixed_site()=> #right, #address);
                    **right = Expr::Verbatim(self.emit.method(&probe, "operand", span, arguments));
                }
                Through::Value(around) => {
                    self.place(&mut update.left);
                    let what = if around == 0 { "updating" } else { "using" };
                    self.wrap_pointer(&mut update.left, what);
                }
            }
        }
        let guard = self.emit.here("updating", span, TokenStream::new());
        let tokens = self.emit.method(&guard, "done", span, expr.to_token_stream());
        *expr = Expr::Verbatim(tokens);
    }

    /// Whether a path is a `static mut`, as far as one can see.
    fn is_static(&self, expr: &Expr) -> bool {
        let Expr::Path(path) = forms::bare(expr) else { return false };
        self.in_unsafe
            && path.qself.is_none()
            && forms::may_be_static(&path.path)
            && !self.names.is_variable(&path.path)
    }

    fn through(&self, place: &Expr) -> Through {
        if !self.in_unsafe {
            return Through::Nothing;
        }
        let Some((pointer, around)) = forms::pointer(place) else { return Through::Nothing };
        if forms::is_simple(pointer) {
            Through::Named(self.emit.wrap("Place::of", &address(pointer)))
        } else if forms::is_pure_pointer(pointer) {
            let value = quote_spanned!(Span::mixed_site()=> || #pointer);
            Through::Named(self.emit.wrap("Place::by", &value))
        } else {
            Through::Value(around)
        }
    }

    fn is_clean_pointer(&self, place: &Expr) -> bool {
        forms::pointer(place).is_some_and(|(pointer, _)| self.names.is_clean(pointer))
    }

    /// Puts what records around the pointer that a place is reached through.
    fn wrap_pointer(&self, place: &mut Expr, method: &str) {
        match place {
            Expr::Paren(paren) => self.wrap_pointer(&mut paren.expr, method),
            Expr::Group(group) => self.wrap_pointer(&mut group.expr, method),
            Expr::Field(field) => self.wrap_pointer(&mut field.base, method),
            Expr::Index(index) => self.wrap_pointer(&mut index.expr, method),
            Expr::Unary(unary) => {
                let span = unary.span();
                // Where it points to may depend on what was read.
                self.emit.after(&mut unary.expr, span);
                let pointer = self.emit.wrap("Pointee", &unary.expr.to_token_stream());
                let tokens = self.emit.method(&pointer, method, span, TokenStream::new());
                *unary.expr = Expr::Verbatim(tokens);
            }
            _ => {}
        }
    }
}
