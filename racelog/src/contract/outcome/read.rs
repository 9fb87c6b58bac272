//! Reads outcomes.

use std::str::FromStr;

use super::super::operation::{AccessValues, NONE, Operation, split_place};
use super::super::place::SourcePlace;
use super::{
    Aftermath, Deviation, Divergence, EarlyStep, HEAD, InvalidOutcome, NamedThread, OLDER,
    OtherValue, Reached, RunOutcome, Standing, ThreadPlace, ThreadState, ThreadValues,
};

impl FromStr for RunOutcome {
    type Err = InvalidOutcome;

    fn from_str(text: &str) -> Result<Self, InvalidOutcome> {
        let mut lines = (1..).zip(text.lines());
        if !matches!(lines.next(), Some((_, HEAD | OLDER))) {
            let why = format!("it does not start with `{HEAD}`");
            return Err(InvalidOutcome { line: 1, why });
        }
        let mut reader = Reader::new();
        for (line, text) in lines {
            reader.line = line;
            reader.read(text).map_err(|why| InvalidOutcome { line, why })?;
        }
        reader.finish()
    }
}

/// Which thread the lines `holds`, `first` and `joins` are about.
#[derive(Clone, Copy)]
enum About {
    Step,
    Wait,
}

/// A word, and the number of the line that it stands on.
type Word = (String, usize);

struct Reader {
    /// The number of the last line.
    line: usize,
    outcome: RunOutcome,
    result: Option<Word>,
    step: Option<u64>,
    why: Option<Word>,
    expected: Option<Operation>,
    found: Option<Operation>,
    stands: Option<Standing>,
    about: About,
    early: Option<EarlyStep>,
    differs: Option<OtherValue>,
}

impl Reader {
    fn new() -> Self {
        Self {
            line: 1,
            outcome: RunOutcome::new(Reached::Ran),
            result: None,
            step: None,
            why: None,
            expected: None,
            found: None,
            stands: None,
            about: About::Step,
            early: None,
            differs: None,
        }
    }

