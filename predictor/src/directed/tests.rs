use super::*;
use crate::finding::{Kind, Place, Reason};
use crate::replay::ReportNames;

/// Two threads write and read two places, in an order that is chance.
const TRACE: &str = "t0 fork t1\nt0 fork t2\nt1 write x 1 @ a.rs:1:1\nt1 write y 1 @ a.rs:2:1\n\
    t1 acquire l @ a.rs:3:1\nt1 release l @ a.rs:3:1\nt2 acquire l @ b.rs:1:1\n\
    t2 release l @ b.rs:1:1\nt2 read x 1 @ b.rs:2:1\nt2 read x 1 @ b.rs:3:1\n\
    t2 read y 1 @ b.rs:4:1\n";

fn trace(text: &str) -> Trace {
    text.parse().expect("a valid trace")
}

fn origin(name: &str, text: &str) -> Origin {
    let trace = trace(text);
    Origin::new(&trace, name, Suspects::of(&trace, |_| false), &[])
}

fn ran(lines: &str) -> Ran {
    let text = format!("racelog-outcome 4\nresult ran\n{lines}\n");
    let outcome = ControlledRun::parse(&text, &ReportNames::default()).expect("an outcome");
    let code = Some(if outcome.then.is_harm() { 101 } else { 0 });
    Ran { outcome, code }
}

const QUIET: &str = "then nothing";
const PANIC: &str = "then panic 1 is not 2\npanicked 0.1 @ a.rs:9:5";

/// Runs all there is to run; what a task comes to is what `outcome` says.
fn run(campaign: &mut Campaign, outcome: impl Fn(usize, &Task) -> String) -> Vec<Task> {
    let mut tasks = Vec::new();
    loop {
        let round = campaign.round();
        if round.is_empty() {
            return tasks;
        }
        for task in round {
            campaign.note(&task, &ran(&outcome(tasks.len(), &task)));
            tasks.push(task);
        }
    }
}

#[test]
fn every_suspect_is_tried_so_often_and_none_after_it_happened() {
    let mut campaign = Campaign::new(vec![origin("a", TRACE)]);
    // Three races, and two places where the lock is taken that may come late.
    let all = PILOTS + 3 * TRIES + 2 * 3;
    assert_eq!(campaign.size(), all);
    let tasks = run(&mut campaign, |_, _| QUIET.to_owned());
    assert_eq!((tasks.len(), tasks[0].race()), (all, None));
    let pilots = tasks.iter().filter(|task| task.target.is_none());
    let seeds: Vec<String> = pilots.map(|task| task.seed.to_string()).collect();
    assert_eq!(seeds.iter().filter(|seed| seed.starts_with("random:")).count(), PILOTS / 2);
    assert!(seeds[1].starts_with("pct:3:11:"), "{}", seeds[1]);
    let runs = tasks.len() as u64;
    let none = Done { suspects: 5, left: 0, runs, ..Done::default() };
    assert_eq!((campaign.done(), campaign.shown().len()), (none, 0));
    // The same tasks for the same suspects.
    assert_eq!(run(&mut Campaign::new(vec![origin("a", TRACE)]), |_, _| QUIET.to_owned()), tasks);
    let mut campaign = Campaign::new(vec![origin("a", TRACE)]);
    let tasks = run(&mut campaign, |_, task| {
        let race = task.race().map(ToString::to_string);
        match race.as_deref() {
            Some("a.rs:1:1,b.rs:2:1") => format!("real a.rs:1:1 b.rs:2:1\n{QUIET}"),
            _ => QUIET.to_owned(),
        }
    });
    // The other race of that variable had its turn in the same round, and none after it.
    assert_eq!(tasks.len(), PILOTS + 1 + 1 + TRIES + 2 * 3);
    let runs = tasks.len() as u64;
    let done = Done { suspects: 5, left: 0, runs, happened: 1, ..Done::default() };
    assert_eq!(campaign.done(), done);
}

#[test]
fn what_happened_is_a_race_with_its_seed() {
    let mut campaign = Campaign::new(vec![origin("a", TRACE)]);
    run(&mut campaign, |_, task| match task.race() {
        Some(race) => format!("real {} {}\n{QUIET}", race.0[0], race.0[1]),
        None => QUIET.to_owned(),
    });
    let shown = campaign.shown();
    // Two of the three are about one variable, and happened in the same round.
    assert_eq!(shown.len(), 3);
    let finding = shown[0].finding(&trace(TRACE), &campaign.origins()[0], |_| false, &[]);
    let finding = finding.expect("it is one");
    assert_eq!(finding.kind, Kind::DataRace);
    let occurrence = &finding.occurrences[0];
    assert_eq!(occurrence.reason, Reason::Met { locks: vec!["l".to_owned()] });
    assert_eq!(occurrence.subject_name(), "x");
    let directed = occurrence.directed.as_ref().expect("it was directed");
    assert_eq!((directed.control.as_str(), directed.runs), ("race:0:0", 1));
    let again = |lines: &str| happens_again(&finding.kind, &[], &ran(lines));
    assert!(again("real a.rs:1:1 b.rs:2:1\nthen nothing") && !again(QUIET));
    assert!(shown[0].is_again(&ran("real b.rs:2:1 a.rs:1:1\nthen panic x")));
    assert!(!shown[0].is_again(&ran("real a.rs:2:1 b.rs:4:1\nthen panic x")));
}

