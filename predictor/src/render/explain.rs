//! What the codes mean, a page each.

use crate::finding::Kind;

/// The page about a code, such as `RL001`; `None` if there is no such code.
pub fn explain(code: &str) -> Option<&'static str> {
    Kind::of_code(&code.to_uppercase())?.page()
}

/// The first paragraph of a kind's page, on one line; its title, if it has no page.
pub(super) fn what_it_is(kind: &Kind) -> String {
    let paragraphs = kind.page().unwrap_or_default().split("\n\n");
    let first = paragraphs.map(str::trim).find(|text| !text.is_empty() && !text.starts_with('#'));
    first.unwrap_or_else(|| kind.title()).replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_page_that_says_what_is_to_be_known() {
        for kind in Kind::KNOWN {
            let page = explain(&kind.code().to_lowercase()).expect("there is one");
            assert!(page.starts_with(&format!("# {}: {}\n", kind.code(), kind.title())), "{page}");
            assert!(page.contains(&format!("racelog: allow({})", kind.code())), "{page}");
            for part in ["bad", "How racelog knows", "When to suppress it"] {
                assert!(
                    page.lines().any(|line| line.starts_with('#') && line.contains(part)),
                    "{part}"
                );
            }
            assert!(what_it_is(&kind).len() > 80, "{}", what_it_is(&kind));
        }
        assert_eq!(explain("RL999"), None);
    }
}
