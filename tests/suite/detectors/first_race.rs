//! What docs/ALGORITHM.md promises of a detector's first race, and where the promises end.

use std::collections::HashSet;

use predictor::detect::{Scope, cp, hb, wcp};
use predictor::goal::Pair;
use predictor::semantics::{Machine, State, WhyNot};
use predictor::trace::{Op, Trace};
use racelog::trace::ThreadId;
use racelog_tests::random_trace::{Family, Shape, random_trace};

use super::random::text;
use super::{complete, load, show, true_races};

/// A compare-exchange is enabled only where it ends as it did.
fn has_compare_exchange(trace: &Trace, pair: Pair) -> bool {
    [pair.first(), pair.second()]
        .iter()
        .any(|event| matches!(trace.op(*event), Op::Cas { .. } | Op::CasFail { .. }))
}

/// Whether the first race of happens-before is promised to be a race, if all atomics are
/// sequentially consistent.
fn promised(trace: &Trace, first: Pair) -> bool {
    let mut receivers = vec![None; trace.channel_count()];
    let kept = trace.events().all(|event| match trace.op(event) {
        Op::AcquireFail(_) | Op::ReadAcquireFail(_) | Op::WakeTimeout { .. } => false,
        Op::Recv { channel, .. } | Op::RecvEmpty(channel) | Op::RecvClosed(channel) => {
            *receivers[channel.index()].get_or_insert(trace.thread(event)) == trace.thread(event)
        }
        _ => true,
    });
    kept && !has_compare_exchange(trace, first)
}

/// The same trace with all atomics sequentially consistent.
fn strengthened(text: &str) -> String {
    const ATOMIC: [&str; 6] = ["load", "store", "rmw", "cas", "cas_fail", "fence"];
    const ORDERINGS: [&str; 4] = ["relaxed", "acquire", "release", "acqrel"];
    let mut strong = String::new();
    for line in text.lines() {
        let atomic = line.split(' ').nth(1).is_some_and(|word| ATOMIC.contains(&word));
        let kept: Vec<&str> =
            line.split(' ').filter(|word| !(atomic && ORDERINGS.contains(word))).collect();
        strong += &kept.join(" ");
        strong += "\n";
    }
    strong
}

#[test]
fn the_first_race_of_happens_before_is_a_race() {
    let mut count = 0;
    for seed in 0..4000 {
        let text = strengthened(&text(seed, 20));
        let trace = load(&text);
        let Some(first) = hb::first_race(&trace).filter(|first| promised(&trace, *first)) else {
            continue;
        };
        let races = true_races(&trace);
        for pair in complete(hb::races(&trace, Scope::AllPairs)) {
            if pair.second() == first.second() && promised(&trace, pair) {
                assert!(races.contains(&pair), "seed {seed}: {}\n{text}", show([pair]));
                count += 1;
            }
        }
    }
    assert!(count > 1000, "only {count}");
}

/// Each of the conditions is needed.
#[test]
fn where_the_first_race_of_happens_before_is_none() {
    for (why, text) in [
        (
            "a relaxed read that decides something",
            "t1 write x 1\n\
             t1 store f 1 relaxed\n\
             t2 load f 1 relaxed\n\
             t2 branch\n\
             t2 read x 1\n",
        ),
        (
            "a lock that must be found taken",
            "t1 write x 1\n\
             t1 acquire l\n\
             t2 acquire_fail l\n\
             t2 write x 2\n",
        ),
        (
            "two receivers of one channel",
            "t1 send ch a\n\
             t1 send ch b\n\
             t2 write x 1\n\
             t2 recv ch a\n\
             t3 recv ch b\n\
             t3 write x 2\n",
        ),
        (
            "a compare-exchange that needs the value it races with",
            "t1 write x 1\n\
             t2 cas x 1 2\n",
        ),
        (
            "a compare-exchange that must come before a store",
            "t1 cas_fail x 0\n\
             t2 store x 1\n\
             t2 write x 2\n",
        ),
        (
            "a time-out, because the other waiter is not there to take the notification",
            "t1 acquire l\n\
             t1 write z 1\n\
             t1 wait c l\n\
             t4 write x 1\n\
             t4 unpark t2\n\
             t2 park\n\
             t2 acquire m\n\
             t2 wait c m\n\
             t3 acquire l\n\
             t3 read z 1\n\
             t3 branch\n\
             t3 write y 1\n\
             t3 notify_one c t2\n\
             t3 release l\n\
             t1 wake_timeout c l\n\
             t1 read y 1\n\
             t1 branch\n\
             t1 write x 2\n",
        ),
    ] {
        let trace = load(text);
        let first = hb::first_race(&trace).expect(why);
        assert!(!true_races(&trace).contains(&first), "{why}: {}", show([first]));
    }
}

