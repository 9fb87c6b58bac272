//! Macros that insist on a condition: `assert!` and its kin, and `racelog::check!`.
//!
//! Where the condition is one of values that are followed it is a check, which says the condition.
//! Where it is not, these are macros as all others.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, Macro, Token};

use super::emit::argument;
use super::expr::Rewriter;
use super::macros::is;
use super::shapes::{Shape, is_followed, shape};

/// What a macro insists on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A condition.
    Assert,
    /// That two are equal, or not: the operator.
    Compare(&'static str, bool),
    /// A condition, with a label.
    Check,
}

/// A macro that insists on something.
pub(super) struct Insisted {
    kind: Kind,
    args: Punctuated<Expr, Token![,]>,
}

impl Insisted {
    /// The macro taken apart, if it is one whose operands are followed, as far as their form says.
    pub(super) fn parse(mac: &Macro) -> Option<Self> {
        let kind = match () {
            () if is(mac, "assert") || is(mac, "debug_assert") => Kind::Assert,
            () if is(mac, "assert_eq") => Kind::Compare("Eq", false),
            () if is(mac, "assert_ne") => Kind::Compare("Ne", false),
            () if is(mac, "debug_assert_eq") => Kind::Compare("Eq", true),
            () if is(mac, "debug_assert_ne") => Kind::Compare("Ne", true),
            () if is_check(mac) => Kind::Check,
            () => return None,
        };
        let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
        let insisted = Self { kind, args: parser.parse2(mac.tokens.clone()).ok()? };
        let fits = insisted.args.len() >= insisted.count()
            && (kind != Kind::Check || insisted.args.len() <= 2)
            && insisted.operands().all(is_followed);
        fits.then_some(insisted)
    }

    fn count(&self) -> usize {
        match self.kind {
            Kind::Compare(..) => 2,
            Kind::Assert | Kind::Check => 1,
        }
    }

    /// What is followed.
    pub(super) fn operands(&self) -> impl Iterator<Item = &Expr> {
        self.args.iter().take(self.count())
    }

    /// What is not: the message.
    pub(super) fn rest(&self) -> impl Iterator<Item = &Expr> {
        self.args.iter().skip(self.count())
    }
}

fn is_check(mac: &Macro) -> bool {
    let names: Vec<String> =
        mac.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    names == ["racelog", "check"]
}

impl Rewriter<'_> {
    /// What stands instead of a macro that insists on a condition of values that are followed: no
    /// branch is needed before it. Nothing for all others.
    pub(super) fn insisted(&mut self, mac: &Macro) -> Option<TokenStream> {
        let mut insisted = Insisted::parse(mac)?;
        if !insisted.operands().any(|operand| self.is_worth(operand)) {
            return None;
        }
        let (span, mixed) = (mac.span(), Span::mixed_site());
        let text = self.text(&insisted);
        match insisted.kind {
            Kind::Check => {
                let mut condition = insisted.args.first()?.clone();
                let label = insisted.rest().next().map(ToTokens::to_token_stream);
                let label = label.unwrap_or_else(|| text.clone());
                let origin = self.follow(&mut condition);
                let value = argument(&condition);
                let arguments = quote_spanned!(mixed=> #value, label, || #origin);
                let holds = self.emit.hook("holds", span, arguments);
                let krate = self.emit.krate();
                Some(quote_spanned! {mixed=> {
                    let label = #label;
                    if !#holds {
                        ::core::panic!("{}{}", #krate::contract::marker::CHECK_FAILED, label);
                    }
                }})
            }
            Kind::Assert => {
                let said = insisted.args.first()?.to_token_stream();
                let alone = insisted.args.len() == 1;
                let condition = insisted.args.first_mut()?;
                self.insists_on(condition, &text);
                insisted.args.iter_mut().skip(1).for_each(|rest| self.looked_at_one(rest));
                let (path, args) = (&mac.path, &insisted.args);
                let args = if alone {
                    // What it says if it fails is what the program says.
                    let condition = args.first();
                    quote_spanned! {mixed=>
                        #condition, "assertion failed: {}", ::core::stringify!(#said)
                    }
                } else {
                    args.to_token_stream()
                };
                Some(quote_spanned!(mixed=> #path!(#args)))
            }
            Kind::Compare(operator, only_debug) => {
                // Where pointers may be raw a place is compared by a reference.
                let is_deref = |operand: &Expr| matches!(shape(operand), Some(Shape::Deref(_)));
                if self.in_unsafe && insisted.operands().any(is_deref) {
                    let mut mac = mac.clone();
                    self.macro_arguments(&mut mac);
                    let krate = self.emit.krate();
                    let branch = self.emit.branch(span);
                    return Some(quote_spanned! {mixed=> {
                        #krate::__private::HOOKS.owes();
                        #branch
                        #mac;
                    }});
                }
                let mut operands = insisted.args.iter_mut();
                let left = self.follow_compared(operands.next()?, false);
                let right = self.follow_compared(operands.next()?, false);
                operands.for_each(|rest| self.looked_at_one(rest));
                let operator = self.operator(operator);
                let arguments = quote_spanned!(mixed=> #operator, #text, || (#left, #right));
                let mut after = self.emit.hook("has_insisted", span, arguments);
                if only_debug {
                    after = quote_spanned!(mixed=> if ::core::cfg!(debug_assertions) { #after });
                }
                let (path, args) = (&mac.path, &insisted.args);
                Some(quote_spanned!(mixed=> { #path!(#args); #after; }))
            }
        }
    }

    /// What people read of a check.
    fn text(&self, insisted: &Insisted) -> TokenStream {
        let mut all = insisted.operands();
        let (first, second) = (all.next(), all.next());
        let mixed = Span::mixed_site();
        match (insisted.kind, second) {
            (Kind::Compare("Eq", _), Some(second)) => {
                quote_spanned!(mixed=> ::core::stringify!(#first == #second))
            }
            (Kind::Compare(..), Some(second)) => {
                quote_spanned!(mixed=> ::core::stringify!(#first != #second))
            }
            _ => quote_spanned!(mixed=> ::core::stringify!(#first)),
        }
    }

    /// A condition that has to hold: of an `&&`, both sides have to, one after the other.
    fn insists_on(&mut self, condition: &mut Expr, text: &TokenStream) {
        match condition {
            Expr::Paren(inner) => self.insists_on(&mut inner.expr, text),
            Expr::Binary(both) if matches!(both.op, BinOp::And(_)) => {
                self.insists_on(&mut both.left, text);
                self.insists_on(&mut both.right, text);
            }
            Expr::Binary(either) if matches!(either.op, BinOp::Or(_)) => {
                self.condition(&mut either.left);
                self.insists_on(&mut either.right, text);
            }
            other => {
                if !self.insists(other, text) {
                    self.condition(other);
                }
            }
        }
    }
}
