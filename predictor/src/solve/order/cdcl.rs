//! Conflict-driven clause learning, with a hook for the order of events.
//!
//! The plain, proven design (MiniSat; N. Eén and N. Sörensson, "An Extensible SAT-solver", 2003):
//! two watched literals a clause, first-UIP learning with minimisation, activities, Luby restarts, and
//! deletion of learnt clauses by their LBD (G. Audemard and L. Simon, 2009). Two things are different.
//! A decision is made only for a clause that would not hold by [defaults](super::open), so that a
//! search for a small prefix decides little. And:
//! a decision on the order of two events has to follow the topological order that
//! the graph keeps up at that moment. That order starts out as the observed one, which is nearly a
//! model, and a search that starts there is short. No general solver can be asked for either, which
//! is why this one is our own.

use std::time::Instant;

use super::activity::Activity;
use super::acyclic::{Graph, Node};
use super::clauses::{ClauseRef, Clauses};
use super::open::OpenClauses;
use super::order_atoms::OrderAtoms;
use crate::solve::formula::Lit;

/// What a search ended with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    Satisfied,
    Refuted,
    OutOfTime,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reason {
    Decision,
    Clause(ClauseRef),
}

#[derive(Clone, Copy, Debug)]
struct Watch {
    clause: ClauseRef,
    /// Another literal of the clause: if it holds, the clause need not be looked at.
    blocker: Lit,
}

const RESTART_AFTER: u64 = 100;
/// How often the clock is looked at, in conflicts and in decisions.
const CHECK_EVERY: u64 = 256;

/// The state of the search.
#[derive(Debug, Default)]
pub(super) struct Search {
    clauses: Clauses,
    learnt: Vec<ClauseRef>,
    watches: Vec<Vec<Watch>>,
    /// By literal: 1 holds, -1 does not, 0 is open.
    values: Vec<i8>,
    levels: Vec<u32>,
    reasons: Vec<Reason>,
    /// What a proposition is if nobody decides it.
    defaults: Vec<bool>,
    activity: Activity,
    open: OpenClauses,
    trail: Vec<Lit>,
    /// Where in the trail each level starts, and how many edges the graph had.
    level_starts: Vec<(usize, usize)>,
    /// How much of the trail has been followed through the clauses, to the order, and to the
    /// clauses that held by default.
    propagated: usize,
    ordered: usize,
    noticed: usize,
    pub(super) graph: Graph,
    pub(super) atoms: OrderAtoms,
    contradiction: bool,
    conflicts: u64,
    decisions: u64,
    learnt_limit: usize,
    // Scratch space of the analysis.
    seen: Vec<bool>,
    marked: Vec<usize>,
}

impl Search {
    pub(super) fn proposition_count(&self) -> usize {
        self.levels.len()
    }

    pub(super) fn add_proposition(&mut self, default: bool) {
        self.watches.extend([Vec::new(), Vec::new()]);
        self.values.extend([0, 0]);
        self.levels.push(0);
        self.reasons.push(Reason::Decision);
        self.defaults.push(default);
        self.seen.push(false);
        self.activity.grow();
        self.open.grow();
        self.atoms.grow();
    }

    /// Whether a proposition holds in the model that was found.
    pub(super) fn holds(&self, proposition: usize) -> bool {
        let lit = Lit::positive(proposition);
        match (self.value(lit), self.atoms.edge(lit)) {
            (0, Some((from, to))) => self.graph.rank(from) < self.graph.rank(to),
            (0, None) => self.defaults[proposition],
            (value, _) => value > 0,
        }
    }

    /// Whether a literal is true if nobody decides it. The order is never taken for granted: it
    /// moves.
    fn is_default(&self, lit: Lit) -> bool {
        self.defaults[lit.proposition()] == lit.is_positive() && self.atoms.edge(lit).is_none()
    }

    #[inline]
    fn value(&self, lit: Lit) -> i8 {
        self.values[lit.code()]
    }

    fn level(&self, lit: Lit) -> u32 {
        self.levels[lit.proposition()]
    }

    fn current_level(&self) -> u32 {
        self.level_starts.len() as u32
    }

    /// Adds a clause. The search has to be [reset](Self::reset).
    pub(super) fn add_clause(&mut self, literals: &[Lit]) {
        debug_assert_eq!(self.current_level(), 0);
        let mut clause: Vec<Lit> = Vec::with_capacity(literals.len());
        for lit in literals {
            if self.value(*lit) > 0 || clause.contains(&!*lit) {
                return;
            }
            if self.value(*lit) == 0 && !clause.contains(lit) {
                clause.push(*lit);
            }
        }
        match clause[..] {
            [] => self.contradiction = true,
            [unit] => {
                self.assign(unit, Reason::Decision);
                self.contradiction |= self.propagate().is_some();
            }
            _ => {
                let added = self.clauses.add(&clause, None);
                self.watch(added);
                self.open.add(added);
            }
        }
    }

