//! Instrumented programs: what is recorded of them, and which races follow.

use std::collections::BTreeSet;
use std::process::Command;

use predictor::trace::{EventId, Op, Trace};

use crate::support::{self, repository, true_races};

/// Runs a program, recorded, and loads its trace, which must be valid.
fn record(args: &[&str]) -> Trace {
    let mut command = Command::new(env!("CARGO_BIN_EXE_instrumented"));
    command.args(args);
    support::record(command, &format!("{args:?}"))
}

/// What the comment says at the end of the line that an event comes from.
fn remark(trace: &Trace, event: EventId) -> String {
    let remark = support::remark(trace, event, repository());
    remark.unwrap_or_else(|place| panic!("{place} has no remark"))
}

/// The remarks of all races.
fn races(args: &[&str]) -> BTreeSet<(String, String)> {
    let trace = record(args);
    true_races(&trace)
        .into_iter()
        .map(|pair| (remark(&trace, pair.first()), remark(&trace, pair.second())))
        .collect()
}

fn check(program: &str, expected: &[(&str, &str)]) {
    let expected = expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    assert_eq!(races(&[program]), expected, "{program}");
}

#[test]
fn the_figures_of_the_paper_have_their_races() {
    check("figure1", &[("line 3", "line 10")]);
    check("figure1-switched", &[]);
    check("figure2-case1", &[("line 1", "line 4")]);
    check("figure2-case2", &[]);
}

#[test]
fn the_index_of_an_array_is_a_branch() {
    check("array", &[]);
    check("array-element", &[("line 2", "line 7")]);
}

#[test]
fn without_the_attribute_every_read_is_a_branch() {
    let programs = ["figure1", "figure1-switched", "figure2-case1", "figure2-case2", "array"];
    for program in programs.into_iter().chain(["array-element"]) {
        assert_eq!(races(&["plain", program]), BTreeSet::new(), "{program}");
    }
}

#[test]
fn seeded_bugs_of_unsafe_code_are_found_and_nothing_else() {
    check("ring", &[]);
    check("ring-bug", &[("late write", "read")]);
    check("static", &[]);
    check("static-bug", &[("update without the lock", "read with the lock")]);
    check("spin", &[]);
    check("spin-bug", &[("late update", "update")]);
    check("once", &[]);
    check("once-bug", &[("early read", "write")]);
}

/// The accesses of bare memory, with their values.
fn accesses(program: &str) -> Vec<String> {
    let trace = record(&[program]);
    let mut printer = trace.printer();
    let mut accesses = Vec::new();
    for event in trace.events() {
        if matches!(trace.op(event), Op::Read { .. } | Op::Write { .. }) {
            let line = printer.event(event);
            let words: Vec<&str> = line.split(' ').collect();
            if words[2].starts_with('[') {
                let (_, size) = words[2].split_once('+').expect("it has a size");
                accesses.push(format!("{} {} of {}", words[1], words[3], &size[..size.len() - 1]));
            }
        }
    }
    accesses
}

#[test]
fn accesses_of_bare_memory_are_recorded_with_their_values() {
    assert_eq!(accesses("ring"), ["write 7 of 8", "read 7 of 8"]);
    let static_mut = ["read 5 of 4", "write 7 of 4", "read 7 of 4", "write 8 of 4", "read 8 of 4"];
    assert_eq!(accesses("static"), static_mut);
    let spin = ["read -1 of 4", "write 2 of 4", "read 2 of 4", "write 6 of 4"];
    assert_eq!(accesses("spin"), spin);
    assert_eq!(accesses("once"), ["write 97 of 4", "read 97 of 4"]);
    assert_eq!(accesses("once-bug"), ["read 32 of 4", "write 98 of 4"]);
}

#[test]
fn words_behind_guards_are_read_without_a_branch_where_nothing_is_decided() {
    let race = [("line 1", "line 4")];
    for kind in ["mutex", "rwlock", "niche", "written", "updated", "compared", "same"] {
        check(&format!("guard-{kind}"), &race);
    }
    let decided = ["mutex-decided", "rwlock-decided", "niche-decided", "compared-decided"];
    for kind in decided.into_iter().chain(["lent", "shown", "followed"]) {
        check(&format!("guard-{kind}"), &[]);
    }
}

#[test]
fn without_the_attribute_words_behind_guards_have_values_and_branches() {
    for kind in ["mutex", "rwlock", "niche", "written", "compared", "updated", "lent", "followed"] {
        assert_eq!(races(&["plain", &format!("guard-{kind}")]), BTreeSet::new(), "{kind}");
    }
    let race = BTreeSet::from([("line 1".to_owned(), "line 4".to_owned())]);
    assert_eq!(races(&["plain", "guard-same"]), race);
}

/// Where values come from costs nothing where nobody says it: no event of code that is not
/// instrumented has anything said of it.
#[test]
fn without_the_attribute_nothing_is_said_of_values() {
    let programs = ["figure1", "figure2-case1", "array", "static", "ring", "spin", "once"];
    for program in programs {
        assert!(!record(&["plain", program]).has_data(), "{program}");
    }
    assert!(record(&["guard-updated"]).has_data());
}

/// A change that is recorded late races with nobody to whom the guard was shown, and comes before
/// the lock is given back to wait.
#[test]
fn words_behind_guards_that_are_shown_or_waited_with_do_not_race() {
    for kind in ["guard-shared", "guard-waits"] {
        assert_eq!(races(&["plain", kind]), BTreeSet::new(), "{kind}");
        assert_eq!(races(&[kind]), BTreeSet::new(), "{kind}");
    }
}

#[test]
fn accesses_of_words_behind_guards_have_their_values() {
    // A read, an assignment, an update; then two references, by one of which something is written:
    // that is said when the guard is used again, or goes.
    let number = "read 1, write 3, read 3, write 15, read 15, write 15, read 15, write 16, ";
    let others = "read 1, write 0, read 0, read 7";
    // Elsewhere an assignment is by a reference.
    for (args, first) in [(&["guard-values"][..], ""), (&["plain", "guard-values"], "read 1, ")] {
        let trace = record(args);
        let mut printer = trace.printer();
        let mut said = Vec::new();
        for event in trace.events() {
            if matches!(trace.op(event), Op::Read { .. } | Op::Write { .. }) {
                let line = printer.event(event);
                let words: Vec<&str> = line.split(' ').collect();
                if words[0] != "main" {
                    said.push(format!("{} {}", words[1], words[3]));
                }
            }
        }
        assert_eq!(said.join(", "), format!("{first}{number}{others}"), "{args:?}");
    }
}

#[test]
fn what_is_not_instrumented_decides_by_every_read() {
    check("edge-none", &[("line 1", "line 4")]);
    let kinds = [
        "call",
        "method",
        "trait-object",
        "closure",
        "macro",
        "destructor",
        "overwritten",
        "operator",
        "panic",
        "generic",
        "reference",
        "uninstrumented",
    ];
    for kind in kinds {
        let program = format!("edge-{kind}");
        let trace = record(&[&program]);
        let arrives = trace.events().any(|event| is_at(&trace, event, "line 4"));
        assert!(arrives, "{program} does not come to line 4");
        assert_eq!(races(&[&program]), BTreeSet::new(), "{program}");
    }
}

/// Whether an event is an access on the line with this remark.
fn is_at(trace: &Trace, event: EventId, wanted: &str) -> bool {
    let reads = matches!(trace.op(event), Op::Read { .. });
    reads && trace.printer().location(event).is_some() && remark(trace, event) == wanted
}
