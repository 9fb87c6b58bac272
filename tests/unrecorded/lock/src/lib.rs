//! A counter without a race: who adds to it holds a lock. The import of the lock was forgotten, so the trace has nothing of it.

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
        self.count.set(self.count.get() + 1);
    }
}

#[cfg(test)]
mod tests {
    use racelog::thread;

    use super::Counter;

    #[racelog::test]
    fn two_add() {
        let counter = Counter::default();
        thread::scope(|scope| {
            scope.spawn(|| counter.add());
            scope.spawn(|| counter.add());
        });
        assert_eq!(counter.count.get(), 2);
    }
}
