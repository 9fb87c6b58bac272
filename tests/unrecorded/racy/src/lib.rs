//! The racy twin: one of the two does not take the lock.

#![cfg(racelog)]

use std::sync::Mutex;

use racelog::cell::Shared;

#[derive(Default)]
pub struct Counter {
    lock: Mutex<()>,
    count: Shared<u32>,
}

impl Counter {
    pub fn add(&self) {
        let _guard = self.lock.lock().unwrap();
        self.count.set(1);
    }

    pub fn reset(&self) {
        self.count.set(0);
    }
}

#[cfg(test)]
mod tests {
    use racelog::thread;

    use super::Counter;

    #[racelog::test]
    fn one_adds_and_one_resets() {
        let counter = Counter::default();
        thread::scope(|scope| {
            scope.spawn(|| counter.add());
            scope.spawn(|| counter.reset());
        });
    }
}
