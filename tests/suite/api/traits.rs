//! What the types implement: the same in racelog as in std, auto traits among it.

use std::cell::Cell;
use std::marker::PhantomData;
use std::rc::Rc;

/// Whether a type implements a trait: an associated constant of the type itself is found before
/// one of a trait that everything implements.
macro_rules! implements {
    ($Type:ty: $Trait:path) => {{
        #[allow(dead_code, reason = "the one or the other is not used")]
        trait No {
            const IT_DOES: bool = false;
        }
        struct Probe<T>(PhantomData<T>);
        impl<T> No for Probe<T> {}
        #[allow(dead_code, reason = "the one or the other is not used")]
        impl<T: $Trait> Probe<T> {
            const IT_DOES: bool = true;
        }
        Probe::<$Type>::IT_DOES
    }};
}

/// The traits of a list that a type implements.
macro_rules! implemented {
    ($Type:ty: $($Trait:path),* $(,)?) => {
        [$((stringify!($Trait), implements!($Type: $Trait))),*]
            .into_iter()
            .filter_map(|(name, implemented)| implemented.then_some(name))
            .collect::<Vec<_>>()
    };
}

/// The traits that a type implements, of all that something in std::sync or std::thread does.
macro_rules! traits_of {
    ($Type:ty) => {
        implemented!(
            $Type:
            Send, Sync, Unpin, std::panic::UnwindSafe, std::panic::RefUnwindSafe,
            Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, std::hash::Hash,
            std::fmt::Debug, std::fmt::Display, std::fmt::Pointer, std::error::Error,
            From<u32>, From<i32>, From<bool>, From<*mut u32>,
            std::ops::Deref, std::ops::DerefMut, Iterator, IntoIterator,
        )
    };
}

/// Checks that types below std and below racelog implement the same.
macro_rules! same {
    ($([$($Type:tt)+])*) => {$(
        assert_eq!(
            traits_of!(racelog::$($Type)+),
            traits_of!(std::$($Type)+),
            "{}",
            stringify!($($Type)+),
        );
    )*};
}

/// `Send` but not `Sync`, and not safe to see after a panic.
type OneAtATime = Cell<u32>;

/// Neither `Send` nor `Sync`.
type Local = Rc<Cell<u32>>;

