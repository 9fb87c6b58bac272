//! Which memory orderings are too weak.
//!
//! For two accesses that are unordered: would they be ordered if every atomic access were
//! sequentially consistent, and if so, which of them are to blame? We follow the earlier access
//! along the edges that there would be, and count those that the stated orderings do not draw. The
//! path with the fewest says which accesses would have to be stronger.

use racelog::trace::{MemoryOrdering, ThreadId};

use super::edges::Edges;
use super::flow::{Flow, Knowledge, Place};
use crate::race::Pair;
use crate::trace::{EventId, Op, Trace};

/// An atomic access whose memory ordering is too weak to order two other accesses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WeakLink {
    /// The atomic access.
    pub event: EventId,
    /// Its ordering.
    pub ordering: MemoryOrdering,
}

/// The atomic accesses that keep a pair unordered by being too weak, in the trace's order. There
/// are none if the pair is ordered as it is, or would be unordered in any case.
///
/// If several chains of synchronisation would order the pair, it is one that asks for the fewest
/// changes. Takes time linear in the trace.
pub fn weak_links(trace: &Trace, pair: Pair) -> Vec<WeakLink> {
    let chains = Chains { places: vec![None; trace.thread_count()], ..Chains::default() };
    let mut flow = Flow::new(trace, Edges::STRENGTHENED, chains);
    let place = |event| Place::of(trace.thread(event)).index();
    for event in trace.events().take(pair.second().index() + 1) {
        let op = trace.op(event);
        flow.arrive(event, &op);
        if event == pair.first() {
            flow.knowledge_mut().places[place(event)] = Some(Chain { length: 0, last: None });
        }
        if event < pair.second() {
            flow.depart(event, &op);
        }
    }
    let chains = flow.into_knowledge();
    let mut links = Vec::new();
    let mut next = chains.places[place(pair.second())].and_then(|chain| chain.last);
    while let Some(at) = next {
        let Link { event, before } = chains.links[at as usize];
        if let Some(ordering) = ordering(&trace.op(event)) {
            links.push(WeakLink { event, ordering });
        }
        next = before;
    }
    links.sort_unstable_by_key(|link| link.event);
    links.dedup();
    links
}

fn ordering(op: &Op) -> Option<MemoryOrdering> {
    match *op {
        Op::Load { ordering, .. }
        | Op::Store { ordering, .. }
        | Op::Rmw { ordering, .. }
        | Op::Cas { ordering, .. }
        | Op::CasFail { ordering, .. } => ordering,
        _ => None,
    }
}

/// How the event that we follow got to a place, if it did.
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
    places: Vec<Option<Chain>>,
    links: Vec<Link>,
}

impl Knowledge for Chains {
    fn place(&mut self) -> Place {
        self.places.push(None);
        Place::from_index(self.places.len() - 1)
    }

    /// One pass does not make so many places that it would pay to use them again.
    fn free(&mut self, _: Place) {}

    fn clear(&mut self, place: Place) {
        self.places[place.index()] = None;
    }

    fn copy(&mut self, to: Place, from: Place) {
        self.places[to.index()] = self.places[from.index()];
    }

    fn join(&mut self, to: Place, from: Place) {
        let Some(chain) = self.places[from.index()] else { return };
        let known = &mut self.places[to.index()];
        if known.is_none_or(|known| chain.length < known.length) {
            *known = Some(chain);
        }
    }

    fn join_weakly(&mut self, to: Place, from: Place, weak: EventId) {
        let Some(mut chain) = self.places[from.index()] else { return };
        // A read-modify-write that is too weak both ways counts once.
        if chain.last.is_none_or(|last| self.links[last as usize].event != weak) {
            let link = self.links.len() as u32;
            self.links.push(Link { event: weak, before: chain.last });
            chain = Chain { length: chain.length + 1, last: Some(link) };
        }
        // For the same reason, of two chains of one length the one that ends here is better.
        let known = &mut self.places[to.index()];
        if known.is_none_or(|known| chain.length <= known.length) {
            *known = Some(chain);
        }
    }

    fn publish(&mut self, _: ThreadId) {}
}
