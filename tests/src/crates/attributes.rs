//! Puts `#[racelog::instrument]` on every function, impl block and trait of a file.

use syn::spanned::Spanned;
use syn::{Attribute, Item};

use super::edit::Edits;
use crate::registry::Error;

/// The source with the attribute on all that it goes on.
///
/// # Errors
/// If it is no Rust.
pub fn instrument(source: &str) -> Result<String, Error> {
    let file = syn::parse_file(source)?;
    let mut edits = Edits::default();
    walk(&file.items, source, &mut edits);
    Ok(edits.apply(source))
}

fn walk(items: &[Item], source: &str, edits: &mut Edits) {
    for item in items {
        let (attributes, start) = match item {
            Item::Fn(function) => (&function.attrs, start(function)),
            Item::Impl(block) => (&block.attrs, start(block)),
            Item::Trait(definition) => (&definition.attrs, start(definition)),
            Item::Mod(module) => {
                if let Some((_, items)) = &module.content {
                    walk(items, source, edits);
                }
                continue;
            }
            _ => continue,
        };
        // After the other attributes, so that what is not compiled is left out before.
        let at = attributes.iter().map(end).max().unwrap_or(start);
        let rest = &source[at..];
        let at = at + (rest.len() - rest.trim_start().len());
        edits.replace(at..at, "#[::racelog::instrument] ");
    }
}

fn start(item: &impl Spanned) -> usize {
    item.span().byte_range().start
}

fn end(attribute: &Attribute) -> usize {
    // Of a comment for the documentation, all tokens have the same place.
    attribute.bracket_token.span.join().byte_range().end.max(attribute.span().byte_range().end)
}

#[cfg(test)]
mod tests {
    use super::instrument;

    #[test]
    fn what_can_be_instrumented_is() {
        let source = "//! File.\n/// A.\nfn a() {}\nmod m {\n    #[cfg(x)]\n    unsafe impl A for B {}\n}\n\
                      const fn c() {}\nstruct S;\npub trait T {}\n";
        let expected = "//! File.\n/// A.\n#[::racelog::instrument] fn a() {}\nmod m {\n    #[cfg(x)]\n    \
                        #[::racelog::instrument] unsafe impl A for B {}\n}\n#[::racelog::instrument] const fn c() {}\nstruct S;\n\
                        #[::racelog::instrument] pub trait T {}\n";
        assert_eq!(instrument(source).unwrap(), expected);
    }
}
