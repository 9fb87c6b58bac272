//! `Mutex`, `RwLock`, `Condvar`, `Barrier` and their errors.

use crate::both::for_both;

for_both! {
    use std::fmt::{Debug, Display};
    use std::ops::{Deref, DerefMut};
    use std::time::Duration;

    use root::sync::{
        Barrier, BarrierWaitResult, Condvar, LockResult, Mutex, MutexGuard, PoisonError, RwLock,
        RwLockReadGuard, RwLockWriteGuard, TryLockError, TryLockResult, WaitTimeoutResult,
    };

    const _: Mutex<u32> = Mutex::new(0);
    const _: RwLock<u32> = RwLock::new(0);
    const _: Condvar = Condvar::new();
    const _: Barrier = Barrier::new(1);

    static MUTEX: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    static RWLOCK: RwLock<Option<&str>> = RwLock::new(None);
    static CONDVAR: Condvar = Condvar::new();
    static BARRIER: Barrier = Barrier::new(0);

    #[test]
    fn mutex() {
        let _: fn(u32) -> Mutex<u32> = Mutex::new;
        let _: fn(&Mutex<u32>) -> LockResult<MutexGuard<'_, u32>> = Mutex::lock;
        let _: fn(&Mutex<u32>) -> TryLockResult<MutexGuard<'_, u32>> = Mutex::try_lock;
        let _: fn(&Mutex<u32>) -> bool = Mutex::is_poisoned;
        let _: fn(&Mutex<u32>) = Mutex::clear_poison;
        let _: fn(Mutex<u32>) -> LockResult<u32> = Mutex::into_inner;
        let _: fn(&mut Mutex<u32>) -> LockResult<&mut u32> = Mutex::get_mut;
        let _: fn() -> Mutex<u32> = Default::default;
        let _: fn(u32) -> Mutex<u32> = From::from;
        let _: for<'a> fn(&'a MutexGuard<'static, u32>) -> &'a u32 = Deref::deref;
        let _: for<'a> fn(&'a mut MutexGuard<'static, u32>) -> &'a mut u32 = DerefMut::deref_mut;
        assert!(MUTEX.lock().unwrap().is_empty());
    }

    #[test]
    fn mutex_of_unsized() {
        let _: fn(&Mutex<[u8]>) -> LockResult<MutexGuard<'_, [u8]>> = Mutex::lock;
        let _: fn(&Mutex<str>) -> TryLockResult<MutexGuard<'_, str>> = Mutex::try_lock;
        let _: fn(&Mutex<str>) -> bool = Mutex::is_poisoned;
        let _: fn(&Mutex<str>) = Mutex::clear_poison;
        let _: fn(&mut Mutex<[u8]>) -> LockResult<&mut [u8]> = Mutex::get_mut;
        let mutex = Mutex::new(7);
        let any: &Mutex<dyn Debug> = &mutex;
        assert_eq!(format!("{:?}", any.lock().unwrap()), "7");
        assert_eq!(format!("{any:?}"), "Mutex { data: 7, poisoned: false, .. }");
        let shown: &Mutex<dyn Display> = &mutex;
        assert_eq!(shown.lock().unwrap().to_string(), "7");
        let slice: Box<Mutex<[u8]>> = Box::new(Mutex::new([1, 2, 3]));
        slice.lock().unwrap()[1] = 5;
        assert_eq!(*slice.lock().unwrap(), [1, 5, 3]);
    }

    #[test]
    fn rwlock() {
        let _: fn(u32) -> RwLock<u32> = RwLock::new;
        let _: fn(&RwLock<u32>) -> LockResult<RwLockReadGuard<'_, u32>> = RwLock::read;
        let _: fn(&RwLock<u32>) -> TryLockResult<RwLockReadGuard<'_, u32>> = RwLock::try_read;
        let _: fn(&RwLock<u32>) -> LockResult<RwLockWriteGuard<'_, u32>> = RwLock::write;
        let _: fn(&RwLock<u32>) -> TryLockResult<RwLockWriteGuard<'_, u32>> = RwLock::try_write;
        let _: fn(&RwLock<u32>) -> bool = RwLock::is_poisoned;
        let _: fn(&RwLock<u32>) = RwLock::clear_poison;
        let _: fn(RwLock<u32>) -> LockResult<u32> = RwLock::into_inner;
        let _: fn(&mut RwLock<u32>) -> LockResult<&mut u32> = RwLock::get_mut;
        let _: fn(RwLockWriteGuard<'static, u32>) -> RwLockReadGuard<'static, u32> =
            RwLockWriteGuard::downgrade;
        let _: fn() -> RwLock<u32> = Default::default;
        let _: fn(u32) -> RwLock<u32> = From::from;
        let _: for<'a> fn(&'a RwLockReadGuard<'static, u32>) -> &'a u32 = Deref::deref;
        let _: for<'a> fn(&'a RwLockWriteGuard<'static, u32>) -> &'a u32 = Deref::deref;
        let _: for<'a> fn(&'a mut RwLockWriteGuard<'static, u32>) -> &'a mut u32 =
            DerefMut::deref_mut;
        assert!(RWLOCK.read().unwrap().is_none());
    }

    #[test]
    fn rwlock_of_unsized() {
        let _: fn(&RwLock<[u8]>) -> LockResult<RwLockReadGuard<'_, [u8]>> = RwLock::read;
        let _: fn(&RwLock<str>) -> LockResult<RwLockWriteGuard<'_, str>> = RwLock::write;
        let _: fn(&mut RwLock<[u8]>) -> LockResult<&mut [u8]> = RwLock::get_mut;
        let _: fn(RwLockWriteGuard<'static, str>) -> RwLockReadGuard<'static, str> =
            RwLockWriteGuard::downgrade;
        let lock = RwLock::new(7);
        let any: &RwLock<dyn Debug> = &lock;
        assert_eq!(format!("{:?}", any.read().unwrap()), "7");
        assert_eq!(format!("{any:?}"), "RwLock { data: 7, poisoned: false, .. }");
        let slice: Box<RwLock<[u8]>> = Box::new(RwLock::new([1, 2, 3]));
        slice.write().unwrap()[1] = 5;
        assert_eq!(*slice.read().unwrap(), [1, 5, 3]);
    }

    #[test]
    fn condvar() {
        type Guard<'a> = MutexGuard<'a, u32>;
        type Timed<'a> = LockResult<(Guard<'a>, WaitTimeoutResult)>;
        type Condition = fn(&mut u32) -> bool;
        let _: fn() -> Condvar = Condvar::new;
        let _: fn() -> Condvar = Default::default;
        let _: for<'a> fn(&Condvar, Guard<'a>) -> LockResult<Guard<'a>> = Condvar::wait;
        let _: for<'a> fn(&Condvar, Guard<'a>, Condition) -> LockResult<Guard<'a>> =
            Condvar::wait_while;
        #[expect(deprecated)]
        let _: for<'a> fn(&Condvar, Guard<'a>, u32) -> LockResult<(Guard<'a>, bool)> =
            Condvar::wait_timeout_ms;
        let _: for<'a> fn(&Condvar, Guard<'a>, Duration) -> Timed<'a> = Condvar::wait_timeout;
        let _: for<'a> fn(&Condvar, Guard<'a>, Duration, Condition) -> Timed<'a> =
            Condvar::wait_timeout_while;
        let _: fn(&Condvar) = Condvar::notify_one;
        let _: fn(&Condvar) = Condvar::notify_all;
        let _: fn(&WaitTimeoutResult) -> bool = WaitTimeoutResult::timed_out;
        CONDVAR.notify_all();
    }

    #[test]
    fn barrier() {
        let _: fn(usize) -> Barrier = Barrier::new;
        let _: fn(&Barrier) -> BarrierWaitResult = Barrier::wait;
        let _: fn(&BarrierWaitResult) -> bool = BarrierWaitResult::is_leader;
        assert!(BARRIER.wait().is_leader());
    }

    #[test]
    fn errors() {
        let _: fn(u32) -> PoisonError<u32> = PoisonError::new;
        let _: fn(PoisonError<u32>) -> u32 = PoisonError::into_inner;
        let _: fn(&PoisonError<u32>) -> &u32 = PoisonError::get_ref;
        let _: fn(&mut PoisonError<u32>) -> &mut u32 = PoisonError::get_mut;
        let _: fn(PoisonError<u32>) -> TryLockError<u32> = From::from;
        let _: fn(PoisonError<u32>) -> TryLockError<u32> = TryLockError::Poisoned;
        let _: TryLockError<u32> = TryLockError::WouldBlock;
        // They are std's, so code that speaks of std's understands ours.
        let _: fn(root::sync::PoisonError<u32>) -> std::sync::PoisonError<u32> = |error| error;
        let _: fn(root::sync::TryLockError<u32>) -> std::sync::TryLockError<u32> = |error| error;
    }
}
