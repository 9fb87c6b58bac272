//! What is drawn of small traces.

use super::*;
use ArrowKind::{Barrier, Fork, Join, Message, Notify, Reads, Unpark};

fn event(number: u64) -> EventId {
    EventId::from_number(number).unwrap()
}

fn numbers(numbers: &[u64]) -> Vec<EventId> {
    numbers.iter().map(|number| event(*number)).collect()
}

fn timeline(text: &str, pair: [u64; 2], witness: Option<&[u64]>, limits: Limits) -> Timeline {
    let trace: Trace = text.parse().unwrap();
    let shown = Shown {
        parts: pair.map(event).to_vec(),
        witness: witness.map(numbers),
        others: Vec::new(),
    };
    let fits = |event: &EventId| trace.contains(*event);
    let fits = shown.parts.iter().chain(shown.witness.iter().flatten()).all(fits);
    let shown = Some(shown).filter(|_| fits);
    Timeline::draw(&trace, &[shown], &limits, &["src/".to_owned()])
}

fn whole(text: &str) -> Timeline {
    timeline(text, [1, 2], None, Limits::default())
}

/// The arrows as kinds and positions from 1.
fn arrows(course: &Course) -> Vec<(ArrowKind, u32, u32)> {
    course.arrows.iter().map(|arrow| (arrow.kind, arrow.from + 1, arrow.to + 1)).collect()
}

fn regions(course: &Course) -> Vec<(u32, Hold, &str, u32, u32, bool)> {
    let show = |region: &Region| (region.thread, region.hold, region.from + 1, region.to + 1);
    let regions = course.regions.iter().map(|region| {
        let (thread, hold, from, to) = show(region);
        (thread, hold, &*region.object, from, to, region.open)
    });
    regions.collect()
}

const LOCKED: &str = "\
t0 fork t1
t0 acquire l
t0 write x 1 @ src/a.rs:3:5
t0 release l
t1 acquire l
t1 read x 1 @ src/a.rs:9:5
t1 release l
t1 end
t0 join t1
";

#[test]
fn columns_say_what_the_lines_say() {
    let timeline = whole(LOCKED);
    assert_eq!(timeline.threads, ["t0", "t1"]);
    let texts: Vec<String> = (0..9).map(|row| timeline.events.text(row)).collect();
    assert_eq!(texts[..3], ["fork t1", "acquire l", "write x 1"]);
    assert_eq!(timeline.events.place_of(2).unwrap().to_string(), "a.rs:3:5");
    assert_eq!(timeline.events.place_of(0), None);
    assert_eq!(timeline.events.thread, [0, 0, 0, 0, 1, 1, 1, 1, 0]);
    let plain = whole("t0 fence seqcst\nt0 assert all is well\n");
    assert_eq!(plain.events.object, [NONE, NONE]);
    assert_eq!(plain.events.text(1), "assert all is well");
}

#[test]
fn locks_are_held_from_where_to_where() {
    let timeline = whole(LOCKED);
    let held = |thread, from, to| (thread, Hold::Exclusive, "l", from, to, false);
    assert_eq!(regions(&timeline.observed), [held(0, 2, 4), held(1, 5, 7)]);
    assert_eq!(arrows(&timeline.observed), [(Fork, 1, 5), (Reads, 3, 6), (Join, 8, 9)]);
}

#[test]
fn a_witness_has_regions_and_arrows_of_its_own() {
    let text = "\
t0 fork t1
t0 acquire l
t0 write x 1
t0 release l
t0 write y 1
t1 acquire l
t1 release l
t1 read y 1
";
    let witness: &[u64] = &[1, 6, 7, 2, 3, 4, 5, 8];
    let timeline = timeline(text, [5, 8], Some(witness), Limits::default());
    let course = timeline.witnesses[0].as_ref().unwrap();
    assert_eq!(course.rows, [0, 5, 6, 1, 2, 3, 4, 7]);
    let held = |thread, from, to| (thread, Hold::Exclusive, "l", from, to, false);
    assert_eq!(regions(course), [held(1, 2, 3), held(0, 4, 6)]);
    // Both are about to happen: the read does not see the write.
    assert_eq!(arrows(course), [(Fork, 1, 2)]);
    assert_eq!(arrows(&timeline.observed), [(Fork, 1, 6), (Reads, 5, 8)]);
}

