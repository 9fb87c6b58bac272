use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::*;
use crate::child_trace::{events, in_child};
use crate::thread;
use crate::trace::{Event, Op, Patience, Woken};

const HERE: &str = "parking_lot::tests";

/// The events of a test's child but for the ends of threads. Checks that locks and condvars could
/// have behaved as the trace says, and that all accesses were under a lock that allows them.
fn recorded(name: &str) -> Vec<Event> {
    let mut trace = events(&format!("{HERE}::{name}"));
    trace.retain(|event| event.op != Op::End);
    replay(&trace);
    trace
}

fn keywords(name: &str) -> Vec<&'static str> {
    recorded(name).iter().map(|event| event.op.keyword()).collect()
}

fn replay(trace: &[Event]) {
    let mut writers = HashMap::new();
    let mut readers: HashMap<_, Vec<_>> = HashMap::new();
    let mut waiting = HashMap::new();
    let mut notified = HashSet::new();
    for event in trace {
        let thread = event.thread;
        let held = |writers: &HashMap<_, _>, readers: &HashMap<_, Vec<_>>, lock| {
            writers.contains_key(&lock) || readers.get(&lock).is_some_and(|all| !all.is_empty())
        };
        match event.op {
            Op::Acquire(lock) => {
                assert!(!held(&writers, &readers, lock), "{event:?}");
                writers.insert(lock, thread);
            }
            Op::Release(lock) => assert_eq!(writers.remove(&lock), Some(thread), "{event:?}"),
            Op::ReadAcquire(lock) => {
                assert!(!writers.contains_key(&lock), "{event:?}");
                readers.entry(lock).or_default().push(thread);
            }
            Op::ReadRelease(lock) => {
                let all = readers.entry(lock).or_default();
                let at = all.iter().position(|reader| *reader == thread);
                all.swap_remove(at.unwrap_or_else(|| panic!("{event:?}")));
            }
            Op::AcquireFail(lock) => assert!(held(&writers, &readers, lock), "{event:?}"),
            Op::ReadAcquireFail(lock) => assert!(writers.contains_key(&lock), "{event:?}"),
            Op::Wait { condvar, lock } => {
                assert_eq!(writers.remove(&lock), Some(thread), "{event:?}");
                waiting.insert(thread, condvar);
            }
            Op::NotifyOne { woken: Woken::Thread(woken), condvar } => {
                assert_eq!(waiting.get(&woken), Some(&condvar), "{event:?}");
                assert!(notified.insert(woken), "{event:?}");
            }
            Op::NotifyAll(condvar) => {
                let all = waiting.iter().filter(|(_, on)| **on == condvar);
                notified.extend(all.map(|(thread, _)| *thread));
            }
            Op::Wake { condvar, lock } | Op::WakeTimeout { condvar, lock } => {
                assert_eq!(waiting.remove(&thread), Some(condvar), "{event:?}");
                let by_notification = matches!(event.op, Op::Wake { .. });
                assert_eq!(notified.remove(&thread), by_notification, "{event:?}");
                assert!(!held(&writers, &readers, lock), "{event:?}");
                writers.insert(lock, thread);
            }
            Op::Read { .. } => {
                let reads = readers.values().any(|all| all.contains(&thread));
                assert!(reads || writers.values().any(|writer| *writer == thread), "{event:?}");
            }
            Op::Write { .. } => {
                assert!(writers.values().any(|writer| *writer == thread), "{event:?}");
            }
            _ => {}
        }
    }
    assert!(writers.is_empty() && readers.values().all(Vec::is_empty), "all is given back");
}

#[test]
fn a_mutex_keeps_others_out() {
    let mutex = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    *mutex.lock() += 1;
                }
            });
        }
    });
    let guard = mutex.lock();
    assert!(mutex.is_locked());
    assert!(mutex.try_lock().is_none());
    assert!(mutex.try_lock_for(Duration::ZERO).is_none());
    assert!(mutex.try_lock_until(Instant::now()).is_none());
    drop(guard);
    assert!(!mutex.is_locked());
    assert_eq!(mutex.try_lock().as_deref(), Some(&400));
    assert_eq!(mutex.try_lock_for(Duration::MAX).as_deref(), Some(&400));
    assert_eq!(mutex.into_inner(), 400);
}

