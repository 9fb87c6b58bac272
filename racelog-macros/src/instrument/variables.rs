//! Which variables of a body are followed.
//!
//! A variable is *followed* if everything that gives it a value can be seen: it is bound by `let`
//! with nothing but its name, in this body and not in one around it, and assigned by `=` or by an
//! operator. If it is `mut` it must not occur in any other way, for it may be written there by a
//! reference. It is *kept* if what it has goes only where it is followed again: into expressions,
//! conditions, checks, and what operations of ours leave. Names that are bound more than once count
//! as one, and what stands in closures and unknown macros is any use.

use std::collections::{HashMap, HashSet};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Block, Expr, Ident, Local, Macro, Pat, PatIdent, Stmt};

use super::forms::{self, bare};
use super::insisted::Insisted;
use super::shapes::{self, Shape, is_followed, shape};

/// What is known of the followed variables of a body.
#[derive(Default)]
pub(super) struct Variables {
    /// Their names, and whether they are kept.
    followed: HashMap<String, bool>,
    /// All names that are bound in the body, and around it.
    pub(super) bound: HashSet<String>,
}

impl Variables {
    /// Those of a body. `around` are the names that are bound around it, or by its parameters.
    pub(super) fn of(body: &Block, around: &HashSet<String>) -> Self {
        let mut survey = Survey::default();
        survey.visit_block(body);
        let mut traced: HashSet<String> = HashSet::new();
        loop {
            let is_traced = |name: &Ident| traced.contains(&name.to_string());
            let more: Vec<String> = survey
                .given
                .iter()
                .filter(|(name, value): &&(String, Expr)| {
                    !traced.contains(name) && shapes::comes_from(value, &is_traced)
                })
                .map(|(name, _)| name.clone())
                .collect();
            if more.is_empty() {
                break;
            }
            traced.extend(more);
        }
        let followed = traced.into_iter().filter(|name| {
            survey.simple.contains(name)
                && !around.contains(name)
                && !survey.patterns.contains(name)
                && (!survey.mutable.contains(name) || !survey.loose.contains(name))
        });
        let followed = followed.map(|name| {
            let kept = !survey.loose.contains(&name);
            (name, kept)
        });
        let bound = survey.simple.iter().chain(&survey.patterns).chain(around).cloned().collect();
        Self { followed: followed.collect(), bound }
    }

    /// Whether a variable is followed, and then whether it is kept.
    pub(super) fn get(&self, name: &Ident) -> Option<bool> {
        self.followed.get(&name.to_string()).copied()
    }
}

/// Looks at a body.
#[derive(Default)]
struct Survey {
    /// Bound by `let` with nothing but the name.
    simple: HashSet<String>,
    mutable: HashSet<String>,
    /// Bound in any other way.
    patterns: HashSet<String>,
    /// Used in a way that is not followed.
    loose: HashSet<String>,
    /// What variables are given.
    given: Vec<(String, Expr)>,
}

impl Survey {
    /// A value that is followed as far as its shape goes.
    fn follow(&mut self, expr: &Expr) {
        if !is_followed(expr) {
            return self.visit_expr(expr);
        }
        match shape(expr) {
            // It is looked up when all is known.
            Some(Shape::Variable(_) | Shape::Literal | Shape::Constant) => {}
            Some(Shape::Result) | None => self.visit_expr(expr),
            Some(Shape::Operation(call)) => {
                self.visit_expr(&call.receiver);
                call.args.iter().for_each(|argument| self.follow(argument));
            }
            Some(Shape::Deref(pointer)) => self.visit_expr(pointer),
            Some(Shape::Unary(operand) | Shape::Cast(operand)) => self.follow(operand),
            Some(Shape::Binary(left, right) | Shape::Logic(left, right)) => {
                self.follow(left);
                self.follow(right);
            }
            Some(Shape::Method(call)) => {
                self.follow(&call.receiver);
                call.args.iter().for_each(|argument| self.follow(argument));
            }
            Some(Shape::Block(block)) => self.followed_block(block),
            Some(Shape::If(condition, then, otherwise)) => {
                self.follow(condition);
                self.followed_block(then);
                self.follow(otherwise);
            }
        }
    }

    fn followed_block(&mut self, block: &Block) {
        let (before, tail) = match block.stmts.split_last() {
            Some((Stmt::Expr(tail, None), before)) => (before, Some(tail)),
            _ => (&*block.stmts, None),
        };
        before.iter().for_each(|stmt| self.visit_stmt(stmt));
        tail.into_iter().for_each(|tail| self.follow(tail));
    }