#[test]
fn who_waits_is_shown_and_who_woke_it() {
    let text = "\
t0 fork t1
t1 acquire l
t1 wait c l
t0 racquire r
t0 notify_one c t1
t1 wake c l
t0 unpark t1
t1 park
";
    let timeline = whole(text);
    assert_eq!(
        regions(&timeline.observed),
        [
            (1, Hold::Exclusive, "l", 2, 3, false),
            (1, Hold::Waiting, "c", 3, 6, false),
            (0, Hold::Shared, "r", 4, 8, true),
            (1, Hold::Exclusive, "l", 6, 8, true),
        ]
    );
    assert_eq!(arrows(&timeline.observed), [(Fork, 1, 2), (Notify, 5, 6), (Unpark, 7, 8)]);
}

#[test]
fn nobody_in_particular_is_woken_in_the_order_of_waiting() {
    let text = "\
t1 acquire l
t1 wait c l
t2 acquire l
t2 wait c l
t0 notify_one c
t1 wake c l
t1 release l
t0 notify_all c
t2 wake c l
";
    assert_eq!(arrows(&whole(text).observed), [(Notify, 5, 6), (Notify, 8, 9)]);
}

#[test]
fn messages_and_barriers_have_arrows() {
    let text = "\
t0 send q 1
t0 close q
t1 recv q 1
t1 recv_closed q
t0 arrive b 1
t1 arrive b 1
t0 leave b 1
t1 leave b 1
";
    assert_eq!(arrows(&whole(text).observed), [(Message, 1, 3), (Message, 2, 4), (Barrier, 6, 7)]);
}

/// Two threads that hold a lock all the time and write in turns.
fn long(events: usize) -> String {
    let lines = (1..=events).map(|at| format!("t{} write x{} {at}\n", at % 2, at % 7));
    format!("t0 racquire l\n{}", lines.collect::<String>())
}

#[test]
fn of_long_traces_what_surrounds_the_pair_is_kept() {
    let limits = Limits { whole: 1000, around: 10, witness: 15 };
    let witness: Vec<u64> = (1..=1500).collect();
    let trace: Trace = long(5000).parse().unwrap();
    let parts = vec![event(100), event(4000)];
    let shown = Some(Shown { parts, witness: Some(numbers(&witness)), others: Vec::new() });
    let timeline = Timeline::draw(&trace, &[shown], &limits, &[]);
    assert!(timeline.is_cut());
    let kept: Vec<u64> = timeline.events.ids.iter().map(|event| event.number()).collect();
    let expected: Vec<u64> = (90..=110).chain(1486..=1500).chain(3990..=4010).collect();
    assert_eq!(kept, expected);
    assert_eq!((timeline.observed.all, timeline.observed.before), (5001, 89));
    // The lock is taken before and never given back: it is held all over what is shown.
    assert_eq!(regions(&timeline.observed), [(0, Hold::Shared, "l", 1, 57, true)]);
    let course = timeline.witnesses[0].as_ref().unwrap();
    assert_eq!((course.rows.len(), course.before, course.all), (15, 1485, 1500));
    assert_eq!(timeline.events.row(event(4000)), Some(46));
    assert_eq!(timeline.events.row(event(2000)), None);
}

#[test]
fn a_finding_of_another_trace_gets_nothing() {
    let timeline = timeline(LOCKED, [3, 6], Some(&[1, 2, 500]), Limits::default());
    assert!(timeline.witnesses[0].is_none());
    assert_eq!(timeline.events_of, [None]);
    assert!(!timeline.is_cut());
}
