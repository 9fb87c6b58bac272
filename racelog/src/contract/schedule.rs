//! Schedules that a program is to follow, as text.
//!
//! ```text
//! racelog-schedule 4
//! test suite::queue::drains           # optional: only this test is replayed, not the whole process
//! first 0.2                           # which of the racing threads goes first
//! step 0 fork 0.1 @ src/main.rs:5:9   # an operation before the race
//! step 0.1 acquire l @ src/main.rs:9:5
//! race 0.1 write x @ src/main.rs:10:5 # the racing accesses, which end it
//! race 0.2 read x @ src/main.rs:20:5
//! ```
//!
//! In place of the two lines `race` a schedule may end with other operations, each the next one of
//! its thread. The word says what is to be seen of them:
//!
//! | word | lines | meaning |
//! | --- | --- | --- |
//! | `race` | 2 | both threads stand before their accesses, of the same memory |
//! | `deadlock` | 2 or more | each thread waits for what another of them holds, or for its end |
//! | `stall` | 1 or more | they wait, and no thread of the program can go on |
//! | `send` | 1 | the message cannot be sent: nobody is there to receive it |
//! | `fail` | 1 | a thread fails at a check, and panics |
//!
//! [Operations](super::operation) are written as in outcomes. Steps `exclusive`, `assert`, `check`,
//! `check_panic`, `atomic_begin` and `atomic_end` are passed over when a schedule is followed. The step of an access may say what it reads or writes,
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
//! format had no values, the third no aims but races; both are still read.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use super::operation::{AccessValues, Operation, split_place, write_place, write_words};

/// The first line of a schedule.
const HEAD: &str = "racelog-schedule 4";

/// The first lines of older versions that are still read.
const OLDER: [&str; 2] = ["racelog-schedule 3", "racelog-schedule 2"];

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

/// What is to be seen at the end of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aim {
    /// Two threads stand before accesses that race.
    Race {
        /// Which of them goes first: 0 or 1.
        first: usize,
    },
    /// Each of the threads waits for what another of them holds, or for its end.
    Deadlock,
    /// The threads wait, and no thread of the program can go on.
    Stall,
    /// A message cannot be sent, for nobody is there to receive it.
    SendToNobody,
    /// A thread fails at a check, and panics.
    Failure,
}

impl Aim {
    /// The words of the aims other than races.
    const OTHERS: [Self; 4] = [Self::Deadlock, Self::Stall, Self::SendToNobody, Self::Failure];

    /// The word that its lines start with.
    const fn word(self) -> &'static str {
        match self {
            Self::Race { .. } => RACE,
            Self::Deadlock => "deadlock",
            Self::Stall => "stall",
            Self::SendToNobody => "send",
            Self::Failure => "fail",
        }
    }

    /// How many lines it has, in words.
    const fn lines(self) -> &'static str {
        match self {
            Self::Race { .. } => "two lines",
            Self::Deadlock => "at least two lines",
            Self::Stall => "at least one line",
            Self::SendToNobody | Self::Failure => "one line",
        }
    }

    /// Whether so many threads can have it.
    const fn can_have(self, threads: usize) -> bool {
        match self {
            Self::Race { .. } => threads == 2,
            Self::Deadlock => threads >= 2,
            Self::Stall => threads >= 1,
            Self::SendToNobody | Self::Failure => threads == 1,
        }
    }
}

const RACE: &str = "race";

