//! Which memory orderings are too weak.
//!
//! For two accesses that are unordered: would they be ordered if every atomic access were
//! sequentially consistent, and if so, which of them are to blame? We follow the earlier access
//! along the edges that there would be, and count those that the stated orderings do not draw. The
//! path with the fewest says which accesses would have to be stronger.

use racelog::trace::{AccessKind, MemoryOrdering, ThreadId};
use rustc_hash::FxHashMap;

use super::edges::Edges;
use super::flow::{Flow, Knower, Knowledge};
use crate::goal::Pair;
use crate::trace::{EventId, Op, Trace};

/// An atomic access whose memory ordering is too weak to order two other accesses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WeakLink {
    /// The atomic access.
    pub event: EventId,
    /// Its ordering.
    pub ordering: MemoryOrdering,
    /// The weakest one that would do, if the others have theirs as well; `None` if that was not
    /// found.
    pub needs: Option<MemoryOrdering>,
}

/// How often it is tried at most whether a change of orderings is enough: each time takes as long
/// as the trace.
const ATTEMPTS: usize = 32;

/// The atomic accesses that keep a pair unordered by being too weak, in the trace's order. There
/// are none if the pair is ordered as it is, or would be unordered in any case.
///
/// If several chains of synchronisation would order the pair, it is one that asks for the fewest
/// changes. Takes time linear in the trace.
pub fn weak_links(trace: &Trace, pair: Pair) -> Vec<WeakLink> {
    let chains = Chains { knowers: vec![None; trace.thread_count()], ..Chains::default() };
    let mut flow = Flow::new(trace, Edges::STRENGTHENED, chains);
    let knower = |event| Knower::of(trace.thread(event)).index();
    for event in trace.events().take(pair.second().index() + 1) {
        let op = trace.op(event);
        flow.arrive(event, &op);
        if event == pair.first() {
            flow.knowledge_mut().knowers[knower(event)] = Some(Chain { length: 0, last: None });
        }
        if event < pair.second() {
            flow.depart(event, &op);
        }
    }
    let chains = flow.into_knowledge();
    let mut links = Vec::new();
    let mut next = chains.knowers[knower(pair.second())].and_then(|chain| chain.last);
    while let Some(at) = next {
        let Link { event, before } = chains.links[at as usize];
        if let Some(ordering) = ordering(&trace.op(event)) {
            links.push(WeakLink { event, ordering, needs: None });
        }
        next = before;
    }
    links.sort_unstable_by_key(|link| link.event);
    links.dedup();
    if let Some((cured, needs)) = cure(trace, pair, &links) {
        links = cured
            .iter()
            .zip(needs)
            .map(|(link, needs)| WeakLink { needs: Some(needs), ..*link })
            .collect();
    }
    links
}

/// The fewest of these accesses, and the weakest orderings, with which the pair would be ordered:
/// one alone if that is enough, else all of them.
fn cure(
    trace: &Trace,
    pair: Pair,
    links: &[WeakLink],
) -> Option<(Vec<WeakLink>, Vec<MemoryOrdering>)> {
    let mut attempts = ATTEMPTS;
    let mut is_enough = |links: &[WeakLink], orderings: &[MemoryOrdering]| {
        attempts = attempts.checked_sub(1)?;
        let changes = links.iter().map(|link| link.event).zip(orderings.iter().copied());
        Some(are_ordered(trace, pair, &changes.collect()))
    };
    for link in links {
        for ordering in stronger(&trace.op(link.event), link.ordering) {
            if is_enough(&[*link], &[ordering])? {
                return Some((vec![*link], vec![ordering]));
            }
        }
    }
    // All at once: first as weak as they can be, then one after the other stronger.
    let choices: Vec<Vec<MemoryOrdering>> =
        links.iter().map(|link| stronger(&trace.op(link.event), link.ordering)).collect();
    let mut chosen = vec![0; links.len()];
    loop {
        let orderings: Option<Vec<MemoryOrdering>> =
            chosen.iter().zip(&choices).map(|(at, choices)| choices.get(*at).copied()).collect();
        let orderings = orderings?;
        if is_enough(links, &orderings)? {
            return Some((links.to_vec(), orderings));
        }
        let next = chosen.iter().zip(&choices).position(|(at, all)| at + 1 < all.len())?;
        chosen[..next].fill(0);
        chosen[next] += 1;
    }
}

