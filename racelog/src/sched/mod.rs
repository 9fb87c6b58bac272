//! Controlled scheduling: one thread runs at a time, and a strategy says which.
//!
//! [`explore`] and [`Explorer`] run a body under many schedules in one process. Every operation of
//! racelog's types is a point where another thread may go on; threads that cannot go on are known
//! as such, so a deadlock is noticed at once. What a thread does between such points no other
//! thread interrupts.
//!
//! - Time-outs are by a clock of the run's own, which leaps when all others wait. So are the
//!   program's own looks at `racelog::time::Instant`; what has slept or looked in vain for long finds
//!   that more time has passed, and no time-out comes earlier for it. std's `Instant` is the world's.
//! - To sleep is no order, for nothing says how fast the others are: a thread that sleeps may go on
//!   whenever it is chosen. If it sleeps again, another moves first. A search that is exhaustive goes
//!   by the clock there, too.
//! - A thread that calls `yield_now` or `spin_loop` lets another move first.
//! - When the body returns, threads that are left are sent away, as at the end of a process: they
//!   unwind from where they stand.
//! - Operations happen one after the other, as with sequential consistency: what only weaker
//!   memory orderings allow is not found.
//! - Accesses of what a lock guards, through its guard, are no such points: nobody else could get
//!   there.
//! - What threads do by other means than racelog's types is not controlled. If a thread blocks
//!   there, another goes on after a while, and the run says that control was lost.
//! - Thread-locals of threads that the body spawns are new in every run; those of the calling
//!   thread are not.
//!
//! # Fibers and threads
//!
//! The threads of a body can be threads of the system, or fibers, which all run in the calling
//! thread: a switch is then a few instructions, and a schedule some fifty times faster. There are
//! fibers on Linux, on x86-64 and ARM64. A seed decides the same of both.
//!
//! What differs: fibers have thread-locals of their own by racelog's `thread_local!`, but share
//! those of `std::thread_local!`, also of other crates; std's `thread::current` and `panicking` do
//! not know them; and the system does not know that there is another to go on where one blocks. So,
//! unless [`Explorer::fibers`] insists, they are used only where that makes no difference:
//!
//! - The first schedules are run by threads. If one of them blocks outside of racelog there, so are
//!   all others.
//! - If a fiber blocks outside, another thread drives the others after a second, as threads of the
//!   system would go on. All further schedules are run by threads.
//! - A schedule that fails is run again by threads, and what happens there counts. If it does not
//!   fail there in the same way, all further schedules are run by threads.
//! - An exhaustive search, which says something of schedules that it has not run, is made by threads.
//! - What is recorded, and whole processes under control, are threads.

mod engine;
mod explore;
mod front;
mod members;
mod model;
mod outcome;
mod process;
mod schedule;
mod strategy;
mod test_session;

#[cfg(all(test, fibers))]
mod fiber_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod time_tests;

pub use explore::entry::{explore, explore_test, explore_with};
pub use explore::explorer::{Explorer, Failed, Summary};
pub use model::failure::{Failure, Lost, Wait};
pub use strategy::RealRace;
pub use test_session::TestSession;

pub use crate::contract::place::SourcePlace;
pub use crate::contract::seed::Seed;

pub(crate) use crate::rt::Action;
pub(crate) use front::attach::is_controlled;
pub(crate) use front::child::{ChildControl, Newcomer, newcomer};
pub(crate) use front::controller::Controller;
#[cfg(fibers)]
pub(crate) use front::fiber::{id_of_fiber, in_fiber, spawn_fiber, usual_stack};
pub(crate) use front::life::{
    closing, is_leaving, leave_if_asked, run_closure, wait_for_first_turn,
};
#[cfg(fibers)]
pub(crate) use front::locals::fiber_thread;
pub(crate) use front::locals::{Access, fiber_local, is_fiber};
#[cfg(feature = "crossbeam")]
pub(crate) use front::points::{any_of, point_of, where_to_go_on};
pub(crate) use front::points::{
    block, block_on, block_on_lock, gave_back, look_at_clock, number, point, took, whom_to_wake,
};
pub(crate) use front::time::{Deadline, clock};
pub(crate) use model::intent::Intent;
