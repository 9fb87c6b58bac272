//! No, by the order in which locks were taken.
//!
//! Said, Wang, Yang and Sakallah, NFM 2011, section 5: lock acquisition histories. The history of a
//! lock that a thread holds is the set of locks that it has taken since. If one thread holds `l`
//! and has since taken `m`, and the other holds `m` and has since taken `l`, they cannot both be
//! where they are.
//!
//! Soundness: the first thread has not given `l` back, so the other's region of `l` was over when
//! it took `l`; and likewise the first's region of `m` was over when the other took `m`. But each
//! of these regions started after its thread had taken the lock that it holds: a cycle. All four
//! events are before the two in their threads, so every execution that reaches both has them.
//! Regions that do not exclude each other, since both only read, say nothing.
//!
//! Known misses: histories are looked at on demand, and not further back than [`LIMIT`] regions of
//! the thread.

use racelog::trace::LockId;

use crate::index::{LocksetId, Regions};
use crate::trace::{EventId, Trace};

/// How many regions of a thread are looked at.
const LIMIT: usize = 1 << 11;

/// A lock, and whether it was taken for this thread alone.
type Taken = (LockId, bool);

/// A lock that is held, and what was taken since.
#[derive(Debug)]
struct History {
    held: Taken,
    since: Vec<Taken>,
}

/// Whether the histories of two events of different threads rule out that both are next at once.
pub(super) fn exclude(trace: &Trace, regions: &Regions, first: EventId, second: EventId) -> bool {
    let locks = |event| regions.held_at(trace, event);
    // Most threads hold nothing.
    if locks(first) == LocksetId::EMPTY || locks(second) == LocksetId::EMPTY {
        return false;
    }
    let (first, second) = (histories(trace, regions, first), histories(trace, regions, second));
    first.iter().any(|one| second.iter().any(|other| one.excludes(other)))
}

impl History {
    fn excludes(&self, other: &Self) -> bool {
        let takes = |since: &[Taken], held: Taken| {
            since.iter().any(|(lock, alone)| *lock == held.0 && (*alone || held.1))
        };
        takes(&self.since, other.held) && takes(&other.since, self.held)
    }
}

/// The histories of the locks that an event's thread holds, from the last that was taken.
fn histories(trace: &Trace, regions: &Regions, event: EventId) -> Vec<History> {
    let count = regions.sets().locks(regions.held_at(trace, event)).count();
    let mut found: Vec<History> = Vec::new();
    let mut since: Vec<Taken> = Vec::new();
    for region in regions.begun_before(trace, event).take(LIMIT) {
        let taken = (region.lock, !region.shared);
        if region.is_open_at(event) {
            found.push(History { held: taken, since: since.clone() });
        }
        if !since.contains(&taken) {
            since.push(taken);
        }
        if found.len() == count {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excluded(text: &str, first: u64, second: u64) -> bool {
        let trace: Trace = text.parse().unwrap();
        let event = |number| EventId::from_number(number).unwrap();
        exclude(&trace, &Regions::new(&trace), event(first), event(second))
    }

    /// The paper's example: `l` is held, and `m` was taken meanwhile; and the other way round.
    const CROSSED: &str = "\
t acquire l
t acquire m
t release m
t write x 1
t release l
u acquire m
u acquire l
u release l
u write x 2
u release m
";

    #[test]
    fn crossed_histories_exclude_each_other() {
        assert!(excluded(CROSSED, 4, 9));
    }

    #[test]
    fn one_history_alone_excludes_nothing() {
        let text = CROSSED.replace("u acquire l\nu release l\n", "");
        assert!(!excluded(&text, 4, 7));
        // Taken before the lock that is held, it is not in that lock's history.
        let text = "\
t acquire m
t release m
t acquire l
t write x 1
t release l
u acquire m
u acquire l
u release l
u write x 2
u release m
";
        assert!(!excluded(text, 4, 9));
    }

    #[test]
    fn readers_do_not_exclude_each_other() {
        let shared = CROSSED.replace("acquire l", "racquire l").replace("release l", "rrelease l");
        assert!(!excluded(&shared, 4, 9));
        // One side alone is enough.
        let half =
            shared.replacen("racquire l", "acquire l", 1).replacen("rrelease l", "release l", 1);
        assert!(excluded(&half, 4, 9));
    }
}