/// Whether some threads can come to wait for each other's locks.
fn can_deadlock(trace: &Trace) -> bool {
    let machine = Machine::new(trace);
    let mut known: HashSet<State> = HashSet::from_iter([machine.initial()]);
    let mut left: Vec<State> = known.iter().cloned().collect();
    while let Some(state) = left.pop() {
        // The thread that a thread waits for.
        let holder = |thread: ThreadId| {
            let next = machine.next(&state, thread)?;
            match machine.enabled(&state, next) {
                Err(WhyNot::Taken(_, holder)) => Some(holder),
                _ => None,
            }
        };
        let in_circle = |thread: ThreadId| {
            let mut at = Some(thread);
            (0..trace.thread_count()).all(|_| {
                at = at.and_then(holder);
                at.is_some()
            })
        };
        if trace.threads().any(in_circle) {
            return true;
        }
        for event in trace.threads().filter_map(|thread| machine.next(&state, thread)) {
            let mut next = state.clone();
            if machine.step(&mut next, event, None).is_ok() && known.insert(next.clone()) {
                left.push(next);
            }
        }
    }
    false
}

/// What the first races of a detector are that happens-before does not find.
#[derive(Debug, Default)]
struct FirstRaces {
    /// Races, each the pair itself.
    races: usize,
    /// No races, in traces with a deadlock that another schedule has.
    deadlocks: usize,
    /// How many of either are none to causally-precedes.
    weaker: usize,
}

fn first_races(first_race: fn(&Trace) -> Option<Pair>) -> FirstRaces {
    use Family::{Atomic, Barrier, Branch, Exclusive, Lock, Plain};
    let mut count = FirstRaces::default();
    for seed in 0..40_000_u64 {
        // Two threads and one lock, but more to access: less is ordered by luck.
        let few = seed % 4 == 3;
        let shape = Shape {
            events: 20 + (seed % 10) as usize,
            threads: if few { 2 } else { 3 },
            vars: 2 + 2 * usize::from(few),
            objects: if few { 1 } else { 1 + (seed % 3) as usize },
            operations: match seed % 3 {
                0 => vec![Plain, Lock, Lock],
                1 => vec![Plain, Plain, Lock, Lock, Lock, Branch],
                _ => vec![Plain, Plain, Lock, Lock, Lock, Atomic, Branch, Exclusive, Barrier],
            },
            locations: false,
            unrecorded: seed.is_multiple_of(5),
            foreign: 0,
            waits: false,
        };
        let text = strengthened(&random_trace(seed, &shape));
        let trace = load(&text);
        let Some(first) = first_race(&trace) else { continue };
        if has_compare_exchange(&trace, first) || hb::first_race(&trace) == Some(first) {
            continue;
        }
        count.weaker += usize::from(cp::first_race(&trace) != Some(first));
        if true_races(&trace).contains(&first) {
            count.races += 1;
        } else {
            assert!(can_deadlock(&trace), "seed {seed}: {}\n{text}", show([first]));
            count.deadlocks += 1;
        }
    }
    count
}

#[test]
fn the_first_race_of_causally_precedes_is_a_race_or_there_is_a_deadlock() {
    let count = first_races(cp::first_race);
    assert!(count.races > 400, "only {count:?}");
}

#[test]
fn the_first_race_of_weak_causal_precedence_is_a_race_or_there_is_a_deadlock() {
    let count = first_races(wcp::first_race);
    assert!(count.races > 400 && count.weaker > 15, "only {count:?}");
}

#[test]
fn a_deadlock_can_stand_where_a_race_is_seen() {
    let trace = load(
        "t1 acquire m\n\
         t1 acquire l\n\
         t1 release l\n\
         t1 read x 0\n\
         t1 release m\n\
         t2 acquire l\n\
         t2 acquire m\n\
         t2 release m\n\
         t2 write x 1\n\
         t2 release l\n",
    );
    assert_eq!(show(cp::first_race(&trace)), "(4, 9)");
    assert_eq!(show(wcp::first_race(&trace)), "(4, 9)");
    assert_eq!(show(true_races(&trace)), "none");
    assert!(can_deadlock(&trace));
}

/// Other executions may have its critical sections in another order, and then whatever tells that
/// something has not happened yet tells something else.
#[test]
fn where_the_first_race_of_either_precedence_is_none() {
    for (why, text) in [
        (
            "a channel that must be found empty",
            "t1 acquire l\n\
             t1 recv_empty ch\n\
             t1 write x 1\n\
             t1 release l\n\
             t2 acquire l\n\
             t2 send ch a\n\
             t2 release l\n\
             t2 write x 2\n",
        ),
        (
            "a token that must not be there yet",
            "t1 acquire l\n\
             t1 park_timeout\n\
             t1 write x 1\n\
             t1 release l\n\
             t2 acquire l\n\
             t2 unpark t1\n\
             t2 release l\n\
             t2 write x 2\n",
        ),
    ] {
        let trace = load(text);
        for first_race in [cp::first_race, wcp::first_race] {
            let first = first_race(&trace).expect(why);
            assert!(!true_races(&trace).contains(&first), "{why}: {}", show([first]));
        }
        assert!(!can_deadlock(&trace), "{why}");
    }
}