#[test]
fn a_mutex_is_not_poisoned() {
    let mutex = Mutex::new(1);
    let result = catch_unwind(AssertUnwindSafe(|| {
        let _guard = mutex.lock();
        panic!("while the lock is held");
    }));
    result.expect_err("it panics");
    assert_eq!(*mutex.lock(), 1);
}

#[test]
fn a_guard_can_be_mapped_and_opened() {
    let mutex = Mutex::new((1, 2));
    let mut second = MutexGuard::map(mutex.lock(), |pair| &mut pair.1);
    *second = 3;
    MappedMutexGuard::unlock_fair(second);
    let mut guard = mutex.lock();
    MutexGuard::unlocked(&mut guard, || mutex.lock().0 = 5);
    assert_eq!(*guard, (5, 3));
    assert_eq!(format!("{mutex:?}"), "Mutex { data: <locked> }");
    drop(guard);
    assert_eq!(format!("{mutex:?}"), "Mutex { data: (5, 3) }");
    let mut unsized_one = Mutex::new([1, 2]);
    unsized_one.get_mut()[0] = 7;
    let unsized_one: &Mutex<[i32]> = &unsized_one;
    assert_eq!(*unsized_one.lock(), [7, 2]);
}

/// A thread that holds the lock and is fair to others lets all of them through in the end.
#[test]
fn fairness() {
    let (plain, fair, rwlock) = (Mutex::new(0), FairMutex::new(0), RwLock::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let mut guard = plain.lock();
                    *guard += 1;
                    MutexGuard::bump(&mut guard);
                    MutexGuard::unlock_fair(guard);
                    let mut guard = fair.lock();
                    FairMutexGuard::bump(&mut guard);
                    *guard += 1;
                    drop(guard);
                    let mut guard = rwlock.write();
                    *guard += 1;
                    RwLockWriteGuard::bump(&mut guard);
                    RwLockWriteGuard::unlock_fair(guard);
                    let mut guard = rwlock.read();
                    RwLockReadGuard::bump(&mut guard);
                    RwLockReadGuard::unlock_fair(guard);
                    let mut guard = rwlock.upgradable_read();
                    RwLockUpgradableReadGuard::bump(&mut guard);
                    RwLockUpgradableReadGuard::unlock_fair(guard);
                }
            });
        }
    });
    assert_eq!((plain.into_inner(), fair.into_inner(), rwlock.into_inner()), (150, 150, 150));
}

#[test]
fn readers_share_and_writers_do_not() {
    let lock = RwLock::new(1);
    {
        let one = lock.read();
        let other = lock.read_recursive();
        assert_eq!(*one + *other, 2);
        assert!(lock.is_locked());
        assert!(!lock.is_locked_exclusive());
        assert!(lock.try_write().is_none());
        assert!(lock.try_write_for(Duration::ZERO).is_none());
        assert!(lock.try_write_until(Instant::now()).is_none());
    }
    {
        let mut writer = lock.write();
        *writer += 1;
        assert!(lock.is_locked_exclusive());
        assert!(lock.try_read().is_none());
        assert!(lock.try_read_for(Duration::ZERO).is_none());
        assert!(lock.try_read_until(Instant::now()).is_none());
        assert!(lock.try_read_recursive().is_none());
        assert!(lock.try_read_recursive_for(Duration::ZERO).is_none());
        assert!(lock.try_read_recursive_until(Instant::now()).is_none());
        assert!(lock.try_upgradable_read().is_none());
        assert!(lock.try_upgradable_read_for(Duration::ZERO).is_none());
        assert!(lock.try_upgradable_read_until(Instant::now()).is_none());
    }
    assert!(!lock.is_locked());
    assert_eq!(lock.try_read_recursive_for(Duration::ZERO).as_deref(), Some(&2));
    let mapped = RwLockWriteGuard::map(lock.write(), |value| value);
    assert_eq!(*mapped, 2);
}

