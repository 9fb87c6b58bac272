//! The detectors that order whole traces: the papers' own verdicts, an exhaustive search, and how
//! they relate to prediction.

use std::collections::BTreeSet;
use std::time::Instant;

use predictor::detect::Claim;
use predictor::detect::paper::Paper;
use predictor::detect::said::Said;
use predictor::encode::Window;
use predictor::goal::{Goal, Pair};
use predictor::index::Index;
use predictor::predict::{Decided, Decider};
use predictor::solve::order::OrderSolver;
use predictor::trace::{EventId, Trace};
use predictor::witness::Checker;
use racelog_tests::printed_formula::races_of_the_formula;
use racelog_tests::random_trace::{ALL, Family, Shape, loaded};
use racelog_tests::whole_trace::races_by_definition;

use crate::support::{conflicts, example_trace};

fn pairs_that(trace: &Trace, mut race: impl FnMut(Pair) -> Claim) -> BTreeSet<Pair> {
    let is_race = |pair: &Pair| match race(*pair) {
        Claim::Race(schedule) => {
            assert!(schedule.ends_with(&[pair.first(), pair.second()]));
            true
        }
        Claim::NoRace => false,
        Claim::Unknown => panic!("there is no deadline"),
    };
    conflicts(trace).into_iter().filter(is_race).collect()
}

fn said(trace: &Trace) -> BTreeSet<Pair> {
    let index = Index::new(trace);
    let mut said = Said::new(trace, &index, Box::new(OrderSolver::new()));
    pairs_that(trace, |pair| said.is_race(pair, None))
}

fn paper(trace: &Trace) -> BTreeSet<Pair> {
    let index = Index::new(trace);
    let mut paper = Paper::new(trace, &index, Box::new(OrderSolver::new()));
    pairs_that(trace, |pair| paper.is_race(pair, None))
}

fn predicted(trace: &Trace) -> BTreeSet<Pair> {
    let (index, checker) = (Index::new(trace), Checker::new(trace));
    let window = Window::whole(checker.machine());
    let solver = Box::new(OrderSolver::new());
    let mut decider = Decider::new(trace, &index, &window, &checker, solver);
    let race = |pair: &Pair| {
        let decided = decider.decide(&Goal::Race(*pair), None, None);
        matches!(decided, Decided::Proven(_))
    };
    conflicts(trace).into_iter().filter(race).collect()
}

/// Holds the three detectors against the pairs that are given by event numbers.
fn check(text: &str, predicts: &[(u64, u64)], by_paper: &[(u64, u64)], by_said: &[(u64, u64)]) {
    let trace: Trace = text.parse().unwrap();
    let event = |number| EventId::from_number(number).expect("numbers start at 1");
    let pairs = |pairs: &[(u64, u64)]| -> BTreeSet<Pair> {
        pairs.iter().map(|(a, b)| Pair::new(event(*a), event(*b))).collect()
    };
    assert_eq!(predicted(&trace), pairs(predicts), "prediction\n{text}");
    assert_eq!(paper(&trace), pairs(by_paper), "paper\n{text}");
    assert_eq!(said(&trace), pairs(by_said), "said\n{text}");
}

#[test]
fn pldi14_figures_1_and_4() {
    check(&example_trace("pldi14-figure4"), &[(3, 10)], &[(3, 10)], &[]);
}

#[test]
fn pldi14_figure_1_with_lines_1_and_2_switched() {
    let text = "t1 acquire l\nt1 fork t2\nt1 write x 1\nt1 write y 1\nt1 release l\nt2 begin\n\
                t2 acquire l\nt2 read y 1\nt2 release l\nt2 read x 1\nt2 branch\nt2 write z 1\n\
                t2 end\nt1 join t2\nt1 read z 1\nt1 branch\n";
    check(text, &[], &[], &[]);
}

#[test]
fn pldi14_figure_2() {
    check(&example_trace("pldi14-figure2-case1"), &[(1, 4)], &[(1, 4)], &[]);
    check(&example_trace("pldi14-figure2-case2"), &[], &[], &[]);
}

#[test]
fn pldi14_array_indices_are_branches() {
    let text = "t1 acquire l\nt1 read x 0\nt1 branch\nt1 write a0 2\nt1 release l\n\
                t2 acquire l\nt2 write x 1\nt2 release l\nt2 write a0 1\n";
    check(text, &[], &[], &[]);
    // Without the branch it would be one; not for `said`, which has no branches.
    check(&text.replace("branch", "fence"), &[(4, 9)], &[(4, 9)], &[]);
}