/// `Sync` but not `Send`, and without any other trait.
struct Stays(PhantomData<std::sync::MutexGuard<'static, u32>>);

#[test]
fn the_probe_tells_what_is_from_what_is_not() {
    assert!(implements!(u32: Send) && implements!(u32: From<bool>));
    assert!(!implements!(Local: Send) && !implements!(OneAtATime: Sync));
    assert!(implements!(Stays: Sync) && !implements!(Stays: Send));
    assert_eq!(
        implemented!(Local: Send, Sync, Unpin, Clone, Copy, From<u32>, Iterator),
        ["Unpin", "Clone"]
    );
    // What people rely on most: a guard stays in its thread, a receiver belongs to one.
    assert!(!implements!(racelog::sync::MutexGuard<'static, u32>: Send));
    assert!(implements!(racelog::sync::MutexGuard<'static, u32>: Sync));
    assert!(!implements!(racelog::sync::RwLockReadGuard<'static, u32>: Send));
    assert!(!implements!(racelog::sync::RwLockWriteGuard<'static, u32>: Send));
    assert!(!implements!(racelog::sync::mpsc::Receiver<u32>: Sync));
    assert!(implements!(racelog::sync::mpsc::Receiver<u32>: Send));
    assert!(!implements!(racelog::sync::Mutex<Local>: Send));
    assert!(!implements!(racelog::cell::UnsafeCell<u32>: Sync));
}

#[test]
fn locks() {
    same! {
        [sync::Mutex<u32>] [sync::Mutex<OneAtATime>] [sync::Mutex<Local>] [sync::Mutex<Stays>]
        [sync::MutexGuard<'static, u32>] [sync::MutexGuard<'static, OneAtATime>]
        [sync::MutexGuard<'static, Local>] [sync::MutexGuard<'static, Stays>]
        [sync::RwLock<u32>] [sync::RwLock<OneAtATime>] [sync::RwLock<Local>] [sync::RwLock<Stays>]
        [sync::RwLockReadGuard<'static, u32>] [sync::RwLockReadGuard<'static, OneAtATime>]
        [sync::RwLockReadGuard<'static, Local>] [sync::RwLockReadGuard<'static, Stays>]
        [sync::RwLockWriteGuard<'static, u32>] [sync::RwLockWriteGuard<'static, OneAtATime>]
        [sync::RwLockWriteGuard<'static, Local>] [sync::RwLockWriteGuard<'static, Stays>]
        [sync::Condvar] [sync::WaitTimeoutResult] [sync::Barrier] [sync::BarrierWaitResult]
        [sync::PoisonError<u32>] [sync::PoisonError<Local>]
        [sync::TryLockError<u32>] [sync::TryLockError<Local>]
    }
}

#[test]
fn once() {
    same! {
        [sync::Once] [sync::OnceState]
        [sync::OnceLock<u32>] [sync::OnceLock<OneAtATime>] [sync::OnceLock<Local>]
        [sync::OnceLock<Stays>]
        [sync::LazyLock<u32>] [sync::LazyLock<OneAtATime>] [sync::LazyLock<Local>]
        [sync::LazyLock<Stays>] [sync::LazyLock<u32, OneAtATime>] [sync::LazyLock<u32, Local>]
        [sync::LazyLock<u32, Stays>]
    }
}

#[test]
fn channels() {
    same! {
        [sync::mpsc::Sender<u32>] [sync::mpsc::Sender<OneAtATime>] [sync::mpsc::Sender<Local>]
        [sync::mpsc::SyncSender<u32>] [sync::mpsc::SyncSender<OneAtATime>]
        [sync::mpsc::SyncSender<Local>] [sync::mpsc::SyncSender<Stays>]
        [sync::mpsc::Receiver<u32>] [sync::mpsc::Receiver<OneAtATime>] [sync::mpsc::Receiver<Local>]
        [sync::mpsc::Receiver<Stays>]
        [sync::mpsc::Iter<'static, u32>] [sync::mpsc::Iter<'static, OneAtATime>]
        [sync::mpsc::TryIter<'static, u32>] [sync::mpsc::TryIter<'static, Local>]
        [sync::mpsc::IntoIter<u32>] [sync::mpsc::IntoIter<OneAtATime>] [sync::mpsc::IntoIter<Local>]
        [sync::mpsc::SendError<u32>] [sync::mpsc::TrySendError<Local>] [sync::mpsc::RecvError]
        [sync::mpsc::TryRecvError] [sync::mpsc::RecvTimeoutError]
    }
}

#[test]
fn atomics() {
    same! {
        [sync::atomic::AtomicBool] [sync::atomic::AtomicI8] [sync::atomic::AtomicU8]
        [sync::atomic::AtomicI16] [sync::atomic::AtomicU16] [sync::atomic::AtomicI32]
        [sync::atomic::AtomicU32] [sync::atomic::AtomicI64] [sync::atomic::AtomicU64]
        [sync::atomic::AtomicIsize] [sync::atomic::AtomicUsize]
        [sync::atomic::AtomicPtr<u32>] [sync::atomic::AtomicPtr<Local>]
        [sync::atomic::Ordering]
    }
}

#[test]
fn threads() {
    same! {
        [thread::Builder] [thread::JoinHandle<u32>] [thread::JoinHandle<OneAtATime>]
        [thread::JoinHandle<Local>] [thread::LocalKey<Local>] [thread::Scope<'static, 'static>]
        [thread::ScopedJoinHandle<'static, u32>] [thread::ScopedJoinHandle<'static, OneAtATime>]
        [thread::ScopedJoinHandle<'static, Local>] [thread::Thread] [thread::ThreadId]
        [thread::AccessError]
    }
}

#[test]
fn pointers_and_cells() {
    same! {
        [sync::Arc<u32>] [sync::Arc<OneAtATime>] [sync::Arc<Local>] [sync::Weak<u32>]
        [sync::Weak<Local>]
        [cell::UnsafeCell<u32>] [cell::UnsafeCell<OneAtATime>] [cell::UnsafeCell<Local>]
        [cell::UnsafeCell<Stays>]
    }
}
