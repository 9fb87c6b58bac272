//! Witnesses as reports keep them: short, whatever their length.
//!
//! A witness is a schedule: the events in the order in which they are to happen. In every schedule
//! the events of a thread come in the thread's own order, without a gap. So much need not be said
//! of each event. A witness is a list of words, each of which stands for some events:
//!
//! | word | events |
//! | --- | --- |
//! | `n` | the event `n` |
//! | `a-b` | of the events from `a` to `b`, in the order of the trace, each that is the next one of its thread when its turn comes: not those that have happened, and not those of a thread that is held back at an earlier event |
//! | `a~b` | the events of `a`'s thread from `a` to `b` |
//!
//! Where nothing is held back, `a-b` is all events from `a` to `b`. Most witnesses are the observed
//! run with a thread held back, which is two or three such words, though it would be thousands of
//! plain ranges.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::trace::{EventId, Trace};

/// A witness in words. Which events it has depends on its trace.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PackedWitness {
    words: Vec<Word>,
}

/// Some events that follow each other in a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Word {
    One(u64),
    /// From the first to the last, in the order of the trace.
    Observed(u64, u64),
    /// From the first to the last, of one thread.
    Thread(u64, u64),
}

/// Text that is no witness.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is neither an event number nor a range such as `6-9` or `6~9`")]
pub struct NoWitness(String);

/// A range has fewer events than this: then each stands for itself.
const SHORTEST: usize = 3;

/// How many events are passed over at most, for a range of so many events. It keeps the time to
/// pack and unpack a schedule proportional to its length.
const fn passed_over(events: usize) -> usize {
    32 + 8 * events
}

impl PackedWitness {
    /// A schedule of a trace, whose events are each the next one of their thread.
    pub fn pack(trace: &Trace, schedule: impl IntoIterator<Item = EventId>) -> Self {
        let schedule: Vec<EventId> = schedule.into_iter().collect();
        let mut progress = Progress::new(trace);
        let mut words = Vec::new();
        let mut at = 0;
        while at < schedule.len() {
            let rest = &schedule[at..];
            let thread = trace.thread(rest[0]);
            let alone = rest.iter().take_while(|event| trace.thread(**event) == thread).count();
            let observed = progress.observed(rest);
            let events = alone.max(observed);
            let (first, last) = (rest[0].number(), rest[events - 1].number());
            let taken = if events < SHORTEST {
                words.push(Word::One(first));
                1
            } else {
                let is_observed = observed == events;
                words.push(match is_observed {
                    true => Word::Observed(first, last),
                    false => Word::Thread(first, last),
                });
                events
            };
            rest[..taken].iter().for_each(|event| progress.take(*event));
            at += taken;
        }
        Self { words }
    }

    /// The events in a trace; `None` if it is no witness of this trace.
    pub fn unpack(&self, trace: &Trace) -> Option<Vec<EventId>> {
        let mut progress = Progress::new(trace);
        let mut schedule = Vec::new();
        for word in &self.words {
            let (first, last) = word.ends();
            let event = |number| EventId::from_number(number).filter(|it| trace.contains(*it));
            let (first, last) = (event(first)?, event(last)?);
            let before = schedule.len();
            match word {
                Word::One(_) => schedule.push(first),
                Word::Observed(..) => {
                    let mut passed = 0;
                    for event in (first.index()..=last.index()).map(EventId::from_index) {
                        if progress.is_next(event) {
                            progress.take(event);
                            schedule.push(event);
                        } else {
                            passed += 1;
                        }
                        if passed > passed_over(schedule.len() - before) {
                            return None;
                        }
                    }
                }
                Word::Thread(..) => {
                    let thread = trace.thread(first);
                    let end = trace.position(last);
                    let own = trace.events_of_thread(thread);
                    let events = own.get(trace.position(first)..=end)?;
                    if trace.thread(last) != thread {
                        return None;
                    }
                    schedule.extend(events);
                }
            }
            if schedule.get(before) != Some(&first) || schedule.last() != Some(&last) {
                return None;
            }
            if !matches!(word, Word::Observed(..)) {
                for event in &schedule[before..] {
                    if !progress.is_next(*event) {
                        return None;
                    }
                    progress.take(*event);
                }
            }
        }
        Some(schedule)
    }

    /// The number of the last event.
    pub fn last(&self) -> Option<u64> {
        self.words.last().map(|word| word.ends().1)
    }
}

impl Word {
    const fn ends(self) -> (u64, u64) {
        match self {
            Self::One(number) => (number, number),
            Self::Observed(first, last) | Self::Thread(first, last) => (first, last),
        }
    }
}

/// How far each thread has come.
struct Progress<'a> {
    trace: &'a Trace,
    /// How many events of each thread have happened.
    done: Vec<usize>,
}

impl<'a> Progress<'a> {
    fn new(trace: &'a Trace) -> Self {
        Self { trace, done: vec![0; trace.thread_count()] }
    }

    fn is_next(&self, event: EventId) -> bool {
        self.done[self.trace.thread(event).index()] == self.trace.position(event)
    }

    fn take(&mut self, event: EventId) {
        self.done[self.trace.thread(event).index()] += 1;
    }

    fn take_back(&mut self, event: EventId) {
        self.done[self.trace.thread(event).index()] -= 1;
    }

