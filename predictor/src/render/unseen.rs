//! What the capture did not see, in words: why a finding is in doubt and how to know, and what a
//! report does not speak of.

use super::{count, list, thousands};
use crate::finding::{Doubt, Named, Place, Spots};
use crate::project::Capture;
use crate::replay::Cause;
use crate::report::unseen::MissedKind;

/// Why a finding is doubtful, and what to do to know. Its replay may have said why that did not
/// work.
pub(super) fn doubt(doubt: &Doubt, cause: Option<&Cause>) -> String {
    let (why, how) = match doubt {
        Doubt::Unsound => (
            "only detectors say so that may be wrong".to_owned(),
            "let `mcm` decide it, with more time".to_owned(),
        ),
        Doubt::NotReplayed => {
            let (why, how) = not_replayed(cause);
            (why.to_owned(), how.to_owned())
        }
        Doubt::ForeignThreads { spots } => (
            format!(
                "{} took part that recorded code did not start{}: what orders them is not known",
                count(spots.number, "thread"),
                first_at(spots)
            ),
            "start them by `racelog::thread`, or test this without them".to_owned(),
        ),
        Doubt::UnattributedThreads { spots } => (
            format!(
                "{} took part without being recorded{}",
                count(spots.number, "thread"),
                first_at(spots)
            ),
            "run the test alone: `-- --test-threads=1`, or under nextest".to_owned(),
        ),
        Doubt::Unrecorded { number, uses } => (
            format!("what is not recorded may order the two: {}", named(*number, uses)),
            "import it from racelog there, or from a façade of your own".to_owned(),
        ),
        Doubt::Arc { number, uses } => (
            format!("the counts of std's `Arc` may order the two: {}", named(*number, uses)),
            "turn on racelog's feature `recorded-arc`, and import `Arc` from racelog".to_owned(),
        ),
        Doubt::Crates { names } => (
            format!("{} may order the two, and nothing of it is recorded", quoted(names)),
            "test this without it, or with racelog's mirror of it".to_owned(),
        ),
        Doubt::Destructor => (
            "a destructor frees the memory, and a crate that counts the owners of it would order the two unseen"
                .to_owned(),
            "let a replay confirm it".to_owned(),
        ),
        Doubt::UnreadFiles { files } => (
            format!("it is not known what {} uses, which could not be read", quoted(files)),
            "see the warning about it".to_owned(),
        ),
        Doubt::Other => (
            "a later version of racelog has a doubt that this one does not know".to_owned(),
            "read the report with that version".to_owned(),
        ),
    };
    format!("{why}. To know: {how}")
}

/// Why a replay does not confirm a race, and what to do about it.
const fn not_replayed(cause: Option<&Cause>) -> (&'static str, &'static str) {
    match cause {
        Some(Cause::TimeUp { .. }) => {
            ("its replay took too long", "give it more time: `--run-time`, or a smaller test")
        }
        Some(Cause::ControlLost(_)) => (
            "in its replay a thread waited for something that is not racelog's",
            "import from racelog what it waits for there",
        ),
        Some(Cause::ForeignThreads { .. }) => (
            "in its replay threads ran that recorded code did not start",
            "start them by `racelog::thread`",
        ),
        Some(Cause::ProgramChanged { .. }) => {
            ("it was replayed in another program than the recorded one", "record it again")
        }
        Some(Cause::OtherOperation { .. } | Cause::OtherValue(_) | Cause::GoesOn { .. }) => (
            "the program did something else when it was replayed",
            "run the test alone and with the same input",
        ),
        _ => ("its replay did not come that far", "the status says how far it came"),
    }
}

/// What was not seen, a phrase each, with its number and the first places.
pub(super) fn gaps(capture: &Capture) -> Vec<String> {
    let Capture {
        unseen_pointers,
        unseen_references,
        foreign_threads,
        unattributed_threads,
        lost_events,
        unrecorded,
        arcs,
        hidden_macros,
        crates,
        unread_files,
    } = capture;
    let mut gaps = Vec::new();
    let lost = Spots { number: *lost_events, places: Vec::new() };
    for (kind, spots) in [
        (MissedKind::Pointers, unseen_pointers),
        (MissedKind::References, unseen_references),
        (MissedKind::Macros, hidden_macros),
        (MissedKind::ForeignThreads, foreign_threads),
        (MissedKind::UnattributedThreads, unattributed_threads),
        (MissedKind::LostEvents, &lost),
    ] {
        if spots.number > 0 {
            let places: Vec<String> = spots.places.iter().map(Place::to_string).collect();
            gaps.push(kind.phrase(spots.number, &places));
        }
    }
    let used = "of locks, atomics, channels or threads that are not racelog's";
    for (spots, what) in [(unrecorded, used), (arcs, "of std's `Arc`")] {
        if spots.number > 0 {
            gaps.push(format!("{} {what}{}", count(spots.number, "use"), first_at(spots)));
        }
    }
    if !crates.is_empty() {
        gaps.push(format!("what {} does between threads", quoted(crates)));
    }
    if !unread_files.is_empty() {
        gaps.push(format!("what {} uses, which could not be read", quoted(unread_files)));
    }
    gaps
}

/// The places that are known, the first of so many.
fn first_at(spots: &Spots) -> String {
    let Spots { number, places } = spots;
    if places.is_empty() {
        return String::new();
    }
    let first = if places.len() as u64 == *number { "at" } else { "first at" };
    let places: Vec<String> = places.iter().map(Place::to_string).collect();
    format!(" ({first} {})", places.join(", "))
}

fn named(number: u64, uses: &[Named]) -> String {
    let mut words: Vec<String> =
        uses.iter().map(|one| format!("`{}` at {}", one.name, one.place)).collect();
    let rest = number.saturating_sub(uses.len() as u64);
    if rest > 0 {
        words.push(format!("{} more", thousands(rest)));
    }
    list(&words)
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    list(&names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(line: u32) -> Place {
        Place { file: "src/a.rs".to_owned(), line, column: 5 }
    }

    #[test]
    fn a_doubt_says_what_where_and_what_to_do() {
        let uses = vec![Named { name: "std::sync::Mutex".to_owned(), place: place(3) }];
        let words = doubt(&Doubt::Unrecorded { number: 4, uses }, None);
        assert_eq!(
            words,
            "what is not recorded may order the two: `std::sync::Mutex` at src/a.rs:3:5 and 3 more. \
             To know: import it from racelog there, or from a façade of your own"
        );
    }

    #[test]
    fn gaps_have_numbers_and_places() {
        assert_eq!(gaps(&Capture::default()), Vec::<String>::new());
        let capture = Capture {
            unseen_pointers: Spots { number: 1, places: vec![place(1)] },
            arcs: Spots { number: 3, places: vec![place(2), place(3)] },
            lost_events: 1200,
            ..Capture::default()
        };
        assert_eq!(
            gaps(&capture),
            [
                "1 raw pointer of cells that went out of sight (at src/a.rs:1:5)",
                "1,200 events that were lost",
                "3 uses of std's `Arc` (first at src/a.rs:2:5, src/a.rs:3:5)",
            ]
        );
    }
}
