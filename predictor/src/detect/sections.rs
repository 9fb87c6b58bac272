//! Critical sections.

use racelog::trace::{LockId, ThreadId, VarId};

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

fn kinds_conflict(a: u8, b: u8) -> bool {
    let any = READ | WRITE | ATOMIC_READ | ATOMIC_WRITE;
    let one_way = |a: u8, b: u8| {
        (a & WRITE != 0 && b & any != 0) || (a & READ != 0 && b & (WRITE | ATOMIC_WRITE) != 0)
    };
    one_way(a, b) || one_way(b, a)
}

/// The critical sections of each lock, in the order in which they start.
pub(super) fn sections(trace: &Trace) -> Vec<Vec<Section>> {
    let mut sections: Vec<Vec<Section>> = (0..trace.lock_count()).map(|_| Vec::new()).collect();
    // Where the open sections of a thread stand.
    let mut open: Vec<(LockId, usize)> = Vec::new();
    for thread in trace.threads() {
        open.clear();
        for event in trace.events_of_thread(thread) {
            for (lock, at) in &open {
                sections[lock.index()][*at].visit(trace, *event);
            }
            match trace.op(*event) {
                Op::Acquire(lock) | Op::Wake { lock, .. } | Op::WakeTimeout { lock, .. } => {
                    open.push((lock, sections[lock.index()].len()));
                    sections[lock.index()].push(Section::open(thread, true, *event));
                }
                Op::ReadAcquire(lock) => {
                    open.push((lock, sections[lock.index()].len()));
                    sections[lock.index()].push(Section::open(thread, false, *event));
                }
                Op::Release(lock) | Op::Wait { lock, .. } | Op::ReadRelease(lock) => {
                    if let Some(at) = open.iter().rposition(|(held, _)| *held == lock) {
                        let (_, section) = open.remove(at);
                        sections[lock.index()][section].end = Some(*event);
                    }
                }
                _ => {}
            }
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
    fn open(thread: ThreadId, exclusive: bool, start: EventId) -> Self {
        Self { thread, exclusive, start, end: None, last: start, accesses: Vec::new() }
    }

    fn visit(&mut self, trace: &Trace, event: EventId) {
        self.last = event;
        let op = trace.op(event);
        let Some(var) = op.var() else { return };
        let kind = match (op.is_atomic(), op.writes()) {
            _ if matches!(op, Op::Exclusive { .. }) => return,
            (false, false) => READ,
            (false, true) => WRITE,
            (true, false) => ATOMIC_READ,
            (true, true) => ATOMIC_WRITE,
        };
        self.accesses.push((var, kind));
    }
}
