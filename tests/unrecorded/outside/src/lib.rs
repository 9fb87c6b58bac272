//! All of this is recorded; the test beside it is not.

#![cfg(racelog)]

use racelog::cell::Shared;

/// A cell that whoever uses it has to guard.
#[derive(Default)]
pub struct Slot(Shared<u32>);

impl Slot {
    pub fn put(&self, value: u32) {
        self.0.set(value);
    }
}

#[cfg(test)]
mod tests {
    use super::Slot;

    #[racelog::test]
    fn one_puts() {
        Slot::default().put(1);
    }
}
