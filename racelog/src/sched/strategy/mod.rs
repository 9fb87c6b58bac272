//! Which thread goes next: the strategies.

mod choice;
mod exhaustive;
mod guide;
mod held;
mod pct;
mod postponed;
mod race;
mod random;
mod replay;

pub(super) use choice::{Choice, Stop};
pub(super) use exhaustive::Exhaustive;
pub(super) use guide::Guide;
pub(super) use held::HeldBack;
pub(super) use pct::Pct;
pub(super) use race::RaceDirected;
pub use race::RealRace;
pub(super) use random::Random;
pub(super) use replay::{Progress, Reached, Replay, Stands};
