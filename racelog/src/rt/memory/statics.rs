//! Tells statics from memory that may be freed.

use std::ops::Range;
use std::sync::OnceLock;

/// Whether an address is that of a static of the program, or of a library that was loaded when this
/// was first asked. Where the system does not say so, it is not.
pub(in crate::rt) fn is_static(address: usize) -> bool {
    static LOADED: OnceLock<Vec<Range<usize>>> = OnceLock::new();
    let ranges = LOADED.get_or_init(loaded);
    let next = ranges.partition_point(|range| range.end <= address);
    ranges.get(next).is_some_and(|range| range.contains(&address))
}

/// The segments of the program and its libraries, in order.
#[cfg(all(target_os = "linux", not(miri)))]
fn loaded() -> Vec<Range<usize>> {
    unsafe extern "C" fn note(
        info: *mut libc::dl_phdr_info,
        _: libc::size_t,
        ranges: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: `ranges` is what was given to `dl_iterate_phdr` below, and `info` and the headers
        // that it points to are there during the call.
        let (ranges, base, headers) = unsafe {
            let info = &*info;
            let headers = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
            (&mut *ranges.cast::<Vec<Range<usize>>>(), info.dlpi_addr as usize, headers)
        };
        for header in headers.iter().filter(|header| header.p_type == libc::PT_LOAD) {
            let start = base.wrapping_add(header.p_vaddr as usize);
            ranges.push(start..start.wrapping_add(header.p_memsz as usize));
        }
        0
    }
    let mut ranges = Vec::new();
    // SAFETY: the function is as asked for, and its argument is a pointer to the vector.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut ranges).cast()) };
    ranges.sort_unstable_by_key(|range: &Range<usize>| range.start);
    ranges
}

#[cfg(any(not(target_os = "linux"), miri))]
fn loaded() -> Vec<Range<usize>> {
    Vec::new()
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
