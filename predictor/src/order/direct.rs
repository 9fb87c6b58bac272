//! The edges themselves.

use racelog::trace::ThreadId;

use super::edges::Edges;
use super::flow::{Flow, Knower, Knowledge};
use crate::trace::{EventId, Trace};

/// One event comes before another, of another thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Edge {
    /// What comes after.
    pub to: EventId,
    /// What comes before.
    pub from: EventId,
}

/// The edges between threads, sorted by where they end. Together with the order within threads they
/// make up the order that `edges` stands for.
pub fn direct_edges(trace: &Trace, edges: Edges) -> Vec<Edge> {
    let mut flow = Flow::new(trace, edges, Sources::new(trace.thread_count()));
    for event in trace.events() {
        let op = trace.op(event);
        flow.arrive(event, &op);
        flow.depart(event, &op);
    }
    let mut found = flow.into_knowledge().edges;
    found.sort_unstable();
    found.dedup();
    found
}

/// Each knower knows the last event of each thread that left its knowledge there; a thread's own
/// knower knows the thread's last event only.
#[derive(Debug)]
struct Sources {
    threads: usize,
    knowers: Vec<Vec<(ThreadId, EventId)>>,
    free: Vec<Knower>,
    now: EventId,
    edges: Vec<Edge>,
}

impl Sources {
    fn new(threads: usize) -> Self {
        let now = EventId::from_index(0);
        let knowers = vec![Vec::new(); threads];
        Self { threads, knowers, free: Vec::new(), now, edges: Vec::new() }
    }
}

impl Knowledge for Sources {
    fn new_knower(&mut self) -> Knower {
        self.free.pop().unwrap_or_else(|| {
            self.knowers.push(Vec::new());
            Knower::from_index(self.knowers.len() - 1)
        })
    }

    fn free(&mut self, knower: Knower) {
        self.clear(knower);
        self.free.push(knower);
    }

    fn clear(&mut self, knower: Knower) {
        self.knowers[knower.index()].clear();
    }

    fn copy(&mut self, to: Knower, from: Knower) {
        self.clear(to);
        self.join(to, from);
    }

    fn join(&mut self, to: Knower, from: Knower) {
        let sources = std::mem::take(&mut self.knowers[from.index()]);
        for source in &sources {
            if to.index() < self.threads {
                if source.0.index() != to.index() {
                    self.edges.push(Edge { to: self.now, from: source.1 });
                }
                continue;
            }
            let known = &mut self.knowers[to.index()];
            match known.iter_mut().find(|known| known.0 == source.0) {
                Some(known) => known.1 = known.1.max(source.1),
                None => known.push(*source),
            }
        }
        self.knowers[from.index()] = sources;
    }

    fn happens(&mut self, event: EventId, thread: ThreadId) {
        self.now = event;
        let knower = &mut self.knowers[thread.index()];
        knower.clear();
        knower.push((thread, event));
    }

    fn publish(&mut self, _: ThreadId) {}
}
