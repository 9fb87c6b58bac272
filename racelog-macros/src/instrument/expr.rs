//! Expressions: calls, operators, and what goes through to their parts.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprCall, ExprMethodCall, UnOp};

use super::emit::{Emit, argument};
use super::forms;
use super::names::Names;

/// How an expression is used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// For its value.
    Value,
    /// For its value, which becomes a variable: references in it may prolong the life of what they
    /// refer to, so nothing can be put around them.
    Binding,
    /// For its place: a reference to it is made, or a part of it is used.
    Place,
}

/// Rewrites one function.
pub(super) struct Rewriter<'a> {
    pub(super) emit: &'a Emit,
    pub(super) names: Names,
    /// Whether raw pointers can be dereferenced here.
    pub(super) in_unsafe: bool,
    /// What has to be said before the value that is being rewritten is evaluated.
    pub(super) hooks: Vec<TokenStream>,
    /// The expression that is rewritten next is the first thing that its statement evaluates.
    pub(super) first: bool,
    /// A branch is to come before the statement that is being rewritten.
    pub(super) branch_before: bool,
}

impl<'a> Rewriter<'a> {
    pub(super) fn new(emit: &'a Emit, names: Names, in_unsafe: bool) -> Self {
        Self { emit, names, in_unsafe, hooks: Vec::new(), first: false, branch_before: false }
    }

    /// Rewrites an expression.
    pub(super) fn expr(&mut self, expr: &mut Expr, used: Use) {
        if used == Use::Place && forms_place(expr) {
            self.used_place(expr);
            return;
        }
        let outer = std::mem::take(&mut self.hooks);
        let first = std::mem::take(&mut self.first);
        self.value(expr, used, first);
        for hook in std::mem::replace(&mut self.hooks, outer).into_iter().rev() {
            let call = self.emit.method(&hook, "then", expr.span(), argument(expr));
            *expr = Expr::Verbatim(call);
        }
    }

