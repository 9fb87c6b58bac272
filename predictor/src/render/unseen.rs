//! What the capture did not see, in words: why a finding is in doubt and how to know, and what a report
//! does not speak of.

use super::{count, list, thousands};
use crate::project::{Capture, Doubt, Named, Place, Spots};

/// Why a finding is doubtful, and what to do to know.
pub(super) fn doubt(doubt: &Doubt) -> String {
    let (why, how) = match doubt {
        Doubt::Unsound => (
            "only detectors say so that may be wrong".to_owned(),
            "let `mcm` decide it, with more time".to_owned(),
        ),
        Doubt::NotReplayed => (
            "the program did something else when it was replayed".to_owned(),
            "see the status for where, and run the test alone and with the same input".to_owned(),
        ),
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
        Doubt::UnreadFiles { files } => (
            format!("it is not known what {} uses, which could not be read", quoted(files)),
            "see the warning about it".to_owned(),
        ),
    };
    format!("{why}. To know: {how}")
}

/// What was not seen, a phrase each, with its number and the first places.
pub(super) fn gaps(capture: &Capture) -> Vec<String> {
    let Capture {
        unseen_pointers,
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
    let mut spots = |spots: &Spots, one: &str, what: &str| {
        if spots.number > 0 {
            gaps.push(format!("{}{what}{}", count(spots.number, one), first_at(spots)));
        }
    };
    spots(unseen_pointers, "raw pointer", " of cells that went out of sight");
    spots(foreign_threads, "thread", " that recorded code did not start");
    spots(unattributed_threads, "thread", " that no recorded test owns");
    spots(unrecorded, "use", " of locks, atomics, channels or threads that are not racelog's");
    spots(arcs, "use", " of std's `Arc`");
    spots(hidden_macros, "macro", " in instrumented code that nobody looks into");
    if *lost_events > 0 {
        gaps.push(format!("{} that were lost", count(*lost_events, "event")));
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
        let words = doubt(&Doubt::Unrecorded { number: 4, uses });
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
                "3 uses of std's `Arc` (first at src/a.rs:2:5, src/a.rs:3:5)",
                "1,200 events that were lost",
            ]
        );
    }
}
