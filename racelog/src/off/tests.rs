//! Without the feature `record` everything is std's: the same types and the same functions.

use std::any::TypeId;

use crate::{cell, hint, sync, thread, time};

/// Checks that types have the same identity below this crate and below std, and that one can be
/// given where the other is asked for.
macro_rules! same_types {
    ($([$($Type:tt)+])*) => {$({
        let _: fn($($Type)+) -> std::$($Type)+ = |value| value;
        assert_eq!(
            TypeId::of::<$($Type)+>(),
            TypeId::of::<std::$($Type)+>(),
            "{}",
            stringify!($($Type)+),
        );
    })*};
}

#[test]
fn types_of_sync_are_stds() {
    same_types! {
        [sync::Mutex<u32>] [sync::MutexGuard<'static, u32>]
        [sync::RwLock<u32>] [sync::RwLockReadGuard<'static, u32>]
        [sync::RwLockWriteGuard<'static, u32>]
        [sync::Condvar] [sync::WaitTimeoutResult]
        [sync::Once] [sync::OnceState] [sync::OnceLock<u32>] [sync::LazyLock<u32>]
        [sync::Barrier] [sync::BarrierWaitResult]
        [sync::Arc<u32>] [sync::Weak<u32>]
        [sync::PoisonError<u32>] [sync::TryLockError<u32>]
        [sync::LockResult<u32>] [sync::TryLockResult<u32>]
    }
}

#[test]
fn types_of_channels_are_stds() {
    same_types! {
        [sync::mpsc::Sender<u32>] [sync::mpsc::SyncSender<u32>] [sync::mpsc::Receiver<u32>]
        [sync::mpsc::Iter<'static, u32>] [sync::mpsc::TryIter<'static, u32>]
        [sync::mpsc::IntoIter<u32>]
        [sync::mpsc::SendError<u32>] [sync::mpsc::TrySendError<u32>] [sync::mpsc::RecvError]
        [sync::mpsc::TryRecvError] [sync::mpsc::RecvTimeoutError]
    }
}

#[test]
fn atomics_are_stds() {
    same_types! {
        [sync::atomic::AtomicBool] [sync::atomic::AtomicPtr<u32>]
        [sync::atomic::AtomicI8] [sync::atomic::AtomicU8]
        [sync::atomic::AtomicI16] [sync::atomic::AtomicU16]
        [sync::atomic::AtomicI32] [sync::atomic::AtomicU32]
        [sync::atomic::AtomicI64] [sync::atomic::AtomicU64]
        [sync::atomic::AtomicIsize] [sync::atomic::AtomicUsize]
        [sync::atomic::Ordering]
    }
}

#[test]
fn types_of_thread_are_stds() {
    same_types! {
        [thread::Builder] [thread::JoinHandle<u32>] [thread::ScopedJoinHandle<'static, u32>]
        [thread::Thread] [thread::ThreadId] [thread::AccessError] [thread::Result<u32>]
        [thread::LocalKey<u32>]
    }
    // A scope is only ever borrowed.
    let _: for<'a> fn(&'a thread::Scope<'a, 'static>) -> &'a std::thread::Scope<'a, 'static> =
        |scope| scope;
}

#[test]
fn types_of_time_are_stds() {
    same_types! {
        [time::Instant] [time::Duration] [time::SystemTime] [time::SystemTimeError]
        [time::TryFromFloatSecsError]
    }
}

#[test]
fn cells_are_stds() {
    same_types! {
        [cell::UnsafeCell<u32>] [cell::Cell<u32>] [cell::RefCell<u32>] [cell::OnceCell<u32>]
        [cell::LazyCell<u32>] [cell::Ref<'static, u32>] [cell::RefMut<'static, u32>]
        [cell::BorrowError] [cell::BorrowMutError]
    }
}

/// What takes std's types is given ours.
#[test]
fn one_stands_for_the_other() {
    fn add(mutex: &std::sync::Mutex<u32>) {
        *mutex.lock().unwrap() += 1;
    }
    fn send(sender: std::sync::mpsc::Sender<std::thread::ThreadId>) -> std::thread::JoinHandle<()> {
        thread::spawn(move || sender.send(std::thread::current().id()).unwrap())
    }
    crate::thread_local! {
        static LOCAL: cell::Cell<u32> = const { cell::Cell::new(3) };
    }
    let mutex = sync::Mutex::new(1);
    add(&mutex);
    assert_eq!(mutex.into_inner().unwrap(), 2);
    let (sender, receiver) = sync::mpsc::channel();
    let thread: thread::JoinHandle<()> = send(sender);
    assert_eq!(receiver.recv(), Ok(thread.thread().id()));
    thread.join().unwrap();
    let local: &'static std::thread::LocalKey<std::cell::Cell<u32>> = &LOCAL;
    assert_eq!(local.get(), 3);
    let _: [fn(); 2] = [hint::spin_loop, std::hint::spin_loop];
}

/// What racelog adds is there, and does no more than it must.
#[test]
fn what_is_added_does_nothing() {
    use crate::cell::{Shared, UnsafeCellExt};

    crate::branch();
    crate::check!(1 + 1 == 2);
    let mut shared = Shared::new(1);
    shared.set(shared.get() + 1);
    *shared.get_mut() += 1;
    assert_eq!(shared.into_inner(), 3);
    let cell = cell::UnsafeCell::new(5);
    assert_eq!(cell.with(<*const i32>::addr), cell.with_mut(<*mut i32>::addr));
    assert_eq!(size_of::<Shared<u32>>(), size_of::<u32>());
}

#[cfg(feature = "parking_lot")]
#[test]
fn parking_lot_is_itself() {
    use crate::parking_lot as ours;

    assert_eq!(TypeId::of::<ours::RawMutex>(), TypeId::of::<::parking_lot::RawMutex>());
    assert_eq!(TypeId::of::<ours::RawRwLock>(), TypeId::of::<::parking_lot::RawRwLock>());
    assert_eq!(TypeId::of::<ours::Condvar>(), TypeId::of::<::parking_lot::Condvar>());
    assert_eq!(TypeId::of::<ours::Once>(), TypeId::of::<::parking_lot::Once>());
    let _: fn(ours::Mutex<u32>) -> ::parking_lot::Mutex<u32> = |value| value;
    let _: fn(ours::RwLock<u32>) -> ::parking_lot::RwLock<u32> = |value| value;
    let _same: fn(ours::MutexGuard<'static, u32>) -> ::parking_lot::MutexGuard<'static, u32> =
        |value| value;
    let _: fn(ours::ReentrantMutex<u32>) -> ::parking_lot::ReentrantMutex<u32> = |value| value;
}

#[cfg(feature = "once_cell")]
#[test]
fn once_cell_is_itself() {
    use crate::once_cell as ours;

    assert_eq!(
        TypeId::of::<ours::sync::OnceCell<u32>>(),
        TypeId::of::<::once_cell::sync::OnceCell<u32>>()
    );
    let _: fn(ours::sync::OnceCell<u32>) -> ::once_cell::sync::OnceCell<u32> = |value| value;
    let _: fn(ours::sync::Lazy<u32>) -> ::once_cell::sync::Lazy<u32> = |value| value;
    let _: fn(ours::race::OnceBool) -> ::once_cell::race::OnceBool = |value| value;
}

#[cfg(feature = "crossbeam")]
#[test]
fn crossbeam_is_itself() {
    use crossbeam_channel as channel;
    use crossbeam_utils::atomic::AtomicCell;
    use crossbeam_utils::thread::{Scope, ScopedJoinHandle};

    use crate::crossbeam as ours;

    assert_eq!(TypeId::of::<ours::atomic::AtomicCell<u32>>(), TypeId::of::<AtomicCell<u32>>());
    assert_eq!(TypeId::of::<ours::channel::Sender<u32>>(), TypeId::of::<channel::Sender<u32>>());
    assert_eq!(
        TypeId::of::<ours::channel::Receiver<u32>>(),
        TypeId::of::<channel::Receiver<u32>>()
    );
    let _: fn(ours::atomic::AtomicCell<u32>) -> AtomicCell<u32> = |value| value;
    let _: fn(ours::channel::RecvError) -> channel::RecvError = |value| value;
    let _: fn(ours::channel::Select<'static>) -> channel::Select<'static> = |value| value;
    let _: fn(ours::channel::TrySendError<u32>) -> channel::TrySendError<u32> = |value| value;
    let _: for<'a> fn(&'a ours::thread::Scope<'static>) -> &'a Scope<'static> = |scope| scope;
    let _: fn(ours::thread::ScopedJoinHandle<'static, u32>) -> ScopedJoinHandle<'static, u32> =
        |handle| handle;
}