    /// How many events of a schedule come as a range of the trace would have them.
    fn observed(&mut self, schedule: &[EventId]) -> usize {
        let (mut taken, mut passed) = (0, 0);
        let mut event = schedule[0];
        while taken < schedule.len() && self.trace.contains(event) {
            if schedule[taken] == event && self.is_next(event) {
                self.take(event);
                taken += 1;
            } else if self.is_next(event) {
                break;
            } else {
                passed += 1;
                if passed > passed_over(taken) {
                    break;
                }
            }
            event = EventId::from_index(event.index() + 1);
        }
        schedule[..taken].iter().for_each(|event| self.take_back(*event));
        taken
    }
}

impl fmt::Display for PackedWitness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, word) in self.words.iter().enumerate() {
            let gap = if at > 0 { " " } else { "" };
            match word {
                Word::One(number) => write!(f, "{gap}{number}")?,
                Word::Observed(first, last) => write!(f, "{gap}{first}-{last}")?,
                Word::Thread(first, last) => write!(f, "{gap}{first}~{last}")?,
            }
        }
        Ok(())
    }
}

impl FromStr for PackedWitness {
    type Err = NoWitness;

    fn from_str(text: &str) -> Result<Self, NoWitness> {
        let word = |text: &str| -> Option<Word> {
            let number = |text: &str| text.parse().ok().filter(|number: &u64| *number > 0);
            let range = |(first, last)| Some((number(first)?, number(last)?));
            let ordered = |ends: &(u64, u64)| ends.0 <= ends.1;
            if let Some(ends) = text.split_once('-') {
                return range(ends).filter(ordered).map(|(a, b)| Word::Observed(a, b));
            }
            if let Some(ends) = text.split_once('~') {
                return range(ends).filter(ordered).map(|(a, b)| Word::Thread(a, b));
            }
            number(text).map(Word::One)
        };
        let words = text
            .split_whitespace()
            .map(|text| word(text).ok_or_else(|| NoWitness(text.to_owned())));
        Ok(Self { words: words.collect::<Result<_, _>>()? })
    }
}

impl Serialize for PackedWitness {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PackedWitness {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three threads take turns, `rounds` times.
    fn turns(rounds: usize) -> Trace {
        let mut text = String::new();
        for round in 0..rounds {
            for thread in ["a", "b", "c"] {
                text += &format!("{thread} write x{thread} {round}\n");
            }
        }
        text.parse().unwrap()
    }

    fn packed(trace: &Trace, numbers: impl IntoIterator<Item = usize>) -> String {
        let schedule: Vec<EventId> =
            numbers.into_iter().map(|number| EventId::from_index(number - 1)).collect();
        let witness = PackedWitness::pack(trace, schedule.iter().copied());
        let text = witness.to_string();
        assert_eq!(text.parse::<PackedWitness>().as_ref(), Ok(&witness));
        assert_eq!(witness.unpack(trace).as_ref(), Some(&schedule), "{text}");
        assert_eq!(witness.last(), schedule.last().map(|event| event.number()));
        text
    }

    #[test]
    fn what_is_observed_is_one_range() {
        assert_eq!(packed(&turns(100), 1..=300), "1-300");
        assert_eq!(packed(&turns(100), []), "");
        assert_eq!(packed(&turns(100), [1, 2]), "1 2");
    }

    #[test]
    fn a_thread_that_is_held_back_breaks_no_range() {
        let all_but_b = (6..=300).filter(|number| number % 3 != 2);
        let later = (5..=299).filter(|number| number % 3 == 2);
        assert_eq!(packed(&turns(100), (1..=4).chain(all_but_b).chain(later)), "1-4 6-300 5-299");
    }

    #[test]
    fn threads_that_run_by_themselves_are_a_word_each() {
        let of = |first: usize| (0..50).map(move |round| first + 3 * round);
        let schedule = of(1).chain(of(3)).chain(of(2));
        assert_eq!(packed(&turns(50), schedule), "1~148 3-150 2-149");
    }

    #[test]
    fn every_order_comes_back() {
        // A generator of its own is enough here.
        let trace = turns(40);
        let mut seed = 1_u64;
        for _ in 0..200 {
            let mut next = [1, 2, 3];
            let mut schedule = Vec::new();
            for _ in 0..60 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let thread = (seed >> 33) as usize % 3;
                let run = (seed >> 40) as usize % 5;
                for _ in 0..run {
                    if next[thread] <= 120 {
                        schedule.push(next[thread]);
                        next[thread] += 3;
                    }
                }
            }
            packed(&trace, schedule);
        }
    }

    #[test]
    fn what_is_no_schedule_of_the_trace_is_refused() {
        let trace = turns(10);
        for text in ["31", "1-31", "4", "1 1", "1-3 2-5", "1~5", "2~1", "1~2", "5-30"] {
            let witness = text.parse::<PackedWitness>();
            assert_eq!(witness.ok().and_then(|it| it.unpack(&trace)), None, "{text}");
        }
        for bad in ["0", "x", "4-2", "1-", "-", "1~", "1-99999999999999999999999"] {
            assert!(bad.parse::<PackedWitness>().is_err(), "{bad}");
        }
        let large: PackedWitness = "1-18446744073709551615".parse().unwrap();
        assert_eq!(large.unpack(&trace), None);
    }
}
