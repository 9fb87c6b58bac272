//! The attribute macros of racelog. Use them as `#[racelog::test]`, `#[racelog::main]` and
//! `#[racelog::instrument]`.

#[cfg(feature = "record")]
mod instrument;

mod schedules;

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

use schedules::Arguments;

/// A test that is recorded into a trace of its own when `RACELOG=1` asks for it.
///
/// In all else it is `#[test]`: it works with `#[should_panic]` and `#[ignore]` and may return a
/// `Result`. Threads that the test spawns belong to its trace, so tests that run at the same time
/// in one process leave separate traces, named after them.
///
/// ```text
/// #[racelog::test]
/// fn drains() {
///     let queue = Queue::new();
///     racelog::thread::scope(|scope| {
///         scope.spawn(|| queue.push(1));
///         queue.drain();
///     });
/// }
/// ```
///
/// With `schedules` it runs under so many schedules, one after the other, until one fails; see
/// `racelog::sched`. `strategy` is `"random"`, `"pct:DEPTH"` or `"exhaustive"`. The seed of a
/// schedule that fails is printed, and with it in `RACELOG_SEED` that schedule alone is run, and
/// recorded if `RACELOG=1` asks for it.
///
/// ```text
/// #[racelog::test(schedules = 1000, strategy = "pct:3")]
/// fn drains() { … }
/// ```
#[proc_macro_attribute]
pub fn test(attribute: TokenStream, item: TokenStream) -> TokenStream {
    if !attribute.is_empty() {
        let arguments = Arguments::parse(attribute);
        let expanded = arguments.and_then(|a| a.expand(item).map_err(str::to_owned));
        return expanded.unwrap_or_else(|message| error(&message));
    }
    let session = "let __racelog_session = ::racelog::__private::TestSession::start(\
                   ::core::env!(\"CARGO_PKG_NAME\"), \
                   ::core::concat!(::core::module_path!(), \"::\", FUNCTION));";
    match with_statement(item, session) {
        Ok(function) => {
            let mut output: TokenStream =
                "#[::core::prelude::v1::test]".parse().expect("it is well formed");
            output.extend(function);
            output
        }
        Err(message) => error(message),
    }
}

/// A `main` that is recorded when `RACELOG=1` asks for it, from its first line.
///
/// A program is recorded without this attribute, too, from the first use of something that is
/// recorded.
#[proc_macro_attribute]
pub fn main(attribute: TokenStream, item: TokenStream) -> TokenStream {
    if !attribute.is_empty() {
        return error("`#[racelog::main]` takes no arguments");
    }
    match with_statement(item, "::racelog::branch();") {
        Ok(function) => function,
        Err(message) => error(message),
    }
}

/// Code that records its branches, and its accesses of bare memory: on a function, or on all
/// functions of an impl block, a trait or a module.
///
/// Elsewhere every read counts as followed by a branch, since it is not known what the code does
/// with what it has read. Code under this attribute records where it decides something by what it
/// has read: at `if`, `while`, `match` and its guards, `for`, `break`, `?`, `&&`, `||`, let-else,
/// at operators, at indexing, at dereferencing, and at calls. So more orders of its operations are
/// known to be possible, and more races are found. It also records what it reads and writes through
/// raw pointers, and `static mut`. In all else it is the code that it was; and where recording is
/// compiled out, it is that code, unchanged.
///
/// Functions that are `const` or `async`, async blocks and async closures are left as they are, and
/// one note a crate says so. So are functions with `#[racelog::instrument(skip)]` in an impl block,
/// a trait or a module. If racelog goes by another name, say so: `#[instrument(crate =
/// other::racelog)]`.
///
/// ```text
/// #[racelog::instrument]
/// fn authenticate(lock: &Mutex<()>, x: &Shared<u32>, y: &Shared<u32>) -> bool {
///     let seen = {
///         let _guard = lock.lock().unwrap();
///         y.get()
///     };
///     seen == x.get()
/// }
/// ```
#[proc_macro_attribute]
pub fn instrument(attribute: TokenStream, item: TokenStream) -> TokenStream {
    #[cfg(feature = "record")]
    return instrument::expand(attribute.into(), &item.into()).into();
    #[cfg(not(feature = "record"))]
    {
        drop(attribute);
        item
    }
}

/// [`#[racelog::instrument]`](macro@instrument) on all items within: for a module in a file of its
/// own, which has no attributes from within on stable Rust.
///
/// ```text
/// racelog::instrument_items! {
///     use racelog::sync::Mutex;
///
///     pub fn increment(counter: &Mutex<u32>) {
///         *counter.lock().unwrap() += 1;
///     }
/// }
/// ```
#[proc_macro]
pub fn instrument_items(items: TokenStream) -> TokenStream {
    #[cfg(feature = "record")]
    return instrument::expand_items(&items.into()).into();
    #[cfg(not(feature = "record"))]
    items
}

/// The function with a statement before all others. `FUNCTION` in it stands for the function's
/// name.
fn with_statement(item: TokenStream, statement: &str) -> Result<TokenStream, &'static str> {
    const NOT_A_FUNCTION: &str = "this attribute belongs on a function";
    let mut tokens: Vec<TokenTree> = item.into_iter().collect();
    let is = |token: &TokenTree, word: &str| matches!(token, TokenTree::Ident(ident) if ident.to_string() == word);
    let function = tokens.iter().position(|token| is(token, "fn")).ok_or(NOT_A_FUNCTION)?;
    for qualifier in &tokens[..function] {
        if is(qualifier, "async") {
            return Err("async functions cannot be recorded: block on them inside a plain one");
        }
        if is(qualifier, "const") {
            return Err("const functions cannot be recorded");
        }
    }
    let name = match tokens.get(function + 1) {
        Some(TokenTree::Ident(name)) => name.to_string(),
        _ => return Err(NOT_A_FUNCTION),
    };
    let body = match tokens.pop() {
        Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => body,
        _ => return Err(NOT_A_FUNCTION),
    };
    let statement = statement.replace("FUNCTION", &format!("{:?}", name.trim_start_matches("r#")));
    let mut contents: TokenStream = statement.parse().expect("it is well formed");
    contents.extend(body.stream());
    let mut new_body = Group::new(Delimiter::Brace, contents);
    // So that messages about the body point at the body.
    new_body.set_span(body.span());
    tokens.push(TokenTree::Group(new_body));
    Ok(tokens.into_iter().collect())
}

fn error(message: &str) -> TokenStream {
    format!("::core::compile_error!({message:?});").parse().expect("it is well formed")
}
