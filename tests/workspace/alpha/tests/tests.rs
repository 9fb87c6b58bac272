//! Tests of another program, with names that the crate's own have as well.

#![cfg(racelog)]

use racelog::sync::Mutex;
use racelog::thread;

fn count(threads: u32) {
    let count = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| *count.lock().unwrap() += 1);
        }
    });
    assert_eq!(*count.lock().unwrap(), threads);
}

mod tests {
    #[racelog::test]
    fn one() {
        super::count(1);
    }

    #[racelog::test]
    fn two() {
        super::count(2);
    }
}
