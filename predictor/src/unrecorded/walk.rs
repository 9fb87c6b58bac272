//! Walks through code, and lists what it uses.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Item, Meta, Stmt};

use super::cfg::{Cfg, Truth};
use super::known::Verdict;
use super::modules::{Crate, Import, attributes, declared, imports, leaves, place, plain};
use super::resolve::{Found, Frame, Scope};
use super::{Unrecorded, Use, What};
use crate::finding::Place;

/// Lists what a module uses.
pub(super) fn walk(
    krate: &Crate,
    module: usize,
    crates: &BTreeMap<String, String>,
    cfg: &Cfg,
    recorded_arc: bool,
) -> Unrecorded {
    let frames = Vec::new();
    let found = Unrecorded::default();
    let mut walker = Walker { krate, module, crates, cfg, recorded_arc, frames, found };
    for import in &krate.modules[module].imports {
        walker.import(import);
    }
    for item in &krate.modules[module].items {
        walker.visit_item(item);
    }
    walker.found
}

struct Walker<'a> {
    krate: &'a Crate,
    module: usize,
    crates: &'a BTreeMap<String, String>,
    cfg: &'a Cfg,
    recorded_arc: bool,
    /// The blocks around, the innermost last.
    frames: Vec<Frame>,
    found: Unrecorded,
}

impl Walker<'_> {
    fn file(&self) -> &str {
        &self.krate.modules[self.module].file
    }

    fn scope(&self) -> Scope<'_> {
        let Self { krate, module, crates, recorded_arc, frames, .. } = self;
        Scope { krate, crates, recorded_arc: *recorded_arc, module: *module, frames }
    }

    fn list(&mut self, place: Place, path: &[String], segments: usize, what: What) {
        let name = path[..segments.min(path.len())].join("::");
        self.found.uses.push(Use { place, name, what, programs: Vec::new() });
    }

    /// An import is listed if it is the first that names the thing.
    fn import(&mut self, import: &Import) {
        if import.is_alias {
            return;
        }
        let resolved = self.scope().resolve(&import.path, import.leading);
        let Found::Other(mut path) = resolved.found else { return };
        if import.name.is_none() {
            path.push("*".to_owned());
        }
        if let Verdict::Listed(what, segments) = self.scope().verdict(&path)
            && !resolved.is_listed
        {
            self.list(import.place.clone(), &path, segments, what);
        }
    }

    /// A path in code.
    fn path(&mut self, path: &[String], leading: bool, span: Span) {
        let resolved = self.scope().resolve(path, leading);
        let Found::Other(full) = resolved.found else { return };
        let Verdict::Listed(what, segments) = self.scope().verdict(&full) else { return };
        let here = place(self.file(), span);
        // What is asked of an `Arc` is said where it is asked, not where it is imported.
        if what == What::ArcOrder && segments == full.len() && path.len() > 1 {
            self.list(here, &full, segments, what);
        } else if !resolved.is_listed {
            self.list(resolved.import.unwrap_or(here), &full, segments, what);
        }
    }

    fn is_compiled(&self, attributes: &[Attribute]) -> bool {
        self.cfg.allows(attributes) > Truth::No
    }

    /// Tokens that nobody has parsed: all that looks like a path is one.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            at = match &tokens[at] {
                TokenTree::Group(group) => {
                    self.tokens(group.stream());
                    at + 1
                }
                TokenTree::Ident(name) => {
                    if name == "Drop" && is_word(tokens.get(at + 1), "for") {
                        self.dropped(tokens.get(at + 2).map_or(name.span(), TokenTree::span), None);
                    }
                    self.token_path(&tokens, at, false)
                }
                TokenTree::Punct(_) if colons(&tokens, at) => {
                    // `::std::…`; in `Vec::<u8>` what follows is no name.
                    match tokens.get(at + 2) {
                        Some(TokenTree::Ident(_)) => self.token_path(&tokens, at + 2, true),
                        _ => at + 2,
                    }
                }
                _ => at + 1,
            };
        }
    }

    /// A path that starts with a name at a token; says where it ends.
    fn token_path(&mut self, tokens: &[TokenTree], start: usize, leading: bool) -> usize {
        let is_field =
            start > 0 && matches!(&tokens[start - 1], TokenTree::Punct(p) if p.as_char() == '.');
        let mut path = Vec::new();
        let mut at = start;
        while let Some(TokenTree::Ident(name)) = tokens.get(at) {
            path.push(plain(name));
            at += 1;
            if !colons(tokens, at) {
                break;
            }
            match tokens.get(at + 2) {
                Some(TokenTree::Ident(_)) => at += 2,
                // `std::sync::{Arc, Mutex}`, as only imports have it.
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    let tree = TokenTree::Group(group.clone());
                    if let Ok(tree) = syn::parse2::<syn::UseTree>(tree.into()) {
                        let mut found = Vec::new();
                        leaves(&tree, &mut path.clone(), leading, self.file(), &mut found);
                        for import in found {
                            self.import(&import);
                        }
                    }
                    return at + 3;
                }
                Some(TokenTree::Punct(star)) if star.as_char() == '*' => {
                    let place = place(self.file(), star.span());
                    let path = path.clone();
                    let name = None;
                    self.import(&Import { name, path, leading, place, is_alias: false });
                    return at + 3;
                }
                _ => break,
            }
        }
        // A field or a method, and no path.
        if !is_field {
            self.path(&path, leading, tokens[start].span());
        }
        at.max(start + 1)
    }

    /// A destructor.
    fn dropped(&mut self, span: Span, of: Option<String>) {
        let name = of.map_or_else(|| "Drop".to_owned(), |of| format!("Drop for {of}"));
        let place = place(self.file(), span);
        self.found.drops.push(Use { place, name, what: What::ArcOrder, programs: Vec::new() });
    }
}

