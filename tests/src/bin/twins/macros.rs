//! Accesses within macros.

use crate::{Twin, pair};

pub(crate) const TWINS: &[Twin] = &[
    ("asserted", |racy| pair(Machine::default(), racy, step, check_state)),
    ("formatted", |racy| pair(Point { x: 1, y: 2 }, racy, move_point, describe_point)),
    ("matched", |racy| pair(Some(3u32), racy, forget_number, has_number)),
    ("collected", |racy| pair([1u8, 2, 3], racy, change_middle, collect)),
];

#[derive(Default)]
struct Machine {
    state: u32,
    steps: u64,
}

struct Point {
    x: i32,
    y: i32,
}

#[racelog::instrument]
mod instrumented {
    use super::*;

    pub(super) unsafe fn step(machine: *mut Machine) {
        unsafe {
            (*machine).state ^= 2;
            (*machine).steps += 1;
        }
    }

    pub(super) unsafe fn check_state(machine: *mut Machine) {
        unsafe {
            assert!((*machine).state < 4, "state {}", (*machine).state);
            debug_assert_eq!((*machine).state & 1, 0);
        }
    }

    pub(super) unsafe fn move_point(point: *mut Point) {
        unsafe { (*point).x += 1 };
    }

    pub(super) unsafe fn describe_point(point: *mut Point) {
        let text = unsafe { format!("({}, {y})", (*point).x, y = (*point).y) };
        std::hint::black_box(text);
    }

    pub(super) unsafe fn forget_number(number: *mut Option<u32>) {
        unsafe { *number = None };
    }

    pub(super) unsafe fn has_number(number: *mut Option<u32>) {
        let has = unsafe { matches!(*number, Some(number) if number > 2) };
        std::hint::black_box(has);
    }

    pub(super) unsafe fn change_middle(bytes: *mut [u8; 3]) {
        unsafe { (*bytes)[1] = 9 };
    }

    pub(super) unsafe fn collect(bytes: *mut [u8; 3]) {
        let all = unsafe { vec![(*bytes)[0], (*bytes)[1], (*bytes)[2]] };
        std::hint::black_box(all);
    }
}

use instrumented::*;