    /// Rewrites several, each for its value.
    fn values<'e>(&mut self, exprs: impl IntoIterator<Item = &'e mut Expr>, used: Use) {
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
                    self.expr(rest, Use::Place);
                }
            }
            Expr::Repeat(repeat) => self.expr(&mut repeat.expr, Use::Value),
            Expr::Cast(cast) => self.expr(&mut cast.expr, inner),
            Expr::Reference(reference) => self.expr(&mut reference.expr, Use::Place),
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
            Expr::Macro(_) => self.undivided(expr, used, first),
            other => self.control(other, used),
        }
    }

    fn binary(&mut self, expr: &mut Expr) {
        let span = expr.span();
        let in_unsafe = self.in_unsafe;
        let Expr::Binary(binary) = expr else { return };
        if forms::is_assignment(&binary.op) {
            return self.update(expr);
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
            Use::Place
        } else {
            Use::Value
        };
        self.expr(&mut binary.left, used);
        self.expr(&mut binary.right, used);
        self.emit.after(expr, span);
    }

    /// A branch before something that nothing can be put into: before it, or before its statement.
    fn undivided(&mut self, expr: &mut Expr, used: Use, first: bool) {
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
        let last = args.iter_mut().rev().find(|argument| !forms::is_function(argument));
        if let Some(last) = last {
            let span = last.span();
            self.emit.after(last, span);
            return true;
        }
        false
    }

    fn call(&mut self, expr: &mut Expr, used: Use, first: bool) {
        let span = expr.span();
        let Expr::Call(ExprCall { func, args, .. }) = expr else { return };
        if let Expr::Path(path) = &**func {
            if forms::is_constructor(&path.path) {
                self.values(args, used);
                return;
            }
            if self.in_unsafe
                && let Some(name) = forms::pointer_function(&path.path)
                && args.len() == if name == "read" { 1 } else { 2 }
            {
                let name = if name == "read" { "ptr_read" } else { "ptr_write" };
                self.values(&mut *args, Use::Value);
                // Where the access is depends on what was read.
                if let Some(last) = args.last_mut() {
                    self.emit.after(last, span);
                }
                let function = syn::Ident::new(name, span);
                let krate = self.emit.krate();
                let path = quote_spanned!(proc_macro2::Span::mixed_site()=> #krate::__private);
                // The place of a call is where its path starts.
                let mut called = Expr::Verbatim(quote_spanned!(span=> #path::#function));
                std::mem::swap(&mut **func, &mut called);
                args.insert(0, called);
                return;
            }
        } else {
            self.expr(func, Use::Place);
        }
        self.values(&mut *args, Use::Value);
        if !self.branch_in(args) {
            self.undivided(expr, Use::Value, first);
        }
    }

    fn method_call(&mut self, expr: &mut Expr, first: bool) {
        let Expr::MethodCall(call) = expr else { return };
        if self.in_unsafe
            && let Some(tokens) = self.pointer_method(call)
        {
            *expr = Expr::Verbatim(tokens);
            return;
        }
        if forms::is_operation(call) {
            let tokens = self.operation(call);
            *expr = Expr::Verbatim(tokens);
            return;
        }
        let taken = forms::is_unwrap(call) && forms::taken_lock(&call.receiver).is_some();
        let place = forms_place(&call.receiver) || matches!(*call.receiver, Expr::Macro(_));
        self.expr(&mut call.receiver, Use::Place);
        self.values(&mut call.args, Use::Value);
        if taken || self.branch_in(&mut call.args) {
            return;
        }
        if place {
            self.undivided(expr, Use::Value, first);
        } else {
            let span = call.method.span();
            self.emit.after(&mut call.receiver, span);
        }
    }

    /// A call that may be one of an operation of racelog's.
    fn operation(&mut self, call: &mut ExprMethodCall) -> TokenStream {
        let place = call.method.span();
        let kind = self.emit.kind(&call.receiver);
        let clean = self.names.is_clean(&call.receiver);
        let raw = (self.in_unsafe && call.method == "read")
            .then(|| self.emit.wrap("Place::of", &address(&call.receiver)));
        let receiver = call.receiver.clone();
        self.expr(&mut call.receiver, Use::Place);
        self.values(&mut call.args, Use::Value);
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
        let tokens = self.emit.method(&begun, "done", place, call.to_token_stream());
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

    /// A method of raw pointers that reads or writes; `None` if it is none.
    fn pointer_method(&mut self, call: &mut ExprMethodCall) -> Option<TokenStream> {
        let place = call.method.span();
        let name = call.method.to_string();
        let reads = matches!(&*name, "read" | "read_volatile" | "read_unaligned");
        let writes = matches!(&*name, "write" | "write_volatile" | "write_unaligned");
        let fits = reads && call.args.is_empty() || writes && call.args.len() == 1;
        // Locks have a method of the first name.
        if !fits || reads && forms::is_operation(call) {
            return None;
        }
        let simple = forms::is_simple(&call.receiver);
        let receiver = call.receiver.clone();
        if simple {
            self.place(&mut call.receiver);
        } else {
            self.expr(&mut call.receiver, Use::Value);
            self.emit.after(&mut call.receiver, place);
        }
        let probe = self.emit.wrap("Place::of", &address(&receiver));
        let pointer = quote_spanned!(place=> &raw const #receiver);
        match (call.args.first_mut(), simple) {
            (Some(value), true) => {
                self.expr(value, Use::Value);
                if !self.names.is_clean(&receiver) {
                    self.emit.after(value, place);
                }
                let arguments = quote_spanned!(place=> #value, #pointer);
                *value = Expr::Verbatim(self.emit.method(&probe, "writing_it", place, arguments));
            }
            (None, true) => {
                let next = self.emit.method(&probe, "reading_it", place, pointer);
                return Some(self.emit.method(&next, "done", place, call.to_token_stream()));
            }
            (Some(value), false) => {
                self.expr(value, Use::Value);
                let tokens = self.write_far(&call.receiver, &call.method, value);
                return Some(self.emit.here("made", place, tokens));
            }
            (None, false) => {
                let pointer = self.emit.wrap("Pointee", &call.receiver.to_token_stream());
                let begun = self.emit.method(&pointer, "reading", place, TokenStream::new());
                *call.receiver = Expr::Verbatim(begun);
            }
        }
        Some(self.emit.here("made", place, call.to_token_stream()))
    }

    /// A method that writes through a pointer that is the value of an expression: this is evaluated
    /// first, then what is written, and the access comes after both.
    fn write_far(&self, receiver: &Expr, method: &syn::Ident, value: &Expr) -> TokenStream {
        let mixed = proc_macro2::Span::mixed_site();
        let probe = self.emit.wrap("Place::of", &quote_spanned!(mixed=> || &raw const pointer));
        let arguments = quote_spanned!(mixed=> value, &raw const pointer);
        let begun = self.emit.method(&probe, "writing_it", method.span(), arguments);
        quote_spanned! {mixed=>
            match (#receiver, #value) {
                #[allow(unused_mut)]
                (mut pointer, value) => pointer.#method(#begun),
            }
        }
    }
}

/// The type of a variable, as a closure that says its address.
pub(super) fn address(variable: &Expr) -> TokenStream {
    quote_spanned!(proc_macro2::Span::mixed_site()=> || &raw const #variable)
}

/// Whether a comparison with this is one of words.
fn is_word(expr: &Expr) -> bool {
    match forms::bare(expr) {
        Expr::Lit(lit) => !matches!(lit.lit, syn::Lit::Str(_) | syn::Lit::ByteStr(_)),
        Expr::Cast(_) => true,
        _ => false,
    }
}

fn forms_place(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(paren) => forms_place(&paren.expr),
        Expr::Group(group) => forms_place(&group.expr),
        Expr::Path(_) | Expr::Field(_) | Expr::Index(_) => true,
        Expr::Unary(unary) => matches!(unary.op, UnOp::Deref(_)),
        _ => false,
    }
}
