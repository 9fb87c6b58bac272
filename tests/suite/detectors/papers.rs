//! What the papers say of the detectors, on the traces of their figures.

use predictor::detect::{Findings, Scope, cp, hb, quick, wcp};
use predictor::trace::Trace;

use super::{complete, load, show, true_races};
use crate::support::example_trace;

/// What each detector says, and what is true.
struct Verdicts {
    hb: &'static str,
    cp: &'static str,
    wcp: &'static str,
    quick: &'static str,
    truth: &'static str,
}

/// A detector's function.
type Races = fn(&Trace, Scope) -> Findings;

fn check(text: &str, expected: &Verdicts) {
    let trace = load(text);
    let Verdicts { hb, cp, wcp, quick, truth } = *expected;
    let detectors: [(&str, Races, &str); 4] = [
        ("hb", hb::races, hb),
        ("cp", cp::races, cp),
        ("wcp", wcp::races, wcp),
        ("quick", quick::races, quick),
    ];
    for (name, races, expected) in detectors {
        let found = complete(races(&trace, Scope::AllPairs));
        assert_eq!(show(found), expected, "{name}\n{text}");
    }
    assert_eq!(show(true_races(&trace)), truth, "truth\n{text}");
}

/// Section 1: neither happens-before nor causally-precedes sees the race, the hybrid does.
#[test]
fn pldi14_figure_4() {
    let expected =
        Verdicts { hb: "none", cp: "none", wcp: "none", quick: "(3, 10)", truth: "(3, 10)" };
    check(&example_trace("pldi14-figure4"), &expected);
}

/// Section 1: with the first two lines exchanged there is no race; the hybrid says there is.
#[test]
fn pldi14_figure_4_with_the_fork_inside_the_lock() {
    let text = example_trace("pldi14-figure4")
        .replace("t1 fork t2\nt1 acquire l\n", "t1 acquire l\nt1 fork t2\n");
    assert!(text.contains("t1 acquire l\nt1 fork t2\n"));
    check(
        &text,
        &Verdicts { hb: "none", cp: "none", wcp: "none", quick: "(3, 10)", truth: "none" },
    );
}

/// Section 1: who does not know the control flow must take both cases for race-free.
#[test]
fn pldi14_figure_2() {
    let case_1 = Verdicts { hb: "none", cp: "none", wcp: "none", quick: "(1, 4)", truth: "(1, 4)" };
    check(&example_trace("pldi14-figure2-case1"), &case_1);
    let case_2 = Verdicts { hb: "none", cp: "none", wcp: "none", quick: "(1, 5)", truth: "none" };
    check(&example_trace("pldi14-figure2-case2"), &case_2);
}

/// Section 4.2: locksets warn of the writes of y, wrongly.
#[test]
fn nfm11_figure_3() {
    check(
        "t1 acquire l\n\
         t1 write x 10\n\
         t1 release l\n\
         t2 acquire l\n\
         t2 read x 10\n\
         t2 branch\n\
         t2 write y 20\n\
         t2 release l\n\
         t1 acquire l\n\
         t1 write x 20\n\
         t1 release l\n\
         t1 write y 30\n",
        &Verdicts { hb: "none", cp: "none", wcp: "none", quick: "(7, 12)", truth: "none" },
    );
}

/// Section 3.1: the race is on z; the hybrid reports x besides.
#[test]
fn pldi08_figure_1() {
    check(
        "t1 write x 1\n\
         t1 acquire l\n\
         t1 write y 1\n\
         t1 release l\n\
         t1 read z 0\n\
         t1 branch\n\
         t2 write z 1\n\
         t2 acquire l\n\
         t2 read y 1\n\
         t2 branch\n\
         t2 read x 1\n\
         t2 branch\n\
         t2 release l\n",
        &Verdicts {
            hb: "(5, 7)",
            cp: "(5, 7)",
            wcp: "(5, 7)",
            quick: "(1, 11) (5, 7)",
            truth: "(5, 7)",
        },
    );
}