#[test]
fn a_suspect_of_several_traces_is_tried_as_one() {
    let origins = vec![origin("a", TRACE), origin("b", TRACE), origin("c", TRACE)];
    let mut campaign = Campaign::new(origins);
    assert_eq!(campaign.size(), 3 * PILOTS + 3 * TRIES + 2 * 3);
    assert_eq!(campaign.round().len(), 3);
    let mut tried = Vec::new();
    for _ in 0..3 {
        for task in campaign.round() {
            tried.extend(task.race().map(|_| task.origin));
            campaign.note(&task, &ran(QUIET));
        }
    }
    assert_eq!(tried, [0, 0, 0, 1, 1, 1, 2, 2, 2]);
    // One that cannot be run leaves its turns to the others.
    for task in campaign.round() {
        campaign.give_up(&task);
    }
    assert!(campaign.round().iter().all(|task| task.origin != 0));
}

#[test]
fn a_panic_of_some_runs_is_news_and_one_of_all_runs_is_none() {
    let shown = |text: &str, outcome: &dyn Fn(usize) -> &'static str| {
        let mut campaign = Campaign::new(vec![origin("a", text)]);
        let tasks = run(&mut campaign, |at, _| outcome(at).to_owned());
        (tasks.len(), campaign)
    };
    let (_, some) = shown(TRACE, &|at| if at == 7 { PANIC } else { QUIET });
    assert_eq!(some.shown().len(), 1);
    let finding = some.shown()[0].finding(&trace(TRACE), &some.origins()[0], |_| false, &[]);
    let finding = finding.expect("it is one");
    assert_eq!(
        (&finding.kind, &finding.occurrences[0].reason),
        (&Kind::Panic, &Reason::UnderControl)
    );
    assert_eq!(finding.places().next().map(ToString::to_string).as_deref(), Some("a.rs:9:5"));
    assert!(happens_again(&finding.kind, &finding.places().collect::<Vec<_>>(), &ran(PANIC)));
    let elsewhere = PANIC.replace(":9:5", ":8:5");
    assert!(!happens_again(&finding.kind, &finding.places().collect::<Vec<_>>(), &ran(&elsewhere)));
    let (_, all) = shown(TRACE, &|_| PANIC);
    assert_eq!(all.shown().len(), 0);
    // Whoever expects it ends as if all were well.
    let mut expected = Campaign::new(vec![origin("a", TRACE)]);
    for (at, task) in (0..2).flat_map(|_| expected.round()).enumerate().collect::<Vec<_>>() {
        let panicked = Ran { code: Some(0), ..ran(PANIC) };
        expected.note(&task, &if at == 0 { panicked } else { ran(QUIET) });
    }
    assert_eq!(expected.shown().len(), 0);
    let lost = "then panic 1 is not 2\nlost 0.2 @ a.rs:3:1";
    let (_, lost) = shown(TRACE, &|at| if at == 7 { lost } else { QUIET });
    assert_eq!(lost.shown().len(), 0, "control was lost");
    let panicked = format!("{TRACE}t1 assert panicked at a.rs:9:5: 1 is not 2\n");
    let (_, recorded) = shown(&panicked, &|at| if at == 7 { PANIC } else { QUIET });
    let is_recorded = recorded.origins()[0].recorded.as_ref().is_some_and(Ending::went_wrong);
    assert!(is_recorded && recorded.shown().is_empty(), "the recorded run has it, too");
}

