//! Single words in odd places.

use std::ptr;

use racelog::cell::UnsafeCell;
use racelog::sync::atomic::{AtomicBool, Ordering};

use crate::{Twin, in_turn, pair};

pub(crate) const TWINS: &[Twin] = &[
    ("union", |racy| pair(Number { bits: 1 }, racy, set_bits, get_float)),
    ("packed", |racy| {
        pair(Header { kind: 1, length: 2, checksum: 3 }, racy, seal_header, open_header);
    }),
    ("register", |racy| pair(Device { control: 0, status: 1 }, racy, start_device, poll_device)),
    ("static-table", |racy| pair((), racy, fill_table, search_table)),
    ("spin-lock", |racy| {
        let enter = if racy { add_without } else { add_within };
        in_turn(SpinLocked::new(), enter, add_within);
    }),
    ("exchange", |racy| pair([1u64, 2], racy, exchange, difference)),
];

#[repr(C)]
union Number {
    bits: u32,
    float: f32,
}

#[repr(C, packed)]
struct Header {
    kind: u8,
    length: u32,
    checksum: u16,
}

#[repr(C)]
struct Device {
    control: u32,
    status: u32,
}

static mut TABLE: [u32; 8] = [0; 8];

struct SpinLocked {
    taken: AtomicBool,
    value: UnsafeCell<i64>,
}

impl SpinLocked {
    fn new() -> Self {
        Self { taken: AtomicBool::new(false), value: UnsafeCell::new(5) }
    }
}

#[racelog::instrument]
mod instrumented {
    use super::*;

    pub(super) unsafe fn set_bits(number: *mut Number) {
        unsafe { (*number).bits = 0x3f80_0000 };
    }

    pub(super) unsafe fn get_float(number: *mut Number) {
        let float = unsafe { (*number).float };
        std::hint::black_box(float);
    }

    pub(super) unsafe fn seal_header(header: *mut Header) {
        unsafe {
            (*header).length += 4;
            let sum = u16::from((*header).kind) ^ (*header).length as u16;
            (&raw mut (*header).checksum).write_unaligned(sum);
        }
    }

    pub(super) unsafe fn open_header(header: *mut Header) {
        unsafe {
            let length = ptr::addr_of!((*header).length).read_unaligned();
            let checksum = (&raw const (*header).checksum).read_unaligned();
            std::hint::black_box((length, checksum));
        }
    }

    pub(super) unsafe fn start_device(device: *mut Device) {
        unsafe {
            ptr::write_volatile(&raw mut (*device).control, 1);
            ptr::write_volatile(&raw mut (*device).status, 0);
        }
    }

    pub(super) unsafe fn poll_device(device: *mut Device) {
        let ready = unsafe { ptr::read_volatile(&raw const (*device).status) & 1 == 0 };
        std::hint::black_box(ready);
    }

    pub(super) unsafe fn fill_table(_: *mut ()) {
        for at in 0..8 {
            unsafe { TABLE[at] = (at * at) as u32 };
        }
    }

    pub(super) unsafe fn search_table(_: *mut ()) {
        let mut at = 0;
        while at < 8 && unsafe { TABLE[at] } < 20 {
            at += 1;
        }
        std::hint::black_box(at);
    }

    pub(super) fn add_within(lock: *mut SpinLocked) {
        // SAFETY: it is there for as long as the threads are.
        let lock = unsafe { &*lock };
        while lock
            .taken
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            std::hint::spin_loop();
        }
        // SAFETY: the lock is taken.
        unsafe { *lock.value.get() += 1 };
        lock.taken.store(false, Ordering::Release);
    }

    /// Takes the value for its own.
    pub(super) fn add_without(lock: *mut SpinLocked) {
        // SAFETY: none.
        unsafe { *(*lock).value.get() += 1 };
    }

    pub(super) unsafe fn exchange(pair: *mut [u64; 2]) {
        unsafe {
            let first = pair.cast::<u64>();
            ptr::swap(first, first.add(1));
        }
    }

    pub(super) unsafe fn difference(pair: *mut [u64; 2]) {
        let difference = unsafe { (*pair)[1].abs_diff((*pair)[0]) };
        std::hint::black_box(difference);
    }
}

use instrumented::*;
