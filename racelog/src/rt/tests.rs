//! The recorder without the mirrors: a front that knows where it is by addresses of code.

use std::sync::atomic::Ordering::Relaxed;

use super::base::call_site::CallSite;
use super::memory::modules::module_of;
use super::memory::table::Kind;
use super::objects::cells::access;
use super::objects::lock::LockMeta;
use super::objects::raw;
use super::threads::attach::with;
use super::threads::child::Child;
use super::threads::test::RecordedTest;
use crate::child_trace;
use crate::trace::{Location, Op, Patience, Value};

/// Code of this program: the addresses are in a module that the recorder finds.
fn code(offset: usize) -> usize {
    fn somewhere() {}
    somewhere as fn() as usize + offset
}

/// An address that no module has.
const NOWHERE: usize = 0x10;

/// What callbacks of compiled-in instrumentation would do: each says where it was called from.
fn run() {
    let at = |address| Some(CallSite::code(address));
    let (lock, atomic, mut memory) = (LockMeta::new(), std::sync::atomic::AtomicU64::new(3), 5u64);
    let address = (&raw const atomic).addr();
    with(|log| lock.acquired(log, Patience::Forever, at(code(1))));
    access(address, Kind::Atomic, None, at(code(2)), |access| {
        let old = atomic.swap(4, Relaxed);
        access.modified(old.into(), 4, None);
    });
    let place = &raw mut memory;
    raw::begin_write(place.cast_const(), &6u64, at(code(3)));
    // SAFETY: it is a local variable.
    unsafe { place.write(6) };
    raw::end();
    raw::begin_read(place.cast_const(), at(code(3)));
    // SAFETY: as above.
    assert_eq!(unsafe { place.read() }, 6);
    raw::end();
    with(|log| lock.releasing(log, at(NOWHERE)));
    let mut child = Child::fork(None, at(code(4)), None).expect("the thread is recorded");
    let shared = child.shared();
    std::thread::spawn(move || {
        child.begin();
        child.leave(true);
    })
    .join()
    .expect("it does not panic");
    shared.joined(at(code(5)));
}

#[test]
fn events_of_code_addresses_are_recorded_without_mirrors() {
    if child_trace::in_child() {
        let test = RecordedTest::start("racelog", "code");
        run();
        return drop(test);
    }
    let test = "rt::tests::events_of_code_addresses_are_recorded_without_mirrors";
    let (program, base) = module_of(code(0));
    let here = |offset: u64| Some((program.clone(), base + offset));
    let mut found = Vec::new();
    for (event, location, dictionary) in child_trace::located_events(test) {
        let place = location.map(|location| match location {
            Location::Code { module, pc } => {
                (dictionary.get_string(module).unwrap().to_owned(), pc)
            }
            Location::Source { .. } => panic!("{event:?} is at a place in the source"),
        });
        found.push((event.op, place));
    }
    let places = |wanted: fn(&Op) -> bool| -> Vec<_> {
        found.iter().filter(|(op, _)| wanted(op)).map(|(_, place)| place.clone()).collect()
    };
    assert_eq!(places(|op| matches!(op, Op::Acquire(_))), [here(1)]);
    let swap = |op: &Op| {
        matches!(op, Op::Rmw { old: Value::Nat(3), new: Value::Nat(4), ordering: None, .. })
    };
    assert_eq!(places(swap), [here(2)]);
    assert_eq!(places(|op| matches!(op, Op::Write { value: Value::Nat(6), .. })), [here(3)]);
    assert_eq!(places(|op| matches!(op, Op::Read { value: Value::Nat(6), .. })), [here(3)]);
    let nowhere = Some(("code".to_owned(), NOWHERE as u64));
    assert_eq!(places(|op| matches!(op, Op::Release(_))), [nowhere]);
    assert_eq!(places(|op| matches!(op, Op::Fork(_))), [here(4)]);
    assert_eq!(places(|op| matches!(op, Op::Join(_))), [here(5)]);
    assert_eq!(places(|op| matches!(op, Op::End)), [None]);
}