/// The orderings that an access can have besides the one that it has, and that are stronger; the
/// weakest first.
fn stronger(op: &Op, has: MemoryOrdering) -> Vec<MemoryOrdering> {
    use MemoryOrdering::{AcqRel, Acquire, Relaxed, Release};
    match (op, has) {
        (Op::Store { .. }, Relaxed) => vec![Release],
        (Op::Load { .. } | Op::CasFail { .. }, Relaxed) => vec![Acquire],
        (Op::Rmw { .. } | Op::Cas { .. }, Relaxed) => vec![Release, Acquire, AcqRel],
        (Op::Rmw { .. } | Op::Cas { .. }, Acquire | Release) => vec![AcqRel],
        _ => Vec::new(),
    }
}

/// Whether the pair is ordered if these accesses have these orderings.
fn are_ordered(trace: &Trace, pair: Pair, changes: &FxHashMap<EventId, MemoryOrdering>) -> bool {
    let chains = Chains { knowers: vec![None; trace.thread_count()], ..Chains::default() };
    let mut flow = Flow::new(trace, Edges::HAPPENS_BEFORE, chains);
    let knower = |event| Knower::of(trace.thread(event)).index();
    for event in trace.events().take(pair.second().index() + 1) {
        let mut op = trace.op(event);
        if let Some(ordering) = changes.get(&event) {
            op = with_ordering(op, *ordering);
        }
        flow.arrive(event, &op);
        if event == pair.first() {
            flow.knowledge_mut().knowers[knower(event)] = Some(Chain { length: 0, last: None });
        }
        if event < pair.second() {
            flow.depart(event, &op);
        }
    }
    flow.into_knowledge().knowers[knower(pair.second())].is_some()
}

fn with_ordering(mut op: Op, new: MemoryOrdering) -> Op {
    if let Op::Load { ordering, .. }
    | Op::Store { ordering, .. }
    | Op::Rmw { ordering, .. }
    | Op::Cas { ordering, .. }
    | Op::CasFail { ordering, .. } = &mut op
    {
        *ordering = Some(new);
    }
    op
}

fn ordering(op: &Op) -> Option<MemoryOrdering> {
    match op.access()?.kind {
        AccessKind::Atomic(ordering) => ordering,
        AccessKind::Plain | AccessKind::Exclusive => None,
    }
}

/// How the event that we follow got to a knower, if it did.
#[derive(Clone, Copy, Debug)]
struct Chain {
    /// How many of its edges are weak.
    length: u32,
    /// The last of these.
    last: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    event: EventId,
    before: Option<u32>,
}

#[derive(Debug, Default)]
struct Chains {
    knowers: Vec<Option<Chain>>,
    links: Vec<Link>,
}

impl Knowledge for Chains {
    fn new_knower(&mut self) -> Knower {
        self.knowers.push(None);
        Knower::from_index(self.knowers.len() - 1)
    }

    /// One pass does not make so many knowers that it would pay to use them again.
    fn free(&mut self, _: Knower) {}

    fn clear(&mut self, knower: Knower) {
        self.knowers[knower.index()] = None;
    }

    fn copy(&mut self, to: Knower, from: Knower) {
        self.knowers[to.index()] = self.knowers[from.index()];
    }

    fn join(&mut self, to: Knower, from: Knower) {
        let Some(chain) = self.knowers[from.index()] else { return };
        let known = &mut self.knowers[to.index()];
        if known.is_none_or(|known| chain.length < known.length) {
            *known = Some(chain);
        }
    }

    fn join_weakly(&mut self, to: Knower, from: Knower, weak: EventId) {
        let Some(mut chain) = self.knowers[from.index()] else { return };
        // A read-modify-write that is too weak both ways counts once.
        if chain.last.is_none_or(|last| self.links[last as usize].event != weak) {
            let link = self.links.len() as u32;
            self.links.push(Link { event: weak, before: chain.last });
            chain = Chain { length: chain.length + 1, last: Some(link) };
        }
        // For the same reason, of two chains of one length the one that ends here is better.
        let known = &mut self.knowers[to.index()];
        if known.is_none_or(|known| chain.length <= known.length) {
            *known = Some(chain);
        }
    }

    fn publish(&mut self, _: ThreadId) {}
}
