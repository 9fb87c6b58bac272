//! What is known of the names of std and of other crates: what synchronises, and what does not.

use super::What;

/// What a name is, as far as recording is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// It is recorded, or orders nothing, or is a module in which all kinds of things are.
    Fine,
    /// It is not recorded. So many segments of the path are its name.
    Listed(What, usize),
}

/// Functions of `Arc` that go by its counts.
const BY_COUNTS: [&str; 9] = [
    "get_mut",
    "get_mut_unchecked",
    "into_inner",
    "is_unique",
    "make_mut",
    "strong_count",
    "try_unwrap",
    "unwrap_or_clone",
    "weak_count",
];

/// What is in `std::sync` and orders nothing.
const FINE_IN_SYNC: [&str; 8] = [
    "BarrierWaitResult",
    "LockResult",
    "ONCE_INIT",
    "OnceState",
    "PoisonError",
    "TryLockError",
    "TryLockResult",
    "WaitTimeoutResult",
];

/// What is in `std::sync` besides and that a glob import brings.
const IN_SYNC: [&str; 18] = [
    "Arc",
    "Barrier",
    "Condvar",
    "LazyLock",
    "MappedMutexGuard",
    "MappedRwLockReadGuard",
    "MappedRwLockWriteGuard",
    "Mutex",
    "MutexGuard",
    "Once",
    "OnceLock",
    "ReentrantLock",
    "RwLock",
    "RwLockReadGuard",
    "RwLockWriteGuard",
    "Weak",
    "atomic",
    "mpsc",
];

/// What is in `std::thread` and orders nothing between threads.
const FINE_IN_THREAD: [&str; 12] = [
    "AccessError",
    "LocalKey",
    "Result",
    "ThreadId",
    "available_parallelism",
    "current",
    "local_impl",
    "panicking",
    "sleep",
    "sleep_ms",
    "sleep_until",
    "yield_now",
];

/// What is in `std::thread` and starts threads, or waits for them.
const IN_THREAD: [&str; 10] = [
    "Builder",
    "JoinHandle",
    "Scope",
    "ScopedJoinHandle",
    "Thread",
    "park",
    "park_timeout",
    "park_timeout_ms",
    "scope",
    "spawn",
];

/// A crate that synchronises.
struct Synchronising {
    /// Its name, in code.
    name: &'static str,
    what: What,
    /// What of it orders nothing: names right below the crate.
    fine: &'static [&'static str],
    /// Whether threads speak to each other through it. Others only make something once.
    speaks: bool,
}

const fn all(name: &'static str, what: What) -> Synchronising {
    Synchronising { name, what, fine: &[], speaks: true }
}

