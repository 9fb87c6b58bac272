//! Traces made to measure: of any length, with locks, branches, condvars, and with races and
//! deadlocks in known places.
//!
//! A little program is simulated, and its threads take turns at random. Variables are guarded by
//! locks, and threads that guard them take the lock first: so all races are the seeded ones. These
//! have variables of their own, and places in the program that tell which race it is.
//!
//! Variables that no lock guards can be had as well. Then there are other races, and pairs that are
//! hard to tell from races.
//!
//! A seeded race may be millions of events wide. For it to be one, what happens in between must not
//! depend on what the earlier access's thread does after it, so there are two kinds of threads.
//! *Talkers* read and write the shared variables and decide by what they read. *Listeners* read
//! what talkers write, and write what only they read, under the same locks; the earlier access of
//! every seeded race is theirs. Happens-before orders most of these pairs, by the locks.

mod circles;
mod seeds;
mod world;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use self::world::World;
use crate::trace::format::SinkError;
use racelog::trace::{Dictionary, Item};

/// More events have no numbers.
const MOST_EVENTS: usize = u32::MAX as usize / 4;

/// More threads, locks or variables than that take more memory than the events.
const MOST_OBJECTS: usize = 1 << 24;

/// What to make.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// How many events, about.
    pub events: usize,
    /// How many threads, the first one included; at least 2.
    pub threads: usize,
    /// How many locks, besides those of the seeded circles; at least 1.
    pub locks: usize,
    /// How many variables, besides those of the seeded races; at least 1.
    pub vars: usize,
    /// How many condvars.
    pub condvars: usize,
    /// Which part of the reads a branch follows.
    pub branches: f64,
    /// Which part of the variables is hot: half of all accesses go there.
    pub hot: f64,
    /// Which part of the critical sections takes a second lock.
    pub nested: f64,
    /// Which part of the accesses goes to variables that no lock guards, by any thread: races, and
    /// pairs that are hard to tell from races.
    pub unguarded: f64,
    /// How many races have their accesses close together.
    pub near_races: usize,
    /// How many races have their accesses far apart: a third of the trace and more.
    pub far_races: usize,
    /// How many circles of threads and locks are deadlocks. Nothing comes of them in the trace.
    pub deadlocks: usize,
    /// How many circles only look like deadlocks.
    pub false_circles: usize,
    /// The same plan with the same seed makes the same trace.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            events: 100_000,
            threads: 8,
            locks: 20,
            vars: 1000,
            condvars: 2,
            branches: 0.5,
            hot: 0.1,
            nested: 0.1,
            unguarded: 0.0,
            near_races: 40,
            far_races: 10,
            deadlocks: 0,
            false_circles: 0,
            seed: 0,
        }
    }
}

impl Plan {
    /// Says what is wrong with a plan.
    pub fn check(&self) -> Result<(), String> {
        let part = |name: &str, part: f64| match part {
            0.0..=1.0 => Ok(()),
            _ => Err(format!("{name} is {part}: a part is between 0 and 1")),
        };
        part("branches", self.branches)?;
        part("hot", self.hot)?;
        part("nested", self.nested)?;
        part("unguarded", self.unguarded)?;
        let least = |name: &str, count: usize, least: usize| {
            if count >= least {
                Ok(())
            } else {
                Err(format!("{name} is {count}: at least {least}"))
            }
        };
        least("threads", self.threads, 2)?;
        least("locks", self.locks, 1)?;
        least("vars", self.vars, 1)?;
        let most = |name: &str, count: usize, most: usize| {
            if count <= most { Ok(()) } else { Err(format!("{name} is {count}: at most {most}")) }
        };
        most("events", self.events, MOST_EVENTS)?;
        for (name, count) in [
            ("threads", self.threads),
            ("locks", self.locks),
            ("vars", self.vars),
            ("condvars", self.condvars),
            ("near-races", self.near_races),
            ("far-races", self.far_races),
            ("deadlocks", self.deadlocks),
            ("false-circles", self.false_circles),
        ] {
            most(name, count, MOST_OBJECTS)?;
        }
        let races = self.near_races + self.far_races;
        let circles = self.deadlocks + self.false_circles;
        let seeded = 300 * races.min(1) + 100 * races + 1000 * circles;
        least("events", self.events, 10 * self.threads + seeded)?;
        Ok(())
    }

    /// Makes the trace, item by item, together with the dictionary that knows what they refer to.
    pub fn make(
        &self,
        write: impl FnMut(&Dictionary, &Item) -> Result<(), SinkError>,
    ) -> Result<Dictionary, SinkError> {
        World::new(self, ChaCha8Rng::seed_from_u64(self.seed), write).run()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread that has to wait for its turn in a circle gets it, however few threads there are.
    #[test]
    fn circles_come_to_an_end() {
        for (threads, seed) in [(2, 1), (3, 2), (8, 3), (64, 4)] {
            let (deadlocks, false_circles) = (9, 20);
            let plan = Plan { threads, seed, deadlocks, false_circles, ..Plan::default() };
            plan.check().expect("a valid plan");
            let mut tries = 0;
            let made = plan.make(|_, item| {
                tries += usize::from(matches!(
                    item,
                    Item::Event(event) if event.patience == racelog::trace::Patience::Try
                ));
                Ok(())
            });
            assert!(made.is_ok(), "{threads} threads");
            assert_eq!(tries, 3 * 3);
        }
    }

    #[test]
    fn what_no_memory_can_hold_is_refused() {
        let most = usize::MAX;
        for plan in [
            Plan { locks: most, ..Plan::default() },
            Plan { vars: most, ..Plan::default() },
            Plan { condvars: most, ..Plan::default() },
            Plan { threads: most, ..Plan::default() },
            Plan { near_races: most, far_races: most, ..Plan::default() },
            Plan { deadlocks: most, false_circles: most, ..Plan::default() },
        ] {
            assert!(plan.check().is_err_and(|error| error.contains("at most")), "{plan:?}");
        }
    }

    /// With many threads some begin to wait when all others are about to end.
    #[test]
    fn every_number_of_threads_comes_to_an_end() {
        for threads in [2, 3, 8, 64, 256, 512, 4096] {
            let plan = Plan { threads, events: 50_000, seed: 1, ..Plan::default() };
            plan.check().expect("a valid plan");
            let mut joins = 0;
            let made = plan.make(|_, item| {
                joins += usize::from(matches!(
                    item,
                    Item::Event(event) if matches!(event.op, racelog::trace::Op::Join(_))
                ));
                Ok(())
            });
            assert!(made.is_ok(), "{threads} threads");
            assert_eq!(joins, threads - 1);
        }
    }
}
