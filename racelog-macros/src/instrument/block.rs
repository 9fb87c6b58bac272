//! Blocks and statements.

use std::collections::HashSet;

use proc_macro2::Span;
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{Block, Expr, Local, Pat, Stmt};

use super::emit::{put_first, statement, statement_about};
use super::expr::{Borrow, Rewriter, Use};
use super::variables::Variables;
use super::{forms, item};

impl Rewriter<'_> {
    /// The body of a function or a closure. Whatever its caller has read, a branch comes first: so
    /// what parameters and captured variables refer to does not depend on what is read in here. And
    /// one comes last, so that its caller need not care about what was. `parameters` are what it is
    /// called with.
    pub(super) fn body(&mut self, body: &mut Block, parameters: &HashSet<String>) {
        let outer = std::mem::take(&mut self.hooks);
        let outer_branch = self.branch_before;
        let outer_slots = std::mem::take(&mut self.slots);
        let outer_tail = self.tail.take();
        let around = self.variables.bound.union(parameters).cloned().collect();
        let variables = Variables::of(body, &around);
        let outer_variables = std::mem::replace(&mut self.variables, variables);
        self.statements(body, false, Use::Value);
        let begun = self.emit.hook("body", body.span(), Default::default());
        let mixed = Span::mixed_site();
        if self.slots > 0 {
            let (krate, count) = (self.emit.krate(), self.slots);
            let slots =
                quote_spanned!(mixed=> let slots = #krate::__private::HOOKS.slots::<#count>());
            put_first(&mut body.stmts, statement(slots));
        }
        self.variables = outer_variables;
        self.slots = outer_slots;
        self.tail = outer_tail;
        put_first(&mut body.stmts, statement(quote_spanned!(mixed=> let _body = #begun)));
        self.hooks = outer;
        self.branch_before = outer_branch;
    }

    /// A block within a function.
    pub(super) fn block(&mut self, block: &mut Block, used: Use) {
        let outer = std::mem::take(&mut self.hooks);
        let outer_branch = self.branch_before;
        let binds = block.stmts.iter().any(|stmt| matches!(stmt, Stmt::Local(_)));
        self.statements(
            block,
            binds,
            if matches!(used, Use::Place(_)) { Use::Value } else { used },
        );
        if binds {
            self.begin(block);
        }
        self.hooks = outer;
        self.branch_before = outer_branch;
    }

    /// What notices the end of a block.
    fn begin(&self, block: &mut Block) {
        let begun = self.emit.hook("block", block.span(), Default::default());
        let mixed = Span::mixed_site();
        put_first(&mut block.stmts, statement(quote_spanned!(mixed=> let block_end = #begun)));
    }

    /// A block in which a pattern has bound variables.
    pub(super) fn bound(&self, block: &mut Block, pattern: &Pat) {
        let bindings = forms::bindings(pattern);
        if bindings.is_empty() {
            return;
        }
        let mixed = Span::mixed_site();
        for name in bindings {
            let has = quote_spanned!(mixed=> bound_end.has(&raw const #name));
            put_first(&mut block.stmts, statement_about(&name, has));
        }
        let begun = self.emit.hook("block", block.span(), Default::default());
        put_first(&mut block.stmts, statement(quote_spanned!(mixed=> let bound_end = #begun)));
    }

    fn statements(&mut self, block: &mut Block, ends: bool, used: Use) {
        let count = block.stmts.len();
        let followed = self.tail.take();
        let mut statements = Vec::with_capacity(2 * count);
        for (index, stmt) in std::mem::take(&mut block.stmts).into_iter().enumerate() {
            let last = index + 1 == count;
            match stmt {
                Stmt::Local(local) => self.local(local, ends, &mut statements),
                Stmt::Item(mut nested) => {
                    item::nested(self.emit, &mut nested);
                    statements.push(Stmt::Item(nested));
                }
                Stmt::Expr(expr, semi) => {
                    let tail = last && semi.is_none();
                    let used = if tail { used } else { Use::Value };
                    self.tail = followed.clone().filter(|_| tail);
                    self.expression(expr, semi, tail, used, &mut statements);
                    self.tail = None;
                }
                Stmt::Macro(mut mac) => {
                    let semi = syn::Token![;](Span::mixed_site());
                    if mac.attrs.is_empty() {
                        if let Some(tokens) = self.insisted(&mac.mac) {
                            statements.push(Stmt::Expr(Expr::Verbatim(tokens), Some(semi)));
                            continue;
                        }
                    }
                    let (span, kept) = (mac.span(), forms::conditions(&mac.attrs));
                    self.push(&mut statements, &kept, self.emit.branch(span));
                    if !self.macro_arguments(&mut mac.mac) {
                        if let Some(said) = self.blind_spot(&mac.mac) {
                            self.push(&mut statements, &kept, statement(said));
                        }
                    }
                    statements.push(Stmt::Macro(mac));
                }
            }
        }
        block.stmts = statements;
    }

    /// Adds a statement that is there whenever another is.
    fn push(&self, statements: &mut Vec<Stmt>, conditions: &[syn::Attribute], stmt: Stmt) {
        if conditions.is_empty() {
            statements.push(stmt);
        } else {
            let tokens = quote_spanned!(Span::mixed_site()=> #(#conditions)* #stmt);
            statements.push(Stmt::Expr(Expr::Verbatim(tokens), None));
        }
    }

    fn expression(
        &mut self,
        mut expr: Expr,
        semi: Option<syn::Token![;]>,
        tail: bool,
        used: Use,
        statements: &mut Vec<Stmt>,
    ) {
        let attributes = forms::take_attributes(&mut expr);
        let kept = forms::conditions(&attributes);
        let span = expr.span();
        let with_attributes = |expr: Expr| match &*attributes {
            [] => expr,
            attributes => {
                let mixed = Span::mixed_site();
                Expr::Verbatim(quote_spanned!(mixed=> #(#attributes)* #expr))
            }
        };
        // What was there is dropped: a branch is needed only if that does something.
        if let (Expr::Assign(assign), Some(_)) = (&mut expr, semi) {
            let variable = match &*assign.left {
                Expr::Path(path) if self.names.is_variable(&path.path) => Some(path),
                _ => None,
            };
            if let Some(path) = variable {
                let place = quote_spanned!(Span::mixed_site()=> &raw const #path);
                let overwritten = statement(self.emit.hook("overwritten", span, place));
                self.branch_before = false;
                self.first = true;
                let name = path.path.get_ident().cloned();
                let given = self.given(name.as_ref(), &mut assign.right, Use::Value);
                if std::mem::take(&mut self.branch_before) {
                    self.push(statements, &kept, self.emit.branch(span));
                }
                statements.push(Stmt::Expr(with_attributes(expr), semi));
                self.push(statements, &kept, overwritten);
                let has = name.zip(given);
                let has = has.and_then(|(name, given)| self.has(&name, Some(given), false));
                has.into_iter().for_each(|stmt| self.push(statements, &kept, stmt));
                return;
            }
        }
        if let Expr::Break(exit) = &mut expr {
            if let Some(value) = &mut exit.expr {
                self.expr(value, Use::Value);
            }
            self.push(statements, &kept, self.emit.branch(span));
            statements.push(Stmt::Expr(with_attributes(expr), semi));
            return;
        }
        self.branch_before = false;
        self.first = true;
        match self.tail.take() {
            Some(slot) => self.followed_tail(&mut expr, &slot),
            None if semi.is_some() => self.forgotten(&mut expr, used),
            None => self.expr(&mut expr, used),
        }
        let mut semi = semi;
        if !tail && semi.is_none() && matches!(expr, Expr::Verbatim(_)) {
            // It has been a block.
            semi = Some(syn::Token![;](Span::mixed_site()));
        }
        if std::mem::take(&mut self.branch_before) {
            self.push(statements, &kept, self.emit.branch(span));
        }
        statements.push(Stmt::Expr(with_attributes(expr), semi));
    }

    fn local(&mut self, mut local: Local, ends: bool, statements: &mut Vec<Stmt>) {
        let span = local.span();
        let mixed = Span::mixed_site();
        let kept = forms::conditions(&local.attrs);
        let bindings = forms::bindings(&local.pat);
        let lock = local
            .init
            .as_ref()
            .and_then(|init| forms::taken_lock(&init.expr))
            .map(|call| call.method.span());
        let guard = simple_name(&local.pat).cloned().zip(lock);
        let initialised = local.init.is_some();
        let (mut before, mut decided) = (false, false);
        let mut given = None;
        let followed = simple_name(&local.pat).filter(|_| local.attrs.is_empty()).cloned();
        self.branch_before = false;
        if let Some(init) = &mut local.init {
            let moved = simple_name(&local.pat).is_some();
            self.first = true;
            let used = if moved { Use::Binding } else { Use::Place(Borrow::Look) };
            if moved && init.diverge.is_none() && local.attrs.is_empty() {
                given = self.given(simple_name(&local.pat), &mut init.expr, used);
            } else {
                self.expr(&mut init.expr, used);
            }
            before = std::mem::take(&mut self.branch_before);
            if let Some((_, diverge)) = &mut init.diverge {
                decided = true;
                self.expr(diverge, Use::Value);
                if let Expr::Block(block) = &mut **diverge {
                    put_first(&mut block.block.stmts, self.emit.branch(span));
                }
            }
        }
        if before {
            self.push(statements, &kept, self.emit.branch(span));
        }
        for hook in std::mem::take(&mut self.hooks) {
            self.push(statements, &kept, statement(hook));
        }
        if guard.is_some() {
            let released = self.emit.hook("released", span, Default::default());
            let stmt = statement(quote_spanned!(mixed=> let _released = #released));
            self.push(statements, &kept, stmt);
        }
        statements.push(Stmt::Local(local));
        if let Some(name) = followed {
            statements.extend(self.has(&name, given, true));
        }
        if decided {
            self.push(statements, &kept, self.emit.branch(span));
        }
        if let Some((name, place)) = guard {
            let probe = self.emit.probe(&name);
            let releasing = self.emit.method(&probe, "releasing", place, Default::default());
            let stmt = quote_spanned!(mixed=> let _releasing = #releasing);
            let stmt = statement_about(&name, stmt);
            self.push(statements, &kept, stmt);
            if ends {
                let drops = self.emit.method(&probe, "drops", place, Default::default());
                let stmt = statement_about(&name, quote_spanned!(mixed=> block_end.drops(#drops)));
                self.push(statements, &kept, stmt);
            }
        } else if ends && !initialised {
            self.push(statements, &kept, statement(quote_spanned!(mixed=> block_end.drops(true))));
        } else if ends {
            for name in bindings {
                let has = quote_spanned!(mixed=> block_end.has(&raw const #name));
                self.push(statements, &kept, statement_about(&name, has));
            }
        }
    }
}

/// The name, if a pattern is nothing but a name that is bound by value.
fn simple_name(pattern: &Pat) -> Option<&syn::Ident> {
    simple_pattern(pattern).map(|name| &name.ident)
}

/// As [`simple_name`], with what stands before the name.
pub(super) fn simple_pattern(pattern: &Pat) -> Option<&syn::PatIdent> {
    match pattern {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => Some(name),
        Pat::Type(typed) => simple_pattern(&typed.pat),
        _ => None,
    }
}
