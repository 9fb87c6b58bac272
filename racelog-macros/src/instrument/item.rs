//! Items: functions, and items that contain functions.

use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{Attribute, Block, Error, ImplItem, Item, Meta, Signature, Stmt, TraitItem};

use super::emit::Emit;
use super::expr::Rewriter;
use super::{left_alone, names, variables};

/// Instruments an item that the attribute stands on.
pub(super) fn instrument(emit: &Emit, item: &mut Item) -> syn::Result<()> {
    match item {
        Item::Fn(_) | Item::Impl(_) | Item::Trait(_) => {
            within(emit, item);
            Ok(())
        }
        Item::Mod(module) if module.content.is_some() => {
            within(emit, item);
            Ok(())
        }
        Item::Mod(module) => Err(Error::new(
            module.span(),
            "a module in a file of its own cannot be instrumented from outside: put the attribute on \
             the items within",
        )),
        other => Err(Error::new(
            other.span(),
            "this attribute belongs on a function, an impl block, a trait or a module",
        )),
    }
}

/// Instruments all items of a module.
pub(super) fn all(emit: &Emit, items: &mut [Item]) {
    let emit = emit.within(items);
    for item in items {
        within(&emit, item);
    }
}

/// Instruments all functions in an item.
fn within(emit: &Emit, item: &mut Item) {
    match item {
        Item::Fn(item) => {
            unless_skipped(emit, &mut item.attrs, &item.sig, &mut item.block);
        }
        Item::Impl(block) => {
            for item in &mut block.items {
                if let ImplItem::Fn(method) = item {
                    unless_skipped(emit, &mut method.attrs, &method.sig, &mut method.block);
                }
            }
        }
        Item::Trait(definition) => {
            for item in &mut definition.items {
                if let TraitItem::Fn(method) = item {
                    if let Some(body) = &mut method.default {
                        unless_skipped(emit, &mut method.attrs, &method.sig, body);
                    }
                }
            }
        }
        Item::Mod(module) => {
            if let Some((_, items)) = &mut module.content {
                all(emit, items);
            }
        }
        _ => {}
    }
}

/// Instruments a function that is not to be skipped.
fn unless_skipped(
    emit: &Emit,
    attributes: &mut Vec<Attribute>,
    signature: &Signature,
    body: &mut Block,
) {
    if !is_skipped(attributes) {
        function(emit, signature, body);
    }
}

/// Instruments a function, unless it has to stay as it is.
pub(super) fn function(emit: &Emit, signature: &Signature, body: &mut Block) {
    if left_alone::is_left_alone(signature) {
        return;
    }
    let names = names::Names::of(signature, body, emit.imports());
    let mut rewriter = Rewriter::new(emit, names, signature);
    let patterns = signature.inputs.iter().filter_map(|input| match input {
        syn::FnArg::Typed(typed) => Some(&*typed.pat),
        syn::FnArg::Receiver(_) => None,
    });
    rewriter.body(body, &variables::names_of(patterns));
    // What is called by method resolution.
    let krate = emit.krate();
    let imports = quote_spanned! {proc_macro2::Span::mixed_site()=>
        #[allow(unused_imports)]
        use #krate::__private::{
            HasLength as _, HasNoLength as _, IsKnown as _, IsOther as _, IsOtherGuard as _, IsRecorded as _, IsShim as _,
            IsShimGuard as _, IsUnknown as _, OtherCallee1 as _, OtherCallee2 as _, OtherCallee3 as _,
            PointerFallback as _, PointerProbeFallback as _,
        };
    };
    body.stmts.insert(0, Stmt::Expr(syn::Expr::Verbatim(imports), None));
}

/// Whether `#[racelog::instrument(skip)]` stands here; it is taken away.
fn is_skipped(attributes: &mut Vec<Attribute>) -> bool {
    let mut skipped = false;
    attributes.retain(|attribute| {
        let Meta::List(list) = &attribute.meta else { return true };
        let tokens = list.tokens.to_string();
        let named = attribute.path().segments.last().is_some_and(|last| last.ident == "instrument");
        let skips = named && tokens == "skip";
        // Within a condition it does the same by itself, and nothing if the condition is false.
        let conditional = attribute.path().is_ident("cfg_attr");
        skipped |= skips || conditional && tokens.replace(' ', "").contains("instrument(skip)");
        !skips
    });
    skipped
}

/// Instruments a function within a function.
pub(super) fn nested(emit: &Emit, item: &mut Item) {
    if let Item::Fn(item) = item {
        unless_skipped(emit, &mut item.attrs, &item.sig, &mut item.block);
    }
}
