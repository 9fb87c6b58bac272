//! What threads ask for while they hold something.

use racelog::trace::{Awaited, BarrierId, LocId, LockId, ThreadId};
use rustc_hash::FxHashMap;

use crate::index::{LocksetId, Regions, endless_wait};
use crate::trace::{EventId, Op, Trace};

/// What a thread asks for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Wanted {
    /// A lock, for itself alone.
    Lock(LockId),
    /// A lock, for itself alone, after a wait. Readers are not kept out for it.
    LockAgain(LockId),
    /// A lock, to share it; or that nobody holds it alone.
    SharedLock(LockId),
    /// The end of a thread.
    End(ThreadId),
    /// The ends of what threads do in a scope: those that arrive for this generation.
    EndOfScope(BarrierId, u64),
}

impl Wanted {
    /// What an event asks for and would wait for for as long as it takes, if another thread can
    /// give it.
    fn of(trace: &Trace, event: EventId) -> Option<Self> {
        Some(match endless_wait(trace, event)? {
            Awaited::Lock { lock, shared: false } => Self::Lock(lock),
            Awaited::Lock { lock, shared: true } | Awaited::Initialiser(lock) => {
                Self::SharedLock(lock)
            }
            // A waiter needs its lock back, however its wait ends.
            Awaited::Notification { lock, .. } | Awaited::LockAgain(lock) => Self::LockAgain(lock),
            Awaited::End(thread) => Self::End(thread),
            Awaited::EndOfScope(barrier, generation) => Self::EndOfScope(barrier, generation),
            Awaited::Token
            | Awaited::Message(_)
            | Awaited::LastSender(_)
            | Awaited::Room(_)
            | Awaited::Arrivals(..) => return None,
        })
    }
}

/// Where a request stands in the program, and where its thread has taken the locks that it holds.
pub(crate) type Places = (LocId, Vec<LocId>);

/// Requests that differ only in when they are made.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) thread: ThreadId,
    pub(crate) wanted: Wanted,
    pub(crate) held: LocksetId,
    /// Where in the program it stands, if that is known.
    pub(crate) places: Option<Places>,
    /// In the trace's order.
    pub(crate) events: Vec<EventId>,
}

/// What threads arrive at for each scope whose end is in a trace.
pub(crate) type Scopes = FxHashMap<(BarrierId, u64), Vec<EventId>>;

/// The requests of a trace that may be in a circle.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    pub(crate) all: Vec<Request>,
    pub(crate) scopes: Scopes,
}

impl Requests {
    pub(crate) fn new(trace: &Trace, regions: &Regions) -> Self {
        // Who has arrived keeps a scope open no longer: what it asks for before and after differs.
        let mut by_key: FxHashMap<(ThreadId, Wanted, LocksetId, Option<Places>, u32), usize> =
            FxHashMap::default();
        let mut all: Vec<Request> = Vec::new();
        let mut walk = regions.walk();
        let scopes = scopes(trace);
        let joined = joined(trace, &scopes);
        let mut arrived = vec![0; trace.thread_count()];
        for event in trace.events() {
            let thread = trace.thread(event);
            if let Op::Arrive { .. } = trace.op(event) {
                arrived[thread.index()] += 1;
            }
            let Some(wanted) = Wanted::of(trace, event) else { continue };
            let held = walk.held(thread, trace.position(event));
            // Nobody waits for a thread that holds nothing, but those that wait for its end, and
            // readers that a writer keeps out.
            let keeps_out = matches!(wanted, Wanted::Lock(lock) if trace.is_fair(lock));
            if held == LocksetId::EMPTY && !joined[thread.index()] && !keeps_out {
                continue;
            }
            let places = places(trace, regions, event, held);
            let key = (thread, wanted, held, places.clone(), arrived[thread.index()]);
            let at = *by_key.entry(key).or_insert_with(|| {
                all.push(Request { thread, wanted, held, places, events: Vec::new() });
                all.len() - 1
            });
            all[at].events.push(event);
        }
        Self { all, scopes }
    }
}

/// Where an event stands, and where the locks were taken that its thread holds.
fn places(trace: &Trace, regions: &Regions, event: EventId, held: LocksetId) -> Option<Places> {
    let mut left = regions.sets().locks(held).count();
    let mut taken = Vec::with_capacity(left);
    let mut begun = regions.begun_before(trace, event);
    while left > 0 {
        let region = begun.next()?;
        if region.is_open_at(event) {
            taken.push(trace.location(region.acquire)?);
            left -= 1;
        }
    }
    Some((trace.location(event)?, taken))
}

fn scopes(trace: &Trace) -> Scopes {
    let mut scopes = Scopes::default();
    for end in trace.ends_of_scopes() {
        if let Op::Leave { barrier, generation } = trace.op(*end) {
            scopes.insert((barrier, generation), Vec::new());
        }
    }
    if scopes.is_empty() {
        return scopes;
    }
    for event in trace.events() {
        if let Op::Arrive { barrier, generation } = trace.op(event)
            && let Some(arrivals) = scopes.get_mut(&(barrier, generation))
        {
            arrivals.push(event);
        }
    }
    scopes
}

/// The threads whose ends others wait for, or the ends of what they do in a scope.
fn joined(trace: &Trace, scopes: &Scopes) -> Vec<bool> {
    let mut joined = vec![false; trace.thread_count()];
    for arrival in scopes.values().flatten() {
        joined[trace.thread(*arrival).index()] = true;
    }
    for op in trace.ops() {
        if let Op::Join(thread) = op {
            joined[thread.index()] = true;
        }
    }
    joined
}
