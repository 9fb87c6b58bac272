//! `#[racelog::instrument]`.
//!
//! The expansion keeps every expression where it is and puts calls of `racelog::__private` around
//! it: functions that return their argument, so that temporaries live as long as they did and types
//! are inferred as they were. What it cannot know, such as whether a pointer is raw or a method one
//! of racelog's, the calls leave to method resolution; see `racelog/src/instrument`.
//!
//! The rule is that nothing is known to be harmless but what is listed here: literals, variables,
//! fields, references, constructors, casts to other words, `let` without `else`, blocks, and
//! operations of racelog's types on places that do not depend on what was read. After everything
//! else a branch is recorded, if something was read before.

mod block;
mod control;
mod emit;
mod expr;
mod follow;
mod forms;
mod insisted;
mod item;
mod left_alone;
mod macros;
mod names;
mod overflow;
mod place;
mod pointers;
mod shapes;
mod variables;

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Error, Item, Path, Token};

use emit::Emit;

/// What stands in the parentheses of the attribute.
struct Arguments {
    skip: bool,
    /// What racelog is called.
    krate: TokenStream,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut arguments = Self { skip: false, krate: quote!(::racelog) };
        while !input.is_empty() {
            if input.peek(Token![crate]) {
                input.parse::<Token![crate]>()?;
                input.parse::<Token![=]>()?;
                arguments.krate = input.call(Path::parse_mod_style)?.to_token_stream();
            } else {
                let word: syn::Ident = input.parse()?;
                if word != "skip" {
                    let message = format!(
                        "`{word}` is no argument of `#[racelog::instrument]`: it takes `skip` and \
                         `crate = path`"
                    );
                    return Err(Error::new(word.span(), message));
                }
                arguments.skip = true;
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(arguments)
    }
}

/// From the attribute's arguments and its item to what stands there instead.
pub(crate) fn expand(arguments: TokenStream, item: &TokenStream) -> TokenStream {
    match try_expand(arguments, item.clone()) {
        Ok(expanded) => expanded,
        Err(error) => {
            // The item stays, so that those who use it get no messages about its absence.
            let message = error.into_compile_error();
            quote!(#message #item)
        }
    }
}

/// From items to what stands there instead.
pub(crate) fn expand_items(items: &TokenStream) -> TokenStream {
    match parse::<syn::File>(items) {
        Ok(mut file) => {
            item::all(&Emit::new(quote!(::racelog)), &mut file.items);
            file.into_token_stream()
        }
        Err(error) => {
            let message = error.into_compile_error();
            quote!(#message #items)
        }
    }
}

fn try_expand(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let Arguments { skip, krate } = syn::parse2(arguments)?;
    if skip {
        return Ok(item);
    }
    // Methods are items only within their block.
    if let Ok(mut method) = parse::<syn::ImplItemFn>(&item) {
        item::function(&Emit::new(krate), &method.sig, &mut method.block);
        return Ok(method.into_token_stream());
    }
    let mut item: Item = parse(&item)?;
    item::instrument(&Emit::new(krate), &mut item)?;
    Ok(item.into_token_stream())
}

/// Parses an item. In edition 2015 some words are names that are keywords since.
fn parse<T: Parse>(item: &TokenStream) -> syn::Result<T> {
    syn::parse2(item.clone())
        .or_else(|error| syn::parse2(with_raw_names(item.clone())).map_err(|_| error))
}

/// The tokens, with the words that are names in edition 2015 as names in every edition.
fn with_raw_names(tokens: TokenStream) -> TokenStream {
    let raw = |token| match token {
        TokenTree::Ident(word) if ["async", "await", "try"].iter().any(|name| word == name) => {
            TokenTree::Ident(Ident::new_raw(&word.to_string(), word.span()))
        }
        TokenTree::Group(group) => {
            let mut with_raw = Group::new(group.delimiter(), with_raw_names(group.stream()));
            with_raw.set_span(group.span());
            TokenTree::Group(with_raw)
        }
        other => other,
    };
    tokens.into_iter().map(raw).collect()
}