/// What causally-precedes is for: critical sections that have nothing to do with each other do not
/// order what is outside them.
#[test]
fn sections_without_a_conflict_do_not_order() {
    let text = |first: &str, second: &str| {
        format!(
            "t1 write x 1\n\
             t1 acquire l\n\
             t1 write {first} 1\n\
             t1 release l\n\
             t2 acquire l\n\
             t2 write {second} 2\n\
             t2 release l\n\
             t2 write x 2\n"
        )
    };
    let apart =
        Verdicts { hb: "none", cp: "(1, 8)", wcp: "(1, 8)", quick: "(1, 8)", truth: "(1, 8)" };
    check(&text("a", "b"), &apart);
    // With a conflict it is none to causally-precedes; that writes may change places it cannot see.
    let together =
        Verdicts { hb: "none", cp: "none", wcp: "none", quick: "(1, 8)", truth: "(1, 8)" };
    check(&text("a", "a"), &together);
}

/// Rule (b): the inner sections conflict, so the outer ones are ordered.
#[test]
fn sections_that_contain_ordered_events_are_ordered() {
    check(
        "t1 write x 1\n\
         t1 acquire l\n\
         t1 acquire m\n\
         t1 write a 1\n\
         t1 release m\n\
         t1 release l\n\
         t2 acquire l\n\
         t2 release l\n\
         t2 acquire l\n\
         t2 acquire m\n\
         t2 read a 1\n\
         t2 branch\n\
         t2 release m\n\
         t2 release l\n\
         t2 write x 2\n",
        &Verdicts { hb: "none", cp: "none", wcp: "none", quick: "(1, 15)", truth: "none" },
    );
}

/// PLDI 2017, section 2: causally-precedes orders a release before the whole later section, weak
/// causal precedence only before the access that conflicts, and what comes after it.
#[test]
fn pldi17_accesses_before_the_conflict_are_not_ordered() {
    let text = |first: &str, second: &str| {
        format!(
            "t1 write y 1\n\
             t1 acquire l\n\
             t1 write x 1\n\
             t1 release l\n\
             t2 acquire l\n\
             t2 read {first} 1\n\
             t2 branch\n\
             t2 read {second} 1\n\
             t2 release l\n"
        )
    };
    let before =
        Verdicts { hb: "none", cp: "none", wcp: "(1, 6)", quick: "(1, 6)", truth: "(1, 6)" };
    check(&text("y", "x"), &before);
    let after = Verdicts { hb: "none", cp: "none", wcp: "none", quick: "(1, 8)", truth: "none" };
    check(&text("x", "y"), &after);
}

/// Rule (b) of weak causal precedence: the inner sections conflict, so the outer release comes
/// before the later outer release. Rule (a) does not say so: x is written after the inner section.
#[test]
fn releases_of_sections_with_ordered_events_are_ordered() {
    let text = |read: &str| {
        format!(
            "t1 acquire l\n\
             t1 acquire m\n\
             t1 write a 1\n\
             t1 release m\n\
             t1 write x 1\n\
             t1 release l\n\
             t2 acquire l\n\
             t2 acquire m\n\
             t2 read {read}\n\
             t2 branch\n\
             t2 release m\n\
             t2 release l\n\
             t2 write x 2\n"
        )
    };
    let related = Verdicts { hb: "none", cp: "none", wcp: "none", quick: "(5, 13)", truth: "none" };
    check(&text("a 1"), &related);
    let apart = "(5, 13)";
    check(
        &text("b 0"),
        &Verdicts { hb: "none", cp: apart, wcp: apart, quick: apart, truth: apart },
    );
}

/// The same rule of causally-precedes orders the release before the acquire, and so before what the
/// later section does before anything is related.
#[test]
fn rule_b_orders_releases_and_not_whole_sections() {
    let race = "(1, 8)";
    check(
        "t1 write x 1\n\
         t1 acquire l\n\
         t1 acquire m\n\
         t1 write a 1\n\
         t1 release m\n\
         t1 release l\n\
         t2 acquire l\n\
         t2 read x 1\n\
         t2 acquire m\n\
         t2 read a 1\n\
         t2 branch\n\
         t2 release m\n\
         t2 release l\n",
        &Verdicts { hb: "none", cp: "none", wcp: race, quick: race, truth: race },
    );
}
