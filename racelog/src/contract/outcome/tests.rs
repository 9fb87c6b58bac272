use super::super::random::{Numbers, ROUNDS};
use super::*;

fn after_head(lines: &str) -> String {
    format!("racelog-outcome 4\n{lines}")
}

fn parse(lines: &str) -> RunOutcome {
    after_head(lines).parse().unwrap()
}

#[test]
fn an_outcome_has_its_text() {
    let text = after_head(
        "program /home/me/p\nthread 0.1 worker of all\nforeign 1\nresult diverged\nat 4\n\
         why blocked\nexpected 0.1 acquire l @ src/a.rs:3:5\n\
         stands 0.1 ready end of scope @ src/a.rs:3:5\njoins 0.2\nholds 0.2 @ src/a.rs:9:5\n\
         first 0.3 @ src/a.rs:8:5\nearly 7 0.2 release l @ src/a.rs:9:5\ndiffers 2 0.2 write x @ src/a.rs:7:5\n\
         predicted wrote 7\ninstead wrote 8\nsteps 3\nstranger of tokio\nthen panic 0.1 is not 0\n\
         panicked - @ a.rs:3\nwait 0.2 outside lock\nholds 0.1\nlost 0.1 @ src/a.rs:1\n",
    );
    let outcome: RunOutcome = text.parse().unwrap();
    assert_eq!(outcome.to_string(), text);
    assert_eq!(outcome.waits[0].holders[0].thread.as_deref(), Some("0.1"));
    assert_eq!(outcome.panicked.unwrap().thread, None);
    let Reached::Diverged(divergence) = outcome.reached else { panic!("it diverged") };
    let Deviation::Blocked(stands) = divergence.why else { panic!("it is blocked") };
    assert_eq!((stands.action.as_str(), stands.joins.as_deref()), ("end of scope", Some("0.2")));
    assert_eq!(divergence.differs.unwrap().found.wrote.as_deref(), Some("8"));
}

#[test]
fn a_run_by_a_seed_names_its_races() {
    let text = after_head("result ran\nreal a.rs:1:1 b c.rs:2:2\nsteps 9\nthen deadlock\n");
    let outcome: RunOutcome = text.parse().unwrap();
    assert_eq!(outcome.to_string(), text);
    assert_eq!(outcome.real_races[0][1].file, "b c.rs");
}

#[test]
fn outcomes_of_the_version_before_are_read() {
    let outcome = RunOutcome::new(Reached::Confirmed);
    let text = outcome.to_string();
    let older = text.replace("racelog-outcome 4", "racelog-outcome 3");
    assert_ne!(older, text);
    assert_eq!(older.parse(), Ok(outcome));
}

#[test]
fn line_breaks_are_written_as_blanks() {
    let mut outcome = RunOutcome::new(Reached::Confirmed);
    outcome.then = Aftermath::Panic("left\n right\r\n".to_owned());
    let again: RunOutcome = outcome.to_string().parse().unwrap();
    assert_eq!(again.then, Aftermath::Panic("left  right  ".to_owned()));
}

#[test]
fn lines_come_in_any_order() {
    let outcome = parse("then nothing\nsteps 1\nexpected 0 write x\nat 2\nresult unreached\n");
    assert!(matches!(outcome.reached, Reached::Unreached { step: 2, .. }));
}

fn thread_place(numbers: &mut Numbers) -> ThreadPlace {
    ThreadPlace { thread: numbers.maybe(Numbers::word), place: numbers.maybe(Numbers::place) }
}

fn standing(numbers: &mut Numbers) -> Standing {
    Standing {
        thread: numbers.word(),
        state: *numbers.one(&[ThreadState::Ready, ThreadState::Outside, ThreadState::Ended]),
        action: numbers.line(),
        place: numbers.maybe(Numbers::place),
        object: None,
        joins: numbers.maybe(Numbers::word),
        holders: numbers.some(thread_place),
        writers: numbers.some(thread_place),
    }
}