/// Whether `::` stands at a token.
fn colons(tokens: &[TokenTree], at: usize) -> bool {
    let colon = |at: usize| match tokens.get(at) {
        Some(TokenTree::Punct(punct)) if punct.as_char() == ':' => Some(punct.spacing()),
        _ => None,
    };
    colon(at) == Some(Spacing::Joint) && colon(at + 1).is_some()
}

fn is_word(token: Option<&TokenTree>, word: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(name)) if name == word)
}

impl<'ast> Visit<'ast> for Walker<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        // Modules are walked through by themselves, and imports of blocks with their blocks.
        let is_elsewhere = matches!(item, Item::Mod(_) | Item::Use(_));
        if is_elsewhere || !self.is_compiled(attributes(item)) {
            return;
        }
        if let Item::Impl(it) = item
            && it.trait_.as_ref().is_some_and(|(_, path, _)| {
                path.segments.last().is_some_and(|last| last.ident == "Drop")
            })
        {
            let of = match &*it.self_ty {
                syn::Type::Path(path) => path.path.segments.last().map(|last| plain(&last.ident)),
                _ => None,
            };
            self.dropped(it.self_ty.span(), of);
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        let attributes: &[Attribute] = match item {
            syn::ImplItem::Const(item) => &item.attrs,
            syn::ImplItem::Fn(item) => &item.attrs,
            syn::ImplItem::Type(item) => &item.attrs,
            syn::ImplItem::Macro(item) => &item.attrs,
            _ => &[],
        };
        if self.is_compiled(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_trait_item(&mut self, item: &'ast syn::TraitItem) {
        let attributes: &[Attribute] = match item {
            syn::TraitItem::Const(item) => &item.attrs,
            syn::TraitItem::Fn(item) => &item.attrs,
            syn::TraitItem::Type(item) => &item.attrs,
            syn::TraitItem::Macro(item) => &item.attrs,
            _ => &[],
        };
        if self.is_compiled(attributes) {
            visit::visit_trait_item(self, item);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if self.is_compiled(&field.attrs) {
            visit::visit_field(self, field);
        }
    }

    fn visit_field_value(&mut self, field: &'ast syn::FieldValue) {
        if self.is_compiled(&field.attrs) {
            visit::visit_field_value(self, field);
        }
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        if self.is_compiled(&variant.attrs) {
            visit::visit_variant(self, variant);
        }
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if self.is_compiled(&arm.attrs) {
            visit::visit_arm(self, arm);
        }
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if self.is_compiled(&local.attrs) {
            visit::visit_local(self, local);
        }
    }

    fn visit_expr(&mut self, expression: &'ast syn::Expr) {
        let attributes: &[Attribute] = match expression {
            syn::Expr::Block(it) => &it.attrs,
            syn::Expr::Call(it) => &it.attrs,
            syn::Expr::If(it) => &it.attrs,
            syn::Expr::Loop(it) => &it.attrs,
            syn::Expr::Macro(it) => &it.attrs,
            syn::Expr::Match(it) => &it.attrs,
            syn::Expr::MethodCall(it) => &it.attrs,
            syn::Expr::Unsafe(it) => &it.attrs,
            syn::Expr::While(it) => &it.attrs,
            _ => &[],
        };
        if self.is_compiled(attributes) {
            visit::visit_expr(self, expression);
        }
    }

    fn visit_expr_path(&mut self, expression: &'ast syn::ExprPath) {
        // `<Arc<_>>::get_mut`.
        if let Some(of) = &expression.qself
            && of.position == 0
            && let syn::Type::Path(ty) = &*of.ty
        {
            let all = ty.path.segments.iter().chain(&expression.path.segments);
            let path: Vec<String> = all.map(|segment| plain(&segment.ident)).collect();
            self.path(&path, ty.path.leading_colon.is_some(), expression.span());
        }
        visit::visit_expr_path(self, expression);
    }

    fn visit_block(&mut self, block: &'ast Block) {
        let mut frame = Frame::default();
        for statement in &block.stmts {
            let Stmt::Item(item) = statement else { continue };
            if !self.is_compiled(attributes(item)) {
                continue;
            }
            match item {
                Item::Use(item) => frame.imports.extend(imports(item, self.file())),
                other => frame.names.extend(declared(other)),
            }
        }
        let own = frame.imports.clone();
        self.frames.push(frame);
        for import in &own {
            self.import(import);
        }
        visit::visit_block(self, block);
        self.frames.pop();
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|it| plain(&it.ident)).collect();
        self.path(&segments, path.leading_colon.is_some(), path.span());
        visit::visit_path(self, path);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        let metas = match &attribute.meta {
            Meta::List(list) if list.path.is_ident("cfg_attr") => self.cfg.attributes(list),
            meta => vec![meta.clone()],
        };
        for meta in metas {
            let path = meta.path();
            // A single word is an attribute of the compiler's, or has been imported.
            if path.segments.len() > 1 {
                self.visit_path(&path.clone());
            }
        }
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.tokens(call.tokens.clone());
    }
}
