//! Expressions: calls, operators, and those of which only the parts matter.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprCall, ExprMethodCall, UnOp};

use super::emit::{self, Emit, argument, statement};
use super::forms;
use super::names::Names;
use super::shapes;
use super::variables::Variables;

/// How an expression is used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// For its value.
    Value,
    /// For its value, which becomes a variable: references in it may prolong the life of what they
    /// refer to, so nothing can be put around them.
    Binding,
    /// For its place: a reference to it is made, or a part of it is used.
    Place(Borrow),
}

/// What a place is used for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Borrow {
    /// To look at it, or for a shared reference.
    Look,
    /// To compare it: by its own operator, if it is a word.
    Compare,
    /// For a `&mut`.
    Mutable,
    /// For a method, which may take it by either reference, or by value.
    Receiver,
}

/// A method whose receiver is being rewritten.
pub(super) struct Called {
    pub(super) name: String,
    /// Whether its arguments are more than names: what is done to the receiver is done after them.
    pub(super) later: bool,
}

/// Rewrites one function.
pub(super) struct Rewriter<'a> {
    pub(super) emit: &'a Emit,
    /// What the function is called.
    pub(super) function: syn::Ident,
    pub(super) names: Names,
    /// Whether raw pointers can be dereferenced here.
    pub(super) in_unsafe: bool,
    /// What has to be said before the value that is being rewritten is evaluated.
    pub(super) hooks: Vec<TokenStream>,
    /// The expression that is rewritten next is the first thing that its statement evaluates.
    pub(super) first: bool,
    /// A branch is to come before the statement that is being rewritten.
    pub(super) branch_before: bool,
    /// The method that is called on the place that is rewritten next.
    pub(super) called: Option<Called>,
    /// Where an access was announced that is made once the arguments are evaluated.
    pub(super) armed: Option<proc_macro2::Span>,
    /// Which variables of the body are followed.
    pub(super) variables: Variables,
    /// How many slots the body has by now.
    pub(super) slots: usize,
    /// Where the value of the block that is rewritten next is kept.
    pub(super) tail: Option<TokenStream>,
}

impl<'a> Rewriter<'a> {
    pub(super) fn new(emit: &'a Emit, names: Names, signature: &syn::Signature) -> Self {
        Self {
            emit,
            function: signature.ident.clone(),
            names,
            in_unsafe: signature.unsafety.is_some(),
            hooks: Vec::new(),
            first: false,
            branch_before: false,
            called: None,
            armed: None,
            variables: Variables::default(),
            slots: 0,
            tail: None,
        }
    }