#[test]
fn an_upgradable_reader_goes_up_and_down() {
    let lock = RwLock::new(1);
    let upgradable = lock.upgradable_read();
    let reader = lock.read();
    assert!(lock.try_upgradable_read().is_none());
    assert!(lock.try_write().is_none());
    let Err(upgradable) = RwLockUpgradableReadGuard::try_upgrade(upgradable) else {
        panic!("there is another reader");
    };
    let result = RwLockUpgradableReadGuard::try_upgrade_for(upgradable, Duration::ZERO);
    let Err(upgradable) = result else {
        panic!("there is another reader");
    };
    drop(reader);
    let Ok(mut writer) = RwLockUpgradableReadGuard::try_upgrade(upgradable) else {
        panic!("there is no other reader");
    };
    *writer += 1;
    let upgradable = RwLockWriteGuard::downgrade_to_upgradable(writer);
    assert_eq!(*lock.read(), 2);
    assert!(lock.try_upgradable_read().is_none());
    let mut writer = RwLockUpgradableReadGuard::upgrade(upgradable);
    *writer += 1;
    let reader = RwLockWriteGuard::downgrade(writer);
    let upgradable = lock.upgradable_read();
    assert_eq!((*reader, *upgradable), (3, 3));
    let other = RwLockUpgradableReadGuard::downgrade(upgradable);
    assert!(lock.try_upgradable_read().is_some());
    drop((reader, other));
    let mut upgradable = lock.upgradable_read();
    RwLockUpgradableReadGuard::with_upgraded(&mut upgradable, |value| *value += 1);
    assert_eq!(*upgradable, 4);
}

#[test]
fn a_reentrant_mutex_is_taken_again_by_its_holder_only() {
    let mutex = ReentrantMutex::new(RefCell::new(1));
    let outer = mutex.lock();
    *mutex.lock().borrow_mut() += 1;
    thread::scope(|scope| {
        scope.spawn(|| assert!(mutex.try_lock().is_none()));
    });
    assert_eq!(*outer.borrow(), 2);
}

#[test]
fn statics() {
    static MUTEX: Mutex<u32> = const_mutex(1);
    static FAIR: FairMutex<u32> = const_fair_mutex(2);
    static RWLOCK: RwLock<u32> = const_rwlock(3);
    static REENTRANT: ReentrantMutex<u32> = const_reentrant_mutex(4);
    static NEW: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    static CONDVAR: Condvar = Condvar::new();
    static ONCE: Once = Once::new();
    ONCE.call_once(|| NEW.lock().push(5));
    assert_eq!(*MUTEX.lock() + *FAIR.lock() + *RWLOCK.read() + *REENTRANT.lock(), 10);
    assert_eq!(*NEW.lock(), [5]);
    assert!(!CONDVAR.notify_one());
}

#[test]
fn auto_traits_are_parking_lots() {
    fn shared<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
    shared::<RawMutex>();
    shared::<RawFairMutex>();
    shared::<RawRwLock>();
    shared::<Condvar>();
    shared::<Once>();
    fn sync<T: Send + Sync>() {}
    sync::<Mutex<u32>>();
    sync::<RwLock<u32>>();
}

#[test]
fn a_condvar_wakes_who_waits() {
    let (mutex, came, may_go) = (Mutex::new(0), Condvar::new(), Condvar::new());
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut guard = mutex.lock();
                *guard += 1;
                came.notify_one();
                may_go.wait_while(&mut guard, |count| *count < 4);
            });
        }
        let mut guard = mutex.lock();
        while *guard < 3 {
            came.wait(&mut guard);
        }
        *guard = 4;
        // They wait: who counted had the lock until then.
        assert!(may_go.notify_one());
        assert_eq!(may_go.notify_all(), 2);
        assert_eq!(may_go.notify_all(), 0);
        assert!(!may_go.notify_one());
    });
    assert_eq!(format!("{came:?}"), "Condvar { .. }");
}

#[test]
fn a_wait_ends_at_its_deadline() {
    let (mutex, condvar) = (Mutex::new(false), Condvar::default());
    let mut guard = mutex.lock();
    let short = Duration::from_millis(1);
    assert!(condvar.wait_for(&mut guard, short).timed_out());
    assert!(condvar.wait_until(&mut guard, Instant::now()).timed_out());
    assert!(condvar.wait_while_for(&mut guard, |set| !*set, short).timed_out());
    assert!(condvar.wait_while_until(&mut guard, |set| !*set, Instant::now()).timed_out());
    assert!(!condvar.wait_while_for(&mut guard, |set| *set, short).timed_out());
    thread::scope(|scope| {
        scope.spawn(|| {
            *mutex.lock() = true;
            assert!(condvar.notify_one());
        });
        assert!(!condvar.wait_for(&mut guard, Duration::MAX).timed_out());
        assert!(*guard);
    });
}

