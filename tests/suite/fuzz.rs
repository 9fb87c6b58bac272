//! A short run of each fuzz target; `--bin fuzz` runs longer.

use racelog_tests::fuzz::{TARGETS, corpus, run};

#[test]
fn the_readers_keep_their_promises() {
    for (name, target) in TARGETS {
        let corpus = corpus(name).unwrap();
        assert!(corpus.len() > 2, "the corpus of {name} is missing");
        for input in &corpus {
            target(input);
        }
        run(target, &corpus, 20, 3000, |_, _| {});
    }
}
