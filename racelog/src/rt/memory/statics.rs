//! Tells statics from memory that may be freed.

use std::ops::Range;
use std::sync::OnceLock;

use super::modules::loaded;

/// Whether an address is that of a static of the program, or of a library that was loaded when this
/// was first asked. Where the system does not say so, it is not.
pub(in crate::rt) fn is_static(address: usize) -> bool {
    static LOADED: OnceLock<Vec<Range<usize>>> = OnceLock::new();
    let ranges = LOADED.get_or_init(|| loaded().into_iter().map(|segment| segment.range).collect());
    let next = ranges.partition_point(|range| range.end <= address);
    ranges.get(next).is_some_and(|range| range.contains(&address))
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn statics_are_known() {
        static mut ZERO: [u64; 100] = [0; 100];
        static mut VARIABLE: u32 = 1;
        let on_heap = Box::new(2);
        let local = 3;
        assert!(is_static((&raw const ZERO).addr()));
        assert!(is_static((&raw const VARIABLE).addr()));
        assert!(!is_static((&raw const *on_heap).addr()));
        assert!(!is_static((&raw const local).addr()));
    }
}