    /// Names that stand anywhere in tokens, those in the texts of formats, too.
    fn tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    self.loose.insert(name.to_string());
                }
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Literal(text) => {
                    let text = text.to_string();
                    for part in text.split('{').skip(1) {
                        let is_name = |c: char| c.is_alphanumeric() || c == '_';
                        let name: String = part.chars().take_while(|c| is_name(*c)).collect();
                        self.loose.insert(name);
                    }
                }
                TokenTree::Punct(_) => {}
            }
        }
    }

    fn macro_call(&mut self, mac: &Macro) {
        match Insisted::parse(mac) {
            Some(insisted) => {
                insisted.operands().for_each(|operand| self.follow(operand));
                insisted.rest().for_each(|rest| self.tokens(rest.to_token_stream()));
            }
            None => self.tokens(mac.tokens.clone()),
        }
    }

    fn give(&mut self, name: &Ident, value: &Expr) {
        self.given.push((name.to_string(), value.clone()));
    }
}

/// The name of a variable that stands alone.
pub(super) fn variable(expr: &Expr) -> Option<&Ident> {
    match bare(expr) {
        Expr::Path(path) if path.qself.is_none() && path.attrs.is_empty() => path.path.get_ident(),
        _ => None,
    }
}

impl<'ast> Visit<'ast> for Survey {
    fn visit_local(&mut self, local: &'ast Local) {
        let name = super::block::simple_pattern(&local.pat);
        let diverges = local.init.as_ref().is_some_and(|init| init.diverge.is_some());
        let Some(name) = name.filter(|_| local.attrs.is_empty() && !diverges) else {
            return visit::visit_local(self, local);
        };
        self.simple.insert(name.ident.to_string());
        if name.mutability.is_some() {
            self.mutable.insert(name.ident.to_string());
        }
        if let Some(init) = &local.init {
            self.give(&name.ident, &init.expr);
            self.follow(&init.expr);
        }
    }

    fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
        self.patterns.insert(pattern.ident.to_string());
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Path(path) => {
                self.loose.extend(path.path.get_ident().map(ToString::to_string));
            }
            Expr::Closure(_) | Expr::Async(_) | Expr::Const(_) | Expr::Verbatim(_) => {
                self.tokens(expr.to_token_stream());
            }
            Expr::Macro(mac) => self.macro_call(&mac.mac),
            Expr::Assign(assign) if assign.attrs.is_empty() => {
                if let Some(name) = variable(&assign.left) {
                    self.give(name, &assign.right);
                } else {
                    self.visit_expr(&assign.left);
                }
                self.follow(&assign.right);
            }
            Expr::Binary(update) if update.attrs.is_empty() && forms::is_assignment(&update.op) => {
                if let Some(name) = variable(&update.left) {
                    self.give(name, &update.right);
                } else {
                    self.visit_expr(&update.left);
                }
                self.follow(&update.right);
            }
            Expr::If(decision) if decision.attrs.is_empty() && !forms::has_let(&decision.cond) => {
                self.follow(&decision.cond);
                self.visit_block(&decision.then_branch);
                if let Some((_, otherwise)) = &decision.else_branch {
                    self.visit_expr(otherwise);
                }
            }
            Expr::Index(index) if index.attrs.is_empty() => {
                self.visit_expr(&index.expr);
                self.follow(&index.index);
            }
            Expr::While(repeat) if repeat.attrs.is_empty() && !forms::has_let(&repeat.cond) => {
                self.follow(&repeat.cond);
                self.visit_block(&repeat.body);
            }
            Expr::MethodCall(call) if call.attrs.is_empty() && shapes::is_write(call) => {
                self.visit_expr(&call.receiver);
                call.args.iter().for_each(|argument| self.follow(argument));
            }
            Expr::MethodCall(_) | Expr::Unary(_) | Expr::Binary(_) | Expr::Cast(_)
                if is_followed(expr) && shape(expr).is_some_and(|it| stands_alone(&it)) =>
            {
                self.follow(expr);
            }
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        match stmt {
            Stmt::Macro(mac) => self.macro_call(&mac.mac),
            // Another function's variables are its own, and constants have none.
            Stmt::Item(item) => self.tokens(item.to_token_stream()),
            other => visit::visit_stmt(self, other),
        }
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        self.macro_call(mac);
    }
}

/// Whether an expression is followed wherever it stands, for what it says itself.
fn stands_alone(shape: &Shape<'_>) -> bool {
    matches!(shape, Shape::Operation(call) if shapes::update_of(call).is_some())
}

/// The names that patterns bind.
pub(super) fn names_of<'p>(patterns: impl Iterator<Item = &'p Pat>) -> HashSet<String> {
    patterns
        .flat_map(|pattern| forms::bindings(pattern).into_iter().map(|name| name.to_string()))
        .collect()
}
