//! Memory that goes.

use std::alloc::{self, Layout};
use std::ptr;

use racelog::sync::atomic::{AtomicUsize, Ordering};

use crate::{Twin, in_turn, pair};

pub(crate) const TWINS: &[Twin] = &[
    ("boxed-free", |racy| {
        let release = if racy { free_at_once } else { free_if_last };
        // SAFETY: this is what it is about.
        in_turn(
            Owner::new(),
            move |owner| unsafe { use_it(owner) },
            move |owner| unsafe {
                release(owner);
            },
        );
    }),
    ("grown-vector", |racy| pair(Grown::new(), racy, sum_grown, grow)),
    ("dropped-in-place", |racy| pair(Slot::new(), racy, name_of, take_name)),
];

struct Payload {
    value: u64,
}

struct Owner {
    payload: *mut Payload,
    users: AtomicUsize,
}

impl Owner {
    fn new() -> Self {
        let payload = Box::into_raw(Box::new(Payload { value: 3 }));
        Self { payload, users: AtomicUsize::new(2) }
    }
}

struct Grown {
    start: *mut u32,
    length: usize,
    capacity: usize,
}

impl Grown {
    fn new() -> Self {
        let layout = Layout::array::<u32>(2).unwrap();
        // SAFETY: the layout has a size, and both elements are filled in.
        unsafe {
            let start = alloc::alloc(layout).cast::<u32>();
            start.write(1);
            start.add(1).write(2);
            Self { start, length: 2, capacity: 2 }
        }
    }
}

struct Slot {
    name: String,
    filled: bool,
}

impl Slot {
    fn new() -> Self {
        Self { name: "name".to_owned(), filled: true }
    }
}

#[racelog::instrument]
mod instrumented {
    use super::*;

    pub(super) unsafe fn use_it(owner: *mut Owner) {
        unsafe {
            let payload = (*owner).payload;
            std::hint::black_box((*payload).value);
            (*owner).users.fetch_sub(1, Ordering::AcqRel);
        }
    }

    pub(super) unsafe fn free_if_last(owner: *mut Owner) {
        unsafe {
            if (*owner).users.fetch_sub(1, Ordering::AcqRel) == 1 {
                drop(Box::from_raw((*owner).payload));
            }
        }
    }

    /// Does not care whether it is the last.
    pub(super) unsafe fn free_at_once(owner: *mut Owner) {
        unsafe { drop(Box::from_raw((*owner).payload)) };
    }

    pub(super) unsafe fn sum_grown(grown: *mut Grown) {
        let mut sum = 0;
        unsafe {
            let start = (*grown).start;
            for at in 0..(*grown).length {
                sum += *start.add(at);
            }
        }
        std::hint::black_box(sum);
    }

    pub(super) unsafe fn grow(grown: *mut Grown) {
        unsafe {
            let layout = Layout::array::<u32>((*grown).capacity).unwrap();
            let larger = 2 * (*grown).capacity;
            let start = alloc::realloc((*grown).start.cast(), layout, larger * 4);
            if start.is_null() {
                alloc::handle_alloc_error(layout);
            }
            (*grown).start = start.cast();
            (*grown).capacity = larger;
        }
    }

    pub(super) unsafe fn name_of(slot: *mut Slot) {
        unsafe {
            let name = &(*slot).name;
            std::hint::black_box(name.len());
        }
    }

    pub(super) unsafe fn take_name(slot: *mut Slot) {
        unsafe {
            if (&raw const (*slot).filled).read() {
                ptr::drop_in_place(&raw mut (*slot).name);
                (&raw mut (*slot).filled).write(false);
            }
        }
    }
}

use instrumented::*;
