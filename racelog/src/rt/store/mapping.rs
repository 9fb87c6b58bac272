//! Pieces of the trace file in memory, and what is written to the file other than by these.
//!
//! Miri has no files in memory. There a piece is plain memory that goes to the file at the end: the
//! recorder does the same with it, and nothing is left of a program that is killed.

use std::fs::File;
use std::io;

#[cfg(not(miri))]
pub(in crate::rt) use mapped::Mapping;

#[cfg(miri)]
pub(in crate::rt) use plain::Mapping;

#[cfg(not(miri))]
mod mapped {
    use std::fs::File;
    use std::io;

    use memmap2::{MmapOptions, MmapRaw};

    use super::reserve;

    /// A piece of a file that is mapped to memory.
    #[derive(Debug)]
    pub(in crate::rt) struct Mapping(MmapRaw);

    impl Mapping {
        /// Makes the file longer, with room on the disk for all of it, and maps what is new.
        pub(in crate::rt) fn new(file: &File, offset: u64, len: usize) -> io::Result<Self> {
            reserve(file, offset, len)?;
            // The file is ours: no other program truncates it while it is being recorded, and its
            // blocks exist, so no access through the map can fail.
            MmapOptions::new().offset(offset).len(len).map_raw(file).map(Self)
        }

        pub(in crate::rt) fn start(&self) -> *mut u8 {
            self.0.as_mut_ptr()
        }

        pub(in crate::rt) fn len(&self) -> usize {
            self.0.len()
        }

        /// Sees to it that all of it is in the file, as it always is.
        #[expect(clippy::unused_self, reason = "plain memory needs it")]
        pub(in crate::rt) fn keep(&self, _: &File) {}
    }
}

#[cfg(miri)]
mod plain {
    use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
    use std::fs::File;
    use std::io;
    use std::os::unix::fs::FileExt;

    use crate::rt::store::slot::UNIT;

    /// A piece of memory that stands for one of a file.
    #[derive(Debug)]
    pub(in crate::rt) struct Mapping {
        start: *mut u8,
        layout: Layout,
        offset: u64,
    }

    // SAFETY: it is memory that slots are made of; those say who may use it.
    unsafe impl Send for Mapping {}
    // SAFETY: as above.
    unsafe impl Sync for Mapping {}

    impl Mapping {
        pub(in crate::rt) fn new(file: &File, offset: u64, len: usize) -> io::Result<Self> {
            let layout = Layout::from_size_align(len, UNIT).map_err(io::Error::other)?;
            // SAFETY: no window is empty.
            let start = unsafe { alloc_zeroed(layout) };
            if start.is_null() {
                handle_alloc_error(layout);
            }
            let mapping = Self { start, layout, offset };
            // SAFETY: the memory is that long, and no other thread has it yet.
            let bytes = unsafe { std::slice::from_raw_parts_mut(start, len) };
            let mut at = 0;
            while at < len {
                match file.read_at(&mut bytes[at..], offset + at as u64)? {
                    0 => break,
                    read => at += read,
                }
            }
            Ok(mapping)
        }

        pub(in crate::rt) fn start(&self) -> *mut u8 {
            self.start
        }

        pub(in crate::rt) fn len(&self) -> usize {
            self.layout.size()
        }

        /// Sees to it that all of it is in the file.
        pub(in crate::rt) fn keep(&self, file: &File) {
            // SAFETY: the memory is that long, and who still writes to it is not recorded any more.
            let bytes = unsafe { std::slice::from_raw_parts(self.start, self.len()) };
            let _ = file.write_all_at(bytes, self.offset);
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            // SAFETY: it was allocated so, and slots do not outlive the file.
            unsafe { dealloc(self.start, self.layout) };
        }
    }
}

/// Reserves blocks: writing to a mapped page that the disk has no room for would be a signal, not
/// an error.
#[cfg(all(target_os = "linux", not(miri)))]
fn reserve(file: &File, offset: u64, len: usize) -> io::Result<()> {
    use std::os::fd::AsRawFd;

    let end = offset + len as u64;
    // SAFETY: a zeroed `rlimit` is a valid one, and the call only fills it.
    let allowed = unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) != 0 || limit.rlim_cur >= end
    };
    // To try in spite of the limit would be a signal, too.
    if !allowed {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    let (start, len) = (libc::off_t::try_from(offset), libc::off_t::try_from(len));
    let (Ok(start), Ok(len)) = (start, len) else {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    };
    loop {
        // SAFETY: the descriptor is open for as long as `file` is.
        return match unsafe { libc::posix_fallocate(file.as_raw_fd(), start, len) } {
            0 => Ok(()),
            // A signal that the program takes care of.
            libc::EINTR => continue,
            // The file system cannot reserve.
            libc::EOPNOTSUPP | libc::EINVAL => fill(file, offset, end),
            code => Err(io::Error::from_raw_os_error(code)),
        };
    }
}

#[cfg(all(not(target_os = "linux"), not(miri)))]
fn reserve(file: &File, offset: u64, len: usize) -> io::Result<()> {
    fill(file, offset, offset + len as u64)
}

/// Writes zeros, which takes blocks for all of it.
#[cfg(not(miri))]
fn fill(file: &File, mut offset: u64, end: u64) -> io::Result<()> {
    let zeros = [0; super::slot::UNIT];
    while offset < end {
        let len = zeros.len().min((end - offset) as usize);
        write_at(file, offset, &zeros[..len])?;
        offset += len as u64;
    }
    Ok(())
}

#[cfg(unix)]
pub(in crate::rt) fn write_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(not(unix))]
pub(in crate::rt) fn write_at(mut file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    use io::{Seek, SeekFrom, Write};

    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

/// Writes one after the other, in one go if the system can.
pub(in crate::rt) fn write_both_at(
    file: &File,
    offset: u64,
    first: &[u8],
    second: &[u8],
) -> io::Result<()> {
    let written = write_at_once(file, offset, [first, second]);
    let (in_first, in_second) = (written.min(first.len()), written.saturating_sub(first.len()));
    write_at(file, offset + in_first as u64, &first[in_first..])?;
    write_at(file, offset + (first.len() + in_second) as u64, &second[in_second..])
}

/// Writes as much as one system call does; returns how many bytes. If that is an error it is none,
/// and a thread that writes the rest meets the error again.
#[cfg(all(target_os = "linux", not(miri)))]
fn write_at_once(file: &File, offset: u64, both: [&[u8]; 2]) -> usize {
    use std::os::fd::AsRawFd;

    let part = |bytes: &[u8]| libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let parts = both.map(part);
    let Ok(start) = libc::off_t::try_from(offset) else { return 0 };
    // SAFETY: the descriptor is open for as long as `file` is, and both parts are there to be read.
    let written = unsafe { libc::pwritev(file.as_raw_fd(), parts.as_ptr(), 2, start) };
    usize::try_from(written).unwrap_or(0)
}

#[cfg(any(not(target_os = "linux"), miri))]
fn write_at_once(_: &File, _: u64, _: [&[u8]; 2]) -> usize {
    0
}
