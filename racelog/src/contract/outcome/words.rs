//! The same outcome in other words: with other names for threads, or with more or less said of
//! where they stand.

use super::{Deviation, Divergence, EarlyStep, OtherValue, Reached};
use crate::contract::operation::Operation;

/// How the parts of an outcome are said otherwise.
pub trait Words<P, S> {
    /// What places are then.
    type Place;

    /// What is said then of where a thread stands.
    type Standing;

    /// An operation.
    fn operation(&self, operation: Operation<P>) -> Operation<Self::Place>;

    /// Where a thread stands.
    fn standing(&self, standing: S) -> Self::Standing;
}

impl<P, S> Reached<P, S> {
    /// The same in other words.
    pub fn said_by<W: Words<P, S>>(self, words: &W) -> Reached<W::Place, W::Standing> {
        match self {
            Self::Confirmed => Reached::Confirmed,
            Self::Diverged(divergence) => Reached::Diverged(Box::new(divergence.said_by(words))),
            Self::Unreached { step, expected } => {
                Reached::Unreached { step, expected: words.operation(expected) }
            }
            Self::Ran => Reached::Ran,
        }
    }
}

impl<P, S> Divergence<P, S> {
    fn said_by<W: Words<P, S>>(self, words: &W) -> Divergence<W::Place, W::Standing> {
        let early = self.early.map(|EarlyStep { step, operation }| EarlyStep {
            step,
            operation: words.operation(operation),
        });
        let differs = self.differs.map(|OtherValue { step, access, predicted, found }| {
            OtherValue { step, access: words.operation(access), predicted, found }
        });
        Divergence {
            step: self.step,
            expected: words.operation(self.expected),
            why: self.why.said_by(words),
            early,
            differs,
        }
    }
}

impl<P, S> Deviation<P, S> {
    fn said_by<W: Words<P, S>>(self, words: &W) -> Deviation<W::Place, W::Standing> {
        match self {
            Self::Other(found) => Deviation::Other(words.operation(found)),
            Self::Ended => Deviation::Ended,
            Self::Absent(parent) => Deviation::Absent(parent.map(|parent| words.standing(parent))),
            Self::Blocked(standing) => Deviation::Blocked(words.standing(standing)),
            Self::GoesOn => Deviation::GoesOn,
            Self::Apart => Deviation::Apart,
        }
    }
}
