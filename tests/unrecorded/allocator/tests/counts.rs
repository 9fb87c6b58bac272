//! Counts what is allocated.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: all is the system's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        unsafe { System.dealloc(place, layout) };
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[cfg(racelog)]
#[racelog::test]
fn adding_allocates_nothing() {
    let counter = std::sync::Arc::new(allocator::Counter::default());
    let threads = [(); 2].map(|()| {
        let counter = counter.clone();
        racelog::thread::spawn(move || {
            let before = ALLOCATED.load(Ordering::Relaxed);
            counter.add();
            assert!(ALLOCATED.load(Ordering::Relaxed) >= before);
        })
    });
    threads.map(|thread| thread.join().unwrap());
}

#[test]
fn a_box_is_counted() {
    let before = ALLOCATED.load(Ordering::Relaxed);
    drop(std::hint::black_box(Box::new(1)));
    assert!(ALLOCATED.load(Ordering::Relaxed) > before);
}