#[test]
fn nfm11_figure_1() {
    // t2 runs a.add(b), t3 runs b.add(a). In the order of the lines that the paper lists, line 3,
    // which writes, comes before line 6, which reads. The paper's race is between t2's read of b.x,
    // event 5, and t3's write, event 8.
    let lines = "init ax 1\ninit bx 1\nt1 fork t2\nt1 fork t3\n\
                 t2 acquire a\nt2 write ax 2\nt2 read bx 1\nt2 release a\n\
                 t3 acquire b\nt3 write bx 3\nt3 read ax 2\nt3 release b\n";
    check(lines, &[(4, 9), (5, 8)], &[(4, 9), (5, 8)], &[(5, 8)]);
    // As Java does it, t3 needs what t2 has written to a.x before it writes b.x.
    let steps = "init ax 1\ninit bx 1\nt1 fork t2\nt1 fork t3\n\
                 t2 acquire a\nt2 read ax 1\nt2 read bx 1\nt2 write ax 2\nt2 release a\n\
                 t3 acquire b\nt3 read bx 1\nt3 read ax 2\nt3 write bx 3\nt3 release b\n";
    check(steps, &[(5, 11), (6, 10)], &[(5, 11), (6, 10)], &[(6, 10)]);
}

#[test]
fn nfm11_figure_2() {
    // Event 5 is the wait, event 11 its end.
    let text = "init x 0\nt1 fork t2\nt1 write x 1\nt1 acquire o\nt1 write x 0\nt1 wait c o\n\
                t2 acquire o\nt2 read x 0\nt2 notify_all c\nt2 release o\nt2 read x 0\n\
                t1 wake c o\nt1 release o\n";
    // Whoever notifies too early leaves the other waiting for ever: whole traces have no such
    // order.
    check(text, &[(2, 7), (2, 10), (4, 10)], &[], &[]);
}

#[test]
fn nfm11_figure_3() {
    let text = "init x 0\ninit y 0\n\
                t1 acquire l\nt1 write x 10\nt1 release l\n\
                t2 acquire l\nt2 read x 10\nt2 write y 20\nt2 release l\n\
                t1 acquire l\nt1 write x 20\nt1 release l\nt1 write y 30\n";
    // With a branch after the read, as the paper's authors would have it, no detector has a race.
    let guarded = text.replace("t2 read x 10\n", "t2 read x 10\nt2 branch\n");
    check(&guarded, &[], &[], &[]);
    // Without one, t2 may come last.
    check(text, &[(6, 11)], &[(6, 11)], &[]);
}

#[test]
fn a_race_before_a_deadlock_is_missed() {
    check(&example_trace("open-regions"), &[(4, 9)], &[], &[]);
}

#[test]
fn a_branch_of_a_third_thread_is_overlooked() {
    check(&example_trace("third-thread"), &[(5, 8)], &[(4, 14), (5, 8)], &[(5, 8)]);
}

#[test]
fn no_time_is_no_answer() {
    let trace: Trace = "t1 write x 1\nt2 write x 2\n".parse().unwrap();
    let (index, past) = (Index::new(&trace), Some(Instant::now()));
    let pair = conflicts(&trace)[0];
    let solver = || Box::new(OrderSolver::new());
    assert_eq!(Said::new(&trace, &index, solver()).is_race(pair, past), Claim::Unknown);
    assert_eq!(Paper::new(&trace, &index, solver()).is_race(pair, past), Claim::Unknown);
}

#[test]
fn said_asks_for_equation_3_and_not_for_neighbours() {
    // The reads of t3 keep the writes apart in every order, yet both are enabled at the start.
    let text = "t1 write x 1\nt3 read x 1\nt2 write x 2\nt3 read x 2\n";
    let races = &[(1, 2), (1, 3), (2, 3), (3, 4)];
    check(
        text,
        &[(1, 2), (1, 3), (1, 4), (2, 3), (3, 4)],
        &[(1, 2), (1, 3), (1, 4), (2, 3), (3, 4)],
        races,
    );
}

