//! Exhaustive search, for tiny tests.
//!
//! Stateless depth-first search over all schedules, after Godefroid, "Partial-Order Methods for the
//! Verification of Concurrent Systems" (1996), with sleep sets: when all that follows a thread's
//! step has been searched, the thread sleeps in the other branches until a thread takes a step that
//! depends on its own. So of the schedules that differ only in the order of independent steps one
//! is run to its end; others are begun at most.
//!
//! Claim: every outcome that sequentially consistent schedules can have is found, if the program is
//! deterministic but for its schedule, has no state outside of what racelog sees, and the search
//! ended before its bound. A time-out comes only when no other thread can go on; a thread that says
//! that it spins lets another move first.

use super::choice::{Choice, Stop};

/// A point of the current schedule where a thread was chosen.
struct Node {
    enabled: Vec<usize>,
    /// Those who need not be tried here: what would follow is known.
    sleeping: Vec<usize>,
    chosen: usize,
}

/// The search: one schedule after the other.
pub(in crate::sched) struct Exhaustive {
    path: Vec<Node>,
    /// How many choices of the current schedule are made.
    depth: usize,
    /// Who sleeps when the next choice is made.
    sleeping: Vec<usize>,
}

impl Exhaustive {
    pub(in crate::sched) fn new() -> Self {
        Self { path: Vec::new(), depth: 0, sleeping: Vec::new() }
    }

    /// A search that runs the schedule with these choices, and then goes on as it would.
    pub(in crate::sched) fn along(choices: &[usize]) -> Self {
        let node = |&chosen: &usize| Node { enabled: vec![chosen], sleeping: Vec::new(), chosen };
        Self { path: choices.iter().map(node).collect(), depth: 0, sleeping: Vec::new() }
    }

    /// The choices of the current schedule.
    pub(in crate::sched) fn choices(&self) -> Vec<usize> {
        self.path[..self.depth].iter().map(|node| node.chosen).collect()
    }

    /// Goes on to the next schedule; false if there is none.
    pub(in crate::sched) fn advance(&mut self) -> bool {
        self.depth = 0;
        self.sleeping.clear();
        while let Some(node) = self.path.last_mut() {
            node.sleeping.push(node.chosen);
            let next = node.enabled.iter().find(|at| !node.sleeping.contains(at));
            if let Some(&next) = next {
                node.chosen = next;
                return true;
            }
            self.path.pop();
        }
        false
    }

    pub(super) fn pick(&mut self, choice: &Choice<'_>) -> Result<usize, Stop> {
        if self.depth == self.path.len() {
            // To stay with the thread that has its turn is cheapest.
            let awake = |at: &&usize| !self.sleeping.contains(at);
            let current = choice.current.filter(|at| choice.enabled.contains(at));
            let mut awake = current.iter().chain(choice.enabled).filter(awake);
            let Some(&chosen) = awake.next() else { return Err(Stop::Redundant) };
            let (enabled, sleeping) = (choice.enabled.to_vec(), self.sleeping.clone());
            self.path.push(Node { enabled, sleeping, chosen });
        }
        let node = &self.path[self.depth];
        let chosen = node.chosen;
        if !choice.enabled.contains(&chosen) {
            let what = format!("thread {chosen} cannot take step {}", choice.step);
            return Err(Stop::NotDeterministic(what));
        }
        let step = &choice.slots[chosen].intent;
        let independent = |at: &&usize| !choice.slots[**at].intent.depends_on(step);
        self.sleeping = node.sleeping.iter().filter(independent).copied().collect();
        self.depth += 1;
        Ok(chosen)
    }
}
