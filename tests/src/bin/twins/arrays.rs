//! Many values in a row.

use std::mem::MaybeUninit;
use std::ptr;
use std::slice;

use crate::{Twin, pair};

pub(crate) const TWINS: &[Twin] = &[
    ("ring-slot", |racy| pair(ring(), racy, produce, consume)),
    ("raw-slices", |racy| pair(samples(), racy, normalise, average)),
    ("uninit-slots", |racy| pair(Stack::new(), racy, fill, drain)),
    ("memcpy", |racy| pair(Buffers::new(), racy, copy_out, checksum)),
    ("insertion", |racy| pair(sorted(), racy, insert, contains)),
    ("zeroed", |racy| pair(samples(), racy, clear, first_sample)),
];

struct Ring {
    slots: *mut (u32, u32),
    mask: usize,
    head: usize,
    tail: usize,
}

fn ring() -> Ring {
    let slots: &'static mut [(u32, u32); 4] = Box::leak(Box::new([(0, 0); 4]));
    Ring { slots: slots.as_mut_ptr(), mask: 3, head: 0, tail: 0 }
}

struct Samples {
    start: *mut f32,
    count: usize,
}

fn samples() -> Samples {
    let samples: &'static mut [f32] = Box::leak(vec![1.0, 2.0, 3.0, 6.0].into_boxed_slice());
    Samples { start: samples.as_mut_ptr(), count: samples.len() }
}

struct Stack {
    slots: [MaybeUninit<String>; 3],
    used: usize,
}

impl Stack {
    fn new() -> Self {
        let mut stack = Self { slots: [const { MaybeUninit::uninit() }; 3], used: 1 };
        stack.slots[0].write("first".to_owned());
        stack
    }
}

struct Buffers {
    from: [u8; 16],
    to: [u8; 16],
}

impl Buffers {
    fn new() -> Self {
        Self { from: [7; 16], to: [0; 16] }
    }
}

struct Sorted {
    start: *mut u16,
    length: usize,
}

fn sorted() -> Sorted {
    let places: &'static mut [u16; 8] = Box::leak(Box::new([1, 3, 5, 0, 0, 0, 0, 0]));
    Sorted { start: places.as_mut_ptr(), length: 3 }
}

#[racelog::instrument]
mod instrumented {
    use super::*;

    pub(super) unsafe fn produce(ring: *mut Ring) {
        unsafe {
            let at = (*ring).head & (*ring).mask;
            ptr::write((*ring).slots.add(at), (4, 2));
            (*ring).head = (*ring).head.wrapping_add(1);
        }
    }

    pub(super) unsafe fn consume(ring: *mut Ring) {
        unsafe {
            if (*ring).tail != (*ring).head {
                let (a, b) = *(*ring).slots.add((*ring).tail & (*ring).mask);
                std::hint::black_box(a + b);
                (*ring).tail += 1;
            }
        }
    }

    pub(super) unsafe fn normalise(samples: *mut Samples) {
        let all = unsafe { slice::from_raw_parts_mut((*samples).start, (*samples).count) };
        let largest = all.iter().copied().fold(0.0, f32::max);
        for sample in all {
            *sample /= largest;
        }
    }

    pub(super) unsafe fn average(samples: *mut Samples) {
        let all = unsafe { slice::from_raw_parts((*samples).start, (*samples).count) };
        std::hint::black_box(all.iter().sum::<f32>() / all.len() as f32);
    }

    pub(super) unsafe fn fill(stack: *mut Stack) {
        unsafe {
            let used = (*stack).used;
            (*stack).slots[used].write("second".to_owned());
            (*stack).used = used + 1;
        }
    }

    pub(super) unsafe fn drain(stack: *mut Stack) {
        unsafe {
            while (*stack).used > 0 {
                (*stack).used -= 1;
                let last = (*stack).used;
                drop((*stack).slots[last].assume_init_read());
            }
        }
    }

    pub(super) unsafe fn copy_out(buffers: *mut Buffers) {
        unsafe {
            let from = (&raw const (*buffers).from).cast::<u8>();
            let to = (&raw mut (*buffers).to).cast::<u8>();
            ptr::copy_nonoverlapping(from, to, 16);
        }
    }

    pub(super) unsafe fn checksum(buffers: *mut Buffers) {
        let mut sum = 0u32;
        unsafe {
            let to = (&raw const (*buffers).to).cast::<u8>();
            for at in 0..16 {
                sum = sum.wrapping_mul(31).wrapping_add(u32::from(*to.add(at)));
            }
        }
        std::hint::black_box(sum);
    }

    /// Keeps the order.
    pub(super) unsafe fn insert(sorted: *mut Sorted) {
        unsafe {
            let length = (*sorted).length;
            let mut at = 0;
            while at < length && *(*sorted).start.add(at) < 4 {
                at += 1;
            }
            let place = (*sorted).start.add(at);
            ptr::copy(place, place.add(1), length - at);
            place.write(4);
            (*sorted).length = length + 1;
        }
    }

    pub(super) unsafe fn contains(sorted: *mut Sorted) {
        let found =
            unsafe { slice::from_raw_parts((*sorted).start, (*sorted).length).binary_search(&5) };
        std::hint::black_box(found.is_ok());
    }

    pub(super) unsafe fn clear(samples: *mut Samples) {
        unsafe { (*samples).start.write_bytes(0, (*samples).count) };
    }

    pub(super) unsafe fn first_sample(samples: *mut Samples) {
        let first = unsafe { (*samples).start.read() };
        std::hint::black_box(first);
    }
}

use instrumented::*;
