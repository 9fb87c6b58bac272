//! Makes the calls that the expansion consists of.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::{Expr, Item, Stmt, UseTree};

use super::overflow;

/// Knows what racelog is called, and what is imported where the code stands.
///
/// Variables that are inserted have the hygiene of a macro: names of the program and ours never
/// meet, and lints leave them alone. Only calls of ours, which are paths from the root and names of
/// methods and need no hygiene, are put at a place in the program: so the events that they make say
/// that place.
pub(super) struct Emit {
    krate: TokenStream,
    imports: Vec<UseTree>,
}

fn mixed() -> Span {
    Span::mixed_site()
}

fn in_parentheses(span: Span, tokens: TokenStream) -> Group {
    let mut group = Group::new(Delimiter::Parenthesis, tokens);
    group.set_span(span);
    group
}

impl Emit {
    pub(super) fn new(krate: TokenStream) -> Self {
        Self { krate, imports: Vec::new() }
    }

    /// The same, within a module.
    pub(super) fn within(&self, items: &[Item]) -> Self {
        let imports = items.iter().filter_map(|item| match item {
            Item::Use(item) => Some(item.tree.clone()),
            _ => None,
        });
        Self { krate: self.krate.clone(), imports: imports.collect() }
    }

    pub(super) fn imports(&self) -> &[UseTree] {
        &self.imports
    }

    pub(super) fn krate(&self) -> &TokenStream {
        &self.krate
    }

