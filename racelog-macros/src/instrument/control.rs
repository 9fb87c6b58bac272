//! Control flow: expressions that decide by a value.

use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{Arm, BinOp, Block, Expr, ExprBlock, ExprIf, ExprMatch};

use super::emit::{put_first, statement};
use super::expr::{Borrow, Rewriter, Use};
use super::{forms, left_alone, variables};

impl Rewriter<'_> {
    /// Rewrites what is left of the kinds of expressions.
    pub(super) fn control(&mut self, expr: &mut Expr, used: Use) {
        let span = expr.span();
        match expr {
            Expr::If(_) => self.if_expr(expr),
            Expr::Match(_) => self.match_expr(expr, used),
            Expr::While(repeat) => {
                let lets = forms::has_let(&repeat.cond);
                self.condition(&mut repeat.cond);
                self.block(&mut repeat.body, Use::Value);
                if lets {
                    // What is said before the first look is said after every further one.
                    for hook in &self.hooks {
                        put_first(&mut repeat.body.stmts, statement(hook.clone()));
                    }
                    self.decided(&mut repeat.body, span);
                    // It ended because the pattern did not match.
                    self.emit.unit_after(expr, span);
                }
            }
            Expr::ForLoop(repeat) => {
                self.expr(&mut repeat.expr, Use::Value);
                self.block(&mut repeat.body, Use::Value);
                self.bound(&mut repeat.body, &repeat.pat);
                self.decided(&mut repeat.body, span);
                self.emit.unit_after(expr, span);
            }
            Expr::Loop(repeat) => self.block(&mut repeat.body, Use::Value),
            Expr::Break(exit) => {
                if let Some(value) = &mut exit.expr {
                    self.expr(value, Use::Value);
                }
                let branch = self.emit.hook("branch", span, Default::default());
                let exit = &*exit;
                let mixed = proc_macro2::Span::mixed_site();
                *expr = Expr::Verbatim(quote_spanned!(mixed=> { #branch; #exit }));
            }
            Expr::Block(block) => self.block(&mut block.block, used),
            Expr::Unsafe(block) => {
                let outer = std::mem::replace(&mut self.in_unsafe, true);
                self.block(&mut block.block, used);
                self.in_unsafe = outer;
            }
            Expr::Closure(closure) if closure.asyncness.is_some() => {
                left_alone::note(&self.function);
            }
            Expr::Async(_) => left_alone::note(&self.function),
            Expr::Closure(closure) => {
                let parameters = variables::names_of(closure.inputs.iter());
                match &mut *closure.body {
                    Expr::Block(body) if body.label.is_none() && body.attrs.is_empty() => {
                        self.body(&mut body.block, &parameters);
                    }
                    other => {
                        let mut body = empty();
                        let value = std::mem::replace(other, Expr::PLACEHOLDER);
                        body.stmts.push(syn::Stmt::Expr(value, None));
                        self.body(&mut body, &parameters);
                        *closure.body = block_expr(body);
                    }
                }
            }
            // What the compiler evaluates, and what is left for it to understand.
            _ => {}
        }
    }

    /// Puts a branch first in a block.
    fn decided(&self, block: &mut Block, place: proc_macro2::Span) {
        put_first(&mut block.stmts, self.emit.branch(place));
    }

    /// A condition. If there is no `let` in it a branch follows it; if there is, one has to stand
    /// in each alternative.
    pub(super) fn condition(&mut self, condition: &mut Expr) {
        let span = condition.span();
        if !forms::has_let(condition) {
            if self.goes_by(condition) {
                return;
            }
            self.expr(condition, Use::Value);
            self.emit.after(condition, span);
            return;
        }
        match condition {
            Expr::Let(binding) => self.scrutinee(&mut binding.expr),
            Expr::Binary(chain) => {
                self.condition(&mut chain.left);
                self.condition(&mut chain.right);
                let decided = self.emit.hook("decided", span, Default::default());
                let (left, right) = (&chain.left, &chain.right);
                let mixed = proc_macro2::Span::mixed_site();
                debug_assert!(matches!(chain.op, BinOp::And(_)), "it has a `let` in it");
                *condition = Expr::Verbatim(quote_spanned!(mixed=> #left && #decided && #right));
            }
            _ => {}
        }
    }

    /// What is matched with a pattern: its place, for it must not be moved.
    fn scrutinee(&mut self, expr: &mut Expr) {
        self.expr(expr, Use::Place(Borrow::Look));
    }

    fn if_expr(&mut self, expr: &mut Expr) {
        let span = expr.span();
        let Expr::If(ExprIf { cond, then_branch, else_branch, .. }) = expr else { return };
        let lets = forms::has_let(cond);
        self.condition(cond);
        self.block(then_branch, Use::Value);
        if let Some((_, otherwise)) = else_branch {
            // Hooks of what stands there belong before it, not before all of it.
            let outer = std::mem::take(&mut self.hooks);
            self.expr(otherwise, Use::Value);
            self.hooks = outer;
            if !matches!(**otherwise, Expr::Block(_) | Expr::If(_)) {
                let mut block = empty();
                let value = std::mem::replace(&mut **otherwise, Expr::PLACEHOLDER);
                block.stmts.push(syn::Stmt::Expr(value, None));
                **otherwise = block_expr(block);
            }
        }
        if !lets {
            return;
        }
        self.decided(then_branch, span);
        let mixed = proc_macro2::Span::mixed_site();
        match else_branch {
            Some((_, otherwise)) => match &mut **otherwise {
                Expr::Block(block) if block.label.is_none() => self.decided(&mut block.block, span),
                other => {
                    let mut block = empty();
                    let value = std::mem::replace(other, Expr::PLACEHOLDER);
                    block.stmts.push(syn::Stmt::Expr(value, None));
                    self.decided(&mut block, span);
                    *other = block_expr(block);
                }
            },
            None => {
                let branch = self.emit.branch(span);
                let block = Expr::Verbatim(quote_spanned!(mixed=> { #branch }));
                *else_branch = Some((syn::Token![else](mixed), Box::new(block)));
            }
        }
    }

    fn match_expr(&mut self, expr: &mut Expr, used: Use) {
        let span = expr.span();
        let Expr::Match(ExprMatch { expr: scrutinee, arms, .. }) = expr else { return };
        let words = arms.iter().any(|arm| !matches!(arm.pat, syn::Pat::Wild(_)))
            && arms.iter().all(|arm| forms::is_of_words(&arm.pat));
        if words {
            self.expr(scrutinee, Use::Value);
        } else {
            self.scrutinee(scrutinee);
        }
        let hooks = std::mem::take(&mut self.hooks);
        for arm in arms {
            self.arm(arm, span, used);
        }
        self.hooks = hooks;
    }

    fn arm(&mut self, arm: &mut Arm, span: proc_macro2::Span, used: Use) {
        let mixed = proc_macro2::Span::mixed_site();
        if let Some((_, guard)) = &mut arm.guard {
            self.condition(guard);
            let decided = self.emit.hook("decided", span, Default::default());
            **guard = match &**guard {
                // An `||` binds less than the `&&` that comes before it.
                Expr::Binary(_) => Expr::Verbatim(quote_spanned!(mixed=> #decided && (#guard))),
                _ => Expr::Verbatim(quote_spanned!(mixed=> #decided && #guard)),
            };
        }
        let used = if matches!(used, Use::Place(_)) { Use::Value } else { used };
        // A branch comes first in any case.
        self.first = true;
        let outer = self.branch_before;
        self.expr(&mut arm.body, used);
        self.branch_before = outer;
        let mut block = match &mut *arm.body {
            Expr::Block(body) if body.label.is_none() && body.attrs.is_empty() => {
                std::mem::replace(&mut body.block, empty())
            }
            other => {
                let mut block = empty();
                let value = std::mem::replace(other, Expr::PLACEHOLDER);
                block.stmts.push(syn::Stmt::Expr(value, None));
                block
            }
        };
        self.bound(&mut block, &arm.pat);
        self.decided(&mut block, span);
        *arm.body = block_expr(block);
        arm.comma = Some(syn::Token![,](mixed));
    }
}

fn empty() -> Block {
    Block { brace_token: Default::default(), stmts: Vec::new() }
}

/// A block as an expression.
fn block_expr(block: Block) -> Expr {
    Expr::Block(ExprBlock { attrs: Vec::new(), label: None, block })
}
