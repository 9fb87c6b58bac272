//! Gives the threads and files of an outcome the names that a report has for them.

use std::collections::BTreeMap;

use racelog::contract::operation;
use racelog::contract::outcome::{self, InvalidOutcome, NamedThread, RunOutcome, Words};
use racelog::contract::place::SourcePlace;
use racelog::trace::Object;

use super::outcome::{ControlledRun, Operation, Standing, ThreadPlace, ThreadValues};
use super::schedule::thread_paths;
use crate::finding::Place;
use crate::trace::Trace;

/// What a report calls the threads and files that an outcome speaks of.
#[derive(Clone, Debug, Default)]
pub struct ReportNames {
    /// What the trace calls the threads, by their places in the tree of threads.
    pub threads: BTreeMap<String, String>,
    /// What the trace calls the things that threads are to wait for in the end, by the threads.
    pub awaited: BTreeMap<String, String>,
    /// What is taken off the names of files.
    pub prefixes: Vec<String>,
}

/// What a trace calls its threads, for runs that follow no schedule.
pub fn thread_names(trace: &Trace, prefixes: &[String]) -> ReportNames {
    let mut printer = trace.printer();
    let name = |(thread, path)| (path, printer.name(Object::Thread(thread)).to_owned());
    let threads = thread_paths(trace).into_iter().map(name).collect();
    ReportNames { threads, prefixes: prefixes.to_vec(), ..ReportNames::default() }
}

impl ControlledRun {
    /// Reads what a program has written.
    pub fn parse(text: &str, names: &ReportNames) -> Result<Self, InvalidOutcome> {
        Ok(Self::new(text.parse()?, names))
    }

    /// What a program says of its run, with the names of a report.
    pub fn new(outcome: RunOutcome, names: &ReportNames) -> Self {
        let mut names = names.clone();
        for NamedThread { thread, name } in outcome.threads {
            names.add_thread(thread, name);
        }
        let foreign = outcome.foreign.iter().map(|thread| names.thread(thread));
        let races = outcome.real_races.iter();
        let values = |ThreadValues { thread, values }| {
            let thread = names.thread(&thread);
            ThreadValues { thread, values }
        };
        Self {
            program: outcome.program,
            reached: outcome.reached.said_by(&names),
            values: outcome.values.into_iter().map(values).collect(),
            races: races.map(|places| places.each_ref().map(ToString::to_string)).collect(),
            steps: outcome.steps,
            then: outcome.then,
            panicked: outcome.panicked.map(|at| names.thread_place(at)),
            waits: outcome.waits.into_iter().map(|wait| names.wait(wait)).collect(),
            lost: outcome.lost.into_iter().map(|at| names.thread_place(at)).collect(),
            foreign: foreign.chain(outcome.strangers.iter().cloned()).collect(),
        }
    }
}

impl ReportNames {
    /// A thread that the trace does not have may have a name of its own.
    fn add_thread(&mut self, thread: String, name: String) {
        if !self.threads.contains_key(&thread) && !self.threads.values().any(|it| *it == name) {
            self.threads.insert(thread, name);
        }
    }

    fn thread(&self, thread: &str) -> String {
        self.threads.get(thread).map_or(thread, String::as_str).to_owned()
    }

    fn place(&self, place: SourcePlace) -> Place {
        Place::from(place).stripped(&self.prefixes)
    }

    fn thread_place(&self, at: outcome::ThreadPlace) -> ThreadPlace {
        let thread = at.thread.map(|thread| self.thread(&thread));
        ThreadPlace { thread, place: at.place.map(|place| self.place(place)) }
    }

    /// Where a thread stands in the end: it waits for what it was to wait for.
    fn wait(&self, standing: outcome::Standing) -> Standing {
        let object = self.awaited.get(&standing.thread).cloned();
        Standing { object, ..self.standing(standing) }
    }
}

impl Words<SourcePlace, outcome::Standing> for ReportNames {
    type Place = Place;
    type Standing = Standing;

    fn operation(&self, operation: operation::Operation) -> Operation {
        let operation::Operation { thread, op, object, woken: _, place } = operation;
        // Threads are the objects of these.
        let object = object.map(|object| match op.as_str() {
            "fork" | "join" | "unpark" => self.thread(&object),
            _ => object,
        });
        let place = place.map(|place| self.place(place));
        Operation { thread: self.thread(&thread), op, object, woken: None, place }
    }

