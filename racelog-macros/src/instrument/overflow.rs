//! Whether arithmetic panics on overflow in the crate that is being compiled.
//!
//! There is no stable `cfg` that says so. But a macro runs within the compiler, whose arguments do:
//! if they say nothing of it, overflow is checked where debug assertions are.

use std::sync::OnceLock;

/// What the compiler was told; nothing if it was not told.
pub(super) fn panics() -> Option<bool> {
    static PANICS: OnceLock<Option<bool>> = OnceLock::new();
    *PANICS.get_or_init(|| told(std::env::args()))
}

/// The last of the compiler's arguments that says so.
fn told(arguments: impl Iterator<Item = String>) -> Option<bool> {
    let mut said = None;
    let mut is_option = false;
    for argument in arguments {
        let option = match argument.strip_prefix("-C") {
            Some(rest) => rest.trim_start(),
            None if is_option => argument.as_str(),
            None => argument.strip_prefix("--codegen=").unwrap_or(""),
        };
        if let Some(rest) = option.replace('_', "-").strip_prefix("overflow-checks") {
            let value = rest.trim_start_matches('=');
            said = Some(!matches!(value, "n" | "no" | "off" | "false"));
        }
        is_option = argument == "-C" || argument == "--codegen";
    }
    said
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn the_arguments_of_the_compiler_say_whether_overflow_panics() {
        let told = |arguments: &str| told(arguments.split(' ').map(str::to_owned));
        assert_eq!(told("rustc --crate-name a src/lib.rs -C opt-level=3"), None);
        assert_eq!(told("rustc -C overflow-checks=off a.rs"), Some(false));
        assert_eq!(told("rustc -Coverflow-checks=on a.rs"), Some(true));
        assert_eq!(told("rustc --codegen overflow_checks=n a.rs"), Some(false));
        assert_eq!(told("rustc -C overflow-checks a.rs"), Some(true));
        assert_eq!(told("rustc -C overflow-checks=off -C overflow-checks=y a.rs"), Some(true));
    }
}
