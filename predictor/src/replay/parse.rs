//! Reads what a program under control says of its run. `racelog/src/sched/outcome.rs` writes it, and describes
//! the lines.

use std::collections::BTreeMap;

use thiserror::Error;

use super::outcome::{
    Aftermath, Divergence, Early, Operation, OtherValue, Outcome, Reached, Spot, Standing, Stands,
    Values, Why,
};
use crate::project::Place;

/// What outcomes of this version start with.
const HEAD: &str = "racelog-outcome 3";

/// What a report calls the threads and files that an outcome speaks of.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// What the trace calls the threads, by their places in the tree of threads.
    pub threads: BTreeMap<String, String>,
    /// What is taken off the names of files.
    pub prefixes: Vec<String>,
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
    pub fn parse(text: &str, words: &Words) -> Result<Self, InvalidOutcome> {
        let mut lines = (1..).zip(text.lines());
        if !matches!(lines.next(), Some((_, HEAD))) {
            let why = format!("it does not start with `{HEAD}`");
            return Err(InvalidOutcome { line: 1, why });
        }
        let mut reader = Reader::new(words.clone());
        let mut last = 1;
        for (line, text) in lines {
            reader.line(text).map_err(|why| InvalidOutcome { line, why })?;
            last = line;
        }
        reader.finish().map_err(|(line, why)| InvalidOutcome { line: line.unwrap_or(last), why })
    }
}

/// Which thread the lines `holds` and `joins` are about.
#[derive(Clone, Copy)]
enum About {
    Step,
    Wait,
}

struct Reader {
    words: Words,
    outcome: Outcome,
    result: Option<String>,
    step: u64,
    why: Option<String>,
    expected: Operation,
    found: Operation,
    stands: Option<Standing>,
    about: About,
    early: Option<Early>,
    differs: Option<OtherValue>,
}

impl Reader {
    fn new(words: Words) -> Self {
        let outcome = Outcome::cut_short(Aftermath::Nothing);
        Self {
            words,
            outcome,
            result: None,
            step: 0,
            why: None,
            expected: Operation::default(),
            found: Operation::default(),
            stands: None,
            about: About::Step,
            early: None,
            differs: None,
        }
    }

