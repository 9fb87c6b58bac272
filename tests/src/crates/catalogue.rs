//! Which crates are tried.

/// A crate, and what its tests need to be built.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What it is called.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Arguments of cargo: features.
    pub features: &'static [&'static str],
    /// Features of racelog's that it needs besides `record`.
    pub racelog: &'static [&'static str],
    /// What the rule for imports cannot do, and somebody who converts the crate does by hand.
    pub by_hand: &'static [Rewrite],
    /// Files that are left out, from its folder: tests of what needs a runtime for futures, whose
    /// threads racelog does not see.
    pub left_out: &'static [&'static str],
    /// Tests that are not run, not recorded either.
    pub skipped: &'static [&'static str],
}

/// A text in a file that is replaced by another.
#[derive(Clone, Copy, Debug)]
pub struct Rewrite {
    /// The file, from the crate's folder.
    pub file: &'static str,
    /// What stands there, once.
    pub from: &'static str,
    /// What stands there then.
    pub to: &'static str,
}

const fn entry(name: &'static str, version: &'static str) -> Entry {
    Entry { name, version, features: &[], racelog: &[], by_hand: &[], left_out: &[], skipped: &[] }
}

/// The crates.
pub const CRATES: [Entry; 25] = [
    entry("arc-swap", "1.9.3"),
    entry("async-channel", "2.5.0"),
    entry("boxcar", "0.2.14"),
    entry("bus", "2.4.1"),
    entry("concurrent-queue", "2.5.0"),
    entry("crossbeam-channel", "0.5.17"),
    entry("crossbeam-deque", "0.8.8"),
    Entry {
        // It loads its atomics by a trait of crossbeam-utils.
        racelog: &["crossbeam"],
        ..entry("crossbeam-epoch", "0.9.21")
    },
    entry("crossbeam-queue", "0.3.14"),
    Entry {
        // A `const fn`: what racelog's `UnsafeCell` says of `get` tells why, and what to write.
        by_hand: &[Rewrite {
            file: "src/atomic/atomic_cell.rs",
            from: "self.value.get().cast::<T>()",
            to: "UnsafeCell::raw_get(&self.value).cast::<T>()",
        }],
        ..entry("crossbeam-utils", "0.8.23")
    },
    entry("dashmap", "6.2.1"),
    entry("event-listener", "5.4.2"),
    Entry {
        features: &["--no-default-features", "--features", "select,eventual-fairness"],
        left_out: &["tests/async.rs", "tests/stream.rs"],
        ..entry("flume", "0.12.0")
    },
    entry("left-right", "0.11.8"),
    entry("once_cell", "1.21.4"),
    Entry {
        features: &["--no-default-features", "--features", "std"],
        left_out: &["tests/async.rs", "tests/future.rs"],
        ..entry("oneshot", "0.2.1")
    },
    entry("parking", "2.2.1"),
    entry("rayon-core", "1.13.0"),
    entry("rtrb", "0.4.1"),
    entry("sharded-slab", "0.1.7"),
    entry("spin", "0.12.3"),
    entry("thread_local", "1.1.10"),
    entry("threadpool", "1.8.1"),
    entry("triomphe", "0.1.17"),
    entry("try-lock", "0.2.5"),
];
