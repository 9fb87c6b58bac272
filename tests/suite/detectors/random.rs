//! On random traces.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use predictor::detect::{Findings, Scope, cp, hb, quick, wcp};
use predictor::goal::{Pair, Signature};
use predictor::trace::Trace;
use racelog_tests::random_trace::{ALL, Family, Shape, random_trace};

use super::naive::{Relation, causally_precedes, happens_before, unordered, weakly_precedes};
use super::{complete, load, show, true_races};

/// Traces of all kinds, most of them with something to race for.
pub(super) fn text(seed: u64, events: usize) -> String {
    use Family::{Atomic, Barrier, Channel, Condvar, Exclusive, Lock, Park, Plain, TryLock};
    let mut operations = vec![Plain, Plain, Plain, Lock, Lock];
    match seed % 5 {
        0 => operations.extend([Lock, Condvar, Condvar, Condvar]),
        1 => operations.extend([Atomic, Atomic, Atomic, Family::Branch]),
        2 => operations.extend([Lock, Lock, TryLock, Exclusive]),
        3 => operations.extend([Park, Channel, Channel, Barrier, Barrier, Exclusive]),
        _ => operations.extend(ALL),
    }
    let foreign = usize::from(seed % 11 == 3) + usize::from(seed % 22 == 3);
    let shape = Shape {
        events,
        threads: 3 + (seed % 3) as usize + foreign,
        vars: 2 + (seed % 2) as usize,
        objects: 1 + (seed / 2 % 2) as usize,
        operations,
        locations: !seed.is_multiple_of(3),
        unrecorded: seed.is_multiple_of(7),
        foreign,
        waits: false,
    };
    random_trace(seed, &shape)
}

/// Traces of locks and plain accesses, for what critical sections order.
fn locked_text(seed: u64, events: usize) -> String {
    let shape = Shape {
        events,
        threads: 2 + (seed % 3) as usize,
        vars: 3 + (seed % 3) as usize,
        objects: 1 + (seed / 2 % 3) as usize,
        operations: vec![Family::Plain, Family::Plain, Family::Lock, Family::Lock, Family::Lock],
        locations: false,
        unrecorded: false,
        foreign: 0,
        waits: false,
    };
    random_trace(seed, &shape)
}

fn signatures(trace: &Trace, pairs: impl IntoIterator<Item = Pair>) -> BTreeSet<Signature> {
    pairs.into_iter().map(|pair| pair.signature(trace)).collect()
}

#[test]
fn happens_before_is_what_the_definition_says() {
    let mut count = 0;
    for seed in 0..1500 {
        let text = text(seed, 40);
        let trace = load(&text);
        let expected = unordered(&trace, &happens_before(&trace, |_| false));
        let found = complete(hb::races(&trace, Scope::AllPairs));
        assert_eq!(show(found), show(expected.iter().copied()), "seed {seed}\n{text}");
        count += expected.len();
        let first = expected.iter().min_by_key(|pair| (pair.second(), Reverse(pair.first())));
        assert_eq!(hb::first_race(&trace).as_ref(), first, "seed {seed}\n{text}");
    }
    assert!(count > 10_000, "only {count} pairs");
}

#[test]
fn every_signature_is_found_and_none_besides() {
    // A few long ones, for whatever is remembered between accesses of one kind.
    let sizes = (0..1500).map(|seed| (seed, 60)).chain((1500..1600).map(|seed| (seed, 600)));
    for (seed, events) in sizes {
        let text = text(seed, events);
        let trace = load(&text);
        for detect in [hb::races, cp::races, wcp::races, quick::races] {
            let all = complete(detect(&trace, Scope::AllPairs));
            let some = complete(detect(&trace, Scope::Signatures));
            let expected = signatures(&trace, all.iter().copied());
            assert_eq!(signatures(&trace, some.iter().copied()), expected, "seed {seed}\n{text}");
            assert_eq!(some.len(), expected.len(), "seed {seed}: one each\n{text}");
            assert!(some.iter().all(|pair| all.contains(pair)), "seed {seed}\n{text}");
        }
    }
}

/// Holds a detector against its definition; how many pairs it finds that happens-before orders.
fn gained(
    races: fn(&Trace, Scope) -> Findings,
    first_race: fn(&Trace) -> Option<Pair>,
    definition: fn(&Trace) -> Relation,
) -> usize {
    let mut gained = 0;
    let texts = (0..800).map(|seed| (seed, text(seed, 36)));
    for (seed, text) in texts.chain((0..400).map(|seed| (seed, locked_text(seed, 44)))) {
        let trace = load(&text);
        let expected = unordered(&trace, &definition(&trace));
        let found = complete(races(&trace, Scope::AllPairs));
        assert_eq!(show(found), show(expected.iter().copied()), "seed {seed}\n{text}");
        let happens = unordered(&trace, &happens_before(&trace, |_| false));
        gained += expected.difference(&happens).count();
        let first = expected.iter().min_by_key(|pair| (pair.second(), Reverse(pair.first())));
        assert_eq!(first_race(&trace).as_ref(), first, "seed {seed}\n{text}");
    }
    gained
}

