//! Conflict-driven clause learning, with a hook for the order of events.
//!
//! The plain, proven design (MiniSat; N. Eén and N. Sörensson, "An Extensible SAT-solver", 2003):
//! two watched literals a clause, first-UIP learning with minimisation, activities, Luby restarts,
//! and deletion of learnt clauses by their LBD (G. Audemard and L. Simon, 2009). Two things are
//! different. A decision is made only for a clause that would not hold by [defaults](super::open),
//! so that a search for a small prefix decides little. And: a decision on the order of two events
//! has to follow the topological order that the graph keeps up at that moment. That order starts
//! out as the observed one, which is nearly a model, and a search that starts there is short. No
//! general solver can be asked for either, which is why this one is our own.
//!
//! Levels need not rise along the trail: a literal has the level of the latest decision that it
//! depends on, and one that depends on early decisions only outlives the later ones that come
//! before it in the trail.

use std::cmp::Reverse;
use std::time::Instant;

use super::activity::Activity;
use super::acyclic::{Graph, Node};
use super::choice::Next;
use super::clauses::{ClauseRef, Clauses};
use super::open::OpenClauses;
use super::order_atoms::OrderAtoms;
use crate::solve::formula::Lit;
use crate::solve::is_over;

/// What a search ended with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SearchEnd {
    Satisfied,
    Refuted,
    OutOfTime,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reason {
    Decision,
    Clause(ClauseRef),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Watch {
    pub(super) clause: ClauseRef,
    /// Another literal of the clause: if it holds, the clause need not be looked at.
    blocker: Lit,
    /// Whether that is the only other one: then the clause need never be looked at.
    only: bool,
}

const RESTART_AFTER: u64 = 400;
/// How often the clock is looked at, in conflicts and in decisions.
const CHECK_EVERY: u64 = 256;

/// The state of the search.
#[derive(Debug, Default)]
pub(super) struct Search {
    pub(super) clauses: Clauses,
    pub(super) learnt: Vec<ClauseRef>,
    pub(super) watches: Vec<Vec<Watch>>,
    /// By literal: 1 holds, -1 does not, 0 is open.
    pub(super) values: Vec<i8>,
    pub(super) levels: Vec<u32>,
    pub(super) reasons: Vec<Reason>,
    /// What a proposition is if nobody decides it.
    pub(super) defaults: Vec<bool>,
    pub(super) activity: Activity,
    pub(super) open: OpenClauses,
    pub(super) trail: Vec<Lit>,
    /// Where in the trail each level starts, and how many edges the graph had.
    pub(super) level_starts: Vec<(usize, usize)>,
    /// How much of the trail has been followed through the clauses, to the order, and to the
    /// clauses that held by default.
    pub(super) propagated: usize,
    pub(super) ordered: usize,
    pub(super) noticed: usize,
    pub(super) graph: Graph,
    pub(super) atoms: OrderAtoms,
    pub(super) contradiction: bool,
    pub(super) conflicts: u64,
    pub(super) decisions: u64,
    pub(super) learnt_limit: usize,
    // Scratch space of the analysis.
    pub(super) seen: Vec<bool>,
    pub(super) marked: Vec<usize>,
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
    pub(super) fn is_default(&self, lit: Lit) -> bool {
        self.defaults[lit.proposition()] == lit.is_positive() && self.atoms.edge(lit).is_none()
    }

    #[inline]
    pub(super) fn value(&self, lit: Lit) -> i8 {
        self.values[lit.code()]
    }

    pub(super) fn level(&self, lit: Lit) -> u32 {
        self.levels[lit.proposition()]
    }

    pub(super) fn current_level(&self) -> u32 {
        self.level_starts.len() as u32
    }

    /// Adds a clause. What was decided stays as far as the clause leaves it.
    pub(super) fn add_clause(&mut self, literals: &[Lit]) {
        let mut clause: Vec<Lit> = Vec::with_capacity(literals.len());
        for lit in literals {
            let settled = self.value(*lit) != 0 && self.level(*lit) == 0;
            if clause.contains(&!*lit) || settled && self.value(*lit) > 0 {
                return;
            }
            if !settled && !clause.contains(lit) {
                clause.push(*lit);
            }
        }
        match clause[..] {
            [] => self.contradiction = true,
            [unit] => {
                self.go_back(0);
                self.assign(unit, Reason::Decision, 0);
            }
            _ => self.add_open_clause(clause),
        }
    }

    /// Adds a clause whose literals are all open, once what was decided is left aside.
    fn add_open_clause(&mut self, mut clause: Vec<Lit>) {
        // First what does not fail, then what fails latest: these two are watched.
        clause.sort_by_key(|lit| match self.value(*lit) {
            -1 => Reverse(self.level(*lit)),
            _ => Reverse(u32::MAX),
        });
        let [first, second] = [clause[0], clause[1]];
        // A clause of which only the first literal does not fail needs it from the level on at
        // which the second fails. What has been decided since without heeding that is undone.
        let unheeded = match self.value(first) {
            0 => false,
            1 => self.value(second) < 0 && self.level(first) > self.level(second),
            _ => true,
        };
        if unheeded {
            self.go_back(self.level(first) - 1);
        }
        let added = self.clauses.add(&clause, None);
        self.watch(added);
        self.open.add(added);
        if self.value(second) < 0 && self.value(first) == 0 {
            self.assign(first, Reason::Clause(added), self.level(second));
        }
    }

    /// Orders two nodes for good. What was decided stays as far as that leaves it.
    pub(super) fn add_order(&mut self, from: Node, to: Node) {
        while let Err(why) = self.graph.fix(from, to) {
            let Some(level) = why.iter().map(|lit| self.level(*lit)).max().filter(|l| *l > 0)
            else {
                self.contradiction = true;
                return;
            };
            self.go_back(level - 1);
        }
    }

    pub(super) fn watch(&mut self, clause: ClauseRef) {
        let literals = self.clauses.literals(clause);
        let (a, b, only) = (literals[0], literals[1], literals.len() == 2);
        self.watches[(!a).code()].push(Watch { clause, blocker: b, only });
        self.watches[(!b).code()].push(Watch { clause, blocker: a, only });
    }

    /// Forgets all decisions.
    pub(super) fn reset(&mut self) {
        self.go_back(0);
    }

    pub(super) fn go_back(&mut self, level: u32) {
        if self.current_level() <= level {
            return;
        }
        let (start, edges) = self.level_starts[level as usize];
        let mut kept = 0;
        for at in (start..self.trail.len()).rev() {
            let lit = self.trail[at];
            if self.level(lit) <= level {
                kept += 1;
                continue;
            }
            self.values[lit.code()] = 0;
            self.values[(!lit).code()] = 0;
            if !self.is_default(lit) {
                self.open.falls(lit);
            }
            if self.atoms.edge(lit).is_some() {
                self.activity.wait(lit.proposition());
            }
        }
        if kept > 0 {
            let mut place = start;
            for at in start..self.trail.len() {
                let lit = self.trail[at];
                self.trail[place] = lit;
                place += usize::from(self.value(lit) > 0);
            }
        }
        self.trail.truncate(start + kept);
        self.level_starts.truncate(level as usize);
        // What is kept is followed again: what it led to may be gone.
        self.propagated = self.propagated.min(start);
        self.ordered = self.ordered.min(start);
        self.noticed = self.noticed.min(start);
        self.graph.shrink(edges);
    }

    /// Makes a literal hold; `level` is that of the latest decision that it depends on.
    pub(super) fn assign(&mut self, lit: Lit, reason: Reason, level: u32) {
        self.values[lit.code()] = 1;
        self.values[(!lit).code()] = -1;
        self.levels[lit.proposition()] = level;
        self.reasons[lit.proposition()] = reason;
        self.trail.push(lit);
    }

    fn decide(&mut self, lit: Lit) {
        self.level_starts.push((self.trail.len(), self.graph.edge_count()));
        self.assign(lit, Reason::Decision, self.current_level());
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
                let blocked = self.values[watch.blocker.code()];
                if blocked > 0 || watch.only {
                    watches[kept] = watch;
                    kept += 1;
                    if blocked == 0 {
                        let level = self.level(lit);
                        self.assign(watch.blocker, Reason::Clause(watch.clause), level);
                    } else if blocked < 0 {
                        conflict = Some(watch.clause);
                        break;
                    }
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
                    let moved = Watch { blocker: first, ..watch };
                    self.watches[(!literals[1]).code()].push(moved);
                    continue;
                }
                watches[kept] = Watch { blocker: first, ..watch };
                kept += 1;
                match values[first.code()] {
                    0 => {
                        let levels = literals[1..].iter().map(|lit| self.levels[lit.proposition()]);
                        let level = levels.max().unwrap_or(0);
                        self.assign(first, Reason::Clause(watch.clause), level);
                    }
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
    pub(super) fn solve(&mut self, assumptions: &[Lit], deadline: Option<Instant>) -> SearchEnd {
        let mut restarts = 0;
        let mut until_restart = RESTART_AFTER;
        self.learnt_limit = self.learnt_limit.max(2000 + self.clauses.count() / 4);
        if self.contradiction {
            return SearchEnd::Refuted;
        }
        loop {
            if let Some(conflict) = self.propagate() {
                self.conflicts += 1;
                until_restart = until_restart.saturating_sub(1);
                if !self.resolve(conflict) {
                    return SearchEnd::Refuted;
                }
                if self.conflicts.is_multiple_of(CHECK_EVERY) && is_over(deadline) {
                    return SearchEnd::OutOfTime;
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
            match self.next_step(assumptions) {
                Next::Decide(lit) => self.decide(lit),
                Next::Implied => continue,
                Next::Satisfied => return SearchEnd::Satisfied,
                Next::Refuted => return SearchEnd::Refuted,
            }
            self.decisions += 1;
            if self.decisions.is_multiple_of(CHECK_EVERY) && is_over(deadline) {
                return SearchEnd::OutOfTime;
            }
        }
    }
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
