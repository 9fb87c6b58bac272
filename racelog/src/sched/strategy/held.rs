//! Random walks that hold threads back where a bug could come about: see [`Manoeuvre`].
//!
//! As race-directed testing does it for races (`race`), for other bugs: a thread is postponed where
//! its going on would take the chance away, until the others have done what makes the bug. Nothing
//! is reported here. What follows shows itself: threads that cannot go on, or a check that fails.
//!
//! A thread that is postponed need not stay able to go on: what it stands before may be taken from
//! it. So a thread goes on only while it can.

use super::choice::Choice;
use super::postponed::{Next, Postponed};
use super::random::Numbers;
use crate::contract::place::SourcePlace;
use crate::contract::seed::Manoeuvre;
use crate::rt::{Action, CallSite};
use crate::sched::model::place::is_at;

pub(in crate::sched) struct HeldBack {
    manoeuvre: Manoeuvre,
    places: Vec<SourcePlace>,
    pub(super) numbers: Numbers,
    postponed: Postponed,
    /// At which of the places threads wait, where one of them is to be chosen.
    waits_at: usize,
    /// Who has done what the first place says, and with which object; who was late.
    has_begun: Vec<(usize, usize)>,
    /// Whether others have done what the threads wait for.
    is_done: bool,
}

impl HeldBack {
    pub(in crate::sched) fn new(manoeuvre: Manoeuvre, places: Vec<SourcePlace>, seed: u64) -> Self {
        let mut numbers = Numbers::new(seed);
        let waits_at = match manoeuvre {
            Manoeuvre::Late => numbers.below(places.len().max(1)),
            Manoeuvre::Circle | Manoeuvre::Between | Manoeuvre::Wait => usize::from(numbers.coin()),
        };
        Self {
            manoeuvre,
            places,
            numbers,
            postponed: Postponed::default(),
            waits_at,
            has_begun: Vec::new(),
            is_done: false,
        }
    }

    pub(super) fn pick(&mut self, choice: &Choice<'_>) -> usize {
        loop {
            match self.postponed.next(&mut self.numbers, choice) {
                // A lock may be gone that it stands before.
                Next::Goes(at)
                    if !choice.enabled.contains(&at) && !choice.spinning.contains(&at) => {}
                Next::Goes(at) => return self.goes(at, choice),
                Next::Asks(at) if self.is_to_wait(at, choice) => {
                    self.postponed.add(at, choice.step);
                    if self.manoeuvre == Manoeuvre::Late {
                        self.has_begun.push((at, choice.slots[at].intent.object));
                    }
                    self.release_if_complete(choice);
                }
                Next::Asks(at) => return self.goes(at, choice),
            }
        }
    }

    /// Whether a thread stands where it is to wait.
    fn is_to_wait(&self, at: usize, choice: &Choice<'_>) -> bool {
        let slot = &choice.slots[at];
        let here = slot.intent.here;
        match self.manoeuvre {
            Manoeuvre::Circle => {
                let asks = slot.intent.action.waits_for().is_some();
                asks && !slot.held.is_empty() && self.site(here).is_some()
            }
            Manoeuvre::Between => {
                let has_begun = |(slot, object): &(usize, usize)| {
                    *slot == at && *object == choice.slots[at].intent.object
                };
                is_at(&self.places[2], here) && self.has_begun.iter().any(has_begun)
            }
            Manoeuvre::Wait => !self.is_done && is_at(&self.places[self.waits_at], here),
            // Once, or a loop would never be left behind.
            Manoeuvre::Late => {
                !self.has_begun.iter().any(|(slot, _)| *slot == at)
                    && is_at(&self.places[self.waits_at], here)
            }
        }
    }

    /// Which place that is.
    fn site(&self, here: Option<CallSite>) -> Option<usize> {
        self.places.iter().position(|place| is_at(place, here))
    }

    /// Of a circle: if there is a thread at each place, all of them go on.
    fn release_if_complete(&mut self, choice: &Choice<'_>) {
        if self.manoeuvre != Manoeuvre::Circle {
            return;
        }
        let threads: Vec<usize> = self.postponed.threads().collect();
        let at = |place: &SourcePlace| {
            threads.iter().any(|slot| is_at(place, choice.slots[*slot].intent.here))
        };
        // Threads may stand at one place that they come to with different locks.
        if threads.len() >= self.places.len() && self.places.iter().all(at) {
            self.postponed.release(&threads);
        }
    }

    /// A thread does what it stands before.
    fn goes(&mut self, at: usize, choice: &Choice<'_>) -> usize {
        let intent = &choice.slots[at].intent;
        let (here, object) = (intent.here, intent.object);
        match self.manoeuvre {
            Manoeuvre::Circle | Manoeuvre::Late => {}
            Manoeuvre::Between => {
                if is_at(&self.places[2], here) {
                    self.has_begun.retain(|(slot, _)| *slot != at);
                }
                if is_at(&self.places[0], here) {
                    self.has_begun.push((at, object));
                }
                if is_at(&self.places[1], here) {
                    let begun: Vec<usize> = self
                        .has_begun
                        .iter()
                        .filter(|(slot, of)| *slot != at && *of == object)
                        .map(|(slot, _)| *slot)
                        .collect();
                    self.has_begun.retain(|(slot, _)| !begun.contains(slot));
                    let waiting: Vec<usize> =
                        self.postponed.threads().filter(|slot| begun.contains(slot)).collect();
                    self.postponed.release(&waiting);
                }
            }
            Manoeuvre::Wait => {
                if intent.action == Action::Notify && is_at(&self.places[2], here) {
                    self.is_done = true;
                    let waiting: Vec<usize> = self.postponed.threads().collect();
                    self.postponed.release(&waiting);
                }
            }
        }
        at
    }
}
