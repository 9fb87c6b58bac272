//! The words for threads that wait. The reports about a trace and about a project share them, as
//! they share the words of reasons.

use racelog::contract::waiting::WaitsFor;

use super::{Lock, Occurrence, Part, Role, WaitKind, Waits};

/// What objects are called, by what the trace calls them.
pub trait Naming: Fn(&str) -> String {}

impl<F: Fn(&str) -> String> Naming for F {}

impl Waits {
    /// What the thread waits for, without the threads that could end that.
    pub fn briefly(&self, object: Option<&str>, name: &impl Naming) -> String {
        let object = object.map(|object| format!("`{}`", name(object)));
        let words = |waits_for: WaitsFor| waits_for.words(object.as_deref());
        match &self.what {
            WaitKind::Lock | WaitKind::WaitingWriters => words(WaitsFor::Lock),
            WaitKind::Initialiser => words(WaitsFor::Initialiser),
            WaitKind::ThreadEnd => words(WaitsFor::End),
            WaitKind::Notification => words(WaitsFor::Notification),
            WaitKind::Unpark => words(WaitsFor::Unpark),
            WaitKind::Message => words(WaitsFor::Message),
            WaitKind::Room => words(WaitsFor::Place),
            WaitKind::Arrivals => words(WaitsFor::Barrier),
            WaitKind::EndOfScope => "waits at the end of a scope for its threads".to_owned(),
            WaitKind::Other(what) => format!("waits for {what}"),
        }
    }

    /// What the thread waits for, and which threads keep it waiting.
    fn words(&self, object: Option<&str>, name: &impl Naming) -> String {
        let briefly = self.briefly(object, name);
        let by: Vec<String> = self.by.iter().map(|thread| format!("`{thread}`")).collect();
        let (by, s) = (by.join(" and "), if by.len() == 1 { "s" } else { "" });
        match &self.what {
            _ if by.is_empty() => briefly,
            WaitKind::Lock => format!("{briefly}, which {by} hold{s}"),
            WaitKind::WaitingWriters => {
                format!("{briefly}, kept out by {by}, which wait{s} to write")
            }
            WaitKind::Initialiser => format!("{briefly}, which {by} run{s}"),
            WaitKind::EndOfScope => format!("waits at the end of a scope for {by}"),
            // The thread is the object.
            WaitKind::ThreadEnd
            | WaitKind::Notification
            | WaitKind::Unpark
            | WaitKind::Message
            | WaitKind::Room
            | WaitKind::Arrivals
            | WaitKind::Other(_) => briefly,
        }
    }
}

impl Part {
    /// What the part's thread does there, if its role or its waiting says so: `waits for …`.
    pub fn standing(&self, name: &impl Naming) -> Option<String> {
        let object = self.object.as_deref();
        let waits = self.waits.as_ref().map(|waits| waits.words(object, name));
        let on = || object.map_or_else(String::new, |object| format!(" `{}`", name(object)));
        let words = match &self.role {
            Role::WaitsToo => format!("{}, too", waits?),
            Role::Taken => format!("takes{}", on()),
            Role::TooEarly => format!("notifies{} too early, before the wait", on()),
            Role::Elsewhere => format!("notifies{}, and another waiter gets it", on()),
            Role::Merged => {
                format!("unparks{}, which has not used up the `unpark` before", on())
            }
            Role::Dropped => format!("drops a receiver of{}", on()),
            Role::Next | Role::Happened | Role::Stuck | Role::Other(_) => waits?,
        };
        Some(words)
    }

    /// What the part's thread holds and waits for: `` `t1` holds `a`, taken at a.rs:1:2, and waits
    /// for `b` ``.
    fn holds_and_waits(&self, name: &impl Naming) -> Option<String> {
        let waits = self.waits.as_ref()?.briefly(self.object.as_deref(), name);
        let held: Vec<String> = self.locks.iter().map(|lock| held(lock, name)).collect();
        let comma = if self.locks.iter().any(|lock| lock.taken.is_some()) { "," } else { "" };
        Some(match held.is_empty() {
            true => format!("`{}` {waits}", self.thread),
            false => format!("`{}` holds {}{comma} and {waits}", self.thread, held.join(" and ")),
        })
    }
}

/// A lock that is held, and where it was taken.
fn held(lock: &Lock, name: &impl Naming) -> String {
    let shared = if lock.shared { " (shared)" } else { "" };
    let taken = lock.taken.as_ref().map_or_else(String::new, |it| format!(", taken at {it}"));
    format!("`{}`{shared}{taken}", name(&lock.name))
}

impl Occurrence {
    /// The primary parts that wait, each followed by the one that it waits for as far as it can be;
    /// and whether they are a circle.
    pub fn waiting(&self) -> (Vec<&Part>, bool) {
        let mut left: Vec<&Part> =
            self.primary_parts().filter(|part| part.waits.is_some()).collect();
        let mut ordered: Vec<&Part> = Vec::new();
        let follows = |last: &Part, next: &Part| {
            last.waits.as_ref().is_some_and(|waits| waits.by.contains(&next.thread))
        };
        while !left.is_empty() {
            let next = ordered.last().and_then(|last| left.iter().position(|it| follows(last, it)));
            ordered.push(left.remove(next.unwrap_or(0)));
        }
        let pairs = || ordered.iter().zip(ordered.iter().cycle().skip(1));
        let is_circle = !ordered.is_empty() && pairs().all(|(last, next)| follows(last, next));
        (ordered, is_circle)
    }

    /// What the threads hold and wait for, in a sentence; nothing if none waits.
    pub fn who_waits(&self, name: &impl Naming) -> Option<String> {
        let clauses: Vec<String> =
            self.waiting().0.iter().filter_map(|part| part.holds_and_waits(name)).collect();
        (!clauses.is_empty()).then(|| clauses.join("; "))
    }
}
