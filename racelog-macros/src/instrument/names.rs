//! Which variables may hold something that was read without a branch after it.
//!
//! An operation on what such a variable refers to is on a place that depends on what was read, so a
//! branch has to come before it. All other variables were bound when no branch was owed:
//! parameters, for one is recorded when a function is entered; what patterns bind, for one follows
//! every match; results of calls and operators, for one follows these, too.

use std::collections::{HashMap, HashSet};

use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprAssign, Ident, Local, PatIdent, Path, Signature, UseTree};

use super::forms;

/// What is known of the names in a function.
#[derive(Default)]
pub(super) struct Names {
    bound: HashSet<String>,
    unclean: HashSet<String>,
    /// Whether raw pointers can be dereferenced in what is being looked at.
    in_unsafe: bool,
    /// Functions that were imported from a module, and what they are called there.
    imports: HashMap<String, (String, String)>,
}

impl Names {
    /// Looks at all of a function; names that are bound more than once count as one. `imports` are
    /// those of the module that it stands in.
    pub(super) fn of(signature: &Signature, body: &Block, imports: &[UseTree]) -> Self {
        let mut names = Self { in_unsafe: signature.unsafety.is_some(), ..Self::default() };
        for tree in imports {
            names.import(tree, None);
        }
        // A variable can be bound to one that turns out to be unclean later.
        loop {
            let before = names.unclean.len();
            names.visit_signature(signature);
            names.visit_block(body);
            if names.unclean.len() == before {
                return names;
            }
        }
    }

    /// Whether a path is a variable of the function.
    pub(super) fn is_variable(&self, path: &Path) -> bool {
        path.is_ident("self")
            || path.get_ident().is_some_and(|name| self.bound.contains(&name.to_string()))
    }

    /// The module and the name of a function that was imported.
    pub(super) fn imported(&self, name: &Ident) -> Option<(String, String)> {
        self.imports.get(&name.to_string()).cloned()
    }

    fn import(&mut self, tree: &UseTree, module: Option<&Ident>) {
        let mut note = |name: &Ident, own: &Ident| {
            if let Some(module) = module {
                let function = (module.to_string(), name.to_string());
                self.imports.insert(own.to_string(), function);
            }
        };
        match tree {
            UseTree::Path(path) => self.import(&path.tree, Some(&path.ident)),
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.import(tree, module));
            }
            UseTree::Name(name) => note(&name.ident, &name.ident),
            UseTree::Rename(rename) => note(&rename.ident, &rename.rename),
            UseTree::Glob(_) => {}
        }
    }

    /// Whether a place is the same, whatever was read since the last branch.
    pub(super) fn is_clean(&self, place: &Expr) -> bool {
        let Some((path, far)) = forms::root(place) else { return false };
        !far && path.get_ident().is_none_or(|name| !self.unclean.contains(&name.to_string()))
    }

    /// Notes the variables that are assigned to, by destructuring as well. Of what is assigned
    /// through a variable it keeps its own value, and a branch follows.
    fn assigned(&mut self, left: &Expr) {
        match left {
            Expr::Path(path) => {
                self.unclean.extend(path.path.get_ident().map(ToString::to_string));
            }
            Expr::Paren(inner) => self.assigned(&inner.expr),
            Expr::Tuple(parts) => parts.elems.iter().for_each(|part| self.assigned(part)),
            Expr::Array(parts) => parts.elems.iter().for_each(|part| self.assigned(part)),
            Expr::Call(parts) => parts.args.iter().for_each(|part| self.assigned(part)),
            Expr::Struct(parts) => parts.fields.iter().for_each(|part| self.assigned(&part.expr)),
            _ => {}
        }
    }

    /// Whether the value is the guard of a lock: which lock it is was decided before it was taken,
    /// and if it is one of ours, its events say so. In unsafe code pointers are read by these
    /// names.
    fn takes_lock(&self, value: &Expr) -> bool {
        forms::taken_lock(value).is_some_and(|call| !self.in_unsafe || call.method == "lock")
    }

    /// Whether a variable with this value is clean.
    pub(super) fn is_clean_value(&self, value: &Expr) -> bool {
        match forms::bare(value) {
            Expr::Lit(_) | Expr::Closure(_) | Expr::Macro(_) | Expr::Try(_) => true,
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) if forms::is_constructor(&path.path) => {
                    call.args.iter().all(|argument| self.is_clean_value(argument))
                }
                _ => true,
            },
            Expr::MethodCall(call) => {
                self.takes_lock(value)
                    || !(forms::is_operation(call) || forms::is_unwrap(call) || is_read(call))
            }
            Expr::Reference(reference) => self.is_clean(&reference.expr),
            Expr::Tuple(tuple) => tuple.elems.iter().all(|part| self.is_clean_value(part)),
            place => self.is_clean(place),
        }
    }
}

/// Whether a call may be recorded as an access without a branch after it.
fn is_read(call: &syn::ExprMethodCall) -> bool {
    call.method.to_string().starts_with("read")
}

impl<'ast> Visit<'ast> for Names {
    fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
        self.bound.insert(pattern.ident.to_string());
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_local(&mut self, local: &'ast Local) {
        let clean = local.init.as_ref().is_some_and(|init| {
            // A branch follows the match.
            init.diverge.is_some() || self.is_clean_value(&init.expr)
        });
        if !clean {
            let names = forms::bindings(&local.pat);
            self.unclean.extend(names.iter().map(ToString::to_string));
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_assign(&mut self, assign: &'ast ExprAssign) {
        self.assigned(&assign.left);
        visit::visit_expr_assign(self, assign);
    }

    fn visit_expr_unsafe(&mut self, block: &'ast syn::ExprUnsafe) {
        let outer = std::mem::replace(&mut self.in_unsafe, true);
        visit::visit_expr_unsafe(self, block);
        self.in_unsafe = outer;
    }

    fn visit_item(&mut self, item: &'ast syn::Item) {
        if let syn::Item::Use(item) = item {
            self.import(&item.tree, None);
        }
        // Another function's variables are its own.
    }
}
