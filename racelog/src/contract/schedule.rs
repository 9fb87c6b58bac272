//! Schedules that a program is to follow, as text.
//!
//! ```text
//! racelog-schedule 3
//! test suite::queue::drains           # optional: only this test is replayed, not the whole process
//! first 0.2                           # which of the racing threads goes first
//! step 0 fork 0.1 @ src/main.rs:5:9   # an operation before the race
//! step 0.1 acquire l @ src/main.rs:9:5
//! race 0.1 write x @ src/main.rs:10:5 # the racing accesses, which end it
//! race 0.2 read x @ src/main.rs:20:5
//! ```
//!
//! [Operations](super::operation) are written as in outcomes. Steps `exclusive` and `assert` are
//! passed over when a schedule is followed. The step of an access may say what it reads or writes,
//! if that is known. A program that finds something else there is not stopped for it; it explains
//! why the program does not follow later on:
//!
//! ```text
//! step 0.1 rmw x = read 1 wrote 2 @ src/main.rs:12:5
//! ```
//!
//! A racing access may be a [`free`](super::operation::FREE): that of a destructor, which has no
//! place.
//!
//! How a wait ends is told by the operation that ends it: `wake` or `wake_timeout`, `park` or
//! `park_timeout`, `recv` or `recv_empty`, `acquire` or `acquire_fail`. The second version of the
//! format had no values, and is still read.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use super::operation::{AccessValues, Operation, split_place, write_place, write_words};

/// The first line of a schedule.
const HEAD: &str = "racelog-schedule 3";

/// The first lines of older versions that are still read.
const OLDER: [&str; 1] = ["racelog-schedule 2"];

/// One step of a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// What is done.
    pub operation: Operation,
    /// What it reads and writes, if one of these is known.
    pub values: Option<AccessValues>,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_words(&self.operation, f)?;
        self.values.as_ref().map_or(Ok(()), |values| write!(f, " = {values}"))?;
        write_place(self.operation.place.as_ref(), f)
    }
}

impl FromStr for Step {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (text, place) = split_place(text)?;
        let (words, values) = match text.split_once(" = ") {
            Some((words, values)) => (words, Some(values.parse()?)),
            None => (text, None),
        };
        if values == Some(AccessValues::default()) {
            return Err("nothing follows `=`".to_owned());
        }
        Ok(Self { operation: Operation::of_words(words, place)?, values })
    }
}

/// The operations that lead to a race, and the race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// The test that is replayed; all of the process, if there is none.
    pub test: Option<String>,
    /// The operations before the race, in order.
    pub steps: Vec<Step>,
    /// The racing accesses.
    pub race: [Step; 2],
    /// Which of them goes first: 0 or 1.
    pub first: usize,
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD}")?;
        self.test.as_ref().map_or(Ok(()), |test| writeln!(f, "test {test}"))?;
        writeln!(f, "first {}", self.race[self.first].operation.thread)?;
        self.steps.iter().try_for_each(|step| writeln!(f, "step {step}"))?;
        self.race.iter().try_for_each(|access| writeln!(f, "race {access}"))
    }
}

/// Why a text is no schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidSchedule {
    line: usize,
    why: String,
}

impl fmt::Display for InvalidSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl Error for InvalidSchedule {}

impl FromStr for Schedule {
    type Err = InvalidSchedule;

    fn from_str(text: &str) -> Result<Self, InvalidSchedule> {
        let invalid = |line, why: String| InvalidSchedule { line, why };
        let mut lines = (1..).zip(text.lines().map(without_comment));
        let is_head = |line: &str| line == HEAD || OLDER.contains(&line);
        if !lines.next().is_some_and(|(_, line)| is_head(line)) {
            return Err(invalid(1, format!("it does not start with `{HEAD}`")));
        }
        let (mut test, mut first) = (None, None);
        let (mut steps, mut race) = (Vec::new(), Vec::new());
        let mut last = 1;
        for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
            last = number;
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "test" => test = Some(rest.trim().to_owned()),
                "first" => first = Some((number, rest.trim())),
                "step" => steps.push(rest.parse().map_err(|why| invalid(number, why))?),
                "race" => race.push(rest.parse().map_err(|why| invalid(number, why))?),
                _ => return Err(invalid(number, format!("`{word}` is not known here"))),
            }
        }
        let race: [Step; 2] = race
            .try_into()
            .map_err(|_| invalid(last, "there must be two lines `race`".to_owned()))?;
        let first = match first {
            None => 0,
            Some((line, thread)) => race
                .iter()
                .position(|access| access.operation.thread == thread)
                .ok_or_else(|| invalid(line, format!("`{thread}`, the first, does not race")))?,
        };
        Ok(Self { test, steps, race, first })
    }
}

