//! Who holds a lock when the prefix ends in a stall: threads that are blocked themselves, and
//! threads that have come to their ends without giving it back.

use racelog::trace::LockId;

use super::Asked;
use crate::encode::Encoder;
use crate::solve::formula::Lit;

/// Who holds a lock. Each of these says so where it holds; nothing is said of where it does not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holders {
    /// A thread that has not come to its end does.
    pub(super) blocked: Lit,
    /// No such thread does.
    pub(super) none_blocked: Lit,
    /// A thread that has come to its end does.
    pub(super) finished: Lit,
}

/// Who holds a lock, or only who holds it exclusively.
pub(super) fn of(
    encoder: &mut Encoder<'_>,
    asked: &mut Asked,
    lock: LockId,
    only_writer: bool,
) -> Holders {
    *asked.holders.entry((lock, only_writer)).or_insert_with(|| state(encoder, lock, only_writer))
}

fn state(encoder: &mut Encoder<'_>, lock: LockId, only_writer: bool) -> Holders {
    let (trace, regions) = (encoder.trace, &encoder.index.regions);
    let none_blocked = encoder.formula.proposition(false);
    let (mut by_blocked, mut by_finished) = (Vec::new(), Vec::new());
    for number in regions.of_lock(lock) {
        let region = regions.get(*number);
        // Who only finds a lock free does not hold it.
        if region.release == Some(region.acquire) || (only_writer && region.shared) {
            continue;
        }
        let last = trace.events_of_thread(region.thread).last().copied();
        let last = last.unwrap_or(region.acquire);
        if region.release.is_none() {
            by_finished.push(encoder.included(last));
        }
        // In a stall, who has not come to its end is blocked.
        let end = region.release.unwrap_or(last);
        if end != region.acquire {
            let (taken, over) = (encoder.included(region.acquire), encoder.included(end));
            by_blocked.push(encoder.all(&[taken, !over]));
            encoder.formula.clause(&[!none_blocked, !taken, over]);
        }
    }
    let mut one_of = |reasons: Vec<Lit>| {
        if reasons.is_empty() {
            return Lit::FALSE;
        }
        let one = encoder.formula.proposition(false);
        let clause: Vec<Lit> = [!one].into_iter().chain(reasons).collect();
        encoder.formula.clause(&clause);
        one
    };
    let (blocked, finished) = (one_of(by_blocked), one_of(by_finished));
    Holders { blocked, none_blocked, finished }
}
