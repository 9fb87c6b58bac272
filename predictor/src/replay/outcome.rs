//! What a program under control says of its run. `racelog/src/sched/process.rs` writes it.

use std::fmt;

use serde::Serialize;
use thiserror::Error;

/// How a run went.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Outcome {
    /// How far it came.
    pub reached: Reached,
    /// What the racing accesses read and wrote: threads and words.
    pub values: Vec<(String, String)>,
    /// Pairs of places before which two threads stood whose accesses race.
    pub races: Vec<(String, String)>,
    /// How many steps were followed, or made.
    pub steps: u64,
    /// What followed.
    pub then: Aftermath,
    /// More about that.
    pub details: Vec<String>,
    /// Where control was lost.
    pub lost: Vec<String>,
}

/// How far a run came.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reached {
    /// Both threads stood before the racing accesses.
    Confirmed,
    /// The program did not follow its schedule.
    Diverged {
        /// At this step, from 1.
        step: u64,
        /// In which way.
        why: Why,
        /// What the schedule says.
        expected: String,
        /// What the program did.
        found: String,
    },
    /// The program ended before.
    Unreached {
        /// The first step that did not happen, from 1.
        step: u64,
        /// What the schedule says.
        expected: String,
    },
    /// There was no schedule to follow.
    Ran,
}

/// In which way a program does not follow its schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// A thread did something else than its step says.
    Other,
    /// There is no such thread.
    Absent,
    /// The thread cannot go on.
    Blocked,
    /// Control was lost before, so that it was not the schedule that was followed.
    ControlLost,
}

/// What followed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Aftermath {
    /// Nothing that could be seen.
    Nothing,
    /// A panic with this message.
    Panic(String),
    /// A `check!` with this text failed.
    Check(String),
    /// Nobody could go on.
    Deadlock,
    /// It did not end.
    Livelock,
    /// Somebody waited for something that is not under control.
    Stuck,
    /// A signal of this number killed it.
    Killed(i32),
    /// It had not ended when its time was up.
    Unended,
}

impl Aftermath {
    /// Whether the program went wrong. That control was lost is not its fault, and some programs are
    /// not meant to end.
    pub const fn is_harm(&self) -> bool {
        !matches!(self, Self::Nothing | Self::Stuck | Self::Unended)
    }
}

impl fmt::Display for Aftermath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing visible"),
            Self::Panic(message) => write!(f, "panic: {message}"),
            Self::Check(text) => write!(f, "failed check: {text}"),
            Self::Deadlock => f.write_str("deadlock"),
            Self::Livelock => f.write_str("livelock"),
            Self::Stuck => f.write_str("stuck outside of control"),
            Self::Killed(signal) => write!(f, "killed by signal {signal}"),
            Self::Unended => f.write_str("no end within its time"),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (thread, words) in &self.values {
            write!(f, "{thread} {words}, ")?;
        }
        write!(f, "then {}", self.then)
    }
}

/// Why a text is no outcome.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("line {line}: {why}")]
pub struct InvalidOutcome {
    line: usize,
    why: String,
}