    fn standing(&self, standing: outcome::Standing) -> Standing {
        let others = |all: Vec<outcome::ThreadPlace>| {
            all.into_iter().map(|at| self.thread_place(at)).collect()
        };
        Standing {
            thread: self.thread(&standing.thread),
            state: standing.state,
            action: standing.action,
            place: standing.place.map(|place| self.place(place)),
            object: standing.object,
            joins: standing.joins.map(|thread| self.thread(&thread)),
            holders: others(standing.holders),
            writers: others(standing.writers),
        }
    }
}

#[cfg(test)]
mod tests {
    use racelog::contract::operation::AccessValues;
    use racelog::contract::outcome::Aftermath;

    use super::super::outcome::{Deviation, Reached};
    use super::*;

    fn names() -> ReportNames {
        let threads = [("0", "main"), ("0.1", "t1"), ("0.2", "t2")];
        let threads = threads.map(|(path, name)| (path.to_owned(), name.to_owned()));
        let awaited = [("0.1".to_owned(), "l".to_owned())].into();
        ReportNames { threads: threads.into(), awaited, prefixes: vec!["/p".to_owned()] }
    }

    fn parse(lines: &str) -> ControlledRun {
        ControlledRun::parse(&format!("racelog-outcome 4\n{lines}"), &names()).unwrap()
    }

    #[test]
    fn threads_have_their_names_and_values_and_messages_stay_what_they_are() {
        let outcome = parse(
            "result confirmed\nvalue 0 read 0\nvalue 0.1 read 0 wrote 1\nsteps 12\n\
             then panic 0.1 is not 0\npanicked 0.1 @ /p/src/a.rs:3:5\n",
        );
        assert_eq!(outcome.reached, Reached::Confirmed);
        let values = |thread: &str, read: &str, wrote: Option<&str>| ThreadValues {
            thread: thread.to_owned(),
            values: AccessValues { read: Some(read.to_owned()), wrote: wrote.map(str::to_owned) },
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
        let Deviation::Blocked(stands) = &divergence.why else { panic!("{divergence:?}") };
        assert_eq!((divergence.step, divergence.expected.thread.as_str()), (3, "t1"));
        assert_eq!(
            (stands.action.as_str(), stands.joins.as_deref()),
            ("end of scope", Some("main"))
        );
        assert_eq!(stands.holders[0].thread.as_deref(), Some("t2"));
        assert_eq!(divergence.early.unwrap().operation.object.as_deref(), Some("t1"));
        let differs = divergence.differs.unwrap();
        assert_eq!(
            (differs.access.thread.as_str(), differs.found.wrote.as_deref()),
            ("t2", Some("0"))
        );
    }

    #[test]
    fn who_waits_in_the_end_waits_for_what_the_plan_says() {
        let outcome = parse(
            "result confirmed\nthen deadlock\nwait 0.1 ready lock shared @ /p/a.rs:3:5\n\
             first 0.2 @ /p/a.rs:9:5\nwait 0.2 ready lock\nholds 0.1\n",
        );
        let [one, other] = &outcome.waits[..] else { panic!("{outcome:?}") };
        assert_eq!((one.object.as_deref(), other.object.as_deref()), (Some("l"), None));
        let writer = &one.writers[0];
        assert_eq!(writer.thread.as_deref(), Some("t2"));
        assert_eq!(writer.place.as_ref().unwrap().to_string(), "a.rs:9:5");
    }

    #[test]
    fn a_thread_that_was_not_recorded_has_the_name_that_the_program_gives_it() {
        let outcome = parse(
            "thread 1 pool\nthread 2 t1\nforeign 1\nforeign 2\nstranger of tokio\nresult ran\n\
             panicked - @ a.rs:3\n",
        );
        assert_eq!(outcome.foreign, ["pool", "2", "of tokio"]);
        assert_eq!(outcome.panicked.unwrap().thread, None);
    }

    #[test]
    fn a_text_that_is_no_outcome_is_refused() {
        let wrong = ControlledRun::parse("racelog-outcome 4\nstop\n", &names()).unwrap_err();
        assert_eq!(wrong.to_string(), "line 2: `stop` is not known here");
    }
}
