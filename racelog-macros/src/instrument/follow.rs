//! Values on their way: what stands beside an expression says where its value comes from.
//!
//! Each of these rewrites an expression as ever, and returns what its origin is computed by: tokens
//! that are evaluated once, after the expression was. See `racelog/src/instrument/following.rs`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{BinOp, Block, Expr, ExprIndex, ExprMethodCall, Lit, UnOp};

use super::emit::{argument, statement_about};
use super::expr::{Borrow, Rewriter, Use, address};
use super::forms;
use super::shapes::{self, Shape, is_followed, shape};
use super::variables::variable;

fn mixed() -> Span {
    Span::mixed_site()
}

/// What stands beside a variable that is followed. It has the hygiene of the variable.
pub(super) fn beside(name: &Ident) -> Ident {
    let plain = name.to_string();
    let plain = plain.trim_start_matches("r#");
    // Lints look at it as at a name of the program's.
    let bare = plain.trim_start_matches('_');
    Ident::new(&format!("racelog{}_{bare}", plain.len() - bare.len()), name.span())
}

/// What a variable is about to be given.
pub(super) struct Given {
    /// Where it comes from.
    origin: TokenStream,
}

impl Rewriter<'_> {
    /// Whether something is read in an expression whose value is followed.
    pub(super) fn is_worth(&self, expr: &Expr) -> bool {
        is_followed(expr) && shapes::comes_from(expr, &|name| self.variables.get(name).is_some())
    }

    /// A slot of the body.
    pub(super) fn slot(&mut self) -> TokenStream {
        let number = self.slots;
        self.slots += 1;
        quote_spanned!(mixed()=> slots.at(#number))
    }

    /// The operator of a trace's expression.
    pub(super) fn operator(&self, name: &str) -> TokenStream {
        let (krate, name) = (self.emit.krate(), Ident::new(name, mixed()));
        quote_spanned!(mixed()=> #krate::trace::expression::Binary::#name)
    }

    fn hook(&self, method: &str, arguments: &TokenStream) -> TokenStream {
        let (krate, method) = (self.emit.krate(), Ident::new(method, mixed()));
        quote_spanned!(mixed()=> #krate::__private::HOOKS.#method(#arguments))
    }

    /// Rewrites an expression that is followed.
    pub(super) fn follow(&mut self, expr: &mut Expr) -> TokenStream {
        self.follow_as(expr, "")
    }

    /// As [`follow`](Self::follow); if it is read just now people call it that.
    fn follow_as(&mut self, expr: &mut Expr, name: &str) -> TokenStream {
        let span = expr.span();
        match expr {
            Expr::Paren(inner) => self.follow_as(&mut inner.expr, name),
            Expr::Group(inner) => self.follow_as(&mut inner.expr, name),
            Expr::Lit(lit) => self.literal(&lit.lit),
            Expr::Path(_) => self.follow_path(expr),
            Expr::Call(_) => self.follow_result(expr),
            Expr::MethodCall(call) if matches!(shape_of(call), Called::Result) => {
                self.follow_result(expr)
            }
            Expr::MethodCall(call) if matches!(shape_of(call), Called::Operation) => {
                let slot = self.slot();
                *expr = Expr::Verbatim(self.operation(call, Some((&slot, name))));
                quote_spanned!(mixed()=> #slot.take())
            }
            Expr::MethodCall(_) => self.follow_method(expr),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => {
                self.follow_deref(expr, name)
            }
            Expr::Unary(unary) => {
                let method = if matches!(unary.op, UnOp::Neg(_)) { "negated" } else { "inverted" };
                let origin = self.follow(&mut unary.expr);
                let overflow = (method == "negated").then(|| {
                    let overflow = self.emit.overflow_panics();
                    quote_spanned!(mixed()=> #overflow,)
                });
                self.computed((expr, span), method, &quote_spanned!(mixed()=> #overflow || #origin))
            }
            Expr::Binary(binary) if matches!(binary.op, BinOp::And(_) | BinOp::Or(_)) => {
                self.condition(&mut binary.left);
                self.condition(&mut binary.right);
                let slot = self.slot();
                let value = argument(expr);
                *expr = Expr::Verbatim(quote_spanned!(mixed()=> #slot.constant(#value)));
                quote_spanned!(mixed()=> #slot.take())
            }
            Expr::Binary(_) => self.follow_binary(expr),
            Expr::Cast(cast) => {
                let origin = self.follow(&mut cast.expr);
                self.computed((expr, span), "cast", &quote_spanned!(mixed()=> || #origin))
            }
            Expr::Block(block) => {
                let slot = self.slot();
                self.follow_block(&mut block.block, &slot);
                quote_spanned!(mixed()=> #slot.take())
            }
            Expr::If(_) => {
                let slot = self.slot();
                self.follow_if(expr, &slot);
                quote_spanned!(mixed()=> #slot.take())
            }
            other => {
                debug_assert!(false, "what is followed has a shape: {}", other.to_token_stream());
                self.hook("unknown", &TokenStream::new())
            }
        }
    }

    fn literal(&self, lit: &Lit) -> TokenStream {
        match lit {
            Lit::Int(int) if int.suffix().is_empty() => {
                let number: u128 = int.base10_parse().unwrap_or_default();
                self.hook("literal", &quote_spanned!(mixed()=> #number))
            }
            lit => self.hook("constant", &quote_spanned!(mixed()=> &#lit)),
        }
    }

    /// A variable or a constant that is used by value.
    fn follow_path(&mut self, expr: &mut Expr) -> TokenStream {
        if let Some(name) = self.followed(expr) {
            return name;
        }
        if self.is_static(expr) {
            self.expr(expr, Use::Value);
            return self.by_value(expr, "unfollowed");
        }
        let known = match variable(expr) {
            Some(_) => self.names.is_clean(expr),
            None => true,
        };
        self.by_value(expr, if known { "constant" } else { "unfollowed" })
    }

    /// What a call returns.
    fn follow_result(&mut self, expr: &mut Expr) -> TokenStream {
        let known = self.names.is_clean_value(expr);
        self.expr(expr, Use::Value);
        self.by_value(expr, if known { "constant" } else { "unfollowed" })
    }

    /// The origin of a variable that is followed.
    fn followed(&self, expr: &Expr) -> Option<TokenStream> {
        let name = variable(expr)?;
        self.variables.get(name)?;
        let beside = beside(name);
        Some(quote_spanned!(mixed()=> #beside.origin()))
    }

    fn by_value(&mut self, expr: &mut Expr, method: &str) -> TokenStream {
        let (slot, value) = (self.slot(), argument(expr));
        let method = Ident::new(method, mixed());
        *expr = Expr::Verbatim(quote_spanned!(mixed()=> #slot.#method(#value)));
        quote_spanned!(mixed()=> #slot.take())
    }

    /// What is compared: it stays where it is.
    pub(super) fn follow_compared(&mut self, expr: &mut Expr, with_word: bool) -> TokenStream {
        match expr {
            Expr::Paren(inner) => return self.follow_compared(&mut inner.expr, with_word),
            Expr::Group(inner) => return self.follow_compared(&mut inner.expr, with_word),
            Expr::Path(path) if path.path.is_ident("None") => return self.follow(expr),
            Expr::Path(_) if self.is_static(expr) => {}
            Expr::Path(_) => {
                if let Some(origin) = self.followed(expr) {
                    return origin;
                }
                let known = variable(expr).is_none() || self.names.is_clean(expr);
                let method = if known { "constant" } else { "unfollowed" };
                return self.hook(method, &quote_spanned!(mixed()=> &#expr));
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => {
                if !self.in_unsafe {
                    return self.look(expr);
                }
                if with_word {
                    return self.follow(expr);
                }
            }
            _ => return self.follow(expr),
        }
        // Where pointers may be raw a place is compared by a reference.
        self.expr(expr, Use::Place(Borrow::Compare));
        self.hook("unknown", &TokenStream::new())
    }

    /// What a lock may guard is compared where it is.
    fn look(&mut self, expr: &mut Expr) -> TokenStream {
        let Expr::Unary(unary) = expr else { return TokenStream::new() };
        let (span, slot) = (unary.span(), self.slot());
        if forms::is_simple(&unary.expr) {
            let probe = self.emit.wrap("PointerProbe::of", &address(&unary.expr));
            let looking = self.emit.method(&probe, "looking", span, TokenStream::new());
            self.place(expr);
            *expr = Expr::Verbatim(quote_spanned! {mixed()=>
                *#slot.begin(#probe.ours(), "").looked(#looking, &#expr)
            });
        } else {
            let decided = self.is_decided_pointer(expr);
            self.place(expr);
            let named = quote_spanned!(mixed()=> #slot, "");
            self.wrap_pointer(
                expr,
                decided,
                ("looking", TokenStream::new()),
                Some(("naming", named)),
            );
            *expr = Expr::Verbatim(quote_spanned!(mixed()=> *#slot.looked((), &#expr)));
        }
        quote_spanned!(mixed()=> #slot.take())
    }

    fn follow_binary(&mut self, expr: &mut Expr) -> TokenStream {
        let span = expr.span();
        let Expr::Binary(binary) = expr else { return TokenStream::new() };
        let name = shapes::operator(&binary.op).unwrap_or("Add");
        let (left, right) = if forms::is_comparison(&binary.op) {
            let with_word =
                super::expr::is_word(&binary.left) || super::expr::is_word(&binary.right);
            let left = self.follow_compared(&mut binary.left, with_word);
            (left, self.follow_compared(&mut binary.right, with_word))
        } else {
            (self.follow(&mut binary.left), self.follow(&mut binary.right))
        };
        let (operator, overflow) = (self.operator(name), self.emit.overflow_panics());
        let arguments = quote_spanned!(mixed()=> #operator, #overflow, || (#left, #right));
        self.computed((expr, span), "operated", &arguments)
    }

    /// A value that was computed, which may have panicked, or run code of the program. It stood at
    /// this place before it was rewritten.
    fn computed(
        &mut self,
        (expr, span): (&mut Expr, Span),
        method: &str,
        arguments: &TokenStream,
    ) -> TokenStream {
        let (slot, value) = (self.slot(), argument(expr));
        let arguments = quote_spanned!(mixed()=> #value, #arguments);
        *expr = Expr::Verbatim(self.emit.then_by(&slot, method, span, arguments));
        quote_spanned!(mixed()=> #slot.take())
    }

    fn follow_method(&mut self, expr: &mut Expr) -> TokenStream {
        let span = expr.span();
        let Expr::MethodCall(call) = expr else { return TokenStream::new() };
        let receiver = match shape(&call.receiver) {
            // It may be taken by a reference.
            Some(Shape::Variable(_)) => self
                .followed(&call.receiver)
                .unwrap_or_else(|| self.hook("unknown", &TokenStream::new())),
            _ => self.follow(&mut call.receiver),
        };
        let arguments: Vec<TokenStream> =
            call.args.iter_mut().map(|argument| self.follow(argument)).collect();
        let name = call.method.to_string();
        let operands = quote_spanned!(mixed()=> #name, || (#receiver, [#(#arguments),*]));
        self.computed((expr, span), "called", &operands)
    }

    fn follow_deref(&mut self, expr: &mut Expr, name: &str) -> TokenStream {
        let Expr::Unary(unary) = expr else { return TokenStream::new() };
        let (slot, span) = (self.slot(), unary.span());
        if forms::is_simple(&unary.expr) {
            let probe = self.emit.wrap("PointerProbe::of", &address(&unary.expr));
            self.read(expr);
            *expr = Expr::Verbatim(quote_spanned! {mixed()=>
                #slot.begin(#probe.ours(), #name).found(#expr)
            });
        } else {
            let named = quote_spanned!(mixed()=> #slot, #name);
            self.read_by_value(expr, span, Some(("naming", named)));
            *expr = Expr::Verbatim(quote_spanned!(mixed()=> #slot.found(#expr)));
        }
        quote_spanned!(mixed()=> #slot.take())
    }

    /// An element whose index is followed: that there is one is a check. False if it is not.
    pub(super) fn follow_index(&mut self, index: &mut ExprIndex) -> bool {
        if !self.is_worth(&index.index) {
            return false;
        }
        let span = index.index.span();
        let krate = self.emit.krate();
        // The way to it must do nothing that others could notice.
        let named = variable(&index.expr).filter(|name| shapes::is_variable_name(name));
        let length = match named {
            Some(name) => quote_spanned! {mixed()=>
                (&#krate::__private::Probe::of(|| &#name)).length(|| &raw const #name)
            },
            None => quote_spanned!(mixed()=> ::core::option::Option::None),
        };
        self.place(&mut index.expr);
        let origin = self.follow(&mut index.index);
        let value = argument(&index.index);
        let arguments = quote_spanned!(mixed()=> #value, #length, || #origin);
        *index.index = Expr::Verbatim(self.emit.hook("indexes", span, arguments));
        true
    }

    fn follow_block(&mut self, block: &mut Block, slot: &TokenStream) {
        self.tail = Some(slot.clone());
        self.block(block, Use::Value);
    }

    fn follow_if(&mut self, expr: &mut Expr, slot: &TokenStream) {
        let Expr::If(decision) = expr else { return };
        self.condition(&mut decision.cond);
        self.follow_block(&mut decision.then_branch, slot);
        match decision.else_branch.as_mut().map(|(_, otherwise)| &mut **otherwise) {
            Some(Expr::Block(block)) => self.follow_block(&mut block.block, slot),
            Some(otherwise) => self.follow_if(otherwise, slot),
            None => {}
        }
    }

    /// The value of a block that is followed.
    pub(super) fn followed_tail(&mut self, expr: &mut Expr, slot: &TokenStream) {
        let origin = self.follow(expr);
        let value = argument(expr);
        *expr = Expr::Verbatim(quote_spanned!(mixed()=> #slot.keep(#value, || #origin)));
    }

    /// A value that may be followed, and goes where it is not.
    pub(super) fn escaping(&mut self, expr: &mut Expr, used: Use) {
        if !self.is_worth(expr) {
            return self.expr(expr, used);
        }
        let origin = self.follow(expr);
        let value = argument(expr);
        *expr = Expr::Verbatim(self.hook("escapes", &quote_spanned!(mixed()=> #value, || #origin)));
    }

    /// A value that is kept in a slot, for what is said of it later; nothing if there is nothing to
    /// be said of it.
    pub(super) fn kept(&mut self, expr: &mut Expr) -> Option<TokenStream> {
        if !is_followed(expr) {
            self.escaping(expr, Use::Value);
            return None;
        }
        let origin = self.follow(expr);
        let (slot, value) = (self.slot(), argument(expr));
        *expr = Expr::Verbatim(quote_spanned!(mixed()=> #slot.keep(#value, || #origin)));
        Some(slot)
    }

    /// What an operation of ours leaves: its first argument, or what it makes of that. The calls
    /// that say so are put around its last argument.
    pub(super) fn left_by(
        &mut self,
        call: &mut ExprMethodCall,
        kind: &TokenStream,
    ) -> Option<TokenStream> {
        let update = shapes::update_of(call);
        if update.is_none() && !shapes::is_write(call) {
            return None;
        }
        let slot = self.kept(call.args.first_mut()?)?;
        Some(match update {
            Some(operator) => {
                let operator = self.operator(operator);
                quote_spanned!(mixed()=> leaving_with(#kind.ours(), #operator, || #slot.take()))
            }
            None => quote_spanned!(mixed()=> leaving(#kind.ours(), || #slot.take())),
        })
    }

    /// What a variable is given by `let` or by an assignment: its value is rewritten. Nothing if it
    /// is not followed.
    pub(super) fn given(
        &mut self,
        name: Option<&Ident>,
        value: &mut Expr,
        used: Use,
    ) -> Option<Given> {
        let followed = name.filter(|name| self.variables.get(name).is_some());
        let Some(name) = followed else {
            self.escaping(value, used);
            return None;
        };
        if !is_followed(value) {
            self.expr(value, used);
            return Some(Given {
                origin: self.hook("unfollowed", &quote_spanned!(mixed()=> &#name)),
            });
        }
        let origin = self.follow_as(value, &name.to_string());
        Some(Given { origin })
    }

    /// The statement after one by which a variable is bound or assigned.
    pub(super) fn has(&self, name: &Ident, given: Option<Given>, binds: bool) -> Option<syn::Stmt> {
        let kept = self.variables.get(name)?;
        let beside = beside(name);
        let tokens = match (given, binds) {
            (Some(Given { origin }), true) => {
                let hook = self.hook("binds", &quote_spanned!(mixed()=> &#name, #kept, #origin));
                quote_spanned!(mixed()=> #[allow(unused_variables)] let #beside = #hook)
            }
            (Some(Given { origin }), false) => {
                quote_spanned!(mixed()=> #beside.assign(&#name, #kept, #origin))
            }
            (None, _) => {
                let hook = self.hook("declares", &TokenStream::new());
                quote_spanned!(mixed()=> #[allow(unused_variables)] let #beside = #hook)
            }
        };
        Some(statement_about(name, tokens))
    }

    /// An update of a variable that is followed, by an operator; false if it is none.
    pub(super) fn update_followed(&mut self, expr: &mut Expr) -> bool {
        let Expr::Binary(update) = expr else { return false };
        let Some(name) = variable(&update.left).cloned() else { return false };
        let Some(kept) = self.variables.get(&name) else { return false };
        let span = update.span();
        let operator = self.operator(shapes::operator(&update.op).unwrap_or("Add"));
        let origin = if is_followed(&update.right) {
            self.follow(&mut update.right)
        } else {
            self.expr(&mut update.right, Use::Value);
            self.by_value(&mut update.right, "unfollowed")
        };
        let overflow = self.emit.overflow_panics();
        let arguments = quote_spanned!(mixed()=> &#name, #kept, #operator, #overflow, #origin);
        let beside = beside(&name).to_token_stream();
        let after = self.emit.then_by(&beside, "update", span, arguments);
        *expr = Expr::Verbatim(quote_spanned!(mixed()=> { #update; #after; }));
        true
    }

    /// A condition that the program goes by: its parts are looked at one by one, as they are
    /// evaluated.
    pub(super) fn goes_by(&mut self, condition: &mut Expr) -> bool {
        if !self.is_worth(condition) {
            return false;
        }
        let span = condition.span();
        let origin = self.follow(condition);
        let value = argument(condition);
        let arguments = quote_spanned!(mixed()=> #value, || #origin);
        *condition = Expr::Verbatim(self.emit.hook("goes_by", span, arguments));
        true
    }

    /// A condition that has to hold.
    pub(super) fn insists(&mut self, condition: &mut Expr, text: &TokenStream) -> bool {
        if !self.is_worth(condition) {
            return false;
        }
        let span = condition.span();
        let origin = self.follow(condition);
        let value = argument(condition);
        let arguments = quote_spanned!(mixed()=> #value, #text, || #origin);
        *condition = Expr::Verbatim(self.emit.hook("insists", span, arguments));
        true
    }
}

/// What a method that is followed is.
enum Called {
    Operation,
    Method,
    Result,
}

fn shape_of(call: &ExprMethodCall) -> Called {
    match shapes::is_read(call) || shapes::update_of(call).is_some() {
        true => Called::Operation,
        false if shapes::is_method(call) => Called::Method,
        false => Called::Result,
    }
}
