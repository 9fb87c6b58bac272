//! The program and its libraries, as the system has put them into memory.

use std::ops::Range;

/// What stands for the module where none is known. Program counters are then addresses.
const UNKNOWN: &str = "code";

/// A piece of a module in memory.
pub(in crate::rt) struct Segment {
    pub(in crate::rt) range: Range<usize>,
    /// Where the module's address 0 is.
    base: usize,
    /// The file of the module; empty for the program's own.
    file: String,
}

/// The module that an address belongs to, and where in the module that is.
pub(in crate::rt) fn module_of(address: usize) -> (String, u64) {
    let segments = loaded();
    match segments.into_iter().find(|segment| segment.range.contains(&address)) {
        None => (UNKNOWN.to_owned(), address as u64),
        Some(Segment { base, file, .. }) => {
            let program = || std::env::current_exe().ok().map(|path| path.display().to_string());
            let file = if file.is_empty() { program().unwrap_or_default() } else { file };
            (file, address.wrapping_sub(base) as u64)
        }
    }
}

/// The segments of the program and its libraries, in the order of their addresses. Where the system
/// does not say so there are none.
#[cfg(all(target_os = "linux", not(miri)))]
pub(in crate::rt) fn loaded() -> Vec<Segment> {
    unsafe extern "C" fn note(
        info: *mut libc::dl_phdr_info,
        _: libc::size_t,
        segments: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: `segments` is what was given to `dl_iterate_phdr` below, and `info`, the headers
        // and the name that it points to are there during the call.
        let (segments, base, headers, name) = unsafe {
            let info = &*info;
            let headers = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
            let name =
                (!info.dlpi_name.is_null()).then(|| std::ffi::CStr::from_ptr(info.dlpi_name));
            (&mut *segments.cast::<Vec<Segment>>(), info.dlpi_addr as usize, headers, name)
        };
        let file = name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        for header in headers.iter().filter(|header| header.p_type == libc::PT_LOAD) {
            let start = base.wrapping_add(header.p_vaddr as usize);
            let range = start..start.wrapping_add(header.p_memsz as usize);
            segments.push(Segment { range, base, file: file.clone() });
        }
        0
    }
    let mut segments: Vec<Segment> = Vec::new();
    // SAFETY: the function is as asked for, and its argument is a pointer to the vector.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut segments).cast()) };
    segments.sort_unstable_by_key(|segment| segment.range.start);
    segments
}

#[cfg(any(not(target_os = "linux"), miri))]
pub(in crate::rt) fn loaded() -> Vec<Segment> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn code_belongs_to_a_module() {
        fn own() {}
        let address = own as fn() as usize;
        let (module, pc) = module_of(address);
        assert_eq!(module, std::env::current_exe().unwrap().display().to_string());
        assert_eq!(module_of(address + 1), (module.clone(), pc + 1));
        let (library, _) = module_of(libc::getpid as *const () as usize);
        assert_ne!(library, module);
    }

    #[test]
    fn unknown_code_keeps_its_address() {
        assert_eq!(module_of(7), (UNKNOWN.to_owned(), 7));
    }
}
