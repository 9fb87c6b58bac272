//! Which code is compiled: `#[cfg]`, as far as it is known what is set.

use std::collections::BTreeSet;

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token};

/// Whether something holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Truth {
    /// It does not.
    No,
    /// Nobody knows, or it does in one build and not in another.
    Maybe,
    /// It does.
    Yes,
}

impl Truth {
    const fn not(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Maybe => Self::Maybe,
            Self::Yes => Self::No,
        }
    }
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

/// What is set in a build.
#[derive(Clone, Debug)]
pub struct Cfg {
    /// Whether it is a build of tests.
    pub test: Truth,
    /// The features of the package; nothing is known of them if there are none here.
    pub features: Option<BTreeSet<String>>,
    /// What the compiler says is set, a line each: `unix`, `target_os="linux"`. Nothing is known of
    /// the target if there is none.
    pub compiler: BTreeSet<String>,
}

/// Names of which the compiler says all that is set.
const COMPILERS: [&str; 5] = ["unix", "windows", "debug_assertions", "panic", "overflow_checks"];

/// Names that only other tools set.
const OTHERS: [&str; 3] = ["doc", "doctest", "miri"];

impl Cfg {
    /// A build for recording of which nothing else is known.
    pub fn new(test: Truth) -> Self {
        Self { test, features: None, compiler: BTreeSet::new() }
    }

    /// Whether something with these attributes is compiled.
    pub(super) fn allows(&self, attributes: &[Attribute]) -> Truth {
        let mut truth = Truth::Yes;
        for attribute in attributes {
            match &attribute.meta {
                Meta::List(list) if list.path.is_ident("cfg") => {
                    if let Ok(meta) = list.parse_args::<Meta>() {
                        truth = truth.min(self.eval(&meta));
                    }
                }
                Meta::List(list) if list.path.is_ident("cfg_attr") => {
                    for meta in self.attributes(list) {
                        if let Meta::List(inner) = &meta
                            && inner.path.is_ident("cfg")
                            && let Ok(meta) = inner.parse_args::<Meta>()
                        {
                            truth = truth.min(self.eval(&meta));
                        }
                    }
                }
                _ => {}
            }
        }
        truth
    }

    /// The attributes that a `cfg_attr` stands for, if what it asks may hold.
    pub(super) fn attributes(&self, cfg_attr: &syn::MetaList) -> Vec<Meta> {
        let parse = Punctuated::<Meta, Token![,]>::parse_terminated;
        let Ok(all) = cfg_attr.parse_args_with(parse) else { return Vec::new() };
        let mut all = all.into_iter();
        match all.next() {
            Some(asked) if self.eval(&asked) > Truth::No => all.collect(),
            _ => Vec::new(),
        }
    }

    fn eval(&self, meta: &Meta) -> Truth {
        match meta {
            Meta::Path(path) => path.get_ident().map_or(Truth::Maybe, |name| {
                let name = name.to_string();
                self.is_set(&name, None)
            }),
            Meta::NameValue(pair) => match (&pair.value, pair.path.get_ident()) {
                (Expr::Lit(ExprLit { lit: Lit::Str(value), .. }), Some(name)) => {
                    self.is_set(&name.to_string(), Some(&value.value()))
                }
                _ => Truth::Maybe,
            },
            Meta::List(list) => {
                let parse = Punctuated::<Meta, Token![,]>::parse_terminated;
                let Ok(inner) = list.parse_args_with(parse) else { return Truth::Maybe };
                let mut truths = inner.iter().map(|meta| self.eval(meta));
                if list.path.is_ident("all") {
                    truths.min().unwrap_or(Truth::Yes)
                } else if list.path.is_ident("any") {
                    truths.max().unwrap_or(Truth::No)
                } else if list.path.is_ident("not") {
                    truths.next().map_or(Truth::Maybe, Truth::not)
                } else {
                    Truth::Maybe
                }
            }
        }
    }

    fn is_set(&self, name: &str, value: Option<&str>) -> Truth {
        let line = match value {
            Some(value) => format!("{name}=\"{value}\""),
            None => name.to_owned(),
        };
        let is_compilers = COMPILERS.contains(&name) || name.starts_with("target_");
        match (name, value) {
            ("racelog" | "true", None) => Truth::Yes,
            ("false", None) => Truth::No,
            ("test", None) => self.test,
            ("feature", Some(feature)) => match &self.features {
                Some(features) => features.contains(feature).into(),
                None => Truth::Maybe,
            },
            _ if self.compiler.contains(&line) => Truth::Yes,
            _ if is_compilers && !self.compiler.is_empty() => Truth::No,
            _ if OTHERS.contains(&name) => Truth::No,
            // A build script may set it.
            _ => Truth::Maybe,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_may_hold() {
        let mut cfg = Cfg::new(Truth::Yes);
        cfg.features = Some(BTreeSet::from(["extra".to_owned()]));
        cfg.compiler = BTreeSet::from(["unix".to_owned(), "target_os=\"linux\"".to_owned()]);
        for (text, truth) in [
            ("racelog", Truth::Yes),
            ("not(racelog)", Truth::No),
            ("all(test, racelog)", Truth::Yes),
            ("any(loom, racelog)", Truth::Yes),
            ("not(any(loom, racelog))", Truth::No),
            ("all(racelog, not(loom))", Truth::Maybe),
            ("loom", Truth::Maybe),
            ("feature = \"extra\"", Truth::Yes),
            ("feature = \"other\"", Truth::No),
            ("unix", Truth::Yes),
            ("windows", Truth::No),
            ("target_os = \"macos\"", Truth::No),
            ("not(target_os = \"linux\")", Truth::No),
            ("miri", Truth::No),
            ("all()", Truth::Yes),
            ("any()", Truth::No),
            ("version(1)", Truth::Maybe),
        ] {
            let item: syn::ItemStruct =
                syn::parse_str(&format!("#[cfg({text})] struct A;")).unwrap();
            assert_eq!(cfg.allows(&item.attrs), truth, "{text}");
        }
        let item: syn::ItemStruct =
            syn::parse_str("#[cfg_attr(racelog, cfg(windows))] struct A;").unwrap();
        assert_eq!(cfg.allows(&item.attrs), Truth::No);
    }
}
