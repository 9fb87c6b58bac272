//! Orders that must not go round in a circle.
//!
//! D. J. Pearce and P. H. J. Kelly, "A dynamic topological sort algorithm for directed acyclic
//! graphs" (2006): a topological order is kept up while edges come; an edge that agrees with it
//! costs nothing, any other moves only what lies between its ends. Taking edges away never
//! invalidates the order, so going back is cheap.

use std::collections::VecDeque;

use super::super::formula::Lit;

/// An event as the graph numbers it.
pub(super) type Node = u32;

#[derive(Clone, Copy, Debug)]
struct Edge {
    to: Node,
    /// The literal that says so; [`Lit::TRUE`] for an order that always holds.
    because: Lit,
}

/// A directed graph without cycles, and a topological order of it.
#[derive(Debug, Default)]
pub(super) struct Graph {
    after: Vec<Vec<Edge>>,
    before: Vec<Vec<Edge>>,
    rank: Vec<i64>,
    /// The edges that can be taken back, newest last.
    trail: Vec<(Node, Node)>,
    // Scratch space of a search.
    seen: Vec<bool>,
    parent: Vec<(Node, Lit)>,
    forward: Vec<Node>,
    backward: Vec<Node>,
    queue: VecDeque<Node>,
    ranks: Vec<i64>,
}

impl Graph {
    /// Adds a node with a rank that no other node has.
    pub(super) fn add_node(&mut self, rank: i64) -> Node {
        self.after.push(Vec::new());
        self.before.push(Vec::new());
        self.rank.push(rank);
        self.seen.push(false);
        self.parent.push((0, Lit::TRUE));
        self.rank.len() as Node - 1
    }

    pub(super) fn rank(&self, node: Node) -> i64 {
        self.rank[node as usize]
    }

    /// How many edges can be taken back.
    pub(super) fn edge_count(&self) -> usize {
        self.trail.len()
    }

    /// Takes back all but the first `count` edges of those that can be.
    pub(super) fn shrink(&mut self, count: usize) {
        for (from, to) in self.trail.drain(count..).rev() {
            self.after[from as usize].pop();
            self.before[to as usize].pop();
        }
    }

    /// Adds an edge, or says which literals make it close a cycle, without its own.
    pub(super) fn add(&mut self, from: Node, to: Node, because: Lit) -> Result<(), Vec<Lit>> {
        if self.rank(from) >= self.rank(to) {
            self.reorder(from, to)?;
        }
        self.after[from as usize].push(Edge { to, because });
        self.before[to as usize].push(Edge { to: from, because });
        self.trail.push((from, to));
        Ok(())
    }

    /// Moves things so that `from` comes before `to`, which it does not yet.
    fn reorder(&mut self, from: Node, to: Node) -> Result<(), Vec<Lit>> {
        let (low, high) = (self.rank(to), self.rank(from));
        self.forward.clear();
        self.queue.clear();
        self.visit_forward(to);
        // Breadth first, so that a cycle is explained by few edges.
        while let Some(node) = self.queue.pop_front() {
            for at in 0..self.after[node as usize].len() {
                let edge = self.after[node as usize][at];
                if edge.to == from {
                    let why = self.explain(to, node, edge.because);
                    self.forget_forward();
                    return Err(why);
                }
                if self.rank(edge.to) < high && !self.seen[edge.to as usize] {
                    self.parent[edge.to as usize] = (node, edge.because);
                    self.visit_forward(edge.to);
                }
            }
        }
        self.forget_forward();
        self.search_backward(from, low);
        self.rerank();
        Ok(())
    }

    fn visit_forward(&mut self, node: Node) {
        self.seen[node as usize] = true;
        self.forward.push(node);
        self.queue.push_back(node);
    }

    fn forget_forward(&mut self) {
        for node in &self.forward {
            self.seen[*node as usize] = false;
        }
    }

    fn search_backward(&mut self, from: Node, low: i64) {
        self.backward.clear();
        self.backward.push(from);
        self.seen[from as usize] = true;
        let mut next = 0;
        while let Some(node) = self.backward.get(next).copied() {
            next += 1;
            for edge in &self.before[node as usize] {
                if self.rank[edge.to as usize] > low && !self.seen[edge.to as usize] {
                    self.seen[edge.to as usize] = true;
                    self.backward.push(edge.to);
                }
            }
        }
        for node in &self.backward {
            self.seen[*node as usize] = false;
        }
    }

    /// Gives the ranks of what was found to the same nodes: first what leads to the edge, then what
    /// follows from it.
    fn rerank(&mut self) {
        let rank = &mut self.rank;
        self.backward.sort_unstable_by_key(|node| rank[*node as usize]);
        self.forward.sort_unstable_by_key(|node| rank[*node as usize]);
        self.ranks.clear();
        let moved = || self.backward.iter().chain(&self.forward);
        self.ranks.extend(moved().map(|node| rank[*node as usize]));
        self.ranks.sort_unstable();
        for (node, new) in moved().zip(&self.ranks) {
            rank[*node as usize] = *new;
        }
    }

    /// The literals on the way from `start` to `end`, and one more.
    fn explain(&self, start: Node, end: Node, last: Lit) -> Vec<Lit> {
        let mut why = vec![last];
        let mut node = end;
        while node != start {
            let (parent, because) = self.parent[node as usize];
            why.push(because);
            node = parent;
        }
        why.retain(|lit| *lit != Lit::TRUE);
        why
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(nodes: usize) -> Graph {
        let mut graph = Graph::default();
        (0..nodes).for_each(|node| {
            graph.add_node(node as i64 * 10);
        });
        graph
    }

    fn lit(number: usize) -> Lit {
        Lit::positive(number)
    }

    #[test]
    fn a_cycle_is_explained_by_its_edges() {
        let mut graph = graph(4);
        graph.add(0, 1, Lit::TRUE).unwrap();
        graph.add(3, 0, lit(1)).unwrap();
        graph.add(1, 2, lit(2)).unwrap();
        let mut why = graph.add(2, 3, lit(3)).unwrap_err();
        why.sort();
        assert_eq!(why, [lit(1), lit(2)]);
        graph.shrink(2);
        graph.add(2, 3, lit(3)).unwrap();
    }

    /// Whether `to` can be reached from `from`.
    fn reaches(edges: &[(Node, Node)], from: Node, to: Node) -> bool {
        from == to || edges.iter().any(|(a, b)| *a == from && reaches(edges, *b, to))
    }

    #[test]
    fn edges_come_and_go_and_the_order_stays_right() {
        let mut random = 88172645463325252_u64;
        let mut below = |limit: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % limit
        };
        let (mut graph, mut edges) = (graph(8), Vec::new());
        let mut cycles = 0;
        for step in 0..2000 {
            if below(6) == 0 {
                let keep = below(edges.len() as u64 + 1) as usize;
                edges.truncate(keep);
                graph.shrink(keep);
            }
            let (from, to) = (below(8) as Node, below(8) as Node);
            if from == to {
                continue;
            }
            match graph.add(from, to, lit(step + 1)) {
                Ok(()) => {
                    assert!(!reaches(&edges, to, from));
                    edges.push((from, to));
                }
                Err(why) => {
                    assert!(reaches(&edges, to, from) && !why.is_empty());
                    cycles += 1;
                }
            }
            assert!(edges.iter().all(|(from, to)| graph.rank(*from) < graph.rank(*to)));
        }
        assert!(cycles > 100, "only {cycles} cycles");
    }
}
