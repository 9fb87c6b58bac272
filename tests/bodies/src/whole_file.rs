//! A module in a file of its own, all of whose items are instrumented at once, or none.

crate::instrument_items! {
    use std::cell::Cell;

    pub mod inner {
        /// Doubles a number.
        #[must_use]
        pub const fn double(number: u32) -> u32 {
            number * 2
        }
    }

    /// What is counted.
    #[derive(Debug, Default)]
    pub struct Counter(Cell<u32>);

    impl Counter {
        /// Counts one more, up to a limit.
        pub fn add(&self, limit: u32) -> u32 {
            if self.0.get() < inner::double(limit) {
                self.0.set(self.0.get() + 1);
            }
            self.0.get()
        }
    }

    macro_rules! twice {
        ($call:expr) => {
            $call + $call
        };
    }

    /// Counts two.
    #[must_use]
    pub fn two(counter: &Counter) -> u32 {
        twice!(counter.add(8))
    }
}