impl Outcome {
    /// Reads what a program has written.
    pub fn parse(text: &str) -> Result<Self, InvalidOutcome> {
        let mut lines = (1..).zip(text.lines());
        if !matches!(lines.next(), Some((_, "racelog-outcome 2"))) {
            let why = "it does not start with `racelog-outcome 2`".to_owned();
            return Err(InvalidOutcome { line: 1, why });
        }
        let mut outcome = Self {
            reached: Reached::Ran,
            values: Vec::new(),
            races: Vec::new(),
            steps: 0,
            then: Aftermath::Nothing,
            details: Vec::new(),
            lost: Vec::new(),
        };
        let (mut result, mut step, mut why) = (None, 0, Why::Other);
        let (mut expected, mut found) = (String::new(), String::new());
        for (line, text) in lines {
            let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
            let invalid = |why: String| InvalidOutcome { line, why };
            let number =
                || rest.parse::<u64>().map_err(|_| invalid(format!("`{rest}` is no number")));
            let two = || {
                let two = rest.split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned()));
                two.ok_or_else(|| invalid(format!("`{rest}` is only one word")))
            };
            match word {
                "result" => result = Some((line, rest)),
                "at" => step = number()?,
                "why" => why = way(rest).map_err(invalid)?,
                "expected" => rest.clone_into(&mut expected),
                "found" => rest.clone_into(&mut found),
                "first" | "second" => {}
                "value" => outcome.values.push(two()?),
                "real" => outcome.races.push(two()?),
                "steps" => outcome.steps = number()?,
                "then" => outcome.then = aftermath(rest).map_err(invalid)?,
                "detail" => outcome.details.push(rest.to_owned()),
                "lost" => outcome.lost.push(rest.to_owned()),
                _ => return Err(invalid(format!("`{word}` is not known here"))),
            }
        }
        outcome.reached = match result {
            Some((_, "confirmed")) => Reached::Confirmed,
            Some((_, "diverged")) => Reached::Diverged { step, why, expected, found },
            Some((_, "unreached")) => Reached::Unreached { step, expected },
            Some((_, "ran")) => Reached::Ran,
            Some((line, other)) => {
                return Err(InvalidOutcome { line, why: format!("`{other}` is no result") });
            }
            None => {
                let why = "there is no line `result`".to_owned();
                return Err(InvalidOutcome { line: text.lines().count(), why });
            }
        };
        Ok(outcome)
    }

    /// The values, whoever went first.
    pub(super) fn sorted_values(&self) -> Vec<&(String, String)> {
        let mut values: Vec<_> = self.values.iter().collect();
        values.sort();
        values
    }
}

fn way(text: &str) -> Result<Why, String> {
    Ok(match text {
        "other" => Why::Other,
        "absent" => Why::Absent,
        "blocked" => Why::Blocked,
        _ => return Err(format!("`{text}` is no way to diverge")),
    })
}

fn aftermath(text: &str) -> Result<Aftermath, String> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    Ok(match word {
        "nothing" => Aftermath::Nothing,
        "panic" => Aftermath::Panic(rest.to_owned()),
        "check" => Aftermath::Check(rest.to_owned()),
        "deadlock" => Aftermath::Deadlock,
        "livelock" => Aftermath::Livelock,
        "stuck" => Aftermath::Stuck,
        "unended" => Aftermath::Unended,
        _ => return Err(format!("`{word}` is nothing that can follow")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_read() {
        let text = "racelog-outcome 2\nresult confirmed\nfirst 0 write x\nsecond 0.1 read x\n\
                    value 0 wrote 7\nvalue 0.1 read 7\nsteps 12\nthen check it is so\ndetail a b\n";
        let outcome = Outcome::parse(text).unwrap();
        assert_eq!(outcome.reached, Reached::Confirmed);
        assert_eq!(outcome.to_string(), "0 wrote 7, 0.1 read 7, then failed check: it is so");
        assert_eq!((outcome.steps, outcome.details), (12, vec!["a b".to_owned()]));
    }

    #[test]
    fn a_divergence_says_where_and_what() {
        let text = "racelog-outcome 2\nresult diverged\nat 3\nwhy blocked\nexpected 0 read x\n\
                    found 0 write y\nsteps 2\nthen nothing\n";
        let (expected, found) = ("0 read x".to_owned(), "0 write y".to_owned());
        let diverged = Reached::Diverged { step: 3, why: Why::Blocked, expected, found };
        assert_eq!(Outcome::parse(text).unwrap().reached, diverged);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let wrong = |text: &str| Outcome::parse(text).unwrap_err().to_string();
        assert_eq!(wrong(""), "line 1: it does not start with `racelog-outcome 2`");
        assert_eq!(wrong("racelog-outcome 2\n"), "line 1: there is no line `result`");
        assert_eq!(wrong("racelog-outcome 2\nresult x\n"), "line 2: `x` is no result");
        assert_eq!(wrong("racelog-outcome 2\nsteps x\n"), "line 2: `x` is no number");
        assert_eq!(wrong("racelog-outcome 2\nstop\n"), "line 2: `stop` is not known here");
        assert_eq!(wrong("racelog-outcome 2\nwhy x\n"), "line 2: `x` is no way to diverge");
        let then = "line 2: `smoke` is nothing that can follow";
        assert_eq!(wrong("racelog-outcome 2\nthen smoke\n"), then);
    }
}
