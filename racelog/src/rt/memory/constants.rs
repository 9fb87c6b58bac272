//! Tells constants from variables: what cannot be written.
//!
//! Code that reads `LIMIT` looks the same whether that is a `const` or a `static mut`. A constant
//! that has an address has it in memory that was read-only when the program started.

use std::ops::Range;
use std::sync::OnceLock;

/// Whether an address cannot be written. Where the system does not say so, it may be written.
pub(in crate::rt) fn is_constant(address: usize) -> bool {
    static READ_ONLY: OnceLock<Vec<Range<usize>>> = OnceLock::new();
    let ranges = READ_ONLY.get_or_init(|| {
        // The file is there on Linux only.
        read_only(&std::fs::read_to_string("/proc/self/maps").unwrap_or_default())
    });
    let next = ranges.partition_point(|range| range.end <= address);
    ranges.get(next).is_some_and(|range| range.contains(&address))
}

/// The ranges of files that are mapped without permission to write, in order.
fn read_only(maps: &str) -> Vec<Range<usize>> {
    let range = |line: &str| {
        let mut words = line.split_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let permissions = words.next()?;
        let of_file = words.nth(3).is_some_and(|name| name.starts_with('/'));
        (of_file && permissions.starts_with("r-")).then_some(())?;
        let number = |word| usize::from_str_radix(word, 16).ok();
        Some(number(start)?..number(end)?)
    };
    maps.lines().filter_map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_cannot_be_written_counts() {
        let maps = "1000-2000 r--p 00000000 08:01 7 /bin/x\n\
                    2000-3000 r-xp 00001000 08:01 7 /bin/x\n\
                    3000-4000 rw-p 00002000 08:01 7 /bin/x\n\
                    5000-6000 r--p 00000000 00:00 0\n";
        assert_eq!(read_only(maps), [0x1000..0x2000, 0x2000..0x3000]);
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn constants_are_known() {
        static mut VARIABLE: u32 = 1;
        const CONSTANT: u32 = 2;
        assert!(is_constant(std::ptr::from_ref(&CONSTANT).addr()));
        assert!(!is_constant((&raw const VARIABLE).addr()));
        let local = 3;
        assert!(!is_constant((&raw const local).addr()));
    }
}
