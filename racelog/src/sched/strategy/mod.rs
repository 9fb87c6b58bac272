//! Who goes next: the strategies.

mod exhaustive;
mod pct;
mod race;
mod random;
mod replay;

pub(super) use exhaustive::Exhaustive;
pub(super) use pct::Pct;
pub(super) use race::RaceDirected;
pub use race::{InvalidSite, RealRace, Site};
pub(super) use random::Random;
pub(super) use replay::{Replay, Stands, Verdict, Why};

use super::slot::Slot;

/// What a strategy chooses from.
pub(super) struct Choice<'a> {
    /// Those who can go on, in the order of their slots; empty only on the way to a race that is
    /// replayed.
    pub(super) enabled: &'a [usize],
    /// Those who could go on, too, but said that they only spin.
    pub(super) spinning: &'a [usize],
    pub(super) slots: &'a [Slot],
    /// Who had the last turn.
    pub(super) current: Option<usize>,
    /// The number of this step, from 1.
    pub(super) step: u64,
    /// The run's time.
    pub(super) now: u64,
}

/// Why a strategy picks nobody. All but the first end the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    /// Time is to pass until then, though others could go on.
    Sleep(u64),
    /// All that could follow is known from other runs.
    Redundant,
    /// The program does something else than it did before.
    NotDeterministic(String),
    /// The program does something else than the schedule says.
    Diverged,
}

/// A strategy at work.
pub(super) enum Guide {
    Random(Random),
    Pct(Pct),
    Race(RaceDirected),
    Exhaustive(Exhaustive),
    Replay(Box<Replay>),
    /// The first picks, and the second only looks out for its race.
    Watched(Box<Guide>, RaceDirected),
}

impl Guide {
    /// Picks one of those who can go on.
    pub(super) fn pick(&mut self, choice: &Choice<'_>) -> Result<usize, Stop> {
        match self {
            Self::Random(random) => Ok(random.pick(choice)),
            Self::Pct(pct) => Ok(pct.pick(choice)),
            Self::Race(race) => Ok(race.pick(choice)),
            Self::Exhaustive(search) => search.pick(choice),
            Self::Replay(replay) => replay.pick(choice),
            Self::Watched(guide, race) => {
                race.watch(choice);
                guide.pick(choice)
            }
        }
    }

    /// Whether the time of a thread is up, if that is not for the clock to say.
    pub(super) fn is_time_up(&self, slot: &Slot) -> Option<bool> {
        match self {
            Self::Replay(replay) => replay.is_time_up(&slot.path, &slot.intent),
            _ => None,
        }
    }

    /// Whether it leads to a race, and would say why if nobody can go on before that.
    pub(super) fn is_on_its_way(&self) -> bool {
        matches!(self, Self::Replay(replay) if replay.is_on_its_way())
    }

    /// Whether there is something to be told now, for the program may not live to tell it later.
    pub(super) fn has_news(&mut self) -> bool {
        match self {
            Self::Replay(replay) => replay.has_news(),
            _ => false,
        }
    }
}
