//! Memory orderings: what a stated ordering orders, and what is said of one that is too weak.

use predictor::detect::{Scope, hb};

use super::{complete, load, show};

/// `expected` is the pairs, and of each the accesses that are too weak.
fn check(text: &str, expected: &str) {
    let trace = load(text);
    let mut shown = Vec::new();
    for pair in complete(hb::races(&trace, Scope::AllPairs)) {
        let links: Vec<String> = hb::weak_links(&trace, pair)
            .iter()
            .map(|link| format!("{} {:?}", link.event, link.ordering))
            .collect();
        shown.push(format!("{} too weak: {}", show([pair]), links.join(", ")));
    }
    let shown = if shown.is_empty() { "silent".to_owned() } else { shown.join("; ") };
    assert_eq!(shown, expected, "{text}");
}

/// A message passed through a flag: thread t1 stores it, t2 loads it.
fn message_passing(store: &str, load: &str, expected: &str) {
    check(
        &format!("t1 write x 1\nt1 store f 1{store}\nt2 load f 1{load}\nt2 read x 1\n"),
        expected,
    );
}

#[test]
fn a_message_is_passed_by_release_and_acquire() {
    message_passing(" release", " acquire", "silent");
    message_passing("", "", "silent");
    message_passing(" seqcst", " acquire", "silent");
    message_passing(" acqrel", " acqrel", "silent");
    message_passing(" relaxed", " acquire", "(1, 4) too weak: 2 Relaxed");
    message_passing(" release", " relaxed", "(1, 4) too weak: 3 Relaxed");
    message_passing(" relaxed", " relaxed", "(1, 4) too weak: 2 Relaxed, 3 Relaxed");
    message_passing(" acquire", " release", "(1, 4) too weak: 2 Acquire, 3 Release");
}

#[test]
fn compare_exchanges_synchronise_like_other_accesses() {
    for (read, expected) in [
        ("cas f 1 2 acquire", "silent"),
        ("cas f 1 2", "silent"),
        ("cas f 1 2 release", "(1, 4) too weak: 3 Release"),
        ("cas_fail f 1 acquire", "silent"),
        ("cas_fail f 1 relaxed", "(1, 4) too weak: 3 Relaxed"),
        ("rmw f 1 2 acqrel", "silent"),
        ("rmw f 1 2 relaxed", "(1, 4) too weak: 3 Relaxed"),
    ] {
        check(&format!("t1 write x 1\nt1 store f 1 release\nt2 {read}\nt2 read x 1\n"), expected);
        let write = read.starts_with("cas ") || read.starts_with("rmw");
        if write {
            let released = if read.ends_with("acquire") || read.ends_with("relaxed") {
                let ordering = if read.ends_with("acquire") { "Acquire" } else { "Relaxed" };
                format!("(1, 4) too weak: 2 {ordering}")
            } else {
                "silent".to_owned()
            };
            let trace =
                format!("init f 1\nt1 write x 1\nt1 {read}\nt2 load f 2 acquire\nt2 read x 1\n");
            check(&trace, &released);
        }
    }
}

/// A message passed through a flag whose accesses are relaxed, with these fences.
fn fences(release: &str, acquire: &str, expected: &str) {
    check(
        &format!(
            "t1 write x 1\n\
             t1 fence {release}\n\
             t1 store f 1 relaxed\n\
             t2 load f 1 relaxed\n\
             t2 fence {acquire}\n\
             t2 read x 1\n"
        ),
        expected,
    );
}

#[test]
fn fences_make_up_for_relaxed_accesses() {
    fences("release", "acquire", "silent");
    fences("acqrel", "acqrel", "silent");
    fences("seqcst", "seqcst", "silent");
    fences("acquire", "acquire", "(1, 6) too weak: 3 Relaxed");
    fences("release", "release", "(1, 6) too weak: 4 Relaxed");
    fences("relaxed", "relaxed", "(1, 6) too weak: 3 Relaxed, 4 Relaxed");
}

