//! A strategy at work, whichever it is.

use super::choice::{Choice, Stop};
use super::exhaustive::Exhaustive;
use super::held::HeldBack;
use super::pct::Pct;
use super::race::RaceDirected;
use super::random::Random;
use super::replay::Replay;
use crate::rt::Action;
use crate::sched::model::slot::Slot;

/// A strategy at work. Guides are handed on, so what is large is boxed.
pub(in crate::sched) enum Guide {
    Random(Random),
    Pct(Pct),
    Race(Box<RaceDirected>),
    Held(Box<HeldBack>),
    Exhaustive(Exhaustive),
    Replay(Box<Replay>),
    /// The first picks, and the second only looks out for its race.
    Watched(Box<Guide>, Box<RaceDirected>),
}

impl Guide {
    /// Picks one of those who can go on.
    pub(in crate::sched) fn pick(&mut self, choice: &Choice<'_>) -> Result<usize, Stop> {
        match self {
            Self::Random(random) => Ok(random.pick(choice)),
            Self::Pct(pct) => Ok(pct.pick(choice)),
            Self::Race(race) => Ok(race.pick(choice)),
            Self::Held(held) => Ok(held.pick(choice)),
            Self::Exhaustive(search) => search.pick(choice),
            Self::Replay(replay) => replay.pick(choice),
            Self::Watched(guide, race) => {
                race.watch(choice);
                guide.pick(choice)
            }
        }
    }

    /// Picks one of so many ways that a thread can go on, by what decides the run. A search that is
    /// exhaustive takes the first.
    #[cfg(feature = "crossbeam")]
    pub(in crate::sched) fn any_of(&mut self, ways: usize) -> usize {
        match self {
            Self::Random(random) => random.numbers.below(ways),
            Self::Pct(pct) => pct.numbers.below(ways),
            Self::Race(race) => race.numbers.below(ways),
            Self::Held(held) => held.numbers.below(ways),
            Self::Replay(replay) => replay.numbers.below(ways),
            Self::Watched(guide, _) => guide.any_of(ways),
            Self::Exhaustive(_) => 0,
        }
    }

    /// Whether the time of a thread is up, if that is not for the clock to say.
    pub(in crate::sched) fn is_time_up(&self, slot: &Slot) -> Option<bool> {
        match self {
            Self::Replay(replay) => replay.is_time_up(&slot.path, &slot.intent),
            _ => (self.wakes_sleepers() && slot.intent.action == Action::Sleep).then_some(true),
        }
    }

    /// Whether a thread that sleeps may go on before others have done what they can meanwhile: to
    /// sleep is no order, for nothing says how fast the others are. A search that is exhaustive
    /// would have to try that at every step of theirs.
    pub(in crate::sched) fn wakes_sleepers(&self) -> bool {
        match self {
            Self::Random(_) | Self::Pct(_) | Self::Race(_) | Self::Held(_) => true,
            Self::Exhaustive(_) | Self::Replay(_) => false,
            Self::Watched(guide, _) => guide.wakes_sleepers(),
        }
    }

    /// Whether it leads somewhere, and would say why if no thread can go on before that.
    pub(in crate::sched) fn is_on_its_way(&self) -> bool {
        matches!(self, Self::Replay(replay) if replay.is_on_its_way())
    }

    /// Whether threads that share a lock pass by others that wait to take it.
    pub(in crate::sched) fn lets_readers_pass(&self) -> bool {
        matches!(self, Self::Replay(replay) if replay.lets_readers_pass())
    }

    /// Whether it can tell what there is to be seen without threads that block elsewhere.
    pub(in crate::sched) fn needs_nobody_else(&self, slots: &[Slot]) -> bool {
        matches!(self, Self::Replay(replay) if replay.needs_nobody_else(slots))
    }

    /// Whether there is something to be told now, for the program may not live to tell it later.
    pub(in crate::sched) fn has_news(&mut self) -> bool {
        match self {
            Self::Replay(replay) => replay.has_news(),
            Self::Race(race) | Self::Watched(_, race) => race.has_news(),
            Self::Random(_) | Self::Pct(_) | Self::Held(_) | Self::Exhaustive(_) => false,
        }
    }
}
