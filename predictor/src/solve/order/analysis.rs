//! Learning from conflicts: why one came about, as a clause that rules it out.

use super::cdcl::{Reason, Search};
use crate::solve::formula::Lit;

impl Search {
    /// Learns from a clause none of whose literals holds, and goes back. `false` if everything is
    /// refuted.
    ///
    /// It goes back by one level only, wherever the learnt clause would have had something to say
    /// (A. Nadel and V. Ryvchin, "Chronological Backtracking", 2018): most conflicts are about a
    /// few events, and what was decided of a thousand others in between need not be decided again.
    pub(super) fn resolve(&mut self, conflict: Vec<Lit>) -> bool {
        // A conflict of the order may come to light later than it arose.
        let level = conflict.iter().map(|lit| self.level(*lit)).max().unwrap_or(0);
        self.go_back(level);
        if level == 0 {
            self.contradiction = true;
            return false;
        }
        let learnt = self.analyse(conflict);
        self.go_back(level - 1);
        self.learn(learnt);
        self.activity.decay();
        true
    }

    /// Adds a clause that follows from the others, and of which all literals but the first are
    /// false. The first becomes true.
    pub(super) fn learn(&mut self, mut clause: Vec<Lit>) {
        let Some(latest) = (1..clause.len()).max_by_key(|at| self.level(clause[*at])) else {
            self.assign(clause[0], Reason::Decision, 0);
            return;
        };
        clause.swap(1, latest);
        let (asserted, level) = (clause[0], self.level(clause[1]));
        let lbd = self.lbd(&clause[1..]) + 1;
        let learnt = self.clauses.add(&clause, Some(lbd));
        self.learnt.push(learnt);
        self.watch(learnt);
        self.assign(asserted, Reason::Clause(learnt), level);
    }

    /// The first-UIP clause: its first literal is of the current level, all others are of earlier
    /// ones.
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
    pub(super) fn forget(&mut self) {
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