#[test]
fn causally_precedes_is_what_the_definition_says() {
    let gained = gained(cp::races, cp::first_race, causally_precedes);
    assert!(gained > 100, "only {gained} pairs that happens-before orders");
}

#[test]
fn weak_causal_precedence_is_what_the_definition_says() {
    let gained = gained(wcp::races, wcp::first_race, weakly_precedes);
    assert!(gained > 200, "only {gained} pairs that happens-before orders");
}

#[test]
fn windows_lose_pairs_and_add_none() {
    let mut lost = 0;
    for seed in 0..600 {
        let text = text(seed, 60);
        let trace = load(&text);
        let whole = complete(cp::races(&trace, Scope::AllPairs));
        let windows = cp::races_in_windows(&trace, Scope::AllPairs, 17);
        let expected = (trace.len() > 17).then_some(trace.len().div_ceil(17));
        assert_eq!(windows.limits.windows, expected);
        assert!(windows.pairs.iter().all(|pair| whole.contains(pair)), "seed {seed}\n{text}");
        lost += whole.len() - windows.pairs.len();
    }
    assert!(lost > 100, "only {lost}");
}

/// Every detector finds what a stricter one finds.
#[test]
fn each_detector_finds_what_the_stricter_one_finds() {
    let mut gained = 0;
    let texts = (0..1500).map(|seed| (seed, text(seed, 50)));
    for (seed, text) in texts.chain((0..500).map(|seed| (seed, locked_text(seed, 60)))) {
        let trace = load(&text);
        let hb = complete(hb::races(&trace, Scope::AllPairs));
        let cp = complete(cp::races(&trace, Scope::AllPairs));
        let wcp = complete(wcp::races(&trace, Scope::AllPairs));
        let quick = complete(quick::races(&trace, Scope::AllPairs));
        // To causally-precedes an atomic variable is volatile, whatever its orderings.
        let atomics = trace.events().any(|event| trace.op(event).is_atomic());
        assert!(atomics || hb.iter().all(|pair| cp.contains(pair)), "seed {seed}\n{text}");
        assert!(cp.iter().all(|pair| wcp.contains(pair)), "seed {seed}\n{text}");
        assert!(wcp.iter().all(|pair| quick.contains(pair)), "seed {seed}\n{text}");
        gained += wcp.len() - cp.len();
        assert!(hb.iter().all(|pair| quick.contains(pair)), "seed {seed}\n{text}");
    }
    assert!(gained > 100, "only {gained} pairs that causally-precedes orders");
}

#[test]
fn every_race_passes_the_quick_check() {
    let (mut count, mut passed) = (0, 0);
    for seed in 0..800 {
        let text = text(seed, 18);
        let trace = load(&text);
        let races = true_races(&trace);
        let quick = complete(quick::races(&trace, Scope::AllPairs));
        for race in &races {
            assert!(quick.contains(race), "seed {seed}: {}\n{text}", show([*race]));
        }
        count += races.len();
        passed += quick.len();
    }
    assert!(count > 500, "only {count} races");
    assert!(passed > count, "a filter that lets nothing else through is no filter");
}

#[test]
fn what_is_too_weak_is_what_would_order_the_pair() {
    let (mut helped, mut beyond_help) = (0, 0);
    for seed in 0..3000 {
        let text = text(5 * seed + 1, 30);
        let trace = load(&text);
        let strong = happens_before(&trace, |_| true);
        for pair in complete(hb::races(&trace, Scope::AllPairs)) {
            let orders =
                |relation: &[Vec<bool>]| relation[pair.first().index()][pair.second().index()];
            let links: Vec<_> =
                hb::weak_links(&trace, pair).iter().map(|link| link.event).collect();
            let context = || format!("seed {seed}: {} {links:?}\n{text}", show([pair]));
            assert_eq!(links.is_empty(), !orders(&strong), "{}", context());
            if links.is_empty() {
                beyond_help += 1;
                continue;
            }
            helped += 1;
            assert!(
                orders(&happens_before(&trace, |event| links.contains(&event))),
                "{}",
                context()
            );
            for spared in &links {
                let others = |event| links.contains(&event) && event != *spared;
                assert!(!orders(&happens_before(&trace, others)), "{}", context());
            }
        }
    }
    assert!(helped > 300 && beyond_help > 300, "only {helped} and {beyond_help}");
}

#[test]
fn what_is_forgotten_is_counted() {
    let mut text = "t0 write x 0\n".repeat(1000);
    text += "t1 write x 0\n";
    let trace = load(&text);
    let findings = hb::races(&trace, Scope::Signatures);
    assert!(!findings.limits.is_complete());
    assert_eq!(findings.limits.forgotten + findings.pairs.len() as u64, 1000);
    assert_eq!(complete(hb::races(&trace, Scope::AllPairs)).len(), 1000);
    // With locations there is but one signature.
    let located = load(&text.replace(" 0\n", " 0 @ main.rs:1\n"));
    assert_eq!(complete(hb::races(&located, Scope::Signatures)).len(), 1);
}