#[test]
fn one_notification_wakes_one() {
    // Event 16 needs both wake-ups, so both notifications, and event 8 comes between those.
    let text = "t0 fork t1\nt0 fork t2\nt1 acquire l\nt1 wait c l\nt2 acquire l\nt2 wait c l\n\
                t3 notify_one c t1\nt3 write x 1\nt3 notify_one c t2\nt1 wake c l\n\
                t1 release l\nt2 wake c l\nt2 release l\nt0 join t1\nt0 join t2\nt0 write x 2\n";
    check(text, &[], &[], &[]);
}

#[test]
fn who_times_out_has_not_been_notified() {
    // t2's region needs t1's y, so it could come before event 5 only during the wait.
    for notify in ["notify_all c", "notify_one c"] {
        let text = format!(
            "t1 acquire l\nt1 write y 1\nt1 wait c l\nt1 wake_timeout c l\nt1 write x 1\n\
             t1 release l\nt2 acquire l\nt2 read y 1\nt2 branch\nt2 {notify}\nt2 release l\n\
             t2 write x 2\n"
        );
        check(&text, &[], &[], &[]);
    }
}

#[test]
fn a_notification_is_not_spent_on_who_has_been_notified() {
    // As above, with t1 about, which t2 has notified before; that one cannot be chosen again.
    let text = "t1 acquire l\nt1 write z 1\nt1 wait c l\nt2 acquire l\nt2 read z 1\nt2 branch\n\
                t2 notify_all c\nt2 release l\nt3 acquire l\nt3 write y 1\nt3 wait c l\n\
                t3 wake_timeout c l\nt3 write x 1\nt3 release l\nt2 acquire l\nt2 read y 1\n\
                t2 branch\nt2 notify_one c\nt2 release l\nt2 write x 2\nt1 wake c l\n\
                t1 release l\n";
    check(text, &[], &[], &[]);
}

/// A trace that is small enough for an exhaustive search. Most turn on one family of operations.
fn tiny(seed: u64) -> (String, Trace) {
    use Family::{Branch, Condvar, Lock, Plain};
    let mut operations = vec![Plain, Plain, Plain, Branch];
    match ALL.get((seed % 16) as usize) {
        Some(Condvar) => operations.extend([Condvar, Condvar, Condvar, Condvar, Lock]),
        Some(family) => operations.extend([*family; 4]),
        None => operations.extend(ALL),
    }
    let foreign = usize::from(seed % 7 == 6);
    let shape = Shape {
        events: 10 + (seed / 16 % 11) as usize,
        threads: 2 + foreign + (seed / 4 % 3) as usize,
        vars: 1 + (seed / 5 % 2) as usize,
        objects: 1,
        operations,
        locations: false,
        unrecorded: seed.is_multiple_of(5),
        foreign,
        waits: false,
    };
    loaded(seed, &shape)
}

#[test]
fn said_equals_an_exhaustive_search() {
    let mut count = 0;
    for seed in 0..10_000 {
        let (text, trace) = tiny(seed);
        let expected: BTreeSet<Pair> =
            races_by_definition(&trace, &conflicts(&trace)).into_iter().collect();
        assert_eq!(said(&trace), expected, "seed {seed}\n{text}");
        count += expected.len();
    }
    assert!(count > 1000, "only {count} races");
}

#[test]
fn the_paper_s_detector_equals_its_formula() {
    use Family::{Branch, Lock, Plain};
    let mut count = [0; 2];
    for seed in 0..1500 {
        let shape = Shape {
            events: 7 + (seed % 4) as usize,
            threads: 2 + (seed / 4 % 2) as usize,
            vars: 1 + (seed / 5 % 2) as usize,
            objects: 1,
            operations: vec![Plain, Plain, Plain, Lock, Branch],
            locations: false,
            unrecorded: false,
            foreign: 0,
            waits: false,
        };
        let (text, trace) = loaded(seed, &shape);
        let expected = races_of_the_formula(&trace);
        assert_eq!(paper(&trace), expected, "seed {seed}\n{text}");
        count[1] += expected.len();
        count[0] += conflicts(&trace).len() - expected.len();
    }
    assert!(count.iter().all(|count| *count > 300), "{count:?}");
}

#[test]
fn prediction_and_the_paper_find_all_that_said_finds() {
    for seed in 10_000..14_000 {
        let (text, trace) = tiny(seed);
        let (said, paper, predicted) = (said(&trace), paper(&trace), predicted(&trace));
        assert!(said.is_subset(&predicted), "seed {seed}: {said:?} {predicted:?}\n{text}");
        assert!(said.is_subset(&paper), "seed {seed}: {said:?} {paper:?}\n{text}");
    }
}
