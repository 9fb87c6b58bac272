//! Critical sections.

use racelog::trace::{AccessKind, ThreadId, VarId};

use crate::index::{Region, Regions};
use crate::trace::{EventId, Op, Trace};

/// What a thread does while it holds a lock.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) thread: ThreadId,
    /// Whether the lock is held exclusively.
    pub(super) exclusive: bool,
    /// What takes the lock: an acquire, or the end of a wait.
    pub(super) start: EventId,
    /// What gives it back: a release, or a wait. `None` if the trace ends before.
    pub(super) end: Option<EventId>,
    /// Its last event.
    pub(super) last: EventId,
    /// Which variables are accessed in it, in order, and how: a sum of the kinds below.
    accesses: Vec<(VarId, u8)>,
}

const READ: u8 = 1;
const WRITE: u8 = 2;
const ATOMIC_READ: u8 = 4;
const ATOMIC_WRITE: u8 = 8;

impl Section {
    /// Whether some access in one section conflicts with one in the other.
    pub(super) fn conflicts(&self, other: &Self) -> bool {
        let (mut a, mut b) = (&self.accesses[..], &other.accesses[..]);
        while let ([(var_a, kinds_a), rest_a @ ..], [(var_b, kinds_b), rest_b @ ..]) = (a, b) {
            if var_a == var_b && kinds_conflict(*kinds_a, *kinds_b) {
                return true;
            }
            if var_a <= var_b {
                a = rest_a;
            }
            if var_b <= var_a {
                b = rest_b;
            }
        }
        false
    }
}

/// Whether of two accesses of one variable, or of two sums of such, some conflict.
pub(super) fn kinds_conflict(a: u8, b: u8) -> bool {
    let any = READ | WRITE | ATOMIC_READ | ATOMIC_WRITE;
    let one_way = |a: u8, b: u8| {
        (a & WRITE != 0 && b & any != 0) || (a & READ != 0 && b & (WRITE | ATOMIC_WRITE) != 0)
    };
    one_way(a, b) || one_way(b, a)
}

/// The variable that an event accesses, and how: one of the kinds above. Exclusive accesses
/// conflict with nothing.
pub(super) fn access_kind(op: &Op) -> Option<(VarId, u8)> {
    let access = op.access()?;
    let kind = match (access.kind, access.left.is_some()) {
        (AccessKind::Exclusive, _) => return None,
        (AccessKind::Plain, false) => READ,
        (AccessKind::Plain, true) => WRITE,
        (AccessKind::Atomic(_), false) => ATOMIC_READ,
        (AccessKind::Atomic(_), true) => ATOMIC_WRITE,
    };
    Some((access.var, kind))
}

/// The critical sections of each lock, in the order in which they start.
pub(super) fn sections(trace: &Trace) -> Vec<Vec<Section>> {
    let mut sections: Vec<Vec<Section>> = (0..trace.lock_count()).map(|_| Vec::new()).collect();
    let regions = Regions::new(trace);
    // The open sections of a thread, by the numbers of their regions.
    let mut open: Vec<(u32, Section)> = Vec::new();
    for thread in trace.threads() {
        for event in trace.events_of_thread(thread) {
            for (_, section) in &mut open {
                section.visit(trace, *event);
            }
            let Some(number) = regions.at(*event) else { continue };
            let region = regions.get(number);
            if region.acquire == *event {
                open.push((number, Section::open(region)));
            } else if let Some(at) = open.iter().position(|(other, _)| *other == number) {
                sections[region.lock.index()].push(open.remove(at).1);
            }
        }
        for (number, section) in open.drain(..) {
            sections[regions.get(number).lock.index()].push(section);
        }
    }
    for sections in &mut sections {
        sections.sort_unstable_by_key(|section| section.start);
        for section in sections {
            section.accesses.sort_unstable();
            section.accesses.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 |= next.1;
                }
                same
            });
        }
    }
    sections
}

impl Section {
    fn open(region: &Region) -> Self {
        Self {
            thread: region.thread,
            exclusive: !region.shared,
            start: region.acquire,
            end: region.release,
            last: region.acquire,
            accesses: Vec::new(),
        }
    }

    fn visit(&mut self, trace: &Trace, event: EventId) {
        self.last = event;
        self.accesses.extend(access_kind(&trace.op(event)));
    }
}
