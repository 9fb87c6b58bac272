//! What cannot be instrumented.

use proc_macro2::Span;
use syn::visit::{self, Visit};
use syn::{Block, Error, Expr, Signature};

const ASYNC: &str = "async functions cannot be instrumented: between two polls other code runs, so \
                     their branches are not those of one thread; move the part that is not async to \
                     a function of its own";
const CONST: &str = "const functions cannot be instrumented: recording is not possible at compile \
                     time; in an impl block or a module, `#[racelog::instrument(skip)]` leaves this \
                     one as it is";

/// Refuses a function that cannot be instrumented, at the word that is in the way.
pub(super) fn function(signature: &Signature, body: &Block) -> syn::Result<()> {
    if let Some(token) = &signature.asyncness {
        return Err(Error::new(token.span, ASYNC));
    }
    if let Some(token) = &signature.constness {
        return Err(Error::new(token.span, CONST));
    }
    let mut finder = Finder { error: None };
    finder.visit_block(body);
    finder.error.map_or(Ok(()), Err)
}

/// Finds what cannot be within a function.
struct Finder {
    error: Option<Error>,
}

impl Finder {
    fn refuse(&mut self, span: Span, message: &str) {
        let error = Error::new(span, message);
        match &mut self.error {
            Some(errors) => errors.combine(error),
            None => self.error = Some(error),
        }
    }
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Async(block) => {
                let message = "async blocks cannot be instrumented: move this one to a function \
                               that is not";
                self.refuse(block.async_token.span, message);
            }
            Expr::Closure(closure) if closure.asyncness.is_some() => {
                let span = closure.asyncness.map_or_else(Span::call_site, |token| token.span);
                let message = "async closures cannot be instrumented: move this one to a function \
                               that is not";
                self.refuse(span, message);
            }
            // Evaluated by the compiler.
            Expr::Const(_) => {}
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {
        // Items within are looked at by themselves.
    }
}
