//! Schedules that are to be replayed, as text.
//!
//! ```text
//! racelog-schedule 3
//! test suite::queue::drains           # optional: only this test is replayed, not the whole process
//! first 0.2                           # which of the racing threads goes first
//! step 0 fork 0.1 @ src/main.rs:5:9   # what happens before: thread, operation, object, place
//! step 0.1 acquire l @ src/main.rs:9:5
//! race 0.1 write x @ src/main.rs:10:5 # the racing accesses, which end it
//! race 0.2 read x @ src/main.rs:20:5
//! ```
//!
//! Threads are named by their place in the tree of threads: `0` is the first, and `0.2` its second
//! child. Operations have their names of the text format of traces. Objects have any names; the
//! same name is the same object. `-` stands for no object, and without `@` the place is not known.
//! Steps `exclusive` and `assert` are passed over. The step of a `notify_one` may say as a fourth
//! word whom it wakes:
//!
//! ```text
//! step 0.1 notify_one c 0.3 @ src/main.rs:12:5
//! ```
//!
//! That of an access may say what it reads or writes, if that is known; where the program finds
//! something else, that explains why it does not follow later on, but is nothing to stop for:
//!
//! ```text
//! step 0.1 rmw x = read 1 wrote 2 @ src/main.rs:12:5
//! ```
//!
//! A racing access may be a `free`: that of a destructor, which has no place.
//!
//! How a wait ends is told by the operation that ends it: `wake` or `wake_timeout`, `park` or
//! `park_timeout`, `recv` or `recv_empty`, `acquire` or `acquire_fail`. The first version of the
//! format had no fourth words, the second one no values.

use std::fmt;

use crate::sched::model::statement::Site;

/// One step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Step {
    pub(super) thread: String,
    pub(super) op: String,
    pub(super) object: Option<String>,
    /// Whom it wakes, if it is a `notify_one` and that is known.
    pub(super) woken: Option<String>,
    /// What it reads and writes, if that is known: `read 1 wrote 2`.
    pub(super) value: Option<String>,
    pub(super) place: Option<Site>,
}

impl Step {
    /// Whether it is the same, whatever the value.
    fn is_like(&self, other: &Self) -> bool {
        Self { value: None, ..self.clone() } == Self { value: None, ..other.clone() }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let object = self.object.as_deref().unwrap_or("-");
        write!(f, "{} {} {object}", self.thread, self.op)?;
        self.woken.as_ref().map_or(Ok(()), |woken| write!(f, " {woken}"))?;
        self.place.as_ref().map_or(Ok(()), |place| write!(f, " @ {place}"))
    }
}

/// What leads to a race, and the race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Schedule {
    pub(super) test: Option<String>,
    pub(super) steps: Vec<Step>,
    pub(super) race: [Step; 2],
    /// Which of the two goes first.
    pub(super) first: usize,
}

/// Why a text is no schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct InvalidSchedule {
    line: usize,
    why: String,
}

impl fmt::Display for InvalidSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl Schedule {
    pub(super) fn parse(text: &str) -> Result<Self, InvalidSchedule> {
        let mut lines = (1..).zip(text.lines().map(without_comment));
        let invalid = |line, why: String| InvalidSchedule { line, why };
        if !matches!(lines.next(), Some((_, "racelog-schedule 2" | "racelog-schedule 3"))) {
            return Err(invalid(1, "it does not start with `racelog-schedule 3`".to_owned()));
        }
        let (mut test, mut first) = (None, None);
        let (mut steps, mut race) = (Vec::new(), Vec::new());
        let mut last = 1;
        for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
            last = number;
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "test" => test = Some(rest.trim().to_owned()),
                "first" => first = Some(rest.trim().to_owned()),
                "step" => steps.push(step(rest).map_err(|why| invalid(number, why))?),
                "race" => race.push(step(rest).map_err(|why| invalid(number, why))?),
                _ => return Err(invalid(number, format!("`{word}` is not known here"))),
            }
        }
        let race: [Step; 2] = race
            .try_into()
            .map_err(|_| invalid(last, "there must be two lines `race`".to_owned()))?;
        let first = match first {
            None => 0,
            Some(thread) => race
                .iter()
                .position(|step| step.thread == thread)
                .ok_or_else(|| invalid(last, format!("`{thread}`, the first, does not race")))?,
        };
        // Where nobody else can be there is no order to keep.
        steps.retain(|step| !matches!(step.op.as_str(), "exclusive" | "assert"));
        let mut schedule = Self { test, steps, race, first };
        schedule.join_operations();
        Ok(schedule)
    }

    /// A read that belongs to the same operation as the racing write after it is not done before;
    /// nor is the branch between them, where an operator of the program could panic by what is
    /// read.
    fn join_operations(&mut self) {
        for access in &self.race {
            if access.op != "write" {
                continue;
            }
            let of_thread = self.steps.iter().rposition(|step| step.thread == access.thread);
            let Some(mut at) = of_thread else { continue };
            let branch = Step { op: "branch".to_owned(), object: None, ..access.clone() };
            let between = self.steps[at].is_like(&branch);
            if between {
                let before = &self.steps[..at];
                let Some(read) = before.iter().rposition(|step| step.thread == access.thread)
                else {
                    continue;
                };
                at = read;
            }
            if self.steps[at].is_like(&Step { op: "read".to_owned(), ..access.clone() }) {
                if between {
                    let last = self.steps.iter().rposition(|step| step.is_like(&branch));
                    self.steps.remove(last.expect("it was found"));
                }
                self.steps.remove(at);
            }
        }
    }
}

