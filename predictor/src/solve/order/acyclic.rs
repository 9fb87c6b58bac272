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

/// The edges of a node in one direction.
#[derive(Clone, Debug, Default)]
struct Edges {
    fixed: Vec<Node>,
    /// Those that can be taken back, newest last.
    open: Vec<Edge>,
}

impl Edges {
    fn len(&self) -> usize {
        self.fixed.len() + self.open.len()
    }

    fn get(&self, at: usize) -> Edge {
        match self.fixed.get(at) {
            Some(to) => Edge { to: *to, because: Lit::TRUE },
            None => self.open[at - self.fixed.len()],
        }
    }
}

/// A directed graph without cycles, and a topological order of it.
#[derive(Debug, Default)]
pub(super) struct Graph {
    after: Vec<Edges>,
    before: Vec<Edges>,
    rank: Vec<i64>,
    /// The edges that can be taken back, newest last.
    trail: Vec<(Node, Node)>,
    // Scratch space of a search.
    seen: Vec<bool>,
    parent: Vec<(Node, Lit)>,
    /// How many literals it takes to get to a node, while a way is looked for.
    distance: Vec<u32>,
    forward: Vec<Node>,
    backward: Vec<Node>,
    queue: VecDeque<Node>,
    ranks: Vec<i64>,
}

impl Graph {
    /// Adds a node with a rank that no other node has.
    pub(super) fn add_node(&mut self, rank: i64) -> Node {
        self.after.push(Edges::default());
        self.before.push(Edges::default());
        self.rank.push(rank);
        self.seen.push(false);
        self.parent.push((0, Lit::TRUE));
        self.distance.push(u32::MAX);
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
            self.after[from as usize].open.pop();
            self.before[to as usize].open.pop();
        }
    }

    /// Adds an edge, or says which literals make it close a cycle, without its own.
    pub(super) fn add(&mut self, from: Node, to: Node, because: Lit) -> Result<(), Vec<Lit>> {
        self.make_way(from, to)?;
        self.after[from as usize].open.push(Edge { to, because });
        self.before[to as usize].open.push(Edge { to: from, because });
        self.trail.push((from, to));
        Ok(())
    }

    /// Adds an edge for good, or says which literals make it close a cycle.
    pub(super) fn fix(&mut self, from: Node, to: Node) -> Result<(), Vec<Lit>> {
        self.make_way(from, to)?;
        self.after[from as usize].fixed.push(to);
        self.before[to as usize].fixed.push(from);
        Ok(())
    }

    /// Why an edge would close a cycle, if it would: the literals of the others.
    pub(super) fn against(&mut self, from: Node, to: Node) -> Option<Vec<Lit>> {
        (self.rank(from) >= self.rank(to) && self.reaches(to, from))
            .then(|| self.fewest_literals(to, from))
    }

    /// Moves things so that `from` comes before `to`.
    fn make_way(&mut self, from: Node, to: Node) -> Result<(), Vec<Lit>> {
        let low = self.rank(to);
        if self.rank(from) < low {
            return Ok(());
        }
        if self.reaches(to, from) {
            return Err(self.fewest_literals(to, from));
        }
        self.search_backward(from, low);
        self.rerank();
        Ok(())
    }

    /// Whether a way leads from `start` to `end`. If not, `forward` is what can be reached and
    /// comes before `end` in the order.
    fn reaches(&mut self, start: Node, end: Node) -> bool {
        let high = self.rank(end);
        self.forward.clear();
        self.forward.push(start);
        self.seen[start as usize] = true;
        let mut found = start == end;
        let mut next = 0;
        while let (false, Some(node)) = (found, self.forward.get(next).copied()) {
            next += 1;
            let edges = &self.after[node as usize];
            for to in edges.fixed.iter().copied().chain(edges.open.iter().map(|edge| edge.to)) {
                found |= to == end;
                if self.rank[to as usize] < high && !self.seen[to as usize] {
                    self.seen[to as usize] = true;
                    self.forward.push(to);
                }
            }
        }
        for node in &self.forward {
            self.seen[*node as usize] = false;
        }
        found
    }

    fn search_backward(&mut self, from: Node, low: i64) {
        self.backward.clear();
        self.backward.push(from);
        self.seen[from as usize] = true;
        let mut next = 0;
        while let Some(node) = self.backward.get(next).copied() {
            next += 1;
            let edges = &self.before[node as usize];
            for to in edges.fixed.iter().copied().chain(edges.open.iter().map(|edge| edge.to)) {
                if self.rank[to as usize] > low && !self.seen[to as usize] {
                    self.seen[to as usize] = true;
                    self.backward.push(to);
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

    /// The literals on a way from `start` to `end`, which there is: as few as can be, since a short
    /// explanation rules out more. Orders that always hold cost nothing.
    fn fewest_literals(&mut self, start: Node, end: Node) -> Vec<Lit> {
        let high = self.rank(end);
        self.forward.clear();
        self.queue.clear();
        self.distance[start as usize] = 0;
        self.forward.push(start);
        self.queue.push_back(start);
        // A queue at both ends keeps the nodes sorted by distance, as costs are 0 and 1.
        while let Some(node) = self.queue.pop_front() {
            if node == end {
                break;
            }
            // A node comes twice if a cheaper way to it was found after the first.
            if std::mem::replace(&mut self.seen[node as usize], true) {
                continue;
            }
            for at in 0..self.after[node as usize].len() {
                let Edge { to, because } = self.after[node as usize].get(at);
                let cost = u32::from(because != Lit::TRUE);
                let distance = self.distance[node as usize] + cost;
                let known = self.distance[to as usize];
                if distance >= known || (to != end && self.rank(to) >= high) {
                    continue;
                }
                if known == u32::MAX {
                    self.forward.push(to);
                }
                self.distance[to as usize] = distance;
                self.parent[to as usize] = (node, because);
                if cost == 0 {
                    self.queue.push_front(to);
                } else {
                    self.queue.push_back(to);
                }
            }
        }
        for node in &self.forward {
            self.seen[*node as usize] = false;
            self.distance[*node as usize] = u32::MAX;
        }
        self.explain(start, end)
    }

    /// The literals on the way that was found.
    fn explain(&self, start: Node, end: Node) -> Vec<Lit> {
        let mut why = Vec::new();
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
        graph.fix(0, 1).unwrap();
        graph.add(3, 0, lit(1)).unwrap();
        graph.add(1, 2, lit(2)).unwrap();
        let mut why = graph.add(2, 3, lit(3)).unwrap_err();
        why.sort();
        assert_eq!(why, [lit(1), lit(2)]);
        graph.shrink(1);
        assert_eq!(graph.against(2, 3), None);
        graph.add(2, 3, lit(3)).unwrap();
    }

    #[test]
    fn a_way_along_fixed_orders_is_the_better_explanation() {
        let mut graph = graph(5);
        for node in 0..4 {
            graph.fix(node, node + 1).unwrap();
        }
        graph.add(0, 4, lit(1)).unwrap();
        graph.add(1, 4, lit(2)).unwrap();
        assert_eq!(graph.against(4, 0), Some(Vec::new()));
        assert_eq!(graph.against(0, 4), None);
        assert_eq!(graph.add(4, 0, lit(3)), Err(Vec::new()));
        assert!(graph.fix(4, 2).is_err());
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