    /// `receiver.method(arguments)`, at a place in the program.
    pub(super) fn method(
        &self,
        receiver: &TokenStream,
        method: &str,
        place: Span,
        arguments: TokenStream,
    ) -> TokenStream {
        let (receiver, method) = (at_place(receiver, place), Ident::new(method, place));
        let arguments = in_parentheses(place, arguments);
        quote_spanned!(place=> #receiver . #method #arguments)
    }

    /// `hook.then(arguments)`: what the hook says has the hook's own place, whatever stands around
    /// it.
    pub(super) fn then(
        &self,
        hook: &TokenStream,
        place: Span,
        arguments: TokenStream,
    ) -> TokenStream {
        let (method, arguments) = (Ident::new("then", place), in_parentheses(place, arguments));
        quote_spanned!(place=> #hook . #method #arguments)
    }

    /// `receiver.method(arguments)`, at a place in the program, where the receiver is a variable of
    /// ours.
    pub(super) fn then_by(
        &self,
        receiver: &TokenStream,
        method: &str,
        place: Span,
        arguments: TokenStream,
    ) -> TokenStream {
        let (method, arguments) = (Ident::new(method, place), in_parentheses(place, arguments));
        quote_spanned!(mixed()=> #receiver . #method #arguments)
    }

    /// Whether arithmetic panics on overflow in the crate that is being compiled.
    pub(super) fn overflow_panics(&self) -> TokenStream {
        match overflow::panics() {
            Some(panics) => quote_spanned!(mixed()=> #panics),
            None => quote_spanned!(mixed()=> ::core::cfg!(debug_assertions)),
        }
    }

    /// As [`method`](Self::method), of what has no value: lints must not take it for an expression
    /// of the program's that could do with a semicolon.
    pub(super) fn unit_method(
        &self,
        receiver: &TokenStream,
        method: &str,
        place: Span,
        arguments: TokenStream,
    ) -> TokenStream {
        let method = Ident::new(method, place);
        let arguments = in_parentheses(place, arguments);
        // In parentheses of ours, for the receiver may stand at a place of the program.
        quote_spanned!(mixed()=> (#receiver) . #method #arguments)
    }

    /// `HOOKS.method(arguments)`, of what has no value.
    pub(super) fn unit_hook(
        &self,
        method: &str,
        place: Span,
        arguments: TokenStream,
    ) -> TokenStream {
        let krate = &self.krate;
        let receiver = quote_spanned!(mixed()=> #krate::__private::HOOKS);
        self.unit_method(&receiver, method, place, arguments)
    }

    /// `HOOKS.method(arguments)`, at a place in the program.
    pub(super) fn hook(&self, method: &str, place: Span, arguments: TokenStream) -> TokenStream {
        let krate = &self.krate;
        let receiver = quote_spanned!(mixed()=> #krate::__private::HOOKS);
        self.method(&receiver, method, place, arguments)
    }

    /// The expression, and a branch after it.
    pub(super) fn after(&self, expr: &mut Expr, place: Span) {
        let attributes = super::forms::take_attributes(expr);
        // Lints find the braces of an argument unnecessary, or an argument without a value odd, if
        // they take the call for the program's.
        let call = if is_block_like(expr) {
            self.unit_hook("after", place, argument(expr))
        } else {
            self.hook("after", place, argument(expr))
        };
        *expr = Expr::Verbatim(quote_spanned!(mixed()=> #(#attributes)* #call));
    }

    /// As [`after`](Self::after), of what has no value.
    pub(super) fn unit_after(&self, expr: &mut Expr, place: Span) {
        let call = self.unit_hook("after", place, argument(expr));
        *expr = Expr::Verbatim(call);
    }

    /// A branch, and the expression after it.
    pub(super) fn before(&self, expr: &mut Expr, place: Span) {
        let attributes = super::forms::take_attributes(expr);
        let before = self.hook("before", place, TokenStream::new());
        let call = self.method(&before, "then", place, argument(expr));
        *expr = Expr::Verbatim(quote_spanned!(mixed()=> #(#attributes)* #call));
    }

    /// A branch, as a statement.
    pub(super) fn branch(&self, place: Span) -> Stmt {
        let call = self.hook("branch", place, TokenStream::new());
        statement(call)
    }

    /// What kind of call it is to call a method on something.
    pub(super) fn kind(&self, receiver: &Expr) -> TokenStream {
        let krate = &self.krate;
        quote_spanned!(mixed()=> (&#krate::__private::Probe::of(|| &#receiver)).kind())
    }

    /// What to record of a reference to a place, which the tokens, in a closure, point to. `method`
    /// is the name of the method that it is made for.
    pub(super) fn seen(&self, pointer: &TokenStream, method: Option<&str>) -> TokenStream {
        let krate = &self.krate;
        let what = match method {
            Some(name) => quote_spanned!(mixed()=> Method(#name)),
            None => quote_spanned!(mixed()=> Looking),
        };
        quote_spanned! {mixed()=>
            (&&#krate::__private::Probe::behind(#pointer)).seen(#krate::__private::For::#what)
        }
    }

    /// As [`seen`](Self::seen), of a `&mut`.
    pub(super) fn seen_mutable(&self, pointer: &TokenStream) -> TokenStream {
        let krate = &self.krate;
        quote_spanned! {mixed()=>
            #krate::__private::Seen::mutable(
                (&#krate::__private::Probe::behind(#pointer)).is_shim()
            )
        }
    }

    /// The type of a variable.
    pub(super) fn probe(&self, variable: &Ident) -> TokenStream {
        let krate = &self.krate;
        quote_spanned!(mixed()=> (&#krate::__private::Probe::at(&raw const #variable)))
    }

    /// A thing of `racelog::__private` around an expression.
    pub(super) fn wrap(&self, name: &str, expr: &TokenStream) -> TokenStream {
        let krate = &self.krate;
        let path: TokenStream = name.parse().expect("it is a path");
        let path: TokenStream = path
            .into_iter()
            .map(|mut token| {
                token.set_span(mixed());
                token
            })
            .collect();
        quote_spanned!(mixed()=> #krate::__private::#path(#expr))
    }
}

/// Puts a path of ours, and the methods called on it, at a place in the program, but not what
/// stands within parentheses. The compiler takes the whole call to be there then: so an event that
/// a `Deref` of its result makes says that place, too.
fn at_place(tokens: &TokenStream, place: Span) -> TokenStream {
    let at_place = |mut token: TokenTree| {
        token.set_span(place);
        token
    };
    tokens.clone().into_iter().map(at_place).collect()
}

/// Whether an expression ends in a block, as statements do that need no semicolon.
pub(super) fn is_block_like(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Block(_)
            | Expr::ForLoop(_)
            | Expr::If(_)
            | Expr::Loop(_)
            | Expr::Match(_)
            | Expr::Unsafe(_)
            | Expr::While(_)
    )
}

/// An expression as an argument: parentheses of its own would be too many.
pub(super) fn argument(expr: &Expr) -> TokenStream {
    match expr {
        Expr::Paren(paren) if paren.attrs.is_empty() => argument(&paren.expr),
        other => other.to_token_stream(),
    }
}

/// The tokens as a statement.
pub(super) fn statement(tokens: TokenStream) -> Stmt {
    Stmt::Expr(Expr::Verbatim(tokens), Some(syn::Token![;](mixed())))
}

/// A statement that names a variable; it may do so even if the program does not.
pub(super) fn statement_about(variable: &Ident, tokens: TokenStream) -> Stmt {
    if variable.to_string().starts_with('_') {
        let allow = quote_spanned!(mixed()=> #[allow(clippy::used_underscore_binding)]);
        return statement(quote_spanned!(mixed()=> #allow #tokens));
    }
    statement(tokens)
}

/// Puts a statement first in a block, but for items: these want to be before all else.
pub(super) fn put_first(statements: &mut Vec<Stmt>, first: Stmt) {
    let items = statements.iter().take_while(|stmt| matches!(stmt, Stmt::Item(_))).count();
    statements.insert(items, first);
}
