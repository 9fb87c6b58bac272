//! Searches in sorted lists that begin near to where the answer is likely to be.
//!
//! Lists of events are looked up by events, and mostly about as far on in the list as the event is
//! in the trace. A binary search over a long list looks at places all over it, each of which is far
//! away in memory.

/// How far on in a list of so many entries it is likely that `part` of `whole` is.
pub(crate) fn likely(entries: usize, part: usize, whole: usize) -> usize {
    // Neither is more than the number of events, which fits 32 bits.
    (entries as u64 * part as u64 / (whole as u64).max(1)) as usize
}

/// As [`slice::partition_point`]; quick if that is near the likely one.
pub(crate) fn partition_point<T>(
    list: &[T],
    likely: usize,
    mut before: impl FnMut(&T) -> bool,
) -> usize {
    let likely = likely.min(list.len());
    let mut step = 1;
    let (mut low, mut high) = (likely, likely);
    if list.get(likely).is_some_and(&mut before) {
        low += 1;
        loop {
            high = low.saturating_add(step).min(list.len());
            if high == list.len() || !before(&list[high]) {
                break;
            }
            low = high + 1;
            step *= 2;
        }
    } else {
        loop {
            low = high.saturating_sub(step);
            if low == 0 || before(&list[low - 1]) {
                break;
            }
            high = low - 1;
            step *= 2;
        }
    }
    low + list[low..high].partition_point(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_finds_what_a_binary_search_finds() {
        for length in 0..40_usize {
            let list: Vec<usize> = (0..length).map(|number| number * number / 3).collect();
            for value in 0..600 {
                let expected = list.partition_point(|entry| *entry < value);
                for likely in 0..length + 3 {
                    let found = partition_point(&list, likely, |entry| *entry < value);
                    assert_eq!(found, expected, "{value} in {length}, from {likely}");
                }
            }
        }
    }

    #[test]
    fn it_looks_at_few_entries_if_the_answer_is_near() {
        let list: Vec<usize> = (0..1 << 20).collect();
        for value in [0, 1, 500_000, list.len() - 1, list.len()] {
            for off in [-9_isize, 0, 9] {
                let mut looks = 0;
                let found = partition_point(&list, value.saturating_add_signed(off), |entry| {
                    looks += 1;
                    *entry < value
                });
                assert!(found == value && looks <= 9, "{value} {off}: {found}, {looks} looks");
            }
        }
    }

    #[test]
    fn what_is_likely_is_by_proportion() {
        assert_eq!(likely(10, 50, 100), 5);
        assert_eq!(likely(10, 0, 0), 0);
        assert_eq!(
            likely(u32::MAX as usize, u32::MAX as usize, u32::MAX as usize),
            u32::MAX as usize
        );
    }
}
