//! The circles of the graph of requests.
//!
//! First the strongly connected components, in time linear in the graph: whatever is in no circle
//! is dropped. Within a component, the circles are followed one by one, each from its request with
//! the smallest number. A circle has each thread once; no two of its requests hold locks that
//! exclude each other (a gate); and no request leads to another of the circle than the next, for
//! then a smaller circle is within.

use racelog::trace::{BarrierId, LockId, ThreadId};
use rustc_hash::FxHashMap;

use super::components::components;
use super::requests::{Places, Request, Requests, Scopes, Wanted};
use crate::goal::GoalKind;
use crate::index::Locksets;
use crate::trace::Trace;

/// How many steps are taken to follow circles.
const STEPS: usize = 1 << 22;

/// Requests that wait for each other in a circle, by their numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct AbstractCircle {
    pub(crate) requests: Vec<usize>,
    /// Whether it is one only if writers that wait keep readers out.
    pub(crate) fair: bool,
}

/// The circles of a trace.
#[derive(Debug)]
pub(crate) struct Circles {
    pub(crate) all: Vec<AbstractCircle>,
    /// Whether there may be others that were not followed.
    pub(crate) cut: bool,
}

/// Which requests lead to which.
struct Graph<'a> {
    trace: &'a Trace,
    requests: &'a [Request],
    scopes: &'a Scopes,
    sets: &'a Locksets,
    /// The requests whose threads hold each lock, and whether they hold it alone.
    holders: FxHashMap<LockId, Vec<(usize, bool)>>,
    of_thread: FxHashMap<ThreadId, Vec<usize>>,
    /// The requests for each fair lock that keep readers out.
    writers: FxHashMap<LockId, Vec<usize>>,
    /// Whether locks that two requests hold may rule a circle out.
    gates: bool,
}

impl AbstractCircle {
    /// The kind of its goals.
    pub(crate) const fn kind(&self) -> GoalKind {
        if self.fair { GoalKind::FairDeadlock } else { GoalKind::Deadlock }
    }

    /// Where its requests stand in the program, and where the locks were taken that are held there:
    /// what makes circles one finding. None if that is not known of all.
    pub(crate) fn places<'r>(&self, requests: &'r Requests) -> Option<Vec<&'r Places>> {
        let places = self.requests.iter().map(|number| requests.all[*number].places.as_ref());
        let mut places: Vec<&'r Places> = places.collect::<Option<_>>()?;
        places.sort_unstable();
        Some(places)
    }
}

impl Circles {
    pub(crate) fn new(
        trace: &Trace,
        requests: &Requests,
        sets: &Locksets,
        fair: bool,
        gates: bool,
    ) -> Self {
        let graph = Graph::new(trace, requests, sets, fair, gates);
        let components = graph.components();
        let mut search =
            Search { graph: &graph, components: &components, steps: 0, found: Vec::new() };
        for start in 0..requests.all.len() {
            search.follow(&mut vec![start], &mut Vec::new());
            if search.steps >= STEPS {
                break;
            }
        }
        Self { cut: search.steps >= STEPS, all: search.found }
    }
}

impl<'a> Graph<'a> {
    fn new(
        trace: &'a Trace,
        requests: &'a Requests,
        sets: &'a Locksets,
        fair: bool,
        gates: bool,
    ) -> Self {
        let Requests { all: requests, scopes } = requests;
        let mut graph = Self {
            trace,
            requests,
            scopes,
            sets,
            holders: FxHashMap::default(),
            of_thread: FxHashMap::default(),
            writers: FxHashMap::default(),
            gates,
        };
        for (number, request) in requests.iter().enumerate() {
            for (lock, alone) in sets.locks(request.held) {
                graph.holders.entry(lock).or_default().push((number, alone));
            }
            graph.of_thread.entry(request.thread).or_default().push(number);
            if let Wanted::Lock(lock) = request.wanted
                && fair
                && trace.is_fair(lock)
            {
                graph.writers.entry(lock).or_default().push(number);
            }
        }
        graph
    }

    /// Calls `each` with the requests that one leads to, and whether it does so only because a
    /// writer that waits keeps it out.
    fn next(&self, from: usize, mut each: impl FnMut(usize, bool)) {
        let request = &self.requests[from];
        let is_other = |to: usize| self.requests[to].thread != request.thread;
        let holders = |lock| self.holders.get(&lock).map_or(&[][..], Vec::as_slice);
        match request.wanted {
            Wanted::Lock(lock) | Wanted::LockAgain(lock) => {
                let others = holders(lock).iter().filter(|(to, _)| is_other(*to));
                others.for_each(|(to, _)| each(*to, false));
            }
            Wanted::SharedLock(lock) => {
                let others = holders(lock).iter().filter(|(to, alone)| *alone && is_other(*to));
                others.for_each(|(to, _)| each(*to, false));
                let writers = self.writers.get(&lock).map_or(&[][..], Vec::as_slice);
                let others = writers.iter().filter(|to| is_other(**to));
                others.for_each(|to| each(*to, true));
            }
            Wanted::End(thread) => {
                let others = self.of_thread(thread).iter().filter(|to| is_other(**to));
                others.for_each(|to| each(*to, false));
            }
            Wanted::EndOfScope(barrier, generation) => {
                let others = self.of_scope((barrier, generation)).filter(|to| is_other(*to));
                others.for_each(|to| each(to, false));
            }
        }
    }

