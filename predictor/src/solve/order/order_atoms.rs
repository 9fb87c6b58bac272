//! Which propositions say something of the order, and what.

use super::acyclic::Node;
use crate::solve::formula::Lit;

/// The edge that each proposition stands for.
#[derive(Debug, Default)]
pub(super) struct OrderAtoms {
    edges: Vec<Option<(Node, Node)>>,
    sources: Vec<Option<(Node, Node)>>,
    unsaid: Vec<bool>,
}

impl OrderAtoms {
    /// Adds a proposition that says nothing of the order.
    pub(super) fn grow(&mut self) {
        self.edges.push(None);
        self.sources.push(None);
        self.unsaid.push(false);
    }

    /// A proposition says that one node comes before another.
    pub(super) fn set(&mut self, proposition: usize, from: Node, to: Node) {
        self.edges[proposition] = Some((from, to));
    }

    /// A proposition is likely if one node is the last to come before another.
    pub(super) fn set_source(&mut self, proposition: usize, from: Node, to: Node) {
        self.sources[proposition] = Some((from, to));
    }

    /// A proposition is to be tried last.
    pub(super) fn set_unsaid(&mut self, proposition: usize) {
        self.unsaid[proposition] = true;
    }

    /// Whether a proposition is to be tried last.
    pub(super) fn is_unsaid(&self, proposition: usize) -> bool {
        self.unsaid[proposition]
    }

    /// The nodes that a proposition is likely for if the first is the last before the second.
    pub(super) fn source(&self, proposition: usize) -> Option<(Node, Node)> {
        self.sources[proposition]
    }

    /// The edge that a literal stands for.
    #[inline]
    pub(super) fn edge(&self, lit: Lit) -> Option<(Node, Node)> {
        let (from, to) = self.edges[lit.proposition()]?;
        Some(if lit.is_positive() { (from, to) } else { (to, from) })
    }
}
