//! Which clauses still need a decision.
//!
//! Most propositions of an encoding say that something is in the prefix, or is needed, and are false
//! in most solutions. So a proposition that nobody decides has a *default*, and a clause needs a
//! decision only if it would not hold by defaults. A clause is looked at when the literal by which it
//! held by default turns false, and again when the search goes back behind the point at which it was
//! found to hold.

use super::clauses::ClauseRef;
use crate::solve::formula::Lit;

/// The clauses to look at.
#[derive(Debug, Default)]
pub(super) struct OpenClauses {
    /// By literal: the clauses that hold by default because of it.
    held_by: Vec<Vec<ClauseRef>>,
    /// What is to be looked at, the next one last.
    queue: Vec<ClauseRef>,
    /// What was found to hold because of the trail, and how long the trail was.
    found: Vec<(usize, ClauseRef)>,
}

impl OpenClauses {
    /// Adds a proposition.
    pub(super) fn grow(&mut self) {
        self.held_by.extend([Vec::new(), Vec::new()]);
    }

    /// Adds a clause, which holds by default because of these literals.
    pub(super) fn add(&mut self, clause: ClauseRef, defaults: impl Iterator<Item = Lit>) {
        for lit in defaults {
            self.held_by[lit.code()].push(clause);
        }
        self.queue.push(clause);
    }

    /// A literal that was true by default is false.
    #[inline]
    pub(super) fn overturn(&mut self, lit: Lit) {
        self.queue.extend_from_slice(&self.held_by[lit.code()]);
    }

    /// The next clause to look at.
    pub(super) fn next(&self) -> Option<ClauseRef> {
        self.queue.last().copied()
    }

    /// The next clause holds by default.
    pub(super) fn holds_by_default(&mut self) {
        self.queue.pop();
    }

    /// The next clause holds because of the trail.
    pub(super) fn holds_by_trail(&mut self, trail: usize) {
        if let Some(clause) = self.queue.pop() {
            self.found.push((trail, clause));
        }
    }

    /// The trail is cut back to this length.
    pub(super) fn go_back(&mut self, trail: usize) {
        while let Some((_, clause)) = self.found.pop_if(|(then, _)| *then > trail) {
            self.queue.push(clause);
        }
    }
}