const fn but(name: &'static str, fine: &'static [&'static str]) -> Synchronising {
    Synchronising { name, what: What::Sync, fine, speaks: true }
}

const fn once(name: &'static str, fine: &'static [&'static str]) -> Synchronising {
    Synchronising { name, what: What::Sync, fine, speaks: false }
}

const CRATES: [Synchronising; 47] = [
    all("actix", What::Thread),
    all("actix_rt", What::Thread),
    all("arc_swap", What::Sync),
    all("async_channel", What::Sync),
    all("async_executor", What::Thread),
    all("async_global_executor", What::Thread),
    all("async_lock", What::Sync),
    all("async_std", What::Thread),
    all("atomic", What::Sync),
    all("atomic_refcell", What::Sync),
    all("blocking", What::Thread),
    all("bus", What::Sync),
    all("concurrent_queue", What::Sync),
    all("conc", What::Sync),
    all("crossbeam", What::Sync),
    all("crossbeam_channel", What::Sync),
    all("crossbeam_deque", What::Sync),
    all("crossbeam_epoch", What::Sync),
    all("crossbeam_queue", What::Sync),
    all("crossbeam_skiplist", What::Sync),
    but("crossbeam_utils", &["Backoff", "CachePadded"]),
    all("dashmap", What::Sync),
    all("event_listener", What::Sync),
    all("evmap", What::Sync),
    all("flume", What::Sync),
    all("futures", What::Sync),
    all("futures_channel", What::Sync),
    all("futures_executor", What::Thread),
    but("futures_util", &["future", "stream", "sink", "io"]),
    all("kanal", What::Sync),
    once("lazy_static", &[]),
    all("left_right", What::Sync),
    all("lock_api", What::Sync),
    all("loom", What::Sync),
    all("moka", What::Sync),
    once("once_cell", &["unsync"]),
    all("parking", What::Sync),
    all("parking_lot", What::Sync),
    all("parking_lot_core", What::Sync),
    all("portable_atomic", What::Sync),
    all("rayon", What::Thread),
    all("rayon_core", What::Thread),
    all("shuttle", What::Sync),
    all("smol", What::Thread),
    all("spin", What::Sync),
    all("threadpool", What::Thread),
    all("tokio", What::Thread),
];

/// Whether a dependency synchronises by itself, so that threads that use it may be ordered by it.
pub fn is_synchronising(package: &str) -> bool {
    let name = package.replace('-', "_");
    CRATES.iter().any(|one| one.speaks && one.name == name)
}

/// What a full path names. Its first segment is the name of a crate.
pub(super) fn verdict(path: &[String], recorded_arc: bool) -> Verdict {
    let words: Vec<&str> = path.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["std" | "core" | "alloc", "sync", rest @ ..] => in_sync(rest),
        ["std", "thread", name, ..] if FINE_IN_THREAD.contains(name) => Verdict::Fine,
        ["std", "thread", name, ..] if *name != "*" => Verdict::Listed(What::Thread, 3),
        ["std", "thread", _] => Verdict::Listed(What::Thread, 3),
        ["racelog", "sync", name @ ("Arc" | "Weak"), rest @ ..] if !recorded_arc => arc(name, rest),
        [name, inner, rest @ ..] => match CRATES.iter().find(|one| one.name == *name) {
            Some(one) if one.fine.contains(inner) => Verdict::Fine,
            // Of a group of crates: `crossbeam::utils::Backoff`.
            Some(_) if rest.iter().any(|name| ["Backoff", "CachePadded"].contains(name)) => {
                Verdict::Fine
            }
            Some(one) => Verdict::Listed(one.what, path.len()),
            None => Verdict::Fine,
        },
        _ => Verdict::Fine,
    }
}

/// What is below `std::sync`.
fn in_sync(rest: &[&str]) -> Verdict {
    match rest {
        [] => Verdict::Fine,
        ["*"] => Verdict::Listed(What::Sync, 3),
        [name @ ("Arc" | "Weak"), rest @ ..] => arc(name, rest),
        ["atomic" | "mpsc"] => Verdict::Fine,
        ["atomic", name, ..] => {
            let is_order = *name == "*" || *name == "fence" || name.starts_with("Atomic");
            if is_order { Verdict::Listed(What::Sync, 4) } else { Verdict::Fine }
        }
        ["mpsc", name, ..] if name.ends_with("Error") => Verdict::Fine,
        ["mpsc", ..] => Verdict::Listed(What::Sync, 4),
        [name, ..] if FINE_IN_SYNC.contains(name) => Verdict::Fine,
        // A module that is newer than this list.
        [name, _, ..] if name.starts_with(|c: char| c.is_lowercase()) => {
            Verdict::Listed(What::Sync, 4)
        }
        [name] if name.starts_with(|c: char| c.is_lowercase()) => Verdict::Fine,
        _ => Verdict::Listed(What::Sync, 3),
    }
}

/// An `Arc`, or a `Weak`, which is there to be asked whether an owner is left.
fn arc(name: &str, rest: &[&str]) -> Verdict {
    match rest {
        _ if name == "Weak" => Verdict::Listed(What::ArcOrder, 3),
        [function, ..] if BY_COUNTS.contains(function) => Verdict::Listed(What::ArcOrder, 4),
        _ => Verdict::Listed(What::Arc, 3),
    }
}

/// Whether a glob import of this module brings this name.
pub(super) fn brings(module: &[String], name: &str) -> bool {
    let words: Vec<&str> = module.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["std" | "core" | "alloc" | "racelog", "sync"] => {
            IN_SYNC.contains(&name) || FINE_IN_SYNC.contains(&name)
        }
        ["std" | "core" | "racelog", "sync", "atomic"] => {
            name.starts_with("Atomic") || ["Ordering", "fence", "compiler_fence"].contains(&name)
        }
        ["std" | "racelog", "thread"] => {
            IN_THREAD.contains(&name) || FINE_IN_THREAD.contains(&name)
        }
        ["std" | "racelog"] => ["cell", "hint", "sync", "thread", "time"].contains(&name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> Verdict {
        verdict(&path.split("::").map(str::to_owned).collect::<Vec<_>>(), false)
    }

    #[test]
    fn what_orders_nothing_is_fine() {
        for path in [
            "std",
            "std::sync",
            "std::sync::atomic",
            "std::sync::atomic::Ordering",
            "std::sync::atomic::Ordering::Relaxed",
            "std::sync::PoisonError",
            "std::sync::mpsc::RecvError",
            "std::thread",
            "std::thread::sleep",
            "std::thread::yield_now",
            "std::thread::panicking",
            "std::thread::available_parallelism",
            "std::cell::Cell",
            "racelog::sync::Mutex",
            "racelog::thread::spawn",
            "racelog::parking_lot::Mutex",
            "once_cell::unsync::Lazy",
            "crossbeam_utils::CachePadded",
            "crossbeam::utils::Backoff",
            "rayon",
            "serde::Serialize",
        ] {
            assert_eq!(of(path), Verdict::Fine, "{path}");
        }
    }

    #[test]
    fn what_orders_is_listed() {
        for (path, what, segments) in [
            ("std::sync::Mutex", What::Sync, 3),
            ("std::sync::Mutex::new", What::Sync, 3),
            ("std::sync::*", What::Sync, 3),
            ("core::sync::atomic::AtomicBool::new", What::Sync, 4),
            ("std::sync::atomic::fence", What::Sync, 4),
            ("std::sync::mpsc::channel", What::Sync, 4),
            ("std::sync::nonpoison::Mutex", What::Sync, 4),
            ("std::thread::spawn", What::Thread, 3),
            ("std::thread::Builder::new", What::Thread, 3),
            ("alloc::sync::Arc", What::Arc, 3),
            ("std::sync::Arc::new", What::Arc, 3),
            ("std::sync::Arc::get_mut", What::ArcOrder, 4),
            ("std::sync::Weak", What::ArcOrder, 3),
            ("racelog::sync::Arc::try_unwrap", What::ArcOrder, 4),
            ("rayon::prelude::*", What::Thread, 3),
            ("once_cell::sync::Lazy", What::Sync, 3),
        ] {
            assert_eq!(of(path), Verdict::Listed(what, segments), "{path}");
        }
        let arc: Vec<String> = ["racelog", "sync", "Arc"].map(str::to_owned).to_vec();
        assert_eq!(verdict(&arc, true), Verdict::Fine);
    }

    #[test]
    fn crates_are_known_by_package() {
        assert!(is_synchronising("crossbeam-channel") && is_synchronising("tokio"));
        assert!(!is_synchronising("serde") && !is_synchronising("once_cell"));
    }
}
