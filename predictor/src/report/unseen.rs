//! What a trace says that it did not see.

use racelog::contract::marker::Marker;
use serde::Serialize;

use crate::trace::Trace;

/// What a trace did not see, by its own words.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Unseen {
    /// Raw pointers that left an `UnsafeCell`.
    pub pointers: Missed,
    /// References made from raw pointers, whose uses are not followed.
    pub references: Missed,
    /// Macros in instrumented unsafe code that nobody looks into.
    pub macros: Missed,
    /// Threads that recorded code did not start.
    pub foreign_threads: Missed,
    /// Threads that may belong to the trace and are not in it.
    pub unattributed_threads: Missed,
    /// How many events are known to be lost.
    pub lost_events: u64,
}

/// How many things were missed, and where the first of them were.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Missed {
    /// How many.
    pub number: u64,
    /// The first places, each once, as the trace has them.
    pub locations: Vec<String>,
}

impl Missed {
    /// How many places are kept.
    pub const MOST: usize = 5;

    fn add(&mut self, location: Option<String>) {
        self.number += 1;
        let new = location.filter(|it| !self.locations.contains(it));
        if self.locations.len() < Self::MOST {
            self.locations.extend(new);
        }
    }
}

impl Unseen {
    /// What a trace says.
    pub fn of(trace: &Trace) -> Self {
        let mut unseen = Self { lost_events: trace.lost_events(), ..Self::default() };
        let mut printer = trace.printer();
        for event in trace.events() {
            let missed = match trace.marker(event) {
                Some(Marker::CellPointer) => &mut unseen.pointers,
                Some(Marker::RawReference) => &mut unseen.references,
                Some(Marker::Macro(_)) => &mut unseen.macros,
                Some(Marker::Panic { .. } | Marker::Label(_)) | None => continue,
            };
            missed.add(printer.location(event));
        }
        for (_, location) in trace.foreign_threads() {
            unseen.foreign_threads.add(location.map(|location| printer.place(location)));
        }
        for location in trace.unattributed() {
            unseen.unattributed_threads.add(location.map(|location| printer.place(location)));
        }
        unseen
    }

    /// A phrase for each thing that was not seen, with its number and the first places.
    pub fn phrases(&self) -> Vec<String> {
        let all = [
            (MissedKind::Pointers, &self.pointers),
            (MissedKind::References, &self.references),
            (MissedKind::Macros, &self.macros),
            (MissedKind::ForeignThreads, &self.foreign_threads),
            (MissedKind::UnattributedThreads, &self.unattributed_threads),
        ];
        let all = all.into_iter().filter(|(_, missed)| missed.number > 0);
        let mut phrases: Vec<String> =
            all.map(|(kind, missed)| kind.phrase(missed.number, &missed.locations)).collect();
        if self.lost_events > 0 {
            phrases.push(MissedKind::LostEvents.phrase(self.lost_events, &[]));
        }
        phrases
    }
}

/// What can be missed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MissedKind {
    /// Raw pointers of cells.
    Pointers,
    /// References made from raw pointers.
    References,
    /// Macros in instrumented unsafe code.
    Macros,
    /// Threads that recorded code did not start.
    ForeignThreads,
    /// Threads that may belong to the trace and are not in it.
    UnattributedThreads,
    /// Events that were lost.
    LostEvents,
}

impl MissedKind {
    /// So many of them, and where the first are.
    pub fn phrase(self, number: u64, places: &[String]) -> String {
        let (one, many, what) = match self {
            Self::Pointers => ("raw pointer", "raw pointers", "of cells that went out of sight"),
            Self::References => {
                ("reference", "references", "made from raw pointers that went out of sight")
            }
            Self::Macros => ("macro", "macros", "in unsafe code that nobody looks into"),
            Self::ForeignThreads => ("thread", "threads", "that recorded code did not start"),
            Self::UnattributedThreads => ("thread", "threads", "that no recorded test owns"),
            Self::LostEvents => ("event", "events", "that were lost"),
        };
        let thing = if number == 1 { one } else { many };
        let number_of_places = places.len() as u64;
        let at = match number_of_places {
            0 => String::new(),
            all if all == number => format!(" (at {})", places.join(", ")),
            _ => format!(" (first at {})", places.join(", ")),
        };
        format!("{} {thing} {what}{at}", super::thousands(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_says_what_it_did_not_see() {
        let text = "#racelog foreign t2\nt1 assert raw pointer of a cell @ a.rs:1:2\n\
                    t1 assert raw pointer of a cell @ a.rs:1:2\nt1 assert something else\n\
                    t1 assert reference made from a raw pointer\n\
                    t1 assert code within a macro: mine @ a.rs:3:4\nt2 read x 0 @ b.rs:5:6\n";
        let trace: Trace = text.parse().unwrap();
        assert_eq!(
            Unseen::of(&trace).phrases(),
            [
                "2 raw pointers of cells that went out of sight (first at a.rs:1:2)",
                "1 reference made from raw pointers that went out of sight",
                "1 macro in unsafe code that nobody looks into (at a.rs:3:4)",
                "1 thread that recorded code did not start (at b.rs:5:6)",
            ]
        );
        let clean: Trace = "t1 write x 1\n".parse().unwrap();
        assert_eq!(Unseen::of(&clean), Unseen::default());
    }
}
