//! Witnesses, short enough to be kept and read.

use std::fmt;
use std::str::FromStr;

use racelog::trace::{LockId, Object};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Place;
use crate::report::held;
use crate::trace::{EventId, Op, Trace};

/// Event numbers in some order, kept as stretches without a gap: `1-4 9 10`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stretches(Vec<[u64; 2]>);

/// What no event numbers are.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is neither an event number nor a stretch such as `6-9`")]
pub struct NoStretch(String);

impl Stretches {
    /// The numbers one by one.
    pub fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().flat_map(|[first, last]| *first..=*last)
    }

    /// How many numbers there are.
    pub fn len(&self) -> u64 {
        self.0.iter().map(|[first, last]| last - first + 1).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The stretches: the first and the last number of each.
    pub fn stretches(&self) -> &[[u64; 2]] {
        &self.0
    }
}

impl FromIterator<u64> for Stretches {
    fn from_iter<I: IntoIterator<Item = u64>>(numbers: I) -> Self {
        let mut stretches: Vec<[u64; 2]> = Vec::new();
        for number in numbers {
            match stretches.last_mut() {
                Some([_, last]) if *last + 1 == number => *last = number,
                _ => stretches.push([number, number]),
            }
        }
        Self(stretches)
    }
}

impl fmt::Display for Stretches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, [first, last]) in self.0.iter().enumerate() {
            let gap = if at > 0 { " " } else { "" };
            match last - first {
                0 => write!(f, "{gap}{first}")?,
                1 => write!(f, "{gap}{first} {last}")?,
                _ => write!(f, "{gap}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Stretches {
    type Err = NoStretch;

    fn from_str(text: &str) -> Result<Self, NoStretch> {
        let mut stretches = Vec::new();
        for word in text.split_whitespace() {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            let (Ok(first), Ok(last)) = (first.parse::<u64>(), last.parse::<u64>()) else {
                return Err(NoStretch(word.to_owned()));
            };
            if first == 0 || last < first || last == u64::MAX {
                return Err(NoStretch(word.to_owned()));
            }
            stretches.push([first, last]);
        }
        // As they would be if they were made from the numbers.
        let mut joined: Vec<[u64; 2]> = Vec::new();
        for stretch in stretches {
            match joined.last_mut() {
                Some([_, last]) if *last + 1 == stretch[0] => *last = stretch[1],
                _ => joined.push(stretch),
            }
        }
        Ok(Self(joined))
    }
}

impl Serialize for Stretches {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Stretches {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A step of a schedule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Step {
    /// How many events of the schedule are left out between the last step and this one.
    pub skipped: u64,
    /// The number of the event.
    pub event: u64,
    /// Its thread.
    pub thread: String,
    /// What it does, as the text format has it, without thread and location.
    pub what: String,
    /// Where it stands.
    pub place: Option<Place>,
}

/// How many steps are kept at most.
const STEPS: usize = 40;

/// How many events of each racing thread before its access are kept for sure, if they fit.
const LAST: usize = 4;

/// The steps of a witness that matter: the pair, what its threads did last, all accesses of the
/// variable, what starts the threads, and what they do to locks. The nearer to the pair the better.
pub(super) fn steps(trace: &Trace, witness: &[EventId], prefixes: &[String]) -> Vec<Step> {
    let Some([.., first, second]) = witness.get(witness.len().saturating_sub(2)..) else {
        return Vec::new();
    };
    let racing = [trace.thread(*first), trace.thread(*second)];
    let var = trace.op(*first).var();
    let held: Vec<LockId> =
        [*first, *second].iter().flat_map(|e| held(trace, *e)).map(|held| held.lock).collect();
    let mut last = [LAST + 1; 2];
    let mut kept: Vec<usize> = Vec::new();
    for (at, event) in witness.iter().enumerate().rev() {
        if kept.len() == STEPS {
            break;
        }
        let op = trace.op(*event);
        if trace.is_of_added_lock(*event) {
            continue;
        }
        let side = racing.iter().position(|thread| *thread == trace.thread(*event));
        let is_last = side.is_some_and(|side| {
            last[side] = last[side].saturating_sub(1);
            last[side] > 0
        });
        let matters = match op {
            Op::Fork(child) => racing.contains(&child),
            Op::Acquire(lock) | Op::ReadAcquire(lock) => side.is_some() || held.contains(&lock),
            Op::Release(lock) | Op::ReadRelease(lock) => side.is_some() || held.contains(&lock),
            _ => op.var().is_some() && op.var() == var,
        };
        if is_last || matters {
            kept.push(at);
        }
    }
    kept.reverse();
    let mut printer = trace.printer();
    let mut next = 0;
    let steps = kept.into_iter().map(|at| {
        let event = witness[at];
        let skipped = (at - next) as u64;
        next = at + 1;
        let place = printer.location(event).map(|text| Place::of_trace(&text).stripped(prefixes));
        Step {
            skipped,
            event: event.number(),
            thread: printer.name(Object::Thread(trace.thread(event))).to_owned(),
            what: printer.operation(event),
            place,
        }
    });
    steps.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_come_back() {
        let stretches: Stretches = [1, 2, 3, 4, 9, 10, 6, 5].into_iter().collect();
        assert_eq!(stretches.to_string(), "1-4 9 10 6 5");
        assert_eq!(stretches.to_string().parse::<Stretches>(), Ok(stretches.clone()));
        assert_eq!(stretches.numbers().collect::<Vec<_>>(), [1, 2, 3, 4, 9, 10, 6, 5]);
        assert_eq!(stretches.len(), 8);
        for bad in ["0", "x", "4-2", "1-", "1-18446744073709551615"] {
            assert!(bad.parse::<Stretches>().is_err(), "{bad}");
        }
    }
}
