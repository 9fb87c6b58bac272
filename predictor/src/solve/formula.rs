//! What a solver is asked: clauses over propositions, some of which say that one event comes before
//! another.
//!
//! A formula only grows. A solver keeps up with it by remembering how far it has read, so that the
//! questions of one window share what was learnt.

use std::fmt;
use std::ops::Not;

use racelog::trace::Value;
use rustc_hash::FxHashMap;

use crate::trace::{EventId, Expression};

/// A proposition or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lit(u32);

impl Lit {
    /// What always holds.
    pub const TRUE: Self = Self(0);
    /// What never holds.
    pub const FALSE: Self = Self(1);

    /// The proposition with this number.
    pub fn positive(proposition: usize) -> Self {
        Self((proposition as u32) << 1)
    }

    /// The number of the proposition.
    pub fn proposition(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether this is the proposition itself.
    pub fn is_positive(self) -> bool {
        self.0 & 1 == 0
    }

    /// A dense number for the literal: those of a proposition and its negation stand side by side.
    pub fn code(self) -> usize {
        self.0 as usize
    }

    /// The literal with this code.
    pub fn from_code(code: usize) -> Self {
        Self(code as u32)
    }
}

impl Not for Lit {
    type Output = Self;

    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

impl fmt::Debug for Lit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_positive() { "" } else { "!" };
        write!(f, "{sign}p{}", self.proposition())
    }
}

/// What a proposition says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// Nothing but itself.
    Free,
    /// The second event finds what the first left there: likely if that is the last to come before.
    /// This is only a hint; the clauses say what it takes.
    Source(EventId, EventId),
    /// One of several things of which it has not been said yet what they take: to be tried last.
    Unsaid,
    /// The first event comes before the second; its negation says that it comes after.
    Before(EventId, EventId),
}

/// What a clause rests on that was stated because of values: with what these reads find, the two
/// sides do not come out so. A solver that computes with values can look at it a second time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    /// What reads find, each after those that it is computed from.
    pub reads: Vec<(EventId, Term)>,
    /// One side.
    pub left: Term,
    /// The other.
    pub right: Term,
    /// Whether it is claimed that they are not the same, or that they do not differ. If there is no
    /// result, either is right.
    pub same: bool,
}

/// What is computed, or known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Term {
    /// A value.
    Known(Value),
    /// What a read finds.
    Found(EventId),
    /// What an expression gives.
    Computed(Expression),
}

/// A question that grows: propositions, clauses, and orders that always hold.
///
/// Its models are the assignments that satisfy all clauses and for which some total order of the
/// events agrees with every order that always holds and with every [`Meaning::Before`].
#[derive(Clone, Debug)]
pub struct Formula {
    meanings: Vec<Meaning>,
    /// What to try first.
    phases: Vec<bool>,
    orders: FxHashMap<(EventId, EventId), Lit>,
    edges: Vec<(EventId, EventId)>,
    literals: Vec<Lit>,
    /// Where each clause ends in `literals`.
    ends: Vec<u32>,
    claims: Vec<Claim>,
}

impl Default for Formula {
    fn default() -> Self {
        Self::new()
    }
}

impl Formula {
    /// The formula that always holds.
    pub fn new() -> Self {
        let mut formula = Self {
            meanings: vec![Meaning::Free],
            phases: vec![true],
            orders: FxHashMap::default(),
            edges: Vec::new(),
            literals: Vec::new(),
            ends: Vec::new(),
            claims: Vec::new(),
        };
        formula.push(&[Lit::TRUE]);
        formula
    }

    /// A new proposition. `phase` is what is likely true of it.
    pub fn proposition(&mut self, phase: bool) -> Lit {
        self.add(Meaning::Free, phase)
    }

    /// A new proposition: that an event finds what another one left. It is likely false.
    pub fn source(&mut self, from: EventId, to: EventId) -> Lit {
        self.add(Meaning::Source(from, to), false)
    }

    /// A new proposition: that it is something of which nothing has been said yet. It is false
    /// unless nothing else will do.
    pub fn unsaid(&mut self) -> Lit {
        self.add(Meaning::Unsaid, false)
    }

    /// That one event comes before another. What is likely is that they come in the order in which
    /// they were observed.
    pub fn before(&mut self, a: EventId, b: EventId) -> Lit {
        debug_assert_ne!(a, b);
        let (first, second) = (a.min(b), a.max(b));
        let known = self.orders.get(&(first, second)).copied();
        let lit = known.unwrap_or_else(|| {
            let lit = self.add(Meaning::Before(first, second), true);
            self.orders.insert((first, second), lit);
            lit
        });
        if a < b { lit } else { !lit }
    }

    fn add(&mut self, meaning: Meaning, phase: bool) -> Lit {
        let lit = Lit::positive(self.meanings.len());
        self.meanings.push(meaning);
        self.phases.push(phase);
        lit
    }

    /// Orders two events for good. The order has to be the observed one.
    pub fn order(&mut self, a: EventId, b: EventId) {
        debug_assert!(a < b);
        self.edges.push((a, b));
    }

    /// Asks for one of these literals.
    pub fn clause(&mut self, literals: &[Lit]) {
        if !literals.contains(&Lit::TRUE) {
            self.push(literals);
        }
    }

    fn push(&mut self, literals: &[Lit]) {
        self.literals.extend(literals.iter().filter(|lit| **lit != Lit::FALSE));
        self.ends.push(self.literals.len() as u32);
    }

    /// Asks for all of the consequences, if all the conditions hold.
    pub fn implies(&mut self, conditions: &[Lit], consequences: &[Lit]) {
        for consequence in consequences {
            let mut clause: Vec<Lit> = conditions.iter().map(|lit| !*lit).collect();
            clause.push(*consequence);
            self.clause(&clause);
        }
    }

    /// How many propositions there are. The first says what always holds.
    pub fn proposition_count(&self) -> usize {
        self.meanings.len()
    }

    /// How many clauses there are.
    pub fn clause_count(&self) -> usize {
        self.ends.len()
    }

    /// What a proposition says.
    pub fn meaning(&self, proposition: usize) -> Meaning {
        self.meanings[proposition]
    }

    /// What is likely true of a proposition.
    pub fn phase(&self, proposition: usize) -> bool {
        self.phases[proposition]
    }

    /// A clause.
    pub fn get_clause(&self, index: usize) -> &[Lit] {
        let start = index.checked_sub(1).map_or(0, |previous| self.ends[previous] as usize);
        &self.literals[start..self.ends[index] as usize]
    }

    /// States what clauses rest on.
    pub fn claim(&mut self, claim: Claim) {
        self.claims.push(claim);
    }

    /// What clauses rest on that was computed.
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// The orders that always hold.
    pub fn edges(&self) -> &[(EventId, EventId)] {
        &self.edges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(number: usize) -> EventId {
        EventId::from_index(number - 1)
    }

    #[test]
    fn an_order_and_its_reverse_are_one_proposition() {
        let mut formula = Formula::new();
        let forth = formula.before(event(1), event(2));
        assert_eq!(formula.before(event(2), event(1)), !forth);
        assert_eq!(formula.proposition_count(), 2);
    }

    #[test]
    fn constants_leave_no_trace_in_clauses() {
        let mut formula = Formula::new();
        let p = formula.proposition(true);
        formula.clause(&[Lit::TRUE, p]);
        formula.implies(&[Lit::TRUE, p], &[Lit::FALSE]);
        assert_eq!(formula.clause_count(), 2);
        assert_eq!(formula.get_clause(1), [!p]);
    }
}