/// The operations that lead to something, and what that is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// The test that is replayed; all of the process, if there is none.
    pub test: Option<String>,
    /// The operations before the end, in order.
    pub steps: Vec<Step>,
    /// What is to be seen at the end.
    pub aim: Aim,
    /// The operations that are next then, each of a thread of its own. There is at least one.
    pub next: Vec<Step>,
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD}")?;
        self.test.as_ref().map_or(Ok(()), |test| writeln!(f, "test {test}"))?;
        if let Aim::Race { first } = self.aim {
            writeln!(f, "first {}", self.next[first].operation.thread)?;
        }
        self.steps.iter().try_for_each(|step| writeln!(f, "step {step}"))?;
        self.next.iter().try_for_each(|step| writeln!(f, "{} {step}", self.aim.word()))
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
        let (mut test, mut first, mut aim) = (None, None, None);
        let (mut steps, mut next) = (Vec::new(), Vec::new());
        let mut last = 1;
        for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
            last = number;
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let step = || rest.parse().map_err(|why| invalid(number, why));
            match (word, aim_of(word)) {
                ("test", _) => test = Some(rest.trim().to_owned()),
                ("first", _) => first = Some((number, rest.trim())),
                ("step", _) => steps.push(step()?),
                (_, None) => {
                    return Err(invalid(number, format!("`{word}` is not known here")));
                }
                (_, Some(other)) if aim.is_some_and(|aim: Aim| aim != other) => {
                    return Err(invalid(
                        number,
                        format!("`{word}` does not go with the lines before"),
                    ));
                }
                (_, Some(own)) => {
                    aim = Some(own);
                    next.push(step()?);
                }
            }
        }
        let mut aim = aim.unwrap_or(Aim::Race { first: 0 });
        if !aim.can_have(next.len()) {
            let why = format!("there must be {} `{}`", aim.lines(), aim.word());
            return Err(invalid(last, why));
        }
        let thread = |step: &Step| step.operation.thread.clone();
        let is_known = |at: usize| next[..at].iter().any(|it| thread(it) == thread(&next[at]));
        let twice = (1..next.len()).find(|at| is_known(*at));
        if let Some(twice) = twice {
            let why = format!("`{}` has two lines `{}`", thread(&next[twice]), aim.word());
            return Err(invalid(last, why));
        }
        if let Some((line, thread)) = first {
            let is_it = |access: &Step| access.operation.thread == thread;
            let place = next.iter().position(is_it).filter(|_| matches!(aim, Aim::Race { .. }));
            let place = place
                .ok_or_else(|| invalid(line, format!("`{thread}`, the first, does not race")))?;
            aim = Aim::Race { first: place };
        }
        Ok(Self { test, steps, aim, next })
    }
}

/// The aim whose lines start with a word.
fn aim_of(word: &str) -> Option<Aim> {
    let race = (word == RACE).then_some(Aim::Race { first: 0 });
    race.or_else(|| Aim::OTHERS.into_iter().find(|aim| aim.word() == word))
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
            "racelog-schedule 4\ntest a::b\nfirst 0.2\nstep 0 fork 0.1 @ src/main.rs:5:9\n\
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
            let mut next = vec![numbers.step(), numbers.step()];
            next[1].operation.thread = format!("{}.1", next[0].operation.thread);
            let first = numbers.below(2) as usize;
            let (race, send) = (Aim::Race { first }, Aim::SendToNobody);
            let aims = [race, Aim::Deadlock, Aim::Stall, send, Aim::Failure];
            let aim = aims[numbers.below(5) as usize];
            next.truncate(if aim.can_have(1) && aim != Aim::Stall { 1 } else { 2 });
            let (test, steps) = (numbers.maybe(Numbers::line), numbers.some(Numbers::step));
            let schedule = Schedule { test, steps, aim, next };
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
            "line 1: it does not start with `racelog-schedule 4`"
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
        assert_eq!(
            wrong("race 0.2", "stall 0.2"),
            "line 9: `stall` does not go with the lines before"
        );
        assert!(wrong(":20\nrace", ":x\nrace").starts_with("line 7: `src/main.rs:x` is no place"));
        let both = TEXT.replace("\nrace", "\nsend").replace("first 0.2\n", "");
        let error = both.parse::<Schedule>().unwrap_err().to_string();
        assert_eq!(error, "line 8: there must be one line `send`");
        let wrong = |ends: &str| {
            let text = format!("racelog-schedule 4\n{ends}");
            text.parse::<Schedule>().unwrap_err().to_string()
        };
        assert_eq!(
            wrong("deadlock 0 acquire l\n"),
            "line 2: there must be at least two lines `deadlock`"
        );
        let twice = wrong("stall 0 park -\nstall 0 park -\n");
        assert_eq!(twice, "line 3: `0` has two lines `stall`");
        let first = wrong("first 0\ndeadlock 0 acquire l\ndeadlock 1 acquire l\n");
        assert_eq!(first, "line 2: `0`, the first, does not race");
    }
}
