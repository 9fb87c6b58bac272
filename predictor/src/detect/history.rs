//! Which earlier accesses an access has to be held against.
//!
//! Of the accesses by one thread, at one site, of one kind, with the same locks held, only the last
//! is kept: if any of them is unordered with a later event, that one is, for the others come before
//! it. So every signature is found without a look at every pair. Once a variable is accessed
//! exclusively, all that came before is ordered with all that comes after, and is dropped.

use std::mem;

use racelog::trace::{ThreadId, VarId};

use super::Scope;
use crate::goal::ProgramPoint;
use crate::index::LocksetId;
use crate::order::Epoch;
use crate::trace::{EventId, Op, Trace};

/// So many accesses by one thread of one variable are kept when signatures are asked for. Hardly
/// any but accesses without a location come to so many, and then each is a signature of its own.
const MOST_KEPT: usize = 256;

/// An access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) event: EventId,
    pub(super) epoch: Epoch,
    pub(super) locks: LocksetId,
    point: ProgramPoint,
    writes: bool,
    atomic: bool,
}

impl Access {
    fn same_kind(&self, other: &Self) -> bool {
        self.point == other.point
            && self.locks == other.locks
            && (self.writes, self.atomic) == (other.writes, other.atomic)
    }

    /// As [`crate::goal::race::conflict`], of accesses of one variable by different threads.
    fn conflicts(&self, other: &Self) -> bool {
        (self.writes || other.writes) && !(self.atomic && other.atomic)
    }
}

/// The accesses of all variables so far, as far as they matter.
#[derive(Debug)]
pub(super) struct History {
    scope: Scope,
    vars: Vec<OfVar>,
    forgotten: u64,
}

/// The accesses of one variable.
#[derive(Debug, Default)]
struct OfVar {
    threads: Vec<OfThread>,
    /// How often the kinds of accesses that are kept have changed.
    changes: u32,
}

/// The accesses of one variable by one thread.
#[derive(Debug)]
struct OfThread {
    thread: ThreadId,
    /// The last epoch in which the thread accessed the variable.
    latest: u32,
    /// One of each kind; a kind stays in its place.
    accesses: Vec<Kept>,
    /// Whether the accesses stand in the trace's order.
    in_order: bool,
}

/// The last access of its kind, and what need not be looked at again for this kind.
#[derive(Debug)]
struct Kept {
    access: Access,
    /// For each thread of the variable: with how many of its accesses, from the first on, this kind
    /// has been paired.
    paired: Vec<u32>,
    /// After how many changes this kind had been paired with all others.
    settled: Option<u32>,
}

impl OfThread {
    fn new(thread: ThreadId) -> Self {
        Self { thread, latest: 0, accesses: Vec::new(), in_order: true }
    }

    /// Another access of the kind at this place has happened.
    fn replace(&mut self, at: usize, access: Access) {
        self.latest = access.epoch.count;
        self.in_order &= at + 1 == self.accesses.len();
        self.accesses[at].access = access;
    }
}

impl History {
    pub(super) fn new(trace: &Trace, scope: Scope) -> Self {
        Self { scope, vars: trace.vars().map(|_| OfVar::default()).collect(), forgotten: 0 }
    }

    /// How many accesses did not find room.
    pub(super) fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Describes an access; `None` for other events, and for exclusive accesses, which race with
    /// nothing.
    pub(super) fn describe(
        &self,
        trace: &Trace,
        event: EventId,
        op: &Op,
        epoch: Epoch,
        locks: LocksetId,
    ) -> Option<(VarId, Access)> {
        let var = op.var()?;
        if op.is_exclusive() {
            return None;
        }
        let point = match self.scope {
            Scope::Signatures => ProgramPoint::of(trace, event),
            Scope::AllPairs => ProgramPoint::Event(event),
        };
        let access =
            Access { event, epoch, locks, point, writes: op.writes(), atomic: op.is_atomic() };
        Some((var, access))
    }

