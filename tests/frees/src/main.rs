//! Programs whose memory is freed by destructors: `frees NAME`, and `frees NAME racy` for the twin
//! whose free nothing orders with an access.
//!
//! Every program runs in one given order, by means that are not recorded: accesses first, then the
//! free.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};

use racelog::crossbeam;
use racelog::sync::{Arc, Mutex, Weak, mpsc};
use racelog::thread;

/// A place that several threads have.
#[derive(Clone, Copy)]
struct Place(*mut u64);

// SAFETY: it is an address; those who use it vouch for that.
unsafe impl Send for Place {}

#[racelog::instrument]
fn put(place: Place, value: u64) {
    // SAFETY: the programs let it go after this, in the order in which they run.
    unsafe { *place.0 = value };
}

#[racelog::instrument]
fn get(place: Place) -> u64 {
    // SAFETY: as above.
    unsafe { *place.0 }
}

fn of(place: &mut u64) -> Place {
    Place(place)
}

fn shared(place: &u64) -> Place {
    Place(std::ptr::from_ref(place).cast_mut())
}

/// Lets a thread wait for another, and records nothing.
#[derive(Default)]
struct Turn(AtomicBool);

impl Turn {
    fn new() -> &'static Self {
        Box::leak(Box::default())
    }

    fn done(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn wait(&self) {
        while !self.0.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
    }
}

/// Another thread uses a place, and then the caller goes on; joined only if nothing is to race.
fn used_by_another(place: Place, racy: bool) {
    let turn = Turn::new();
    let other = thread::spawn(move || {
        let place = place;
        put(place, 1);
        turn.done();
    });
    if racy {
        turn.wait();
        mem::forget(other);
    } else {
        other.join().unwrap();
    }
}

fn boxed(racy: bool) {
    let mut object = Box::new(0);
    used_by_another(of(&mut object), racy);
    drop(object);
}

fn vector(racy: bool) {
    let mut all = vec![0; 100];
    used_by_another(of(&mut all[77]), racy);
    drop(all);
}

/// The vector grows, and its memory moves.
fn grown(racy: bool) {
    let mut all = vec![0];
    used_by_another(of(&mut all[0]), racy);
    all.extend([0; 1000]);
}

struct Inner {
    _name: String,
    value: Box<u64>,
}

/// The free is deep in what is dropped, and the thread that does it is not the first.
fn nested(racy: bool) {
    let mut object = Some(Inner { _name: "inner".to_owned(), value: Box::new(0) });
    used_by_another(of(&mut object.as_mut().unwrap().value), racy);
    thread::spawn(move || drop(object)).join().unwrap();
}

/// A read that comes before the free in this run only.
fn read(racy: bool) {
    let mut object = Box::new(5);
    let place = of(&mut object);
    put(place, 6);
    let turn = Turn::new();
    let reader = thread::spawn(move || {
        let place = place;
        assert_eq!(get(place), 6);
        turn.done();
    });
    turn.wait();
    if !racy {
        reader.join().unwrap();
    }
    drop(object);
}

/// The last of several owners drops the contents. The racy twin has a pointer without being one.
fn counted(racy: bool) {
    let first = Arc::new(0);
    let place = shared(&first);
    let turn = Turn::new();
    let second = (!racy).then(|| first.clone());
    drop(thread::spawn(move || {
        let place = place;
        put(place, 1);
        drop(second);
        turn.done();
    }));
    turn.wait();
    drop(first);
}

