//! `#[racelog::test(schedules = …)]`: a test that runs under many schedules.

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

/// What stands in the attribute's parentheses.
pub(super) struct Arguments {
    schedules: String,
    strategy: String,
    seed: String,
}

const KNOWN: &str = "`#[racelog::test]` takes `schedules = NUMBER`, and besides that \
                     `strategy = \"random\"`, `\"pct:DEPTH\"` or `\"exhaustive\"` and `seed = NUMBER`";

impl Arguments {
    pub(super) fn parse(attribute: TokenStream) -> Result<Self, String> {
        let unknown = || KNOWN.to_owned();
        let (mut schedules, mut strategy, mut seed) = (None, None, None);
        let tokens: Vec<TokenTree> = attribute.into_iter().collect();
        let is = |token: &TokenTree, sign| matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign);
        for argument in tokens.split(|token| is(token, ',')).filter(|tokens| !tokens.is_empty()) {
            let [TokenTree::Ident(name), equals, TokenTree::Literal(value)] = argument else {
                return Err(unknown());
            };
            let place = match name.to_string().as_str() {
                "schedules" => &mut schedules,
                "strategy" => &mut strategy,
                "seed" => &mut seed,
                _ => return Err(unknown()),
            };
            let value = value.to_string();
            if !is(equals, '=') || place.replace(value).is_some() {
                return Err(unknown());
            }
        }
        Ok(Self {
            schedules: schedules.ok_or_else(unknown)?,
            strategy: strategy.unwrap_or_else(|| "\"random\"".to_owned()),
            seed: seed.unwrap_or_else(|| "0".to_owned()),
        })
    }

    /// The function as a test that explores what was its body.
    pub(super) fn expand(&self, item: TokenStream) -> Result<TokenStream, &'static str> {
        const NOT_A_TEST: &str = "this attribute belongs on a function without arguments";
        let tokens: Vec<TokenTree> = item.into_iter().collect();
        let is_fn = |token: &TokenTree| matches!(token, TokenTree::Ident(ident) if ident.to_string() == "fn");
        let at = tokens.iter().position(is_fn).ok_or(NOT_A_TEST)?;
        let (before, function) = tokens.split_at(at);
        let [_, TokenTree::Ident(name), TokenTree::Group(arguments), ..] = function else {
            return Err(NOT_A_TEST);
        };
        if arguments.delimiter() != Delimiter::Parenthesis || !arguments.stream().is_empty() {
            return Err(NOT_A_TEST);
        }
        if before.iter().any(|token| matches!(token.to_string().as_str(), "async" | "const")) {
            return Err("only plain functions can be explored: block on others inside one");
        }
        let Self { schedules, strategy, seed } = self;
        let text = name.to_string();
        let text = text.trim_start_matches("r#");
        let call = format!(
            "::racelog::__private::explore_test(\
                ::core::env!(\"CARGO_PKG_NAME\"), \
                ::core::concat!(::core::module_path!(), \"::\", {text:?}), \
                {schedules}, {strategy}, {seed}, \
                || ::racelog::__private::TestReturn::check({name}()));"
        );
        let mut body: TokenStream = function.iter().cloned().collect();
        body.extend(call.parse::<TokenStream>().map_err(|_| NOT_A_TEST)?);
        let mut output: TokenStream =
            "#[::core::prelude::v1::test]".parse().expect("it is well formed");
        output.extend(before.iter().cloned());
        output.extend(function[..3].iter().cloned());
        output.extend([TokenTree::Group(Group::new(Delimiter::Brace, body))]);
        Ok(output)
    }
}
