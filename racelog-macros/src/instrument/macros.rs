//! Macros of std within instrumented code: what stands in them is rewritten, too.
//!
//! Only macros are taken apart of which it is known what they do with their arguments: those that
//! format something borrow them, `assert!` decides by its first, `vec!` takes them. Others stay as
//! they are. In unsafe code it is recorded that such a macro was there, for what is accessed in it
//! is not seen.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, Macro, Pat, Token};

use super::expr::{Borrow, Rewriter, Use, forms_place};
use super::forms;

/// Macros that look at all their arguments after the first so many, by shared references.
const LOOKING: [(&str, usize); 14] = [
    ("assert_eq", 0),
    ("assert_ne", 0),
    ("debug_assert_eq", 0),
    ("debug_assert_ne", 0),
    ("format", 0),
    ("print", 0),
    ("println", 0),
    ("eprint", 0),
    ("eprintln", 0),
    ("panic", 0),
    ("unreachable", 0),
    ("todo", 0),
    ("write", 1),
    ("writeln", 1),
];

/// Macros that access no memory.
const HARMLESS: [&str; 18] = [
    "addr_of",
    "addr_of_mut",
    "offset_of",
    "line",
    "column",
    "file",
    "module_path",
    "stringify",
    "concat",
    "env",
    "option_env",
    "include_str",
    "include_bytes",
    "cfg",
    "compile_error",
    "unimplemented",
    "thread_local",
    "const_format_args",
];

/// What stands between the brackets of `vec!`.
enum Elements {
    List(Punctuated<Expr, Token![,]>),
    Repeated(Box<[Expr; 2]>),
}

impl Parse for Elements {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() {
            return Ok(Self::List(Punctuated::new()));
        }
        let first = input.parse::<Expr>()?;
        if input.peek(Token![;]) {
            input.parse::<Token![;]>()?;
            return Ok(Self::Repeated(Box::new([first, input.parse()?])));
        }
        let mut list = Punctuated::new();
        list.push_value(first);
        while !input.is_empty() {
            list.push_punct(input.parse()?);
            if !input.is_empty() {
                list.push_value(input.parse()?);
            }
        }
        Ok(Self::List(list))
    }
}

/// What stands between the parentheses of `matches!`.
struct Matched {
    value: Expr,
    pattern: Pat,
    guard: Option<Expr>,
}

impl Parse for Matched {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let value = input.parse()?;
        input.parse::<Token![,]>()?;
        let pattern = Pat::parse_multi_with_leading_vert(input)?;
        let guard = match input.parse::<Option<Token![if]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        input.parse::<Option<Token![,]>>()?;
        Ok(Self { value, pattern, guard })
    }
}