    fn line(&mut self, text: &str) -> Result<(), String> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        match word {
            "program" => self.outcome.program = Some(rest.to_owned()),
            "thread" => self.name_thread(rest),
            "stranger" => self.outcome.foreign.push(rest.to_owned()),
            "foreign" => {
                let thread = self.thread(rest);
                self.outcome.foreign.push(thread);
            }
            "result" => self.result = Some(rest.to_owned()),
            "at" => self.step = number(rest)?,
            "why" => self.why = Some(rest.to_owned()),
            "expected" => self.expected = self.operation(rest)?,
            "found" => self.found = self.operation(rest)?,
            "stands" => {
                self.stands = Some(self.standing(rest)?);
                self.about = About::Step;
            }
            "wait" => {
                let wait = self.standing(rest)?;
                self.outcome.waits.push(wait);
                self.about = About::Wait;
            }
            "holds" => {
                let holder = self.spot(rest);
                self.standing_about()?.holders.push(holder);
            }
            "joins" => {
                let joined = self.thread(rest);
                self.standing_about()?.joins = Some(joined);
            }
            "early" => {
                let (step, operation) = two(rest)?;
                let (step, operation) = (number(step)?, self.operation(operation)?);
                self.early = Some(Early { step, operation });
            }
            "differs" => {
                let (step, access) = two(rest)?;
                let (step, access) = (number(step)?, self.operation(access)?);
                let unknown = Values { thread: access.thread.clone(), ..Values::default() };
                let (predicted, found) = (unknown.clone(), unknown);
                self.differs = Some(OtherValue { step, access, predicted, found });
            }
            "predicted" | "instead" => {
                let differs = self.differs.as_mut().ok_or("there is no line `differs` before")?;
                let values = values(differs.access.thread.clone(), rest)?;
                match word {
                    "predicted" => differs.predicted = values,
                    _ => differs.found = values,
                }
            }
            "value" => {
                let (thread, words) = two(rest)?;
                let values = values(self.thread(thread), words)?;
                self.outcome.values.push(values);
            }
            "real" => {
                let (first, second) = two(rest)?;
                self.outcome.races.push([first.to_owned(), second.to_owned()]);
            }
            "steps" => self.outcome.steps = number(rest)?,
            "then" => self.outcome.then = aftermath(rest)?,
            "panicked" => self.outcome.panicked = Some(self.spot(rest)),
            "lost" => {
                let lost = self.spot(rest);
                self.outcome.lost.push(lost);
            }
            _ => return Err(format!("`{word}` is not known here")),
        }
        Ok(())
    }

    fn finish(self) -> Result<Outcome, (Option<usize>, String)> {
        let wrong = |why: String| Err((None, why));
        let Self { mut outcome, step, expected, found, stands, early, differs, .. } = self;
        outcome.reached = match self.result.as_deref() {
            Some("confirmed") => Reached::Confirmed,
            Some("diverged") => {
                let why = match (self.why.as_deref(), stands) {
                    (Some("other"), _) => Why::Other(found),
                    (Some("ended"), _) => Why::Ended,
                    (Some("absent"), stands) => Why::Absent(stands),
                    (Some("blocked"), Some(stands)) => Why::Blocked(stands),
                    (Some("blocked"), None) => {
                        return wrong("there is no line `stands`".to_owned());
                    }
                    (Some("apart"), _) => Why::Apart,
                    (Some(other), _) => return wrong(format!("`{other}` is no way to diverge")),
                    (None, _) => return wrong("there is no line `why`".to_owned()),
                };
                Reached::Diverged(Box::new(Divergence { step, expected, why, early, differs }))
            }
            Some("unreached") => Reached::Unreached { step, expected },
            Some("ran") => Reached::Ran,
            Some(other) => return wrong(format!("`{other}` is no result")),
            None => return wrong("there is no line `result`".to_owned()),
        };
        Ok(outcome)
    }

    /// A thread that the trace does not have may have a name of its own.
    fn name_thread(&mut self, text: &str) {
        let Some((path, name)) = text.split_once(' ') else { return };
        let threads = &mut self.words.threads;
        if !threads.contains_key(path) && !threads.values().any(|known| known == name) {
            threads.insert(path.to_owned(), name.to_owned());
        }
    }

    fn thread(&self, path: &str) -> String {
        self.words.threads.get(path).map_or(path, String::as_str).to_owned()
    }

    fn place(&self, text: &str) -> Place {
        Place::of_trace(text.trim()).stripped(&self.words.prefixes)
    }

    /// What stands before ` @ `, and the place after it.
    fn placed<'t>(&self, text: &'t str) -> (&'t str, Option<Place>) {
        match text.split_once(" @ ") {
            Some((what, place)) => (what, Some(self.place(place))),
            None => (text, None),
        }
    }

    fn spot(&self, text: &str) -> Spot {
        let (thread, place) = self.placed(text);
        Spot { thread: self.thread(thread.trim()), place }
    }

    fn operation(&self, text: &str) -> Result<Operation, String> {
        let (what, place) = self.placed(text);
        let mut words = what.split_whitespace();
        let (Some(thread), Some(what)) = (words.next(), words.next()) else {
            return Err(format!("`{text}` names no thread and operation"));
        };
        let object = words.next().filter(|object| *object != "-");
        // Threads are the objects of these.
        let object = object.map(|object| match what {
            "fork" | "join" | "unpark" => self.thread(object),
            _ => object.to_owned(),
        });
        Ok(Operation { thread: self.thread(thread), what: what.to_owned(), object, place })
    }

    fn standing(&self, text: &str) -> Result<Standing, String> {
        let (what, place) = self.placed(text);
        let (thread, rest) = two(what)?;
        let (state, action) = two(rest)?;
        let state = match state {
            "ready" => Stands::Ready,
            "outside" => Stands::Outside,
            "ended" => Stands::Ended,
            _ => return Err(format!("`{state}` is no way to stand")),
        };
        let (thread, action) = (self.thread(thread), action.to_owned());
        Ok(Standing { thread, state, action, place, joins: None, holders: Vec::new() })
    }

    fn standing_about(&mut self) -> Result<&mut Standing, String> {
        let about = match self.about {
            About::Step => self.stands.as_mut(),
            About::Wait => self.outcome.waits.last_mut(),
        };
        about.ok_or_else(|| "there is no thread that this could be about".to_owned())
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

fn two(text: &str) -> Result<(&str, &str), String> {
    text.split_once(' ').ok_or_else(|| format!("`{text}` is only one word"))
}

fn values(thread: String, text: &str) -> Result<Values, String> {
    let mut values = Values { thread, ..Values::default() };
    let mut words = text.split(' ');
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("`{word}` has no value"))?.to_owned();
        match word {
            "read" => values.read = Some(value),
            "wrote" => values.wrote = Some(value),
            _ => return Err(format!("`{word}` is nothing that is done to a value")),
        }
    }
    Ok(values)
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

    fn words() -> Words {
        let threads = [("0", "main"), ("0.1", "t1"), ("0.2", "t2")];
        let threads = threads.map(|(path, name)| (path.to_owned(), name.to_owned()));
        Words { threads: threads.into(), prefixes: vec!["/p".to_owned()] }
    }

    fn parse(lines: &str) -> Outcome {
        Outcome::parse(&format!("racelog-outcome 3\n{lines}"), &words()).unwrap()
    }

    #[test]
    fn threads_have_their_names_and_values_and_messages_stay_what_they_are() {
        let outcome = parse(
            "result confirmed\nvalue 0 read 0\nvalue 0.1 read 0 wrote 1\nsteps 12\n\
             then panic 0.1 is not 0\npanicked 0.1 @ /p/src/a.rs:3:5\n",
        );
        assert_eq!(outcome.reached, Reached::Confirmed);
        let values = |thread: &str, read: &str, wrote: Option<&str>| Values {
            thread: thread.to_owned(),
            read: Some(read.to_owned()),
            wrote: wrote.map(str::to_owned),
        };
        assert_eq!(outcome.values, [values("main", "0", None), values("t1", "0", Some("1"))]);
        assert_eq!(outcome.then, Aftermath::Panic("0.1 is not 0".to_owned()));
        let place = outcome.panicked.and_then(|spot| spot.place).unwrap();
        assert_eq!((outcome.steps, place.to_string()), (12, "src/a.rs:3:5".to_owned()));
    }

    #[test]
    fn a_divergence_says_where_and_what() {
        let outcome = parse(
            "result diverged\nat 3\nwhy blocked\nexpected 0.1 acquire l @ a.rs:1:2\n\
             stands 0.1 ready end of scope @ a.rs:1:2\nholds 0.2 @ a.rs:9\njoins 0\n\
             early 7 0.2 fork 0.1\ndiffers 2 0.2 write x\npredicted wrote 7\ninstead wrote 0\n\
             steps 2\nthen nothing\n",
        );
        let Reached::Diverged(divergence) = outcome.reached else { panic!("{outcome:?}") };
        let Why::Blocked(stands) = &divergence.why else { panic!("{divergence:?}") };
        assert_eq!((divergence.step, divergence.expected.thread.as_str()), (3, "t1"));
        assert_eq!(
            (stands.action.as_str(), stands.joins.as_deref()),
            ("end of scope", Some("main"))
        );
        assert_eq!(stands.holders[0].thread, "t2");
        assert_eq!(divergence.early.unwrap().operation.object.as_deref(), Some("t1"));
        assert_eq!(divergence.differs.unwrap().found.wrote.as_deref(), Some("0"));
    }

    #[test]
    fn a_thread_that_was_not_recorded_has_the_name_that_the_program_gives_it() {
        let outcome = parse(
            "thread 1 pool\nthread 2 t1\nforeign 1\nforeign 2\nstranger of tokio\nresult ran\n",
        );
        assert_eq!(outcome.foreign, ["pool", "2", "of tokio"]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let wrong = |text: &str| Outcome::parse(text, &words()).unwrap_err().to_string();
        let after = |line: &str| wrong(&format!("racelog-outcome 3\n{line}\n"));
        assert_eq!(wrong(""), "line 1: it does not start with `racelog-outcome 3`");
        assert_eq!(wrong("racelog-outcome 3\n"), "line 1: there is no line `result`");
        assert_eq!(after("result x"), "line 2: `x` is no result");
        assert_eq!(after("steps x"), "line 2: `x` is no number");
        assert_eq!(after("stop"), "line 2: `stop` is not known here");
        assert_eq!(after("holds 0"), "line 2: there is no thread that this could be about");
        assert_eq!(after("then smoke"), "line 2: `smoke` is nothing that can follow");
        assert_eq!(after("result diverged\nwhy x"), "line 3: `x` is no way to diverge");
    }
}