fn reached(numbers: &mut Numbers) -> Reached {
    let (step, expected) = (numbers.next(), numbers.operation());
    let why = match numbers.below(9) {
        0 => return Reached::Confirmed,
        1 => return Reached::Ran,
        2 => return Reached::Unreached { step, expected },
        3 => Deviation::Other(numbers.operation()),
        4 => Deviation::Ended,
        5 => Deviation::Absent(numbers.maybe(standing)),
        6 => Deviation::Blocked(standing(numbers)),
        7 => Deviation::GoesOn,
        _ => Deviation::Apart,
    };
    let early = numbers.maybe(|numbers| EarlyStep { step, operation: numbers.operation() });
    let differs = numbers.maybe(|numbers| OtherValue {
        step,
        access: numbers.operation(),
        predicted: numbers.values(),
        found: numbers.values(),
    });
    Reached::Diverged(Box::new(Divergence { step, expected, why, early, differs }))
}

#[test]
fn outcomes_are_text_and_back() {
    let mut numbers = Numbers::new(6);
    for _ in 0..ROUNDS {
        let numbers = &mut numbers;
        let message = numbers.line();
        let outcome = RunOutcome {
            program: numbers.maybe(Numbers::line),
            threads: numbers
                .some(|numbers| NamedThread { thread: numbers.word(), name: numbers.line() }),
            foreign: numbers.some(Numbers::word),
            strangers: numbers.some(Numbers::line),
            reached: reached(numbers),
            values: numbers
                .some(|numbers| ThreadValues { thread: numbers.word(), values: numbers.values() }),
            real_races: numbers.some(|numbers| [numbers.place(), numbers.place()]),
            steps: numbers.next(),
            then: numbers
                .one(&[
                    Aftermath::Nothing,
                    Aftermath::Panic(message.clone()),
                    Aftermath::Check(message),
                    Aftermath::Deadlock,
                    Aftermath::Livelock,
                    Aftermath::Stuck,
                    Aftermath::Killed(9),
                    Aftermath::Unended,
                ])
                .clone(),
            panicked: numbers.maybe(thread_place),
            waits: numbers.some(standing),
            lost: numbers.some(thread_place),
        };
        assert_eq!(outcome.to_string().parse(), Ok(outcome));
    }
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let wrong = |text: &str| text.parse::<RunOutcome>().unwrap_err().to_string();
    let after = |lines: &str| wrong(&after_head(&format!("{lines}\n")));
    assert_eq!(wrong(""), "line 1: it does not start with `racelog-outcome 4`");
    assert_eq!(wrong("racelog-outcome 4\n"), "line 1: there is no line `result`");
    assert_eq!(after("result x\nsteps 1"), "line 2: `x` is no result");
    assert_eq!(after("steps x"), "line 2: `x` is no number");
    assert_eq!(after("stop"), "line 2: `stop` is not known here");
    assert_eq!(after("holds 0"), "line 2: there is no thread that this could be about");
    assert_eq!(after("instead read 1"), "line 2: there is no line `differs` before");
    assert_eq!(after("then smoke"), "line 2: `smoke` is nothing that can follow");
    assert_eq!(after("real a.rs:1 b.rs"), "line 2: `a.rs:1 b.rs` are not two places");
    assert_eq!(after("result unreached"), "line 2: there is no line `at`");
    assert_eq!(after("result unreached\nat 3"), "line 3: there is no line `expected`");
    let diverged = "result diverged\nat 1\nexpected 0 write x";
    assert_eq!(after(diverged), "line 4: there is no line `why`");
    let after = |line: &str| after(&format!("{diverged}\n{line}"));
    assert_eq!(after("why x\nsteps 1"), "line 5: `x` is no way to diverge");
    assert_eq!(after("why blocked"), "line 5: there is no line `stands`");
    assert_eq!(after("why other"), "line 5: there is no line `found`");
}
