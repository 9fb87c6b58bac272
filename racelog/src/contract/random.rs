//! Random words and lines, for the tests of this module: a crate would be another dependency.

use super::operation::{AccessValues, Operation};
use super::place::SourcePlace;
use super::schedule::Step;

/// So many random cases a test tries: few under Miri, which takes minutes for the rest.
pub(super) const ROUNDS: usize = if cfg!(miri) { 20 } else { 2_000 };

/// A stream of numbers that a seed decides (xorshift64*).
pub(super) struct Numbers(u64);

impl Numbers {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 8
    }

    /// A number below this one.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(super) fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    /// One of these.
    pub(super) fn one<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }

    /// Something, or nothing.
    pub(super) fn maybe<T>(&mut self, some: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.coin().then(|| some(self))
    }

    /// A few of them.
    pub(super) fn some<T>(&mut self, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(4)).map(|_| one(self)).collect()
    }

    /// A word: no blank, no `#`, no lone `@` or `-`.
    pub(super) fn word(&mut self) -> String {
        const LETTERS: [char; 12] = ['a', 'b', 'x', '0', '7', '.', '_', '-', '\'', 'ö', '/', '@'];
        let length = self.below(6);
        let rest = (0..length).map(|_| *self.one(&LETTERS));
        std::iter::once('w').chain(rest.collect::<Vec<_>>()).collect()
    }

    /// A place in the source.
    pub(super) fn place(&mut self) -> SourcePlace {
        let column = self.maybe(|numbers| numbers.below(99) as u32);
        SourcePlace { file: self.line(), line: self.below(999) as u32, column }
    }

    /// An operation of a thread.
    pub(super) fn operation(&mut self) -> Operation {
        let op = (*self.one(&["read", "acquire", "begin", "notify_one"])).to_owned();
        let woken = if op == "notify_one" { self.maybe(Self::word) } else { None };
        let (object, place) = (self.maybe(Self::word), self.maybe(Self::place));
        Operation { thread: self.word(), op, object, woken, place }
    }

    /// What an access read and wrote.
    pub(super) fn values(&mut self) -> AccessValues {
        AccessValues { read: self.maybe(Self::word), wrote: self.maybe(Self::word) }
    }

    /// A step of a schedule.
    pub(super) fn step(&mut self) -> Step {
        let values = self.maybe(Self::values).filter(|values| *values != AccessValues::default());
        Step { operation: self.operation(), values }
    }

    /// Words with single blanks between them.
    pub(super) fn line(&mut self) -> String {
        let mut line = self.word();
        for _ in 0..self.below(4) {
            line = format!("{line} {}", self.word());
        }
        line
    }
}