    fn read(&mut self, text: &str) -> Result<(), String> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let outcome = &mut self.outcome;
        match word {
            "program" => outcome.program = Some(rest.to_owned()),
            "thread" => {
                let (thread, name) = two(rest)?;
                let (thread, name) = (thread.to_owned(), name.to_owned());
                outcome.threads.push(NamedThread { thread, name });
            }
            "foreign" => outcome.foreign.push(rest.to_owned()),
            "stranger" => outcome.strangers.push(rest.to_owned()),
            "result" => self.result = Some((rest.to_owned(), self.line)),
            "at" => self.step = Some(number(rest)?),
            "why" => self.why = Some((rest.to_owned(), self.line)),
            "expected" => self.expected = Some(rest.parse()?),
            "found" => self.found = Some(rest.parse()?),
            "stands" => {
                self.stands = Some(standing(rest)?);
                self.about = About::Step;
            }
            "wait" => {
                outcome.waits.push(standing(rest)?);
                self.about = About::Wait;
            }
            "holds" => {
                let holder = rest.parse()?;
                self.standing_about()?.holders.push(holder);
            }
            "first" => {
                let writer = rest.parse()?;
                self.standing_about()?.writers.push(writer);
            }
            "joins" => self.standing_about()?.joins = Some(rest.to_owned()),
            "early" => {
                let (step, operation) = two(rest)?;
                let (step, operation) = (number(step)?, operation.parse()?);
                self.early = Some(EarlyStep { step, operation });
            }
            "differs" => {
                let (step, access) = two(rest)?;
                let (step, access) = (number(step)?, access.parse()?);
                let (predicted, found) = (AccessValues::default(), AccessValues::default());
                self.differs = Some(OtherValue { step, access, predicted, found });
            }
            "predicted" => self.difference()?.predicted = rest.parse()?,
            "instead" => self.difference()?.found = rest.parse()?,
            "value" => {
                let (thread, values) = two(rest)?;
                let (thread, values) = (thread.to_owned(), values.parse()?);
                outcome.values.push(ThreadValues { thread, values });
            }
            "real" => outcome.real_races.push(two_places(rest)?),
            "steps" => outcome.steps = number(rest)?,
            "then" => outcome.then = aftermath(rest)?,
            "panicked" => outcome.panicked = Some(rest.parse()?),
            "lost" => outcome.lost.push(rest.parse()?),
            _ => return Err(format!("`{word}` is not known here")),
        }
        Ok(())
    }

    fn finish(mut self) -> Result<RunOutcome, InvalidOutcome> {
        let last = self.line;
        let invalid = |line, why: String| InvalidOutcome { line, why };
        let missing = |word: &str| invalid(last, format!("there is no line `{word}`"));
        let (result, line) = self.result.take().ok_or_else(|| missing("result"))?;
        let mut expected = || {
            let step = self.step.ok_or_else(|| missing("at"))?;
            Ok((step, self.expected.take().ok_or_else(|| missing("expected"))?))
        };
        self.outcome.reached = match result.as_str() {
            "confirmed" => Reached::Confirmed,
            "ran" => Reached::Ran,
            "unreached" => {
                let (step, expected) = expected()?;
                Reached::Unreached { step, expected }
            }
            "diverged" => {
                let (step, expected) = expected()?;
                let (why, line) = self.why.ok_or_else(|| missing("why"))?;
                let why = match why.as_str() {
                    "other" => Deviation::Other(self.found.ok_or_else(|| missing("found"))?),
                    "ended" => Deviation::Ended,
                    "absent" => Deviation::Absent(self.stands),
                    "blocked" => Deviation::Blocked(self.stands.ok_or_else(|| missing("stands"))?),
                    "goes_on" => Deviation::GoesOn,
                    "apart" => Deviation::Apart,
                    _ => return Err(invalid(line, format!("`{why}` is no way to diverge"))),
                };
                let (early, differs) = (self.early, self.differs);
                Reached::Diverged(Box::new(Divergence { step, expected, why, early, differs }))
            }
            _ => return Err(invalid(line, format!("`{result}` is no result"))),
        };
        Ok(self.outcome)
    }

    fn standing_about(&mut self) -> Result<&mut Standing, String> {
        let about = match self.about {
            About::Step => self.stands.as_mut(),
            About::Wait => self.outcome.waits.last_mut(),
        };
        about.ok_or_else(|| "there is no thread that this could be about".to_owned())
    }

    fn difference(&mut self) -> Result<&mut OtherValue, String> {
        self.differs.as_mut().ok_or_else(|| "there is no line `differs` before".to_owned())
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

fn two(text: &str) -> Result<(&str, &str), String> {
    text.split_once(' ').ok_or_else(|| format!("`{text}` is only one word"))
}

/// Two places with a blank between. A file's name may have blanks, too.
fn two_places(text: &str) -> Result<[SourcePlace; 2], String> {
    let blanks = text.match_indices(' ').map(|(at, _)| at);
    let mut splits = blanks.filter_map(|at| {
        let (first, second) = (text[..at].parse().ok()?, text[at + 1..].parse().ok()?);
        Some([first, second])
    });
    splits.next().ok_or_else(|| format!("`{text}` are not two places"))
}

fn standing(text: &str) -> Result<Standing, String> {
    let (text, place) = split_place(text)?;
    let (thread, rest) = two(text)?;
    let (state, action) = two(rest)?;
    let state = match state {
        "ready" => ThreadState::Ready,
        "outside" => ThreadState::Outside,
        "ended" => ThreadState::Ended,
        _ => return Err(format!("`{state}` is no way to stand")),
    };
    let (thread, action) = (thread.to_owned(), action.to_owned());
    let (holders, writers) = (Vec::new(), Vec::new());
    Ok(Standing { thread, state, action, place, object: None, joins: None, holders, writers })
}

impl FromStr for ThreadPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (thread, place) = split_place(text)?;
        let thread = Some(thread.trim()).filter(|thread| *thread != NONE).map(str::to_owned);
        Ok(Self { thread, place })
    }
}

/// What followed.
fn aftermath(text: &str) -> Result<Aftermath, String> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    Ok(match word {
        "nothing" => Aftermath::Nothing,
        "panic" => Aftermath::Panic(rest.to_owned()),
        "check" => Aftermath::Check(rest.to_owned()),
        "deadlock" => Aftermath::Deadlock,
        "livelock" => Aftermath::Livelock,
        "stuck" => Aftermath::Stuck,
        "killed" => {
            let signal = rest.parse().map_err(|_| format!("`{rest}` is no number of a signal"))?;
            Aftermath::Killed(signal)
        }
        "unended" => Aftermath::Unended,
        _ => return Err(format!("`{word}` is nothing that can follow")),
    })
}
