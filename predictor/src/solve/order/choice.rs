//! What to decide next.
//!
//! First the order of events that conflicts have lately been about, so that what is decided wrongly
//! shows early; then a clause that does not hold yet. Whenever the order of two events is decided,
//! it is decided as the topological order of the graph has it: that closes no cycle and moves
//! nothing.

use super::cdcl::Search;
use super::clauses::ClauseRef;
use crate::solve::formula::Lit;

/// How the search goes on.
pub(super) enum Next {
    Decide(Lit),
    /// Something was found to follow from what holds, and holds now.
    Implied,
    Satisfied,
    Refuted,
}

impl Search {
    pub(super) fn next_step(&mut self, assumptions: &[Lit]) -> Next {
        while let Some(assumption) = assumptions.get(self.current_level() as usize) {
            match self.value(*assumption) {
                0 => return Next::Decide(*assumption),
                -1 => return Next::Refuted,
                // A level of its own, so that levels and assumptions keep pace.
                _ => self.level_starts.push((self.trail.len(), self.graph.edge_count())),
            }
        }
        if let Some(lit) = self.active_order() {
            return Next::Decide(lit);
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
            match literals.iter().find(holds).copied() {
                Some(lit) => self.open.rests_on(lit),
                None if self.rule_out(clause) => return Next::Implied,
                None => return Next::Decide(self.choose(clause)),
            }
        }
        Next::Satisfied
    }

    /// The order of two events that conflicts have been about, if one is undecided.
    fn active_order(&mut self) -> Option<Lit> {
        while let Some(proposition) = self.activity.next() {
            let lit = Lit::positive(proposition);
            if let (0, Some((from, to))) = (self.value(lit), self.atoms.edge(lit)) {
                let ahead = self.graph.rank(from) < self.graph.rank(to);
                return Some(if ahead { lit } else { !lit });
            }
        }
        None
    }

    /// Looks for an open literal of a clause that the order of the events rules out, and makes it
    /// false: to find that out by deciding otherwise would take a conflict.
    fn rule_out(&mut self, clause: ClauseRef) -> bool {
        for at in 0..self.clauses.literals(clause).len() {
            let lit = self.clauses.literals(clause)[at];
            if self.value(lit) != 0 {
                continue;
            }
            if let Some((from, to)) = self.atoms.edge(lit)
                && let Some(why) = self.graph.against(from, to)
            {
                self.learn([!lit].into_iter().chain(why.into_iter().map(|lit| !lit)).collect());
                return true;
            }
        }
        false
    }

    /// The literal to make a clause hold by: the most active one that is open. Of those, one that
    /// says what the order is as it is; and then the last one, because the encoding puts first what
    /// is least likely.
    fn choose(&self, clause: ClauseRef) -> Lit {
        let literals = self.clauses.literals(clause).iter().enumerate();
        let open = literals.filter(|(_, lit)| self.value(**lit) == 0);
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
            (None, None) if !self.atoms.is_unsaid(lit.proposition()) => 0,
            _ => i64::MIN,
        }
    }
}
