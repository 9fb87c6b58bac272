//! `order`, our own solver and the default: clause learning over an ordering theory.
//!
//! One file a part: the search (`cdcl`), what it decides (`choice`, `open`, `activity`) and learns
//! (`analysis`), the clauses (`clauses`), orders without cycles (`acyclic`), and what propositions
//! say of the order (`order_atoms`).

mod activity;
mod acyclic;
mod analysis;
mod cdcl;
mod choice;
mod clauses;
mod open;
mod order_atoms;

use std::time::Instant;

use rustc_hash::FxHashMap;

use self::acyclic::Node;
use self::cdcl::{Search, SearchEnd};
use super::formula::{Formula, Lit, Meaning};
use super::{Answer, Model, Solver};
use crate::trace::EventId;

/// The embedded solver.
#[derive(Debug, Default)]
pub struct OrderSolver {
    search: Search,
    nodes: FxHashMap<EventId, Node>,
    /// How many clauses and edges of the formula are known.
    clauses: usize,
    edges: usize,
    /// What was asked last.
    asked: Vec<Lit>,
}

impl OrderSolver {
    /// A solver for a new formula.
    pub fn new() -> Self {
        Self::default()
    }

    fn node(&mut self, event: EventId) -> Node {
        let graph = &mut self.search.graph;
        *self.nodes.entry(event).or_insert_with(|| graph.add_node(event.index() as i64))
    }

    /// Takes over what the formula has got since the last question.
    fn keep_up(&mut self, formula: &Formula) {
        for proposition in self.search.proposition_count()..formula.proposition_count() {
            self.search.add_proposition(formula.phase(proposition));
            match formula.meaning(proposition) {
                Meaning::Free => {}
                Meaning::Unsaid => self.search.atoms.set_unsaid(proposition),
                Meaning::Source(a, b) => {
                    let (from, to) = (self.node(a), self.node(b));
                    self.search.atoms.set_source(proposition, from, to);
                }
                Meaning::Before(a, b) => {
                    let (from, to) = (self.node(a), self.node(b));
                    self.search.atoms.set(proposition, from, to);
                }
            }
        }
        for (a, b) in &formula.edges()[self.edges..] {
            let (from, to) = (self.node(*a), self.node(*b));
            self.search.add_order(from, to);
        }
        self.edges = formula.edges().len();
        for index in self.clauses..formula.clause_count() {
            self.search.add_clause(formula.get_clause(index));
        }
        self.clauses = formula.clause_count();
    }

    fn model(&self) -> Model {
        let holds = (0..self.search.proposition_count()).map(|p| self.search.holds(p)).collect();
        let rank = |(event, node): (&EventId, &Node)| (*event, self.search.graph.rank(*node));
        Model { holds, rank: self.nodes.iter().map(rank).collect() }
    }
}

impl Solver for OrderSolver {
    fn name(&self) -> &'static str {
        "order"
    }

    fn solve(
        &mut self,
        formula: &Formula,
        assumptions: &[Lit],
        deadline: Option<Instant>,
    ) -> Answer {
        // The same question again, of a formula that has grown: the search goes on where it was.
        if self.asked != assumptions {
            self.search.reset();
            self.asked = assumptions.to_vec();
        }
        self.keep_up(formula);
        match self.search.solve(assumptions, deadline) {
            SearchEnd::Satisfied => Answer::Yes(self.model()),
            SearchEnd::Refuted => Answer::No,
            SearchEnd::OutOfTime => Answer::Unknown,
        }
    }
}