    /// Adds an access. `found` is called with those kept that conflict with it and that its thread,
    /// whose clock is `clock`, has not seen; not with those for which, by their kinds, it has been
    /// called before.
    pub(super) fn add(
        &mut self,
        var: VarId,
        access: Access,
        clock: &[u32],
        mut found: impl FnMut(&Access),
    ) {
        let OfVar { threads, changes } = &mut self.vars[var.index()];
        let thread = access.epoch.thread;
        let mine = threads.iter().position(|mine| mine.thread == thread).unwrap_or_else(|| {
            threads.push(OfThread::new(thread));
            threads.len() - 1
        });
        let alike = match self.scope {
            Scope::Signatures => {
                threads[mine].accesses.iter().rposition(|kept| kept.access.same_kind(&access))
            }
            Scope::AllPairs => None,
        };
        if let Some(at) = alike
            && threads[mine].accesses[at].settled == Some(*changes)
        {
            threads[mine].replace(at, access);
            return;
        }
        let mut kept = Kept { access, paired: Vec::new(), settled: None };
        if let Some(at) = alike {
            kept.paired = mem::take(&mut threads[mine].accesses[at].paired);
        }
        let mut all = true;
        for (index, other) in threads.iter().enumerate().filter(|(index, _)| *index != mine) {
            let paired = kept.paired.get(index).map_or(0, |paired| *paired as usize);
            let seen = clock[other.thread.index()];
            let done = other.pair(paired, seen, &access, &mut found);
            if done && paired < other.accesses.len() && self.scope == Scope::Signatures {
                kept.paired.resize(kept.paired.len().max(index + 1), 0);
                kept.paired[index] = other.accesses.len() as u32;
            }
            all &= done;
        }
        kept.settled = all.then_some(*changes);
        self.keep(var, mine, alike, kept);
    }

    fn keep(&mut self, var: VarId, mine: usize, alike: Option<usize>, kept: Kept) {
        let OfVar { threads, changes } = &mut self.vars[var.index()];
        let OfThread { latest, accesses, in_order, .. } = &mut threads[mine];
        *latest = kept.access.epoch.count;
        if let Some(at) = alike {
            *in_order &= at + 1 == accesses.len();
            accesses[at] = kept;
            return;
        }
        *changes += 1;
        if self.scope == Scope::AllPairs || accesses.len() < MOST_KEPT {
            accesses.push(kept);
            return;
        }
        // Many at a time, so that it need not be done often.
        const FORGOTTEN: usize = MOST_KEPT / 2;
        accesses.drain(..FORGOTTEN);
        accesses.push(kept);
        self.forgotten += FORGOTTEN as u64;
        for other in threads.iter_mut().flat_map(|thread| &mut thread.accesses) {
            if let Some(paired) = other.paired.get_mut(mine) {
                *paired = paired.saturating_sub(FORGOTTEN as u32);
            }
        }
    }

    /// The variable is accessed exclusively.
    pub(super) fn clear(&mut self, var: VarId) {
        let OfVar { threads, changes } = &mut self.vars[var.index()];
        *changes += 1;
        for of_thread in threads {
            of_thread.accesses.clear();
            of_thread.latest = 0;
            of_thread.in_order = true;
        }
    }
}

impl OfThread {
    /// Calls `found` with the accesses after the first `paired` that are later than what was `seen`
    /// of the thread and conflict with `access`. Says whether all were later.
    fn pair(
        &self,
        paired: usize,
        seen: u32,
        access: &Access,
        found: &mut impl FnMut(&Access),
    ) -> bool {
        if paired == self.accesses.len() {
            return true;
        }
        if self.latest <= seen {
            return false;
        }
        let mut all = true;
        for Kept { access: earlier, .. } in self.accesses[paired..].iter().rev() {
            if earlier.epoch.count > seen {
                if earlier.conflicts(access) {
                    found(earlier);
                }
            } else if self.in_order {
                return false;
            } else {
                all = false;
            }
        }
        all
    }
}