/// Both owners write and drop at once, many times: whoever is last frees.
fn contended(_: bool) {
    for _ in 0..50 {
        let first = Arc::new((Mutex::new(()), 0));
        let threads = [first.clone(), first].map(|owner| {
            thread::spawn(move || {
                let guard = owner.0.lock().unwrap();
                put(shared(&owner.1), 1);
                drop(guard);
            })
        });
        // Who drops an owner last, and then its share of the memory, is a matter of luck.
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

/// What is behind the `Arc` is dropped by one thread, and its memory freed by another.
fn weak(_: bool) {
    let first = Arc::new(0);
    let weak: Weak<u64> = Arc::downgrade(&first);
    let turn = Turn::new();
    drop(thread::spawn(move || {
        put(shared(&first), 1);
        drop(first);
        turn.done();
    }));
    turn.wait();
    drop(weak);
}

/// The contents go to one of the owners, by value.
fn unwrapped(_: bool) {
    let first = Arc::new(0);
    let (second, weak) = (first.clone(), Arc::downgrade(&first));
    let turn = Turn::new();
    drop(thread::spawn(move || {
        put(shared(&second), 1);
        drop(second);
        turn.done();
    }));
    turn.wait();
    assert_eq!(Arc::try_unwrap(first).unwrap(), 1);
    drop(thread::spawn(move || drop(weak)));
}

/// The object goes to another thread, which frees it.
fn sent(_: bool) {
    let (sender, receiver) = mpsc::channel();
    let other = thread::spawn(move || drop(receiver.recv().unwrap()));
    let mut object = Box::new(0);
    put(of(&mut object), 1);
    sender.send(object).unwrap();
    other.join().unwrap();
}

/// The object is sent, and nobody receives it: it goes with the receiver.
fn unreceived(_: bool) {
    let (sender, receiver) = mpsc::channel();
    let (bounded, last) = mpsc::sync_channel(1);
    let (kept, keeper) = crossbeam::channel::unbounded();
    let turn = Turn::new();
    drop(thread::spawn(move || {
        let object = || {
            let mut object = Box::new(0);
            put(of(&mut object), 1);
            object
        };
        sender.send(object()).unwrap();
        bounded.send(object()).unwrap();
        kept.send(object()).unwrap();
        drop(kept);
        turn.done();
    }));
    turn.wait();
    drop((receiver, last, keeper));
}

/// A thread returns the object, and nobody joins it: it goes with the handle.
fn unjoined(_: bool) {
    let result = || {
        let mut object = Box::new(0);
        put(of(&mut object), 1);
        object
    };
    let handle = thread::spawn(result);
    wait_for_threads();
    drop(handle);
    thread::scope(|scope| {
        let handle = scope.spawn(result);
        wait_for_threads();
        drop(handle);
    });
    crossbeam::thread::scope(|scope| {
        let handle = scope.spawn(|_| result());
        wait_for_threads();
        drop(handle);
    })
    .unwrap();
}

/// Waits until this is the only thread, and records nothing.
fn wait_for_threads() {
    while std::fs::read_dir("/proc/self/task").is_ok_and(|all| all.count() > 1) {
        std::thread::yield_now();
    }
}

/// Threads of a scope use what is freed after it.
fn scoped(_: bool) {
    let mut object = Box::new(0);
    let place = of(&mut object);
    thread::scope(|scope| {
        scope.spawn(move || {
            let place = place;
            put(place, 1);
        });
    });
    drop(object);
}

/// A lock orders the last use and the free.
fn locked(racy: bool) {
    let mut object = Some(Box::new(0));
    let place = of(object.as_mut().unwrap());
    let object = Arc::new(Mutex::new(object));
    let turn = Turn::new();
    let theirs = object.clone();
    drop(thread::spawn(move || {
        let place = place;
        let guard = (!racy).then(|| theirs.lock().unwrap());
        if guard.as_ref().is_none_or(|guard| guard.is_some()) {
            put(place, 1);
        }
        drop(guard);
        turn.done();
    }));
    turn.wait();
    let freed = object.lock().unwrap().take();
    drop(freed);
}

/// A thread-local goes with its thread, which has lent it for a while.
fn local(racy: bool) {
    thread_local! {
        static OBJECT: std::cell::RefCell<Box<u64>> = std::cell::RefCell::default();
    }
    thread::spawn(move || {
        let place = OBJECT.with_borrow_mut(|object| of(object));
        used_by_another(place, racy);
    })
    .join()
    .unwrap();
}

const PROGRAMS: [(&str, fn(bool), bool); 15] = [
    ("boxed", boxed, true),
    ("vector", vector, true),
    ("grown", grown, true),
    ("nested", nested, true),
    ("read", read, true),
    ("counted", counted, true),
    ("locked", locked, true),
    ("local", local, true),
    ("contended", contended, false),
    ("weak", weak, false),
    ("unwrapped", unwrapped, false),
    ("sent", sent, false),
    ("unreceived", unreceived, false),
    ("unjoined", unjoined, false),
    ("scoped", scoped, false),
];

fn main() {
    let mut args = std::env::args().skip(1);
    let (name, racy) = (args.next().expect("a name"), args.next().is_some());
    if name == "list" {
        let listed = PROGRAMS.iter().filter(|program| program.2 || !racy);
        listed.for_each(|program| println!("{}", program.0));
        return;
    }
    let program = PROGRAMS.iter().find(|program| program.0 == name).expect("a program");
    program.1(racy);
}
