//! Two tests without a race, where only the counts of an `Arc` keep the order.

#![cfg(racelog)]

mod sync;

#[cfg(test)]
mod tests {
    use racelog::cell::Shared;

    use crate::sync::{Arc, thread};

    /// Whoever is the last to let go looks at it again.
    struct Log(Shared<u32>);

    impl Drop for Log {
        fn drop(&mut self) {
            self.0.set(0);
        }
    }

    #[racelog::test]
    fn the_last_owner_clears_it() {
        let log = Arc::new(Log(Shared::new(1)));
        let other = log.clone();
        let reader = thread::spawn(move || assert_eq!(other.0.get(), 1));
        assert_eq!(log.0.get(), 1);
        drop(log);
        reader.join().unwrap();
    }

    #[racelog::test]
    fn nobody_else_is_left() {
        let mut mine = Arc::new(Shared::new(0));
        let other = mine.clone();
        let writer = thread::spawn(move || other.set(1));
        while Arc::get_mut(&mut mine).is_none() {
            thread::yield_now();
        }
        assert_eq!(mine.get(), 1);
        writer.join().unwrap();
    }
}
