//! The modules of a crate: what each imports and declares, and its code.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Span;
use syn::{Attribute, Expr, ExprLit, Item, Lit, Meta, UseTree};

use super::Unread;
use super::cfg::{Cfg, Truth};
use crate::finding::Place;

/// A crate.
pub(super) struct Crate {
    pub(super) modules: Vec<Module>,
    pub(super) unread: Vec<Unread>,
}

/// A module: a file, or a part of one.
#[derive(Default)]
pub(super) struct Module {
    pub(super) file: String,
    pub(super) parent: Option<usize>,
    pub(super) children: BTreeMap<String, usize>,
    pub(super) imports: Vec<Import>,
    /// What is declared besides modules.
    pub(super) names: BTreeSet<String>,
    /// What is compiled of it, without the modules in it.
    pub(super) items: Vec<Item>,
    /// Where the files of its modules are.
    folder: String,
}

/// A name that stands for another.
#[derive(Clone, Debug)]
pub(super) struct Import {
    /// The name; of a glob there is none.
    pub(super) name: Option<String>,
    /// What it stands for.
    pub(super) path: Vec<String>,
    /// Whether the path starts with `::`.
    pub(super) leading: bool,
    pub(super) place: Place,
    /// Whether it is the declaration of a type of another name, and no import.
    pub(super) is_alias: bool,
}

impl Crate {
    /// Reads a crate, from its first file.
    pub(super) fn read(file: &str, cfg: &Cfg, read: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut krate = Self { modules: Vec::new(), unread: Vec::new() };
        let root = Module { file: file.to_owned(), folder: folder_of(file), ..Module::default() };
        krate.modules.push(root);
        krate.load(0, &Reader { cfg, read, seen: vec![file.to_owned()] });
        krate
    }

    /// Where the crate declares that an allocator is the program's.
    pub(super) fn allocators(&self, cfg: &Cfg) -> Vec<Place> {
        let mut found = Vec::new();
        for module in &self.modules {
            for item in &module.items {
                let Item::Static(item) = item else { continue };
                let all = metas(&item.attrs, cfg);
                if all.iter().any(|meta| meta.path().is_ident("global_allocator")) {
                    found.push(place(&module.file, item.ident.span()));
                }
            }
        }
        found
    }

    /// Reads the file of a module.
    fn load(&mut self, at: usize, reader: &Reader<'_>) {
        let file = self.modules[at].file.clone();
        let problem = match (reader.read)(&file) {
            None => "there is no such file, or it cannot be read".to_owned(),
            Some(text) => match syn::parse_file(&text) {
                Ok(parsed) => {
                    if reader.cfg.allows(&parsed.attrs) > Truth::No {
                        self.fill(at, parsed.items, reader);
                    }
                    return;
                }
                Err(error) => {
                    let start = error.span().start();
                    format!("line {}, column {}: {error}", start.line, start.column + 1)
                }
            },
        };
        self.unread.push(Unread { file, problem, programs: Vec::new() });
    }

    /// Sorts the items of a module.
    fn fill(&mut self, at: usize, items: Vec<Item>, reader: &Reader<'_>) {
        for item in items {
            let truth = reader.cfg.allows(attributes(&item));
            if truth == Truth::No {
                continue;
            }
            match item {
                Item::Mod(module) => self.add_module(at, module, truth, reader),
                Item::Use(item) => {
                    let file = self.modules[at].file.clone();
                    self.modules[at].imports.extend(imports(&item, &file));
                }
                other => {
                    if let Some(import) = alias(&other, &self.modules[at].file) {
                        self.modules[at].imports.push(import);
                    } else if let Some(name) = declared(&other) {
                        self.modules[at].names.insert(name);
                    }
                    self.modules[at].items.push(other);
                }
            }
        }
    }

    fn add_module(&mut self, parent: usize, item: syn::ItemMod, truth: Truth, reader: &Reader<'_>) {
        let name = item.ident.to_string();
        let name = name.strip_prefix("r#").unwrap_or(&name).to_owned();
        let above = &self.modules[parent];
        let path = path_attribute(&item.attrs, reader.cfg);
        let mut module = Module {
            file: above.file.clone(),
            parent: Some(parent),
            folder: join(&above.folder, path.as_deref().unwrap_or(&name)),
            ..Module::default()
        };
        let at = self.modules.len();
        // A module that may be compiled twice, once this way and once that, is the first that is
        // there.
        if let Some((_, items)) = item.content {
            self.modules[parent].children.entry(name).or_insert(at);
            self.modules.push(module);
            self.fill(at, items, reader);
            return;
        }
        let candidates = match path {
            // It starts from the folder of the file that it stands in, unless that is within
            // another module there.
            Some(path) => {
                let inline = above.parent.is_some_and(|it| self.modules[it].file == above.file);
                let from = if inline { above.folder.clone() } else { folder_of(&above.file) };
                vec![join(&from, &path)]
            }
            None => {
                let beside = join(&above.folder, &format!("{name}.rs"));
                vec![beside, join(&above.folder, &format!("{name}/mod.rs"))]
            }
        };
        let is_path = candidates.len() == 1;
        let file = candidates.iter().find(|file| (reader.read)(file).is_some());
        let Some(file) = file else {
            if truth == Truth::Yes {
                let problem = "there is no such file, or it cannot be read".to_owned();
                let file = candidates[0].clone();
                self.unread.push(Unread { file, problem, programs: Vec::new() });
            }
            return;
        };
        if reader.seen.contains(file) {
            return;
        }
        let is_own = is_path || file.ends_with("/mod.rs");
        module.folder = if is_own { folder_of(file) } else { join(&above.folder, &name) };
        module.file.clone_from(file);
        let mut seen = reader.seen.clone();
        seen.push(file.clone());
        self.modules[parent].children.entry(name).or_insert(at);
        self.modules.push(module);
        self.load(at, &Reader { cfg: reader.cfg, read: reader.read, seen });
    }
}

