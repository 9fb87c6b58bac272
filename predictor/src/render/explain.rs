//! What the codes mean, a page each.

use crate::project::Code;

/// The page about a code, such as `RL001`; `None` if there is no such code.
pub fn explain(code: &str) -> Option<&'static str> {
    let code = Code::ALL.into_iter().find(|known| known.name().eq_ignore_ascii_case(code))?;
    Some(page(code))
}

const fn page(code: Code) -> &'static str {
    match code {
        Code::DataRace => include_str!("explain/RL001.md"),
        Code::Unordered => include_str!("explain/RL002.md"),
        Code::Suspected => include_str!("explain/RL003.md"),
    }
}

/// The examples in the pages run as tests.
#[cfg(doctest)]
mod examples {
    #[doc = include_str!("explain/RL001.md")]
    struct DataRace;
    #[doc = include_str!("explain/RL002.md")]
    struct Unordered;
    #[doc = include_str!("explain/RL003.md")]
    struct Suspected;
}

/// The first paragraph of a page, on one line.
pub(super) fn what_it_is(code: Code) -> String {
    let paragraphs = page(code).split("\n\n");
    let first = paragraphs.map(str::trim).find(|text| !text.starts_with('#'));
    first.unwrap_or_default().replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_page_that_says_what_is_to_be_known() {
        for code in Code::ALL {
            let page = explain(&code.name().to_lowercase()).expect("there is one");
            assert!(page.starts_with(&format!("# {}: {}\n", code.name(), code.title())), "{page}");
            assert!(page.contains(&format!("racelog: allow({})", code.name())), "{page}");
            for part in ["bad", "How racelog knows", "When to suppress it"] {
                assert!(
                    page.lines().any(|line| line.starts_with('#') && line.contains(part)),
                    "{part}"
                );
            }
            assert!(what_it_is(code).len() > 80, "{}", what_it_is(code));
        }
        assert_eq!(explain("RL999"), None);
    }
}
