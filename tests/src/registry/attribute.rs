//! Puts the attribute on everything: `#[racelog::instrument]` on every function, impl block and
//! trait of a file, in builds with `--cfg racelog`.

use std::fs;

use proc_macro2::LineColumn;
use syn::spanned::Spanned;
use syn::{ImplItem, Item, TraitItem};

use super::{Error, Package};

/// What is put before an item. Nothing moves to another line.
const ATTRIBUTE: &str = "#[cfg_attr(racelog, ::racelog::instrument)] ";

/// Instruments all of a crate's library. Returns how many functions have the attribute, or stand in
/// a block that has it.
///
/// # Errors
/// If a file cannot be read or written, or is not one of Rust.
pub(super) fn instrument_all(package: &Package) -> Result<usize, Error> {
    let mut functions = 0;
    for path in package.sources("src")? {
        let source = fs::read_to_string(&path)?;
        let (mut instrumented, count) =
            instrument(&source).map_err(|error| format!("{}: {error}", path.display()))?;
        functions += count;
        // There, crates have to be named at the root.
        if package.edition() == "2015" && path.ends_with("src/lib.rs") {
            instrumented.push_str("\n#[cfg(racelog)] extern crate racelog;\n");
        }
        fs::write(path, instrumented)?;
    }
    Ok(functions)
}

/// The text with the attribute on everything, and how many functions that are.
fn instrument(source: &str) -> syn::Result<(String, usize)> {
    let file = syn::parse_file(source)?;
    let mut places = Places::default();
    places.collect(&file.items);
    let mut instrumented = String::with_capacity(source.len() * 2);
    let mut from = 0;
    for place in places.before.iter().map(|place| offset(source, *place)) {
        instrumented.push_str(&source[from..place]);
        instrumented.push_str(ATTRIBUTE);
        from = place;
    }
    instrumented.push_str(&source[from..]);
    Ok((instrumented, places.functions))
}

/// Where attributes go.
#[derive(Default)]
struct Places {
    before: Vec<LineColumn>,
    functions: usize,
}

impl Places {
    fn collect(&mut self, items: &[Item]) {
        for item in items {
            let functions = match item {
                Item::Fn(_) => 1,
                Item::Impl(block) => {
                    let is_function = |item: &&ImplItem| matches!(item, ImplItem::Fn(_));
                    block.items.iter().filter(is_function).count()
                }
                Item::Trait(definition) => {
                    let has_body = |item: &&TraitItem| matches!(item, TraitItem::Fn(function) if function.default.is_some());
                    definition.items.iter().filter(has_body).count()
                }
                // Not on the module: there may be one in it that has a file of its own.
                Item::Mod(module) => {
                    let items = module.content.as_ref().map_or(&[][..], |(_, items)| items);
                    self.collect(items);
                    0
                }
                _ => 0,
            };
            if functions > 0 {
                self.before.push(item.span().start());
                self.functions += functions;
            }
        }
    }
}

/// Where a place is in a text, in bytes.
fn offset(source: &str, place: LineColumn) -> usize {
    let mut lines = source.split_inclusive('\n');
    let before: usize = lines.clone().take(place.line - 1).map(str::len).sum();
    // The mark that a file may begin with is none of its characters.
    let mark = if place.line == 1 && source.starts_with('\u{feff}') { 1 } else { 0 };
    let line = lines.nth(place.line - 1).unwrap_or_default();
    let column = line.char_indices().nth(place.column + mark).map_or(line.len(), |(at, _)| at);
    before + column
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_has_functions_gets_the_attribute_and_no_line_moves() {
        let source = "#![no_std]\n/// Text: ä.\npub fn one() {}\nmod m { /* ü */ impl T { fn a() {}\n\
                      fn b() {} } mod f; }\ntrait T { fn c(); }\ntrait U { fn d() {} }\nstruct S;\n";
        let (instrumented, functions) = instrument(source).unwrap();
        assert_eq!(functions, 4);
        let lines: Vec<&str> = instrumented.lines().collect();
        assert_eq!(lines.len(), source.lines().count());
        assert_eq!(lines[1], format!("{ATTRIBUTE}/// Text: ä."));
        assert_eq!(lines[3], format!("mod m {{ /* ü */ {ATTRIBUTE}impl T {{ fn a() {{}}"));
        assert_eq!(lines[5], "trait T { fn c(); }");
        assert_eq!(lines[6], format!("{ATTRIBUTE}trait U {{ fn d() {{}} }}"));
    }
}