struct Reader<'a> {
    cfg: &'a Cfg,
    read: &'a dyn Fn(&str) -> Option<String>,
    /// The files around: a file that contains itself would have no end.
    seen: Vec<String>,
}

/// The folder that a file is in, without a slash at its end.
fn folder_of(file: &str) -> String {
    file.rsplit_once('/').map_or_else(String::new, |(folder, _)| folder.to_owned())
}

/// A path below a folder, without `..` where that can be.
fn join(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> =
        if path.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !last.is_empty() && *last != "..") => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if folder.is_empty() && !path.starts_with('/') {
        joined.trim_start_matches('/').to_owned()
    } else {
        joined
    }
}

/// A place in a file.
pub(super) fn place(file: &str, span: Span) -> Place {
    let start = span.start();
    let number = |number: usize| u32::try_from(number).unwrap_or(0);
    Place { file: file.to_owned(), line: number(start.line), column: number(start.column + 1) }
}

/// The names that an item imports.
pub(super) fn imports(item: &syn::ItemUse, file: &str) -> Vec<Import> {
    let mut found = Vec::new();
    let leading = item.leading_colon.is_some();
    leaves(&item.tree, &mut Vec::new(), leading, file, &mut found);
    found
}

/// The leaves of an import.
pub(super) fn leaves(
    tree: &UseTree,
    before: &mut Vec<String>,
    leading: bool,
    file: &str,
    found: &mut Vec<Import>,
) {
    let mut leaf = |name: Option<String>, last: Option<String>, span: Span| {
        let mut path = before.clone();
        // `{self}` is what stands before it.
        path.extend(last.filter(|last| last != "self" || before.is_empty()));
        let name = match name.as_deref() {
            Some("self") => path.last().cloned(),
            _ => name,
        };
        let place = place(file, span);
        found.push(Import { name, path, leading, place, is_alias: false });
    };
    match tree {
        UseTree::Path(path) => {
            before.push(plain(&path.ident));
            leaves(&path.tree, before, leading, file, found);
            before.pop();
        }
        UseTree::Name(name) => {
            let last = plain(&name.ident);
            leaf(Some(last.clone()), Some(last), name.ident.span());
        }
        UseTree::Rename(name) => {
            leaf(Some(plain(&name.rename)), Some(plain(&name.ident)), name.ident.span());
        }
        UseTree::Glob(glob) => leaf(None, None, glob.star_token.spans[0]),
        UseTree::Group(group) => {
            for tree in &group.items {
                leaves(tree, before, leading, file, found);
            }
        }
    }
}

/// A name without what makes a keyword a name.
pub(super) fn plain(name: &syn::Ident) -> String {
    let name = name.to_string();
    name.strip_prefix("r#").map_or(name.clone(), str::to_owned)
}

/// A name for a type, or for a crate.
fn alias(item: &Item, file: &str) -> Option<Import> {
    match item {
        Item::Type(item) => {
            let syn::Type::Path(path) = &*item.ty else { return None };
            let segments = path.path.segments.iter().map(|segment| plain(&segment.ident));
            Some(Import {
                name: Some(plain(&item.ident)),
                path: segments.collect(),
                leading: path.path.leading_colon.is_some(),
                place: place(file, item.ident.span()),
                is_alias: true,
            })
        }
        Item::ExternCrate(item) => {
            let name = item.rename.as_ref().map_or(&item.ident, |(_, name)| name);
            let path = if item.ident == "self" { "crate".to_owned() } else { plain(&item.ident) };
            Some(Import {
                name: Some(plain(name)),
                leading: path != "crate",
                path: vec![path],
                place: place(file, item.ident.span()),
                is_alias: true,
            })
        }
        _ => None,
    }
}

/// The name that an item declares.
pub(super) fn declared(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(plain(name))
}

/// The attributes of an item.
pub(super) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// All attributes, those that `cfg_attr` stands for among them.
fn metas(attributes: &[Attribute], cfg: &Cfg) -> Vec<Meta> {
    let mut metas = Vec::new();
    for attribute in attributes {
        match &attribute.meta {
            Meta::List(list) if list.path.is_ident("cfg_attr") => {
                metas.extend(cfg.attributes(list));
            }
            meta => metas.push(meta.clone()),
        }
    }
    metas
}

/// The file that `#[path]` names.
fn path_attribute(attributes: &[Attribute], cfg: &Cfg) -> Option<String> {
    metas(attributes, cfg).into_iter().find_map(|meta| match meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().replace('\\', "/")),
            _ => None,
        },
        _ => None,
    })
}