#[test]
fn threads_that_wait_are_news_if_all_threads_are_known() {
    const STUCK: &str = "then deadlock\nwait 0.1 ready lock @ a.rs:3:1\nholds 0.2\n\
        wait 0.2 ready lock @ b.rs:1:1\nholds 0.1\nwait 0 ready join\njoins 0.1";
    let found = |text: &str, stuck: &str| {
        let mut campaign = Campaign::new(vec![origin("a", text)]);
        let outcome = |at| if at == 4 { stuck } else { QUIET };
        run(&mut campaign, |at, _| outcome(at).to_owned());
        let shown = campaign.shown();
        let origin = &campaign.origins()[0];
        shown.first().and_then(|it| it.finding(&trace(text), origin, |_| false, &[]))
    };
    let circle = found(TRACE, STUCK).expect("a circle is a deadlock");
    assert_eq!((&circle.kind, circle.occurrences[0].parts.len()), (&Kind::Deadlock, 2));
    let held = STUCK.replace("holds 0.2", "holds 0.2 @ b.rs:7:1");
    let place = |text: &str| text.parse::<Place>().expect("a place");
    let places = [place("a.rs:3:1"), place("b.rs:1:1"), place("b.rs:7:1")];
    assert!(happens_again(&Kind::Deadlock, &places.each_ref(), &ran(&held)));
    assert!(!happens_again(&Kind::Deadlock, &places.each_ref(), &ran(STUCK)));
    let lost = "then deadlock\nwait 0.1 ready wake @ a.rs:3:1\nwait 0 ready join\njoins 0.1";
    let stall = found(TRACE, lost).expect("they wait for ever");
    assert_eq!((&stall.kind, stall.occurrences[0].parts.len()), (&Kind::Stall, 2));
    let foreign = format!("#racelog foreign f\nf write z 1\n{TRACE}");
    assert_eq!(found(&foreign, STUCK), None, "a thread may help that nobody knows of");
}

#[test]
fn a_race_elsewhere_is_not_the_one_that_was_looked_for() {
    let mut campaign = Campaign::new(vec![origin("a", TRACE)]);
    // Two threads meet at one of the two places, and that was no suspect.
    run(&mut campaign, |_, task| match task.race() {
        Some(race) => format!("real {} {}\n{QUIET}", race.0[0], race.0[0]),
        None => QUIET.to_owned(),
    });
    assert!(campaign.shown().is_empty());
    // They meet where another suspect is.
    let mut campaign = Campaign::new(vec![origin("a", TRACE)]);
    run(&mut campaign, |_, task| match task.race() {
        Some(_) => format!("real b.rs:4:1 a.rs:2:1\n{QUIET}"),
        None => QUIET.to_owned(),
    });
    let shown = campaign.shown();
    let finding = shown[0].finding(&trace(TRACE), &campaign.origins()[0], |_| false, &[]);
    let finding = finding.expect("it is one");
    assert_eq!((shown.len(), finding.occurrences[0].subject_name()), (1, "y"));
    let places: Vec<&Place> = finding.places().collect();
    assert!(happens_again(&finding.kind, &places, &ran("real b.rs:4:1 a.rs:2:1\nthen nothing")));
    assert!(!happens_again(&finding.kind, &places, &ran("real a.rs:2:1 a.rs:2:1\nthen nothing")));
}

#[test]
fn what_kills_the_program_or_keeps_it_running_ends_nothing_but_the_run() {
    let mut campaign = Campaign::new(vec![origin("a", TRACE)]);
    let ends = |at: usize| match at {
        3 => ran("then livelock"),
        5 => Ran { outcome: ControlledRun::cut_short(Aftermath::Killed(11)), code: None },
        8 => ran("then nothing\nlost 0.2 @ a.rs:3:1"),
        _ => ran(QUIET),
    };
    let mut at = 0;
    loop {
        let round = campaign.round();
        if round.is_empty() {
            break;
        }
        for task in round {
            campaign.note(&task, &ends(at));
            at += 1;
        }
    }
    let done = campaign.done();
    assert_eq!((done.unended, done.lost, done.happened), (1, 1, 1));
    assert!(done.unended_example.is_some_and(|example| example.trace == "a"));
    assert!(at > 20, "the others had their runs: {at}");
    let shown = campaign.shown();
    let crash = shown[0].finding(&trace(TRACE), &campaign.origins()[0], |_| false, &[]);
    let crash = crash.expect("it is one");
    assert_eq!((&crash.kind, crash.places().count()), (&Kind::Crash, 0));
    assert!(
        happens_again(&Kind::Crash, &[], &ends(5)) && !happens_again(&Kind::Crash, &[], &ends(0))
    );
}

#[test]
fn a_program_of_which_several_runs_do_not_end_leaves_the_time_to_others() {
    let other = TRACE.replace(".rs", "_of_another.rs");
    let mut campaign = Campaign::new(vec![origin("a", TRACE), origin("b", &other)]);
    let mut runs = [0_u64; 2];
    loop {
        let round = campaign.round();
        if round.is_empty() {
            break;
        }
        for task in round {
            runs[task.origin] += 1;
            let never_ends = task.origin == 0;
            let unended = Ran { outcome: ControlledRun::cut_short(Aftermath::Unended), code: None };
            campaign.note(&task, &if never_ends { unended } else { ran(QUIET) });
        }
    }
    assert_eq!(campaign.done().unended, runs[0]);
    assert!(runs[0] < 8 && runs[1] >= 8, "runs of each: {runs:?}");
}