impl Rewriter<'_> {
    /// A macro in the place of an expression.
    pub(super) fn macro_call(&mut self, expr: &mut Expr, used: Use, first: bool) {
        let Expr::Macro(call) = expr else { return };
        if let Some(tokens) = self.insisted(&call.mac) {
            *expr = Expr::Verbatim(tokens);
            return;
        }
        if is(&call.mac, "matches") {
            if let Ok(Matched { value, pattern, guard }) = call.mac.parse_body() {
                let guard = guard.map(|guard| quote!(if #guard));
                let mixed = Span::mixed_site();
                let tokens = quote_spanned! {mixed=>
                    match #value { #pattern #guard => true, _ => false }
                };
                if let Ok(decision) = syn::parse2::<Expr>(tokens) {
                    *expr = decision;
                    return self.control(expr, used);
                }
                return self.undivided(expr, used, first);
            }
        }
        if self.macro_arguments(&mut call.mac) {
            return self.undivided(expr, used, first);
        }
        match self.blind_spot(&call.mac) {
            Some(said) if used == Use::Value => {
                let call = self.emit.method(&said, "then", expr.span(), expr.to_token_stream());
                *expr = Expr::Verbatim(call);
            }
            said => {
                self.hooks.extend(said);
                self.undivided(expr, used, first);
            }
        }
    }

    /// The call that says that what a macro does is not seen, if that may matter.
    pub(super) fn blind_spot(&self, mac: &Macro) -> Option<TokenStream> {
        let name = mac.path.segments.last()?.ident.to_string();
        let ours = mac.path.segments.first().is_some_and(|first| first.ident == "racelog");
        if ours || HARMLESS.contains(&&*name) || name == "check" || name == "read" {
            return None;
        }
        if !(self.in_unsafe && has_names(mac.tokens.clone()) || has_unsafe(mac.tokens.clone())) {
            return None;
        }
        let name = quote_spanned!(Span::mixed_site()=> #name);
        Some(self.emit.hook("code_within_macro", mac.span(), name))
    }

    /// Rewrites the arguments of a macro, if it is known what it does with them. False if not.
    pub(super) fn macro_arguments(&mut self, mac: &mut Macro) -> bool {
        if let Some((_, skipped)) = LOOKING.iter().find(|(name, _)| is(mac, name)) {
            return self.looked_at(mac, *skipped);
        }
        if is(mac, "assert") || is(mac, "debug_assert") {
            return self.asserted(mac);
        }
        if is(mac, "vec") {
            return self.collected(mac);
        }
        false
    }

    fn looked_at(&mut self, mac: &mut Macro, skipped: usize) -> bool {
        let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
        let Ok(mut args) = parser.parse2(mac.tokens.clone()) else { return false };
        // `racelog::write!` has no text.
        let is_text = |expr: &Expr| matches!(expr, Expr::Lit(_));
        if skipped > 0 && args.len() > skipped && !is_text(&args[skipped]) {
            return true;
        }
        args.iter_mut().skip(skipped).for_each(|argument| self.looked_at_one(argument));
        mac.tokens = args.into_token_stream();
        true
    }

    /// An argument that is taken by shared reference.
    pub(super) fn looked_at_one(&mut self, argument: &mut Expr) {
        if let Expr::Assign(named) = argument {
            // `name = value`.
            return self.looked_at_one(&mut named.right);
        }
        if forms::is_constant(argument, self.in_unsafe) {
            return;
        }
        let span = argument.span();
        let outer = std::mem::take(&mut self.hooks);
        let (first, before) = (std::mem::take(&mut self.first), self.branch_before);
        if forms_place(argument) {
            self.expr(argument, Use::Place(Borrow::Look));
            let hooks = std::mem::take(&mut self.hooks);
            if !hooks.is_empty() {
                let mixed = Span::mixed_site();
                let mut tokens = quote_spanned!(mixed=> &#argument);
                for hook in hooks.into_iter().rev() {
                    tokens = self.emit.then(&hook, span, tokens);
                }
                *argument = Expr::Verbatim(quote_spanned!(mixed=> *#tokens));
            }
        } else {
            self.expr(argument, Use::Value);
            if !forms::is_trivial(argument) {
                self.emit.after(argument, span);
            }
        }
        (self.hooks, self.first, self.branch_before) = (outer, first, before);
    }

    fn asserted(&mut self, mac: &mut Macro) -> bool {
        let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
        let Ok(mut args) = parser.parse2(mac.tokens.clone()) else { return false };
        let alone = args.len() == 1;
        let mut all = args.iter_mut();
        let Some(condition) = all.next() else { return false };
        if forms::has_let(condition) {
            return false;
        }
        let said = condition.to_token_stream();
        let span = condition.span();
        let outer = std::mem::take(&mut self.hooks);
        let before = self.branch_before;
        self.expr(condition, Use::Value);
        self.emit.after(condition, span);
        (self.hooks, self.branch_before) = (outer, before);
        all.for_each(|argument| self.looked_at_one(argument));
        mac.tokens = args.into_token_stream();
        if alone {
            // What it says if it fails is what the program says, not what stands there now.
            let mixed = Span::mixed_site();
            let tokens = &mac.tokens;
            let comma = if tokens.to_string().trim_end().ends_with(',') {
                TokenStream::new()
            } else {
                quote_spanned!(mixed=> ,)
            };
            mac.tokens = quote_spanned! {mixed=>
                #tokens #comma "assertion failed: {}", ::core::stringify!(#said)
            };
        }
        true
    }

    fn collected(&mut self, mac: &mut Macro) -> bool {
        let Ok(elements) = mac.parse_body::<Elements>() else { return false };
        let outer = std::mem::take(&mut self.hooks);
        let before = self.branch_before;
        mac.tokens = match elements {
            Elements::List(mut list) => {
                self.values(&mut list, Use::Value);
                list.into_token_stream()
            }
            Elements::Repeated(parts) => {
                let [mut element, mut count] = *parts;
                self.expr(&mut element, Use::Value);
                let span = element.span();
                // It is cloned.
                self.emit.after(&mut element, span);
                if !forms::is_constant(&count, self.in_unsafe) {
                    self.expr(&mut count, Use::Value);
                }
                quote!(#element; #count)
            }
        };
        (self.hooks, self.branch_before) = (outer, before);
        true
    }
}

pub(super) fn is(mac: &Macro, name: &str) -> bool {
    let std = ["std", "core", "alloc"];
    let mut segments = mac.path.segments.iter();
    let last = segments.next_back().is_some_and(|last| last.ident == name);
    last && segments.all(|segment| std.iter().any(|name| segment.ident == name))
}

/// Whether there are names in the tokens of a macro: without any it accesses nothing of the
/// program's.
fn has_names(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(_) => true,
        TokenTree::Group(group) => has_names(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

fn has_unsafe(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "unsafe",
        TokenTree::Group(group) => has_unsafe(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}
