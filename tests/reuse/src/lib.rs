//! Programs whose memory is given back and used again: `told NAME`, `untold NAME`.
//!
//! Each runs in one given order, which nothing that is recorded enforces. Comments at the ends of
//! lines say which lines the tests speak of.

mod turns;

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use racelog::cell::UnsafeCell;
use racelog::thread;

/// What is allocated and freed by the programs. Nothing else has just this size.
#[repr(C)]
struct Object {
    first: u32,
    second: u32,
    rest: [u8; 9_992],
}

/// The system's allocator, but for objects: whoever asks for one gets the one that was freed last,
/// whichever thread did that, with what it held.
pub struct Reusing;

static FREED: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

// SAFETY: it is the system's, and an object that was freed is given away once.
unsafe impl GlobalAlloc for Reusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout == Layout::new::<Object>() {
            let freed = FREED.swap(ptr::null_mut(), Ordering::AcqRel);
            if !freed.is_null() {
                return freed;
            }
        }
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        let mut place = place;
        if layout == Layout::new::<Object>() {
            place = FREED.swap(place, Ordering::AcqRel);
            if place.is_null() {
                return;
            }
        }
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
}

/// A new object, and what the allocator left in it.
fn allocate() -> *mut Object {
    // SAFETY: the layout has a size.
    let place = unsafe { std::alloc::alloc(Layout::new::<Object>()).cast::<Object>() };
    assert!(!place.is_null());
    place
}

fn free(object: *mut Object) {
    // SAFETY: it was allocated by the function above, and is used no longer.
    unsafe { std::alloc::dealloc(object.cast(), Layout::new::<Object>()) };
}

/// Where the last object was: what is there now must be another.
static LAST: AtomicUsize = AtomicUsize::new(0);

fn must_be_where_the_last_was(place: usize) {
    assert_eq!(place, LAST.load(Ordering::Relaxed), "the memory is not used again");
}

fn note(place: usize) {
    LAST.store(place, Ordering::Relaxed);
}

/// Runs the program that the first argument names.
pub fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("same") => in_turn(&[write_and_free, write_again]),
        Some("part") => in_turn(&[write_and_free, write_part]),
        Some("marked") => in_turn(&[mark_and_free, mark_again]),
        Some("cell") => in_turn(&[cell_and_free, cell_again]),
        Some("grown") => in_turn(&[write_and_grow, write_again]),
        Some("stack") => in_turn(&[on_stack, on_stack_again]),
        Some("race") => in_turn(&[write_and_keep, write_kept]),
        Some("reused-race") => in_turn(&[write_and_free, write_again_and_keep, write_kept]),
        Some("static-race") => in_turn(&[write_static, write_static_too]),
        other => panic!("there is no program {other:?}"),
    }
}

/// Runs functions on threads of their own, one after the other. Nobody joins them: nothing that is
/// recorded orders them.
fn in_turn(functions: &[fn()]) {
    for function in functions.iter().copied() {
        let before = turns::threads();
        drop(thread::spawn(move || {
            function();
            turns::done();
        }));
        turns::wait();
        turns::wait_for_threads(before);
    }
}

#[racelog::instrument]
fn put(object: *mut Object, value: u32) {
    // SAFETY: only this thread has the object.
    unsafe { (*object).first = value };
}

fn write_and_free() {
    let object = allocate();
    put(object, 7);
    note(object.addr());
    free(object);
}

fn write_again() {
    let object = allocate();
    must_be_where_the_last_was(object.addr());
    put(object, 7);
    free(object);
}

#[racelog::instrument]
fn put_both(object: *mut Object, value: u64) {
    // SAFETY: only this thread has the object, whose first two fields are as large.
    unsafe { *object.cast::<u64>() = value };
}

fn write_part() {
    let object = allocate();
    must_be_where_the_last_was(object.addr());
    put_both(object, 7);
    free(object);
}

/// As what instrumented code does, said by hand.
fn mark_and_free() {
    let object = allocate();
    // SAFETY: only this thread has the object.
    unsafe { racelog::write!((*object).first, 7) };
    note(object.addr());
    free(object);
}

fn mark_again() {
    let object = allocate();
    must_be_where_the_last_was(object.addr());
    // SAFETY: only this thread has the object.
    unsafe { racelog::write!((*object).first, 7) };
    free(object);
}

/// A cell that goes without being dropped.
fn cell_and_free() {
    let object = allocate();
    let cell = object.cast::<UnsafeCell<u32>>();
    // SAFETY: only this thread has the object, and there is room for the cell.
    unsafe {
        cell.write(UnsafeCell::new(7));
        (*cell).with_mut(|value| *value = 7);
    }
    note(object.addr());
    free(object);
}

fn cell_again() {
    let object = allocate();
    must_be_where_the_last_was(object.addr());
    let cell = object.cast::<UnsafeCell<u32>>();
    // SAFETY: only this thread has the object, and there is room for the cell.
    unsafe {
        cell.write(UnsafeCell::new(7));
        (*cell).with_mut(|value| *value = 7);
    }
    free(object);
}

/// The object moves, and its memory is another's.
fn write_and_grow() {
    let object = allocate();
    put(object, 7);
    note(object.addr());
    let layout = Layout::new::<Object>();
    // SAFETY: it was allocated with this layout.
    let grown = unsafe { std::alloc::realloc(object.cast(), layout, 2 * layout.size()) };
    let larger = Layout::from_size_align(2 * layout.size(), layout.align()).unwrap();
    // SAFETY: that is its layout now.
    unsafe { std::alloc::dealloc(grown, larger) };
}

#[racelog::instrument]
fn put_local(place: *mut u64) {
    // SAFETY: it is a variable of the caller's.
    unsafe { *place = 7 };
}

#[inline(never)]
fn local(use_it: fn(*mut u64)) {
    let mut variable = 7;
    use_it(&raw mut variable);
}

fn on_stack() {
    local(|place| {
        put_local(place);
        note(place.addr());
    });
}

fn on_stack_again() {
    local(|place| {
        must_be_where_the_last_was(place.addr());
        put_local(place);
    });
}

static KEPT: AtomicPtr<Object> = AtomicPtr::new(ptr::null_mut());

#[racelog::instrument]
fn put_first(object: *mut Object) {
    // SAFETY: none, others have the object.
    unsafe { (*object).second = 1 }; // first write
}

#[racelog::instrument]
fn put_second(object: *mut Object) {
    // SAFETY: none, others have the object.
    unsafe { (*object).second = 2 }; // second write
}

fn write_and_keep() {
    let object = allocate();
    put_first(object);
    KEPT.store(object, Ordering::Relaxed);
}

fn write_again_and_keep() {
    let object = allocate();
    must_be_where_the_last_was(object.addr());
    put(object, 7);
    put_first(object);
    KEPT.store(object, Ordering::Relaxed);
}

fn write_kept() {
    put_second(KEPT.load(Ordering::Relaxed));
}

static mut COUNTER: u32 = 0;

#[racelog::instrument]
fn write_static() {
    // SAFETY: none, others have it.
    unsafe { COUNTER = 1 }; // first write
}

#[racelog::instrument]
fn write_static_too() {
    // SAFETY: none, others have it.
    unsafe { COUNTER = 2 }; // second write
}