    /// Orders two nodes for good. The search has to be [reset](Self::reset).
    pub(super) fn add_order(&mut self, from: Node, to: Node) {
        debug_assert_eq!(self.current_level(), 0);
        self.contradiction |= self.graph.add(from, to, Lit::TRUE).is_err();
    }

    fn watch(&mut self, clause: ClauseRef) {
        let [a, b] = [self.clauses.literals(clause)[0], self.clauses.literals(clause)[1]];
        self.watches[(!a).code()].push(Watch { clause, blocker: b });
        self.watches[(!b).code()].push(Watch { clause, blocker: a });
    }

    /// Forgets all decisions.
    pub(super) fn reset(&mut self) {
        self.go_back(0);
    }

    fn go_back(&mut self, level: u32) {
        if self.current_level() <= level {
            return;
        }
        let (start, edges) = self.level_starts[level as usize];
        for at in (start..self.trail.len()).rev() {
            let lit = self.trail[at];
            self.values[lit.code()] = 0;
            self.values[(!lit).code()] = 0;
            if !self.is_default(lit) {
                self.open.falls(lit);
            }
        }
        self.trail.truncate(start);
        self.level_starts.truncate(level as usize);
        self.propagated = start;
        self.ordered = self.ordered.min(start);
        self.noticed = self.noticed.min(start);
        self.graph.shrink(edges);
    }

    fn assign(&mut self, lit: Lit, reason: Reason) {
        self.values[lit.code()] = 1;
        self.values[(!lit).code()] = -1;
        self.levels[lit.proposition()] = self.current_level();
        self.reasons[lit.proposition()] = reason;
        self.trail.push(lit);
    }

    fn decide(&mut self, lit: Lit) {
        self.level_starts.push((self.trail.len(), self.graph.edge_count()));
        self.assign(lit, Reason::Decision);
    }

    /// Follows what is assigned to its consequences. Returns the literals of a clause none of which
    /// holds, if it comes to that.
    fn propagate(&mut self) -> Option<Vec<Lit>> {
        loop {
            if let Some(clause) = self.propagate_clauses() {
                return Some(self.clauses.literals(clause).to_vec());
            }
            let lit = self.trail.get(self.ordered).copied()?;
            self.ordered += 1;
            if let Some((from, to)) = self.atoms.edge(lit)
                && let Err(why) = self.graph.add(from, to, lit)
            {
                let mut clause = vec![!lit];
                clause.extend(why.into_iter().map(|lit| !lit));
                return Some(clause);
            }
        }
    }

    fn propagate_clauses(&mut self) -> Option<ClauseRef> {
        while let Some(lit) = self.trail.get(self.propagated).copied() {
            self.propagated += 1;
            let mut watches = std::mem::take(&mut self.watches[lit.code()]);
            let mut kept = 0;
            let mut conflict = None;
            let mut next = 0;
            while next < watches.len() {
                let watch = watches[next];
                next += 1;
                if self.values[watch.blocker.code()] > 0 {
                    watches[kept] = watch;
                    kept += 1;
                    continue;
                }
                let values = &self.values;
                let literals = self.clauses.literals_mut(watch.clause);
                if literals[0] == !lit {
                    literals.swap(0, 1);
                }
                let first = literals[0];
                if values[first.code()] <= 0
                    && let Some(at) =
                        (2..literals.len()).find(|at| values[literals[*at].code()] >= 0)
                {
                    literals.swap(1, at);
                    let moved = Watch { clause: watch.clause, blocker: first };
                    self.watches[(!literals[1]).code()].push(moved);
                    continue;
                }
                watches[kept] = Watch { clause: watch.clause, blocker: first };
                kept += 1;
                match values[first.code()] {
                    0 => self.assign(first, Reason::Clause(watch.clause)),
                    -1 => {
                        conflict = Some(watch.clause);
                        break;
                    }
                    _ => {}
                }
            }
            watches.copy_within(next.., kept);
            watches.truncate(kept + watches.len() - next);
            self.watches[lit.code()] = watches;
            if conflict.is_some() {
                return conflict;
            }
        }
        None
    }