    /// The requests of a thread.
    fn of_thread(&self, thread: ThreadId) -> &[usize] {
        self.of_thread.get(&thread).map_or(&[], Vec::as_slice)
    }

    /// The requests of the threads of a scope that have not arrived.
    fn of_scope(&self, scope: (BarrierId, u64)) -> impl Iterator<Item = usize> {
        let arrivals = self.scopes.get(&scope).into_iter().flatten();
        arrivals.flat_map(|arrival| {
            let requests = self.of_thread(self.trace.thread(*arrival)).iter().copied();
            requests.filter(|request| self.requests[*request].events[0] < *arrival)
        })
    }

    /// The number of each request's strongly connected component. Requests that lead to many others
    /// by one lock share a vertex for it, so that the graph stays linear in the locks that are held.
    fn components(&self) -> Vec<usize> {
        let mut components = components(&Vertices::new(self).next);
        components.truncate(self.requests.len());
        components
    }
}

/// The graph with a vertex for all that holds a lock.
struct Vertices {
    next: Vec<Vec<usize>>,
}

/// What requests lead to, said once for all of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Through {
    Holders(LockId),
    ExclusiveHolders(LockId),
    Writers(LockId),
    Thread(ThreadId),
    Scope(BarrierId, u64),
}

impl Vertices {
    fn new(graph: &Graph<'_>) -> Self {
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); graph.requests.len()];
        let mut known: FxHashMap<Through, usize> = FxHashMap::default();
        for (number, request) in graph.requests.iter().enumerate() {
            let through = match request.wanted {
                Wanted::Lock(lock) | Wanted::LockAgain(lock) => vec![Through::Holders(lock)],
                Wanted::SharedLock(lock) => {
                    vec![Through::ExclusiveHolders(lock), Through::Writers(lock)]
                }
                Wanted::End(thread) => vec![Through::Thread(thread)],
                Wanted::EndOfScope(barrier, generation) => {
                    vec![Through::Scope(barrier, generation)]
                }
            };
            for through in through {
                let vertex = *known.entry(through).or_insert_with(|| {
                    next.push(through.leads_to(graph));
                    next.len() - 1
                });
                next[number].push(vertex);
            }
        }
        Self { next }
    }
}

impl Through {
    fn leads_to(self, graph: &Graph<'_>) -> Vec<usize> {
        let holders = |lock| graph.holders.get(&lock).map_or(&[][..], Vec::as_slice).iter();
        match self {
            Self::Holders(lock) => holders(lock).map(|(to, _)| *to).collect(),
            Self::ExclusiveHolders(lock) => {
                holders(lock).filter(|(_, alone)| *alone).map(|(to, _)| *to).collect()
            }
            Self::Writers(lock) => graph.writers.get(&lock).cloned().unwrap_or_default(),
            Self::Thread(thread) => graph.of_thread(thread).to_vec(),
            Self::Scope(barrier, generation) => graph.of_scope((barrier, generation)).collect(),
        }
    }
}

/// The circles, one by one.
struct Search<'a> {
    graph: &'a Graph<'a>,
    components: &'a [usize],
    steps: usize,
    found: Vec<AbstractCircle>,
}

impl Search<'_> {
    /// Follows a way that begins at the request with the smallest number; `fair` says of each of
    /// its edges whether only a writer that waits makes it one.
    fn follow(&mut self, way: &mut Vec<usize>, fair: &mut Vec<bool>) {
        self.steps += 1;
        if self.steps >= STEPS {
            return;
        }
        let (start, last) = (way[0], way[way.len() - 1]);
        let mut edges = Vec::new();
        let component = self.components[start];
        self.graph.next(last, |to, by_writer| {
            if to >= start && self.components[to] == component {
                edges.push((to, by_writer));
            }
        });
        for (to, by_writer) in edges {
            if to == start {
                fair.push(by_writer);
                let is_fair = fair.contains(&true);
                fair.pop();
                if way.len() > 1 && !self.has_chord(way, is_fair) {
                    self.found.push(AbstractCircle { requests: way.clone(), fair: is_fair });
                }
            } else if self.may_join(way, to) {
                way.push(to);
                fair.push(by_writer);
                self.follow(way, fair);
                fair.pop();
                way.pop();
            }
        }
    }

    /// Whether a request can be made at the same time as all of a way.
    fn may_join(&self, way: &[usize], to: usize) -> bool {
        let Graph { requests, sets, gates, .. } = self.graph;
        let new = &requests[to];
        way.iter().all(|number| {
            let old = &requests[*number];
            old.thread != new.thread && !(*gates && sets.exclude(old.held, new.held))
        })
    }

    /// Whether a request of a circle leads to another one than the next: then there is a smaller
    /// circle. Edges that only a writer makes count only in circles that have such.
    fn has_chord(&self, way: &[usize], fair: bool) -> bool {
        (0..way.len()).any(|at| {
            let following = way[(at + 1) % way.len()];
            let mut chord = false;
            self.graph.next(way[at], |to, by_writer| {
                chord |= (fair || !by_writer) && to != following && way.contains(&to);
            });
            chord
        })
    }
}