fn without_comment(line: &str) -> &str {
    line.split_once('#').map_or(line, |(code, _)| code).trim()
}

#[cfg(test)]
mod tests {
    use super::super::random::{Numbers, ROUNDS};
    use super::*;

    const TEXT: &str = "racelog-schedule 2\n\
        test a::b  # a comment\n\
        first 0.2\n\n\
        step 0 fork 0.1 @ src/main.rs:5:9\n\
        step 0.1 begin\n\
        step 0.2 read x @ src/main.rs:20\n\
        race 0.1 read x @ src/main.rs:10:5\n\
        race 0.2 write x @ src/main.rs:20\n";

    #[test]
    fn a_schedule_of_an_older_version_is_read() {
        let schedule: Schedule = TEXT.parse().unwrap();
        assert_eq!(
            schedule.to_string(),
            "racelog-schedule 3\ntest a::b\nfirst 0.2\nstep 0 fork 0.1 @ src/main.rs:5:9\n\
             step 0.1 begin -\nstep 0.2 read x @ src/main.rs:20\n\
             race 0.1 read x @ src/main.rs:10:5\nrace 0.2 write x @ src/main.rs:20\n"
        );
    }

    #[test]
    fn a_step_may_say_more() {
        let step = |text: &str| text.parse::<Step>().unwrap();
        let woken = |text: &str| step(text).operation.woken;
        assert_eq!(woken("0.1 notify_one c 0.3"), Some("0.3".to_owned()));
        assert_eq!(woken("0.1 notify_one c -"), None);
        assert_eq!(woken("0.1 notify_one c"), None);
        let update = step("0.1 rmw x = read 1 wrote 2 @ a.rs:1");
        assert_eq!(update.values.as_ref().unwrap().to_string(), "read 1 wrote 2");
        assert_eq!(update.to_string(), "0.1 rmw x = read 1 wrote 2 @ a.rs:1");
    }

    #[test]
    fn schedules_are_text_and_back() {
        let mut numbers = Numbers::new(5);
        for _ in 0..ROUNDS {
            let mut race = [numbers.step(), numbers.step()];
            race[1].operation.thread = format!("{}.1", race[0].operation.thread);
            let (test, first) = (numbers.maybe(Numbers::line), numbers.below(2) as usize);
            let schedule = Schedule { test, steps: numbers.some(Numbers::step), race, first };
            assert_eq!(schedule.to_string().parse(), Ok(schedule));
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let wrong = |from: &str, to: &str| {
            TEXT.replace(from, to).parse::<Schedule>().unwrap_err().to_string()
        };
        assert_eq!(
            wrong("schedule 2", "schedule 9"),
            "line 1: it does not start with `racelog-schedule 3`"
        );
        assert_eq!(wrong("step 0.1 begin", "stop"), "line 6: `stop` is not known here");
        assert_eq!(
            wrong("step 0.1 begin", "step 0.1"),
            "line 6: `0.1` names no thread and operation"
        );
        assert_eq!(
            wrong("step 0.1 begin", "step 0.1 notify_all c 0.3"),
            "line 6: `0.3` is too much: write THREAD OPERATION OBJECT"
        );
        assert_eq!(wrong("0.1 begin", "0.1 read x = 3"), "line 6: `3` has no value");
        for nothing in ["0.1 read x =", "0.1 read x =  @ a.rs:1"] {
            assert_eq!(wrong("0.1 begin", nothing), "line 6: nothing follows `=`");
        }
        assert_eq!(wrong("first 0.2", "first 0.3"), "line 3: `0.3`, the first, does not race");
        assert_eq!(wrong("race 0.1", "step 0.1"), "line 9: there must be two lines `race`");
        assert!(wrong(":20\nrace", ":x\nrace").starts_with("line 7: `src/main.rs:x` is no place"));
    }
}