    /// Looks for an assignment that satisfies everything, the assumptions included.
    pub(super) fn solve(&mut self, assumptions: &[Lit], deadline: Option<Instant>) -> Outcome {
        let mut restarts = 0;
        let mut until_restart = RESTART_AFTER;
        self.learnt_limit = self.learnt_limit.max(2000 + self.clauses.count() / 4);
        if self.contradiction {
            return Outcome::Refuted;
        }
        loop {
            if let Some(conflict) = self.propagate() {
                self.conflicts += 1;
                until_restart = until_restart.saturating_sub(1);
                if !self.resolve(conflict) {
                    return Outcome::Refuted;
                }
                if self.conflicts.is_multiple_of(CHECK_EVERY) && is_over(deadline) {
                    return Outcome::OutOfTime;
                }
                continue;
            }
            if until_restart == 0 {
                restarts += 1;
                until_restart = RESTART_AFTER * luby(restarts);
                self.go_back(assumptions.len().min(self.current_level() as usize) as u32);
                if self.learnt.len() > self.learnt_limit {
                    self.forget();
                }
            }
            match self.next_decision(assumptions) {
                Next::Decide(lit) => self.decide(lit),
                Next::Satisfied => return Outcome::Satisfied,
                Next::Refuted => return Outcome::Refuted,
            }
            self.decisions += 1;
            if self.decisions.is_multiple_of(CHECK_EVERY) && is_over(deadline) {
                return Outcome::OutOfTime;
            }
        }
    }

    fn next_decision(&mut self, assumptions: &[Lit]) -> Next {
        while let Some(assumption) = assumptions.get(self.current_level() as usize) {
            match self.value(*assumption) {
                0 => return Next::Decide(*assumption),
                -1 => return Next::Refuted,
                // A level of its own, so that levels and assumptions keep pace.
                _ => self.level_starts.push((self.trail.len(), self.graph.edge_count())),
            }
        }
        for at in self.noticed..self.trail.len() {
            self.open.falls(!self.trail[at]);
        }
        self.noticed = self.trail.len();
        while let Some(clause) = self.open.next() {
            let literals = self.clauses.literals(clause);
            let holds = |lit: &&Lit| match self.value(**lit) {
                0 => self.is_default(**lit),
                value => value > 0,
            };
            match literals.iter().find(holds) {
                Some(lit) => self.open.rests_on(*lit),
                None => return Next::Decide(self.choose(literals)),
            }
        }
        Next::Satisfied
    }

    /// The literal to make a clause hold by: the most active one that is open. Of those, one that
    /// says what the order is as it is, since the order that the graph keeps up agrees with all
    /// edges, so that this closes no cycle and moves nothing; and then the last one, because the
    /// encoding puts first what is least likely.
    fn choose(&self, literals: &[Lit]) -> Lit {
        let open = literals.iter().enumerate().filter(|(_, lit)| self.value(**lit) == 0);
        let best = open.max_by(|(place, a), (other, b)| {
            let by_activity = self.active(**a).total_cmp(&self.active(**b));
            by_activity.then(self.likelihood(**a).cmp(&self.likelihood(**b))).then(place.cmp(other))
        });
        // A clause without an open literal would be a conflict.
        best.map_or(Lit::TRUE, |(_, lit)| *lit)
    }

    fn active(&self, lit: Lit) -> f64 {
        self.activity.of(lit.proposition())
    }

    fn likelihood(&self, lit: Lit) -> i64 {
        let ahead = |(from, to)| self.graph.rank(to) - self.graph.rank(from);
        match (self.atoms.edge(lit), self.atoms.source(lit.proposition())) {
            (Some(edge), _) if ahead(edge) > 0 => i64::MAX,
            // The nearer, the likelier.
            (None, Some(source)) if lit.is_positive() && ahead(source) > 0 => {
                i64::MAX / 2 - ahead(source)
            }
            (None, None) => 0,
            _ => i64::MIN,
        }
    }

    /// Learns from a clause none of whose literals holds, and goes back to where what was learnt
    /// says something new. `false` if everything is refuted.
    fn resolve(&mut self, conflict: Vec<Lit>) -> bool {
        // A conflict of the order may come to light later than it arose.
        let level = conflict.iter().map(|lit| self.level(*lit)).max().unwrap_or(0);
        self.go_back(level);
        if level == 0 {
            self.contradiction = true;
            return false;
        }
        let learnt = self.analyse(conflict);
        let asserting = learnt[0];
        let back = learnt[1..].iter().map(|lit| self.level(*lit)).max().unwrap_or(0);
        let lbd = self.lbd(&learnt);
        self.go_back(back);
        if let [unit] = learnt[..] {
            self.assign(unit, Reason::Decision);
        } else {
            let clause = self.clauses.add(&learnt, Some(lbd));
            self.learnt.push(clause);
            self.watch(clause);
            self.assign(asserting, Reason::Clause(clause));
        }
        self.activity.decay();
        true
    }

