//! Values that are borrowed through pointers.

use std::ffi::c_void;
use std::mem;
use std::ptr;

use crate::{Twin, pair};

pub(crate) const TWINS: &[Twin] = &[
    ("lazy-pointer", |racy| pair(Lazy::default(), racy, get_or_make, get_or_make)),
    ("refcount", |racy| pair(Counted { count: 1, value: 9 }, racy, retain, release)),
    ("callback-context", |racy| pair(Context { hits: 0, last: 0 }, racy, on_event, on_event_again)),
    ("borrowed-vector", |racy| pair(Vec::from([1, 2]), racy, push_number, count_numbers)),
    ("replaced", |racy| pair(String::from("old"), racy, replace_text, length_of_text)),
    ("method", |racy| pair(Counter::default(), racy, count_up, show_count)),
    ("snapshot", |racy| pair(Settings { limit: 3, depth: 4 }, racy, change_limit, snapshot)),
];

struct Lazy {
    made: *mut u32,
}

impl Default for Lazy {
    fn default() -> Self {
        Self { made: ptr::null_mut() }
    }
}

struct Counted {
    count: usize,
    value: u32,
}

struct Context {
    hits: u32,
    last: i32,
}

#[derive(Default)]
struct Counter {
    hits: u64,
}

#[derive(Clone, Copy)]
struct Settings {
    limit: u32,
    depth: u32,
}

/// As a library in another language would call it.
fn dispatch(callback: unsafe fn(i32, *mut c_void), data: *mut c_void) {
    // SAFETY: the data is what the callback was registered with.
    unsafe { callback(5, data) };
}

#[racelog::instrument]
mod instrumented {
    use super::*;

    pub(super) unsafe fn get_or_make(lazy: *mut Lazy) {
        unsafe {
            if (*lazy).made.is_null() {
                (*lazy).made = Box::into_raw(Box::new(42));
            }
            std::hint::black_box(*(*lazy).made);
        }
    }

    pub(super) unsafe fn retain(counted: *mut Counted) {
        unsafe {
            (*counted).count += 1;
            std::hint::black_box((*counted).value);
        }
    }

    pub(super) unsafe fn release(counted: *mut Counted) {
        unsafe {
            (*counted).count -= 1;
            if (*counted).count == 0 {
                drop(Box::from_raw(counted));
            }
        }
    }

    unsafe fn handle(number: i32, data: *mut c_void) {
        let context = unsafe { &mut *data.cast::<Context>() };
        context.hits += 1;
        context.last = number;
    }

    pub(super) unsafe fn on_event(context: *mut Context) {
        dispatch(handle, context.cast());
    }

    pub(super) unsafe fn on_event_again(context: *mut Context) {
        dispatch(handle, context.cast());
    }

    pub(super) unsafe fn push_number(numbers: *mut Vec<u32>) {
        unsafe { (*numbers).push(3) };
    }

    pub(super) unsafe fn count_numbers(numbers: *mut Vec<u32>) {
        let count = unsafe { (*numbers).len() };
        std::hint::black_box(count);
    }

    pub(super) unsafe fn replace_text(text: *mut String) {
        let old = unsafe { mem::replace(&mut *text, "new".to_owned()) };
        drop(old);
    }

    pub(super) unsafe fn length_of_text(text: *mut String) {
        let text: &str = unsafe { &*text };
        std::hint::black_box(text.len());
    }

    impl Counter {
        fn increment(&mut self) {
            self.hits += 1;
        }

        fn hits(&self) -> u64 {
            self.hits
        }
    }

    pub(super) unsafe fn count_up(counter: *mut Counter) {
        unsafe { (*counter).increment() };
    }

    pub(super) unsafe fn show_count(counter: *mut Counter) {
        std::hint::black_box(unsafe { (*counter).hits() });
    }

    pub(super) unsafe fn change_limit(settings: *mut Settings) {
        unsafe { (*settings).limit = 5 };
    }

    pub(super) unsafe fn snapshot(settings: *mut Settings) {
        let now = unsafe { *settings };
        std::hint::black_box(now.limit + now.depth);
    }
}

use instrumented::*;