#[test]
fn a_fence_on_the_wrong_side_does_not() {
    check(
        "t1 write x 1\n\
         t1 store f 1 relaxed\n\
         t1 fence release\n\
         t2 fence acquire\n\
         t2 load f 1 relaxed\n\
         t2 read x 1\n",
        "(1, 6) too weak: 2 Relaxed, 5 Relaxed",
    );
}

#[test]
fn a_release_fence_publishes_what_came_before_it_only() {
    check(
        "t1 fence release\n\
         t1 write x 1\n\
         t1 store f 1 relaxed\n\
         t2 load f 1 acquire\n\
         t2 read x 1\n",
        "(2, 5) too weak: 3 Relaxed",
    );
}

#[test]
fn a_release_sequence_goes_on_through_updates() {
    for update in ["rmw f 1 2 relaxed", "cas f 1 2 relaxed", "rmw f 1 2 acquire"] {
        check(
            &format!(
                "t1 write x 1\n\
                 t1 store f 1 release\n\
                 t3 {update}\n\
                 t2 load f 2 acquire\n\
                 t2 read x 1\n"
            ),
            "silent",
        );
    }
}

#[test]
fn a_store_ends_a_release_sequence() {
    // No ordering of the store would help: its thread has not seen the write.
    check(
        "t1 write x 1\n\
         t1 store f 1 release\n\
         t3 store f 2 relaxed\n\
         t2 load f 2 acquire\n\
         t2 read x 1\n",
        "(1, 5) too weak: ",
    );
    // In C++11 a store of the same thread continued it; since C++20 it does not.
    check(
        "t1 write x 1\n\
         t1 store f 1 release\n\
         t1 store f 2 relaxed\n\
         t2 load f 2 acquire\n\
         t2 read x 1\n",
        "(1, 5) too weak: 3 Relaxed",
    );
}

#[test]
fn reading_an_earlier_value_orders_nothing() {
    check(
        "t2 load f 0\n\
         t1 write x 1\n\
         t1 store f 1\n\
         t2 read x 1\n",
        "(2, 4) too weak: ",
    );
}

#[test]
fn sequential_consistency_alone_is_no_happens_before() {
    // Each stores its own flag and loads the other's; who loads 0 goes on, and here t1 did. That t2
    // loaded t1's flag orders t2 after the store, not after what t1 did because of its load.
    check(
        "t1 store a 1 seqcst\n\
         t1 load b 0 seqcst\n\
         t1 write x 1\n\
         t2 store b 1 seqcst\n\
         t2 load a 1 seqcst\n\
         t2 write x 2\n",
        "(3, 6) too weak: ",
    );
    // With fences between the accesses it is the same.
    check(
        "t1 store a 1 relaxed\n\
         t1 fence seqcst\n\
         t1 load b 0 relaxed\n\
         t1 write x 1\n\
         t2 store b 1 relaxed\n\
         t2 fence seqcst\n\
         t2 load a 1 relaxed\n\
         t2 write x 2\n",
        "(4, 8) too weak: ",
    );
    // Once t1 has taken its flag back and t2 has seen that, the data are handed over.
    check(
        "t1 store a 1 seqcst\n\
         t1 load b 0 seqcst\n\
         t1 write x 1\n\
         t1 store a 0 seqcst\n\
         t2 store b 1 seqcst\n\
         t2 load a 0 seqcst\n\
         t2 write x 2\n",
        "silent",
    );
}

#[test]
fn a_plain_write_releases_nothing() {
    check(
        "t1 write x 1\n\
         t1 store f 1 release\n\
         t1 write f 2\n\
         t2 load f 2 acquire\n\
         t2 read x 1\n",
        "(1, 5) too weak: ; (3, 4) too weak: ",
    );
}

#[test]
fn the_shortest_way_to_order_is_named() {
    // One flag would need two changes, the other one.
    check(
        "t1 write x 1\n\
         t1 store f 1 relaxed\n\
         t1 store g 1 relaxed\n\
         t2 load f 1 relaxed\n\
         t2 load g 1 acquire\n\
         t2 read x 1\n",
        "(1, 6) too weak: 3 Relaxed",
    );
}
