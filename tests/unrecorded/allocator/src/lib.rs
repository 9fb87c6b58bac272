//! A counter with a race. One of its test files has an allocator of its own.

#![cfg(racelog)]

use racelog::cell::Shared;

#[derive(Default)]
pub struct Counter {
    count: Shared<u32>,
}

impl Counter {
    pub fn add(&self) {
        self.count.set(self.count.get() + 1);
    }
}
