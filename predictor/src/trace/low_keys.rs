//! A table from small numbers to numbers, without hashing.
//!
//! Most numbers in traces are small, but a few may be any. A table by number serves the small ones
//! as far as that is worth the room; its user keeps the others in a map.

/// The numbers of small keys.
#[derive(Clone, Debug, Default)]
pub(super) struct LowKeys {
    /// By the key; [`UNSEEN`] where there is none.
    numbers: Vec<u32>,
}

/// No key has this number.
const UNSEEN: u32 = u32::MAX;

/// Keys below this, or so many times the number of all entries, are kept here.
const LOW: usize = 1024;
const LOW_PER_ENTRY: usize = 4;

impl LowKeys {
    /// The number of a key, if it is here.
    #[inline]
    pub(super) fn get(&self, key: usize) -> Option<u32> {
        self.numbers.get(key).copied().filter(|number| *number != UNSEEN)
    }

    /// Keeps the number of a key, unless the key is too large for so many entries. Whether it does.
    pub(super) fn insert(&mut self, key: usize, number: u32, entries: usize) -> bool {
        let is_low = key < LOW.max(entries * LOW_PER_ENTRY);
        if is_low {
            if key >= self.numbers.len() {
                self.numbers.resize(key + 1, UNSEEN);
            }
            self.numbers[key] = number;
        }
        is_low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_keys_are_kept_when_there_are_many() {
        let mut keys = LowKeys::default();
        assert!(keys.insert(7, 0, 1) && !keys.insert(LOW, 1, 2));
        assert_eq!((keys.get(7), keys.get(8), keys.get(LOW)), (Some(0), None, None));
        assert!(keys.insert(LOW, 1, LOW));
        assert_eq!(keys.get(LOW), Some(1));
    }
}