#[test]
fn a_condvar_goes_with_one_mutex() {
    let (mutex, other, condvar) = (Mutex::new(false), Mutex::new(()), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut guard = mutex.lock();
            *guard = true;
            condvar.wait_while(&mut guard, |waits| *waits);
        });
        while !*mutex.lock() {
            thread::yield_now();
        }
        let mut guard = other.lock();
        let result = catch_unwind(AssertUnwindSafe(|| condvar.wait(&mut guard)));
        result.expect_err("somebody waits with another mutex");
        assert!(other.is_locked());
        *mutex.lock() = false;
        condvar.notify_one();
    });
    // Now that nobody does any more, another mutex is as good.
    assert!(condvar.wait_until(&mut other.lock(), Instant::now()).timed_out());
}

#[test]
fn once_runs_once() {
    let (once, runs) = (Once::default(), AtomicU32::new(0));
    assert_eq!(once.state(), OnceState::New);
    catch_unwind(AssertUnwindSafe(|| once.call_once(|| panic!("in the closure"))))
        .expect_err("it panics");
    assert_eq!(once.state(), OnceState::Poisoned);
    catch_unwind(AssertUnwindSafe(|| once.call_once(|| {}))).expect_err("it is poisoned");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                once.call_once_force(|state| {
                    assert!(state.poisoned());
                    assert_eq!(once.state(), OnceState::InProgress);
                    runs.fetch_add(1, Ordering::Relaxed);
                });
                assert!(once.state().done());
            });
        }
    });
    assert_eq!(runs.into_inner(), 1);
    assert_eq!(format!("{once:?}"), "Once { state: Done }");
}

#[test]
fn what_a_mutex_records() {
    if in_child() {
        let mutex = ReentrantMutex::new(1);
        let guard = mutex.lock();
        drop(mutex.lock());
        drop(guard);
        let mutex = Mutex::new(1);
        let guard = mutex.lock();
        assert!(mutex.try_lock().is_none());
        assert!(mutex.is_locked());
        drop(guard);
        assert!(!mutex.is_locked());
        return;
    }
    let taken = ["acquire", "read", "read", "write", "release"];
    let failed = ["acquire", "read", "acquire_fail", "acquire_fail", "read", "write", "release"];
    let end = ["acquire", "release", "exclusive", "exclusive"];
    assert_eq!(keywords("what_a_mutex_records"), [&taken[..], &failed, &end].concat());
}

#[test]
fn what_upgrades_and_downgrades_record() {
    if in_child() {
        let lock = RwLock::new(1);
        let upgradable = lock.upgradable_read();
        let reader = lock.read();
        let upgradable = RwLockUpgradableReadGuard::try_upgrade(upgradable).expect_err("a reader");
        drop(reader);
        let writer = RwLockUpgradableReadGuard::upgrade(upgradable);
        let upgradable = RwLockWriteGuard::downgrade_to_upgradable(writer);
        drop(RwLockUpgradableReadGuard::downgrade(upgradable));
        drop(RwLockWriteGuard::downgrade(lock.write()));
        assert!(!lock.is_locked_exclusive());
        return;
    }
    let seen = keywords("what_upgrades_and_downgrades_record");
    let upgradable = ["acquire", "racquire", "read"];
    let failed = ["racquire", "read", "rrelease", "acquire_fail", "racquire", "rrelease"];
    let upgraded = ["rrelease", "acquire", "read"];
    let downgraded = ["read", "write", "release", "racquire"];
    let given_back = ["release", "rrelease"];
    let writer = ["acquire", "acquire", "read"];
    let end = ["racquire", "rrelease", "exclusive"];
    let parts = [
        &upgradable[..],
        &failed,
        &upgraded,
        &downgraded,
        &given_back,
        &writer,
        &downgraded,
        &given_back,
        &end,
    ];
    assert_eq!(seen, parts.concat());
}

