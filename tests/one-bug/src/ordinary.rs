//! Tests without any attribute of racelog's, for `cargo racelog explore`. What goes wrong, in any
//! way there is, does so under some schedules only.

use super::sleepy::programs;
use racelog::sync::Mutex;
use racelog::{hint, thread};
use std::time::Duration;

#[test]
fn update_is_lost() {
    programs::sum_behind_a_mutex(false);
}

#[test]
fn update_is_not_lost() {
    programs::sum_behind_a_mutex(true);
}

#[test]
fn threads_stand_still() {
    programs::accounts_in_both_orders(false);
}

#[test]
fn threads_go_on() {
    programs::accounts_in_both_orders(true);
}

/// Whether the late thread was first, which does not happen by itself.
fn late_is_first() -> bool {
    let came = Mutex::new(Vec::new());
    thread::scope(|scope| {
        scope.spawn(|| came.lock().unwrap().push("early"));
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(30));
            came.lock().unwrap().push("late");
        });
    });
    came.into_inner().unwrap()[0] == "late"
}

#[test]
fn process_is_killed() {
    if late_is_first() {
        std::process::abort();
    }
}

#[test]
fn process_does_not_end() {
    if late_is_first() {
        loop {
            hint::spin_loop();
        }
    }
}

/// Whether this is the bottom, which is so deep that no stack has room for it.
fn bottom_of(depth: usize) -> bool {
    let frame = std::hint::black_box([depth; 64]);
    frame[0] == 0 || bottom_of(depth - 1) && frame[1] == depth
}

#[test]
fn stack_has_no_room() {
    assert!(!late_is_first() || bottom_of(usize::MAX));
}

#[test]
fn memory_is_not_there() {
    if late_is_first() {
        let nowhere = std::ptr::without_provenance_mut::<u8>(8);
        // SAFETY: there is none; that is what is tried.
        unsafe { nowhere.write_volatile(1) };
    }
}

/// The thread that has its turn sleeps in the system.
#[test]
fn control_is_lost() {
    if late_is_first() {
        std::thread::sleep(Duration::from_millis(200));
    }
}
