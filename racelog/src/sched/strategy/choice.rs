//! What a strategy is asked, and what it answers if it picks no thread.

use crate::sched::model::slot::Slot;

/// What a strategy chooses from.
pub(in crate::sched) struct Choice<'a> {
    /// Those who can go on, in the order of their slots; empty only on the way to the end of a
    /// schedule that is followed.
    pub(in crate::sched) enabled: &'a [usize],
    /// Those who could go on, too, but said that they only spin.
    pub(in crate::sched) spinning: &'a [usize],
    pub(in crate::sched) slots: &'a [Slot],
    /// Who had the last turn.
    pub(in crate::sched) current: Option<usize>,
    /// The number of this step, from 1.
    pub(in crate::sched) step: u64,
    /// The run's time.
    pub(in crate::sched) now: u64,
}

/// Why a strategy picks no thread. All but the first end the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::sched) enum Stop {
    /// Time is to pass until then, though others could go on.
    Sleep(u64),
    /// All that could follow is known from other runs.
    Redundant,
    /// The program does something else than it did before.
    NotDeterministic(String),
    /// The program does something else than the schedule says.
    Diverged,
    /// These threads wait for each other, which was to be seen.
    Circle(Vec<usize>),
    /// No thread can go on, which was to be seen.
    StandStill,
}
