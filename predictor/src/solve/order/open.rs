//! Which clauses still need a decision.
//!
//! Most propositions of an encoding say that something is in the prefix, or is needed, and are
//! false in most solutions. So a proposition that nobody decides has a *default*, and a clause
//! needs a decision only if it would not hold by defaults. A clause that holds *rests on* one of
//! its literals, which is true or would be by default, and is looked at again only when that is no
//! longer so.

use super::clauses::ClauseRef;
use crate::solve::formula::Lit;

/// The clauses to look at, and what the others rest on.
#[derive(Debug, Default)]
pub(super) struct OpenClauses {
    /// By literal: the clauses that rest on it.
    resting: Vec<Vec<ClauseRef>>,
    /// What is to be looked at, the next one last.
    queue: Vec<ClauseRef>,
}

impl OpenClauses {
    /// Adds a proposition.
    pub(super) fn grow(&mut self) {
        self.resting.extend([Vec::new(), Vec::new()]);
    }

    /// Adds a clause.
    pub(super) fn add(&mut self, clause: ClauseRef) {
        self.queue.push(clause);
    }

    /// The next clause to look at.
    #[inline]
    pub(super) fn next(&self) -> Option<ClauseRef> {
        self.queue.last().copied()
    }

    /// The next clause holds, because of this literal.
    #[inline]
    pub(super) fn rests_on(&mut self, lit: Lit) {
        if let Some(clause) = self.queue.pop() {
            self.resting[lit.code()].push(clause);
        }
    }

    /// A literal is no longer true, neither by itself nor by default.
    #[inline]
    pub(super) fn falls(&mut self, lit: Lit) {
        self.queue.append(&mut self.resting[lit.code()]);
    }
}