    /// Rewrites an expression. Its attributes, such as `#[cfg]`, stay around what it becomes.
    pub(super) fn expr(&mut self, expr: &mut Expr, used: Use) {
        let attributes = forms::take_attributes(expr);
        self.bare_expr(expr, used);
        if !attributes.is_empty() {
            let mixed = proc_macro2::Span::mixed_site();
            *expr = Expr::Verbatim(quote_spanned!(mixed=> #(#attributes)* #expr));
        }
    }

    fn bare_expr(&mut self, expr: &mut Expr, used: Use) {
        let called = self.called.take();
        if let Use::Place(borrow) = used {
            if forms_place(expr) {
                self.used_place(expr, borrow, called);
                return;
            }
        }
        let outer = std::mem::take(&mut self.hooks);
        let first = std::mem::take(&mut self.first);
        let is_block_like = emit::is_block_like(expr);
        self.value(expr, used, first);
        for hook in std::mem::replace(&mut self.hooks, outer).into_iter().rev() {
            let (span, argument) = (expr.span(), argument(expr));
            *expr = Expr::Verbatim(match is_block_like {
                true => self.emit.unit_method(&hook, "then", span, argument),
                false => self.emit.then(&hook, span, argument),
            });
        }
    }

    /// Rewrites several, each for its value.
    pub(super) fn values<'e>(&mut self, exprs: impl IntoIterator<Item = &'e mut Expr>, used: Use) {
        for expr in exprs {
            self.expr(expr, used);
        }
    }

    fn value(&mut self, expr: &mut Expr, used: Use, first: bool) {
        let inner = if used == Use::Binding { Use::Binding } else { Use::Value };
        if forms::is_constant(expr, self.in_unsafe) {
            return;
        }
        let span = expr.span();
        match expr {
            Expr::Paren(paren) => {
                self.first = first;
                self.expr(&mut paren.expr, used);
            }
            Expr::Group(group) => self.expr(&mut group.expr, used),
            Expr::Array(array) => self.values(&mut array.elems, inner),
            Expr::Tuple(tuple) => self.values(&mut tuple.elems, inner),
            Expr::Struct(literal) => {
                for field in &mut literal.fields {
                    self.expr(&mut field.expr, inner);
                    // What was `name` may have become more than a name.
                    if !matches!(field.expr, Expr::Path(_)) && field.colon_token.is_none() {
                        field.colon_token = Some(syn::Token![:](span));
                    }
                }
                if let Some(rest) = &mut literal.rest {
                    self.expr(rest, Use::Place(Borrow::Look));
                }
            }
            Expr::Repeat(repeat) => self.expr(&mut repeat.expr, Use::Value),
            Expr::Cast(cast) => self.expr(&mut cast.expr, inner),
            Expr::Reference(reference) => {
                let borrow =
                    if reference.mutability.is_some() { Borrow::Mutable } else { Borrow::Look };
                self.expr(&mut reference.expr, Use::Place(borrow));
            }
            Expr::RawAddr(address) => self.place(&mut address.expr),
            Expr::Range(range) => {
                let ends = [&mut range.start, &mut range.end];
                self.values(ends.into_iter().flatten().map(|end| &mut **end), Use::Value);
            }
            Expr::Return(exit) => self.values(exit.expr.as_deref_mut(), Use::Value),
            Expr::Try(question) => {
                self.expr(&mut question.expr, Use::Value);
                self.emit.after(&mut question.expr, span);
            }
            Expr::Unary(unary) if !matches!(unary.op, UnOp::Deref(_)) => {
                self.expr(&mut unary.expr, Use::Value);
                self.emit.after(expr, span);
            }
            Expr::Unary(_) | Expr::Field(_) | Expr::Index(_) | Expr::Path(_) => self.read(expr),
            Expr::Binary(_) => self.binary(expr),
            Expr::Assign(_) => self.assign(expr),
            Expr::Call(_) => self.call(expr, inner, first),
            Expr::MethodCall(_) => self.method_call(expr, first),
            Expr::Macro(_) => self.macro_call(expr, used, first),
            other => self.control(other, used),
        }
    }

    fn binary(&mut self, expr: &mut Expr) {
        let span = expr.span();
        let in_unsafe = self.in_unsafe;
        let Expr::Binary(binary) = expr else { return };
        if forms::is_assignment(&binary.op) {
            if !self.update_followed(expr) {
                self.update(expr);
            }
            return;
        }
        if matches!(binary.op, BinOp::And(_) | BinOp::Or(_)) {
            self.expr(&mut binary.left, Use::Value);
            self.emit.after(&mut binary.left, span);
            self.expr(&mut binary.right, Use::Value);
            return;
        }
        // Comparisons borrow their operands; only with a literal it is clear that these are words.
        let borrows = forms::is_comparison(&binary.op)
            && !is_word(&binary.left)
            && !is_word(&binary.right)
            && in_unsafe;
        let used = if forms::is_comparison(&binary.op) && (borrows || !in_unsafe) {
            Use::Place(Borrow::Compare)
        } else {
            Use::Value
        };
        self.expr(&mut binary.left, used);
        self.expr(&mut binary.right, used);
        self.emit.after(expr, span);
    }

    /// A branch before something that nothing can be put into: before it, or before its statement.
    pub(super) fn undivided(&mut self, expr: &mut Expr, used: Use, first: bool) {
        if first || used != Use::Value {
            // Nothing can be put around a place, or around what lives on.
            self.branch_before = true;
        } else {
            let span = expr.span();
            self.emit.before(expr, span);
        }
    }

    /// A branch before a call, once everything that it needs is evaluated: after the last argument
    /// that may read something. Closures are passed as they are, for their types would not be known
    /// otherwise. False if there is no such argument.
    fn branch_in(&self, args: &mut syn::punctuated::Punctuated<Expr, syn::Token![,]>) -> bool {
        let Some(last) = last_value(args) else { return false };
        let span = last.span();
        match forms::closure_block(last) {
            Some(block) => put_before_tail(block, self.emit.branch(span)),
            None => self.emit.after(last, span),
        }
        true
    }

    fn call(&mut self, expr: &mut Expr, used: Use, first: bool) {
        let span = expr.span();
        let Expr::Call(ExprCall { func, args, .. }) = expr else { return };
        if let Expr::Path(path) = &**func {
            if forms::is_constructor(&path.path) {
                self.values(args, used);
                return;
            }
            if self.in_unsafe {
                if let Some(function) = self.pointer_function(&path.path, args.len()) {
                    self.call_ours(function, func, args, span);
                    return;
                }
                let possible = self.possible_pointer_function(&path.path, args.len());
                if let Some(function) = possible {
                    *expr = Expr::Verbatim(self.call_possibly_ours(function, func, args, span));
                    return;
                }
            }
        } else {
            self.expr(func, Use::Place(Borrow::Look));
        }
        self.values(&mut *args, Use::Value);
        if !self.branch_in(args) {
            self.undivided(expr, Use::Value, first);
        }
    }

    fn method_call(&mut self, expr: &mut Expr, first: bool) {
        let Expr::MethodCall(call) = expr else { return };
        if self.in_unsafe {
            if let Some(tokens) = self.pointer_method(call) {
                *expr = Expr::Verbatim(tokens);
                return;
            }
        }
        if forms::is_operation(call) {
            if shapes::update_of(call).is_some() && shapes::is_followed(expr) {
                return self.escaping(expr, Use::Value);
            }
            let Expr::MethodCall(call) = expr else { return };
            let tokens = self.operation(call, None);
            *expr = Expr::Verbatim(tokens);
            return;
        }
        let taken = forms::is_unwrap(call) && forms::taken_lock(&call.receiver).is_some();
        // A constant stays where it is: what refers to it may live for ever.
        let place = forms_place(&call.receiver)
            || matches!(*call.receiver, Expr::Macro(_))
            || forms::is_constant(&call.receiver, self.in_unsafe);
        let reference = self.reference_method(call);
        self.receiver(call);
        let armed = self.armed.take();
        self.values(&mut call.args, Use::Value);
        self.hooks.extend(reference);
        let branched = taken || self.branch_in(&mut call.args);
        self.fire(armed, &mut call.args);
        if branched {
            return;
        }
        if place {
            self.undivided(expr, Use::Value, first);
        } else {
            let span = call.method.span();
            self.emit.after(&mut call.receiver, span);
        }
    }

    /// The receiver of a method call.
    pub(super) fn receiver(&mut self, call: &mut ExprMethodCall) {
        let later = !call.args.iter().all(forms::is_trivial);
        self.called = Some(Called { name: call.method.to_string(), later });
        self.expr(&mut call.receiver, Use::Place(Borrow::Receiver));
    }

    /// What was announced is done once the arguments are evaluated.
    pub(super) fn fire(
        &self,
        armed: Option<proc_macro2::Span>,
        args: &mut syn::punctuated::Punctuated<Expr, syn::Token![,]>,
    ) {
        let (Some(place), Some(last)) = (armed, last_value(args)) else { return };
        if let Some(block) = forms::closure_block(last) {
            let unit = quote_spanned!(proc_macro2::Span::mixed_site()=> ());
            put_before_tail(block, statement(self.emit.hook("fire", place, unit)));
        } else {
            *last = Expr::Verbatim(self.emit.hook("fire", place, argument(last)));
        }
    }

    /// An expression whose value is dropped at once.
    pub(super) fn forgotten(&mut self, expr: &mut Expr, used: Use) {
        let is_update = match expr {
            Expr::MethodCall(call) => shapes::update_of(call).is_some(),
            _ => false,
        };
        if is_update && shapes::is_followed(expr) {
            self.follow(expr);
            return;
        }
        self.expr(expr, used);
    }

    /// A call that may be one of an operation of racelog's. What it finds gets a name by a slot.
    pub(super) fn operation(
        &mut self,
        call: &mut ExprMethodCall,
        named: Option<(&TokenStream, &str)>,
    ) -> TokenStream {
        let place = call.method.span();
        let kind = self.emit.kind(&call.receiver);
        let clean = self.names.is_clean(&call.receiver);
        let raw = (self.in_unsafe && call.method == "read")
            .then(|| self.emit.wrap("PointerProbe::of", &address(&call.receiver)));
        let receiver = call.receiver.clone();
        self.receiver(call);
        let armed = self.armed.take();
        let left = self.left_by(call, &kind);
        let first_is_done = shapes::is_write(call) || shapes::update_of(call).is_some();
        self.values(call.args.iter_mut().skip(usize::from(first_is_done)), Use::Value);
        self.fire(armed, &mut call.args);
        let mixed = proc_macro2::Span::mixed_site();
        let begin = named.map(|(slot, name)| (slot, quote_spanned!(mixed=> #kind.ours(), #name)));
        if let Some(last) = call.args.last_mut() {
            let krate = self.emit.krate();
            if let Some((slot, begin)) = &begin {
                *last = Expr::Verbatim(quote_spanned!(mixed=> #slot.begin_after(#last, #begin)));
            }
            if let Some(left) = left {
                let value = argument(last);
                *last = Expr::Verbatim(
                    quote_spanned!(mixed=> #krate::__private::HOOKS.with(#value).#left),
                );
            }
        }
        let is_alone = call.args.is_empty();
        let begun = match call.args.last_mut() {
            None => {
                if clean {
                    "call"
                } else {
                    "decided_call"
                }
            }
            Some(last) => {
                let method = if clean { "last" } else { "decided_last" };
                let armed = self.emit.method(&kind, method, place, argument(last));
                *last = Expr::Verbatim(armed);
                "calling"
            }
        };
        let begun = self.emit.method(&kind, begun, place, TokenStream::new());
        let has_value = shapes::has_value(call);
        let tokens = match has_value {
            true => self.emit.method(&begun, "done", place, call.to_token_stream()),
            false => self.emit.unit_method(&begun, "done", place, call.to_token_stream()),
        };
        let tokens = match begin {
            Some((slot, begin)) if is_alone => {
                quote_spanned!(mixed=> #slot.begin(#begin).found(#tokens))
            }
            Some((slot, _)) => quote_spanned!(mixed=> #slot.found(#tokens)),
            None => tokens,
        };
        match raw {
            None => tokens,
            // It may be a raw pointer's method, too.
            Some(probe) => {
                let pointer = quote_spanned!(place=> &raw const #receiver);
                let next = self.emit.method(&probe, "reading_it", place, pointer);
                self.emit.method(&next, "done", place, tokens)
            }
        }
    }
}

/// The last argument that is no function: after it is evaluated, all that a call needs is.
fn last_value(args: &mut syn::punctuated::Punctuated<Expr, syn::Token![,]>) -> Option<&mut Expr> {
    args.iter_mut().rev().find(|argument| !forms::is_function(argument))
}

/// Puts a statement before the last expression of a block.
fn put_before_tail(block: &mut syn::Block, stmt: syn::Stmt) {
    let tail = block.stmts.len().saturating_sub(1);
    block.stmts.insert(tail, stmt);
}

/// The type of a variable, as a closure that says its address.
pub(super) fn address(variable: &Expr) -> TokenStream {
    let address = address_of(&variable.to_token_stream());
    quote_spanned!(proc_macro2::Span::mixed_site()=> || #address)
}

/// The address of a place. A `Deref` on the way to it may take a reference to what a raw pointer
/// points to, as the program's own expression does.
pub(super) fn address_of(place: &TokenStream) -> TokenStream {
    quote_spanned! {proc_macro2::Span::mixed_site()=> {
        #[allow(unknown_lints, dangerous_implicit_autorefs)]
        let address = &raw const #place;
        address
    }}
}

/// Whether a comparison with this is one of words.
pub(super) fn is_word(expr: &Expr) -> bool {
    match forms::bare(expr) {
        Expr::Lit(lit) => !matches!(lit.lit, syn::Lit::Str(_) | syn::Lit::ByteStr(_)),
        Expr::Cast(_) => true,
        _ => false,
    }
}

pub(super) fn forms_place(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(paren) => forms_place(&paren.expr),
        Expr::Group(group) => forms_place(&group.expr),
        Expr::Path(_) | Expr::Field(_) | Expr::Index(_) => true,
        Expr::Unary(unary) => matches!(unary.op, UnOp::Deref(_)),
        _ => false,
    }
}