#[test]
fn events_are_where_the_program_is() {
    if in_child() {
        let (mutex, rwlock) = (Mutex::new(1), RwLock::new(1));
        drop(mutex.lock());
        drop(mutex.try_lock());
        drop(rwlock.write());
        RwLockReadGuard::unlock_fair(rwlock.read());
        Condvar::new().wait_until(&mut mutex.lock(), Instant::now());
        return;
    }
    let mut trace = recorded("events_are_where_the_program_is");
    trace.retain(|event| !matches!(event.op, Op::Exclusive { .. }));
    let places: HashSet<_> = trace.iter().map(|event| event.location).collect();
    assert!(!places.contains(&None), "{trace:?}");
    // Taken and given back are the same place, but for the fair unlock and the wait.
    assert_eq!(places.len(), 7, "{trace:?}");
}

#[test]
fn many_threads_leave_a_trace_that_can_be_replayed() {
    if in_child() {
        let (lock, mutex, condvar) = (RwLock::new(0), Mutex::new(0), Condvar::new());
        thread::scope(|scope| {
            for thread in 0..4 {
                let (lock, mutex, condvar) = (&lock, &mutex, &condvar);
                scope.spawn(move || {
                    for round in 0..60 {
                        stress(lock, thread + round);
                        let mut guard = mutex.lock();
                        *guard += 1;
                        condvar.notify_one();
                        if round % 8 == thread {
                            condvar.wait_for(&mut guard, Duration::from_micros(50));
                        }
                        drop(guard);
                        mutex.is_locked();
                        drop(mutex.try_lock());
                    }
                });
            }
            let mut guard = mutex.lock();
            condvar.wait_while(&mut guard, |count| *count < 100);
        });
        return;
    }
    let seen = keywords("many_threads_leave_a_trace_that_can_be_replayed");
    assert!(seen.len() > 4 * 60 * 5);
}

/// One use of the lock of whatever kind.
fn stress(lock: &RwLock<u32>, kind: u32) {
    match kind % 8 {
        0 => *lock.write() += 1,
        1 => drop(lock.read()),
        2 => {
            let guard = lock.upgradable_read();
            *RwLockUpgradableReadGuard::upgrade(guard) += 1;
        }
        3 => {
            let guard = RwLockWriteGuard::downgrade_to_upgradable(lock.write());
            drop(RwLockUpgradableReadGuard::downgrade(guard));
        }
        4 => {
            if let Some(guard) = lock.try_upgradable_read() {
                if let Ok(guard) = RwLockUpgradableReadGuard::try_upgrade(guard) {
                    drop(RwLockWriteGuard::downgrade(guard));
                }
            }
        }
        5 => drop(lock.try_write()),
        6 => drop(lock.try_read_for(Duration::from_micros(10))),
        _ => {
            lock.is_locked();
            lock.is_locked_exclusive();
        }
    }
}

#[test]
fn attempts_and_waits_with_a_time_say_how_long_they_would_have_waited() {
    if in_child() {
        let (mutex, lock, long) = (Mutex::new(0), RwLock::new(0), Duration::from_secs(600));
        drop(mutex.lock());
        drop(mutex.try_lock());
        drop(mutex.try_lock_for(long));
        assert!(!mutex.is_locked());
        drop(lock.read());
        drop(lock.try_read_until(Instant::now() + long));
        drop(RwLockWriteGuard::downgrade(lock.write()));
        drop(lock.try_write_for(long));
        Condvar::new().wait_for(&mut mutex.lock(), Duration::from_millis(1));
        return;
    }
    let trace = recorded("attempts_and_waits_with_a_time_say_how_long_they_would_have_waited");
    let waits = trace.iter().filter(|event| event.op.has_patience());
    let found: Vec<_> = waits.map(|event| (event.op.keyword(), event.patience)).collect();
    let expected = [
        ("acquire", Patience::Forever),
        ("acquire", Patience::Try),
        ("acquire", Patience::Timed),
        // A look takes the lock and gives it back.
        ("acquire", Patience::Try),
        ("racquire", Patience::Forever),
        ("racquire", Patience::Timed),
        ("acquire", Patience::Forever),
        ("acquire", Patience::Forever),
        // A writer that becomes a reader does not wait.
        ("racquire", Patience::Try),
        ("acquire", Patience::Timed),
        ("acquire", Patience::Timed),
        ("acquire", Patience::Forever),
        ("wait", Patience::Timed),
    ];
    assert_eq!(found, expected);
}
