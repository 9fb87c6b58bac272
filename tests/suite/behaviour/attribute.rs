//! `#[racelog::test]`: `recorded.rs` looks at the traces that these leave.

use racelog::sync::{Arc, Barrier, Mutex};
use racelog::thread;

/// Adds up in so many threads.
fn add_up(threads: u32) -> u32 {
    let sum = Arc::new(Mutex::new(0));
    let handles: Vec<_> = (0..threads)
        .map(|number| {
            let sum = Arc::clone(&sum);
            thread::spawn(move || *sum.lock().unwrap() += number)
        })
        .collect();
    for handle in handles {
        handle.join().unwrap();
    }
    *sum.lock().unwrap()
}

#[racelog::test]
#[should_panic = "as it should"]
fn panics() {
    let mutex = Mutex::new(1);
    let _guard = mutex.lock().unwrap();
    panic!("as it should");
}

#[racelog::test]
fn returns_a_result() -> Result<(), std::num::ParseIntError> {
    let number = thread::spawn(|| "7".parse::<u32>()).join().unwrap()?;
    assert_eq!(add_up(number), 21);
    Ok(())
}

/// The two tests of this module share a static, and may run at the same time.
mod side_by_side {
    use super::*;

    static TOGETHER: Mutex<Vec<u32>> = Mutex::new(Vec::new());

    fn take_part(number: u32) {
        for _ in 0..20 {
            TOGETHER.lock().unwrap().push(number);
            thread::yield_now();
        }
        let own = TOGETHER.lock().unwrap().iter().filter(|&&other| other == number).count();
        assert_eq!(own, 20);
        assert_eq!(add_up(3), 3);
    }

    #[racelog::test]
    fn left() {
        take_part(1);
    }

    #[racelog::test]
    fn right() {
        take_part(2);
    }
}

mod first {
    #[racelog::test]
    fn same_name() {
        assert_eq!(super::add_up(2), 1);
    }
}

mod second {
    #[racelog::test]
    fn same_name() {
        assert_eq!(super::add_up(4), 6);
    }
}

/// Statements before and within it are those of an ordinary function.
#[racelog::test]
#[allow(clippy::items_after_statements, reason = "it is allowed in a test as anywhere")]
fn is_an_ordinary_function() {
    let barrier = Barrier::new(2);
    struct Local;
    thread::scope(|scope| {
        scope.spawn(|| barrier.wait());
        barrier.wait();
    });
    let _ = Local;
}

/// A thread that racelog does not start is the test's all the same.
#[racelog::test]
fn starts_a_thread_of_std() {
    let sum = Mutex::new(1);
    std::thread::scope(|scope| {
        scope.spawn(|| *sum.lock().unwrap() += 1);
    });
    assert_eq!(*sum.lock().unwrap(), 2);
}