    /// The first-UIP clause: its first literal is of the current level, its second of the latest
    /// level before.
    fn analyse(&mut self, conflict: Vec<Lit>) -> Vec<Lit> {
        let level = self.current_level();
        let mut learnt = vec![Lit::TRUE];
        let mut open = 0;
        let mut at = self.trail.len();
        let mut clause = conflict;
        let uip = loop {
            for lit in clause {
                let proposition = lit.proposition();
                if self.seen[proposition] || self.levels[proposition] == 0 {
                    continue;
                }
                self.seen[proposition] = true;
                self.marked.push(proposition);
                self.activity.bump(proposition);
                if self.levels[proposition] == level {
                    open += 1;
                } else {
                    learnt.push(lit);
                }
            }
            let lit = loop {
                at -= 1;
                let lit = self.trail[at];
                if self.seen[lit.proposition()] && self.level(lit) == level {
                    break lit;
                }
            };
            open -= 1;
            if open == 0 {
                break lit;
            }
            clause = self.causes(lit);
        };
        learnt[0] = !uip;
        let redundant: Vec<bool> = learnt.iter().map(|lit| self.is_redundant(*lit)).collect();
        let mut keep = redundant.iter().map(|redundant| !redundant);
        learnt.retain(|_| keep.next().unwrap_or(true));
        for proposition in self.marked.drain(..) {
            self.seen[proposition] = false;
        }
        if let Some(latest) = (1..learnt.len()).max_by_key(|at| self.level(learnt[*at])) {
            learnt.swap(1, latest);
        }
        learnt
    }

    /// The other literals of the clause that made a literal hold.
    fn causes(&self, lit: Lit) -> Vec<Lit> {
        match self.reasons[lit.proposition()] {
            Reason::Decision => Vec::new(),
            Reason::Clause(clause) => {
                let literals = self.clauses.literals(clause);
                literals.iter().copied().filter(|other| *other != lit).collect()
            }
        }
    }

    /// Whether what made the literal false is already in the learnt clause, all of it.
    fn is_redundant(&self, lit: Lit) -> bool {
        match self.reasons[lit.proposition()] {
            Reason::Decision => false,
            Reason::Clause(clause) => {
                self.clauses.literals(clause).iter().all(|other| {
                    *other == !lit || self.seen[other.proposition()] || self.level(*other) == 0
                }) && self.level(lit) != self.current_level()
            }
        }
    }

    /// How many levels a clause spans: the fewer, the more useful it is.
    fn lbd(&self, literals: &[Lit]) -> u32 {
        let mut levels: Vec<u32> = literals.iter().map(|lit| self.level(*lit)).collect();
        levels.sort_unstable();
        levels.dedup();
        levels.len() as u32
    }

    /// Forgets the worse half of the learnt clauses.
    fn forget(&mut self) {
        self.learnt_limit += self.learnt_limit / 10;
        let mut learnt = std::mem::take(&mut self.learnt);
        let clauses = &self.clauses;
        learnt.sort_by_key(|clause| (clauses.lbd(*clause), clauses.literals(*clause).len()));
        let keep = learnt.len() / 2;
        for (rank, clause) in learnt.into_iter().enumerate() {
            let locked = self.reasons[self.clauses.literals(clause)[0].proposition()]
                == Reason::Clause(clause)
                && self.value(self.clauses.literals(clause)[0]) > 0;
            if rank < keep || locked || self.clauses.lbd(clause) <= 2 {
                self.learnt.push(clause);
            } else {
                self.clauses.delete(clause);
            }
        }
        for watches in &mut self.watches {
            watches.retain(|watch| !self.clauses.is_deleted(watch.clause));
        }
        self.clauses.compact();
    }
}

enum Next {
    Decide(Lit),
    Satisfied,
    Refuted,
}

fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// The sequence 1 1 2 1 1 2 4 1 1 2 …, counted from 1: good restart intervals where nothing is
/// known.
fn luby(mut n: u64) -> u64 {
    loop {
        let size = (n + 1).next_power_of_two();
        if size == n + 1 {
            return size / 2;
        }
        n -= size / 2 - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luby_sequence() {
        let sequence: Vec<u64> = (1..=15).map(luby).collect();
        assert_eq!(sequence, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }
}
