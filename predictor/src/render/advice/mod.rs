//! One line of advice a finding: it fits the locks, orderings and values of the accesses, or the
//! objects that the threads wait for.

mod waiting;

use super::list;
use super::story::Story;
use crate::finding::{Basis, Part, Role, WeakAccess};

/// What to do about a finding.
pub(super) fn advice(story: &Story<'_>) -> String {
    let waiting = waiting::advice(story);
    if story.finding.kind.basis() == Basis::Suspicion {
        if let Some(cure) = waiting {
            return format!("look what keeps these threads apart; if nothing does, {cure}");
        }
        return "look whether both accesses can happen at once; `mcm` decides it if it has the time"
            .to_owned();
    }
    if let Some(advice) = waiting {
        return advice;
    }
    if story.parts().iter().any(|part| part.role == Role::Dropped) {
        return "keep a receiver until all senders are done, or expect the error of the send"
            .to_owned();
    }
    let too_weak = story.occurrence.reason.too_weak();
    if !too_weak.is_empty() {
        return about_orderings(too_weak);
    }
    let [a, b] = story.parts() else {
        return format!("`cargo racelog explain {}` says what to do", story.finding.kind);
    };
    let variable = story.subject_name();
    match (a.source.atomic, b.source.atomic) {
        (true, false) => return not_atomic(b),
        (false, true) => return not_atomic(a),
        _ => {}
    }
    if let Some(advice) = about_locks(story, [a, b]) {
        return advice;
    }
    let values = [a, b].map(|part| part.value.as_str());
    if story.names.is_flag || values.iter().all(|value| ["true", "false"].contains(value)) {
        return format!(
            "make `{variable}` an `AtomicBool`, stored with `Release` and loaded with `Acquire`"
        );
    }
    if values.contains(&"_") {
        return format!("guard `{variable}` with a lock that both threads take, such as a `Mutex`");
    }
    format!("make `{variable}` an atomic, or guard it with a lock that both threads take")
}

/// Which accesses need which orderings; all of them in general words, if that is not known.
fn about_orderings(too_weak: &[WeakAccess]) -> String {
    let place = |weak: &WeakAccess| match &weak.place {
        Some(place) => place.to_string(),
        None => format!("event {}", weak.event),
    };
    let needed = too_weak.iter().map(|weak| {
        let what = match weak.operation.as_deref()? {
            "store" => "the store",
            "load" => "the load",
            "rmw" => "the update",
            "cas" => "the exchange",
            "cas_fail" => "the exchange that fails",
            _ => return None,
        };
        Some(format!("`{}` for {what} at {}", weak.needs.as_ref()?, place(weak)))
    });
    match needed.collect::<Option<Vec<String>>>() {
        Some(needed) => format!("use {}", list(&needed)),
        None => {
            let places: Vec<String> = too_weak.iter().map(place).collect();
            let places = list(&places);
            format!("use `Release` for what writes and `Acquire` for what reads at {places}")
        }
    }
}

fn not_atomic(access: &Part) -> String {
    format!("the access of thread `{}` is not atomic: make it so, or order the two", access.thread)
}

fn about_locks(story: &Story<'_>, accesses: [&Part; 2]) -> Option<String> {
    let [a, b] = accesses;
    let both_share =
        a.locks.iter().find(|lock| b.locks.iter().any(|other| other.name == lock.name));
    if let Some(lock) = both_share {
        let name = story.names.best(&lock.name);
        return Some(format!(
            "both hold `{name}` only shared: who writes must hold it exclusively"
        ));
    }
    let names = |access: &Part| -> Vec<String> {
        access.locks.iter().map(|lock| story.lock(lock)).collect()
    };
    match (a.locks.as_slice(), b.locks.as_slice()) {
        ([], []) => None,
        ([], _) => Some(one_sided(b, a, &names(b))),
        (_, []) => Some(one_sided(a, b, &names(a))),
        _ => Some(format!(
            "these hold different locks, {} and {}: hold one common lock",
            list(&names(a)),
            list(&names(b))
        )),
    }
}

fn one_sided(holder: &Part, other: &Part, locks: &[String]) -> String {
    let locks = list(locks);
    let (holder, other) = (&holder.thread, &other.thread);
    format!("thread `{holder}` holds {locks} and thread `{other}` no lock: take it there as well")
}
