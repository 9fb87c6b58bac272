//! When what is seeded is due.

use std::collections::VecDeque;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::Plan;
use super::circles::Section;

/// How far the accesses of a near race are apart, in turns, and the sections of a near circle.
const NEAR: usize = 100;

/// Something seeded that is due.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Due {
    /// When so many events have happened.
    pub(super) at: usize,
    pub(super) what: Seed,
    pub(super) thread: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Seed {
    /// An access of a race.
    Access { race: usize, second: bool },
    /// The section with this number, of all circles, and which of its circle's it is.
    Section { number: usize, turn: usize },
}

/// All that is due, in its order. The sections of a circle stand in the order of their turns, so a
/// thread that waits for its turn waits for threads whose turns come before, and never in a circle.
pub(super) fn all(plan: &Plan, sections: &[Section], random: &mut ChaCha8Rng) -> VecDeque<Due> {
    let mut due = races(plan, random);
    due.extend(circles(plan, sections, random));
    due.sort_unstable();
    due.into()
}

fn races(plan: &Plan, random: &mut ChaCha8Rng) -> Vec<Due> {
    let mut below = |limit| random.random_range(0..limit);
    let events = plan.events;
    let mut due = Vec::new();
    for race in 0..plan.near_races + plan.far_races {
        let talkers = plan.threads.div_ceil(2);
        let first = talkers + below(plan.threads - talkers);
        let second = below(talkers);
        let (at, distance) = if race < plan.near_races {
            let latest = events.saturating_sub(NEAR + 200).max(1);
            (below(latest), 1 + below(NEAR))
        } else {
            (below(events / 10 + 1), events / 3 + below(events / 3 + 1))
        };
        let access = |second| Seed::Access { race, second };
        due.push(Due { at, what: access(false), thread: first });
        due.push(Due { at: at + distance, what: access(true), thread: second });
    }
    due
}

/// The sections of every other circle are close together; those of the others are spread over half
/// of the trace.
fn circles(plan: &Plan, sections: &[Section], random: &mut ChaCha8Rng) -> Vec<Due> {
    let mut below = |limit| random.random_range(0..limit);
    let events = plan.events;
    let mut due = Vec::new();
    let mut number = 0;
    for (circle, sections) in sections.chunk_by(|a, b| a.circle == b.circle).enumerate() {
        let (start, step) = if circle.is_multiple_of(2) {
            (below(events / 10 + 1), events / 2 / sections.len())
        } else {
            (below(events / 2 + 1), 1 + below(NEAR))
        };
        for (turn, section) in sections.iter().enumerate() {
            let what = Seed::Section { number, turn };
            due.push(Due { at: start + turn * step, what, thread: section.thread });
            number += 1;
        }
    }
    due
}