fn without_comment(line: &str) -> &str {
    line.split_once('#').map_or(line, |(code, _)| code).trim()
}

fn step(text: &str) -> Result<Step, String> {
    let (what, place) = match text.split_once('@') {
        Some((what, place)) => (what, Some(place.trim())),
        None => (text, None),
    };
    let place = match place {
        Some(place) => Some(place.parse::<Site>().map_err(|error| error.to_string())?),
        None => None,
    };
    let (what, value) = match what.split_once(" = ") {
        Some((what, value)) => (what, Some(value.trim().to_owned())),
        None => (what, None),
    };
    let mut words = what.split_whitespace();
    let (Some(thread), Some(op)) = (words.next(), words.next()) else {
        return Err(format!("`{}` names no thread and operation", what.trim()));
    };
    let object = words.next().filter(|word| *word != "-").map(str::to_owned);
    let woken = if op == "notify_one" { words.next() } else { None };
    let woken = woken.filter(|word| *word != "-").map(str::to_owned);
    if let Some(more) = words.next() {
        return Err(format!("`{more}` is too much: write THREAD OPERATION OBJECT"));
    }
    Ok(Step { thread: thread.to_owned(), op: op.to_owned(), object, woken, value, place })
}

#[cfg(test)]
mod tests {
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
    fn a_schedule_is_read() {
        let schedule = Schedule::parse(TEXT).unwrap();
        assert_eq!(schedule.test.as_deref(), Some("a::b"));
        assert_eq!(schedule.first, 1);
        // The read of 0.2 is part of its racing write.
        let steps: Vec<_> = schedule.steps.iter().map(ToString::to_string).collect();
        assert_eq!(steps, ["0 fork 0.1 @ src/main.rs:5:9", "0.1 begin -"]);
        assert_eq!(schedule.race[1].to_string(), "0.2 write x @ src/main.rs:20");
    }

    #[test]
    fn a_notification_may_say_whom_it_wakes() {
        let woken = |line: &str| {
            let text = TEXT.replace("step 0.1 begin", line);
            Schedule::parse(&text).map(|schedule| schedule.steps[1].woken.clone())
        };
        assert_eq!(woken("step 0.1 notify_one c 0.3"), Ok(Some("0.3".to_owned())));
        assert_eq!(woken("step 0.1 notify_one c -"), Ok(None));
        assert_eq!(woken("step 0.1 notify_one c"), Ok(None));
        let more = woken("step 0.1 notify_all c 0.3").unwrap_err().to_string();
        assert_eq!(more, "line 6: `0.3` is too much: write THREAD OPERATION OBJECT");
    }

    #[test]
    fn an_access_may_say_its_value() {
        let text = TEXT.replace("step 0.1 begin", "step 0.1 rmw x = read 1 wrote 2 @ a.rs:1");
        let schedule = Schedule::parse(&text.replace("schedule 2", "schedule 3")).unwrap();
        assert_eq!(schedule.steps[1].value.as_deref(), Some("read 1 wrote 2"));
        assert_eq!(schedule.steps[1].object.as_deref(), Some("x"));
        // The read of an update is part of it, whatever its value.
        let text = TEXT.replace("0.2 read x @", "0.2 read x = read 7 @");
        assert_eq!(Schedule::parse(&text).unwrap(), Schedule::parse(TEXT).unwrap());
    }

    #[test]
    fn an_update_is_one_operation() {
        let text = TEXT.replace("race 0.1", "step 0.2 branch - @ src/main.rs:20\nrace 0.1");
        assert_eq!(Schedule::parse(&text).unwrap(), Schedule::parse(TEXT).unwrap());
        // A branch elsewhere is the program's own.
        let text = text.replace("branch - @ src/main.rs:20", "branch - @ src/main.rs:21");
        assert_eq!(Schedule::parse(&text).unwrap().steps.len(), 4);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let wrong = |from: &str, to: &str| {
            Schedule::parse(&TEXT.replace(from, to)).unwrap_err().to_string()
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
        assert_eq!(wrong("first 0.2", "first 0.3"), "line 9: `0.3`, the first, does not race");
        assert_eq!(wrong("race 0.1", "step 0.1"), "line 9: there must be two lines `race`");
        assert!(wrong(":20\nrace", ":x\nrace").starts_with("line 7: `src/main.rs:x` is no place"));
    }
}
