//! The trace file: memory-mapped, so that what a thread has written is in the file whatever becomes
//! of the process.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::mapping::{Mapping, write_at, write_both_at};
use super::slot::{Full, Slot, UNIT};
use crate::contract::environment::Variable;
use crate::trace::binary::chunk::{Chunk, HEADER_LEN, Kind};

/// The file grows by windows of at least and at most this.
const FIRST_WINDOW: usize = 256 * 1024;
const LARGEST_WINDOW: usize = 32 * 1024 * 1024;

/// The header, which has the program's arguments, is at most so long.
const LONGEST_HEADER: usize = 4096;

#[derive(Debug)]
pub(in crate::rt) struct TraceFile {
    file: File,
    max_bytes: u64,
    start: *mut u8,
    state: Mutex<State>,
}

// SAFETY: nothing here writes to what the pointer points to once the file is created.
unsafe impl Send for TraceFile {}
// SAFETY: as above.
unsafe impl Sync for TraceFile {}

#[derive(Debug)]
struct State {
    /// All windows, kept because slots point into them; the last one is being cut up.
    windows: Vec<Mapping>,
    /// How much of the last window is given away.
    used: usize,
    /// Where the last window starts in the file.
    window_offset: u64,
    closed: bool,
    /// Why nothing more can be given away, if it cannot: something is half written.
    broken: Option<String>,
}

impl TraceFile {
    /// Creates the file and puts `header` at its start, all at once.
    pub(in crate::rt) fn create(path: &Path, header: &[u8], max_bytes: u64) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
        let full = |Full(why)| io::Error::other(why);
        if header.len() > LONGEST_HEADER {
            return Err(io::Error::other("the trace's metadata is too long"));
        }
        allow(FIRST_WINDOW as u64, max_bytes).map_err(full)?;
        // By one call: a process that is killed leaves all of it or nothing.
        write_at(&file, 0, header)?;
        let window = map(&file, 0, FIRST_WINDOW, max_bytes).map_err(full)?;
        let start = window.start();
        let state = State {
            windows: vec![window],
            used: header.len(),
            window_offset: 0,
            closed: false,
            broken: None,
        };
        Ok(Self { file, max_bytes, start, state: Mutex::new(state) })
    }

    /// The start of the file: what stands there stays where it is for as long as the file is open.
    pub(in crate::rt) fn start(&self) -> *mut u8 {
        self.start
    }

    /// Gives away the next piece of the file, of about `wanted` bytes, after `fill` has written
    /// what it must start with. While `fill` runs no other piece is given away, so that there is
    /// never one in the file before which something is missing.
    pub(in crate::rt) fn allocate(
        &self,
        wanted: usize,
        fill: impl FnOnce(Slot),
    ) -> Result<Slot, Full> {
        let mut state = self.state()?;
        // The last unit of the last window is kept for the end of the trace, until there is
        // another window.
        let slot = if state.room() > UNIT {
            state.take(wanted, UNIT)
        } else {
            let next = self.next_window(&state)?;
            let slot = state.take(UNIT, 0);
            state.enter(next);
            slot
        };
        fill(slot);
        Ok(slot)
    }

    /// A piece that was given away needs no more than `used` bytes: if it is the last one the rest
    /// can be given away anew. `fill` writes to what is left of it before that can happen.
    pub(in crate::rt) fn shorten(&self, mut slot: Slot, used: usize, fill: impl FnOnce(Slot)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let end = slot.offset + slot.len as u64;
        let len = (slot.offset as usize + used).next_multiple_of(UNIT) - slot.offset as usize;
        let is_last = !state.closed && state.broken.is_none() && state.end() == end;
        if is_last && slot.offset >= state.window_offset && len < slot.len {
            state.used -= slot.len - len;
            slot.len = len;
        }
        fill(slot);
    }

    /// Gives away the next piece of the file and writes a chunk to it, other than by its map; says
    /// where it is. Together they are whole units, and the header is one that can be read without
    /// the rest.
    pub(in crate::rt) fn append(
        &self,
        header: &[u8; HEADER_LEN],
        payload: &[u8],
    ) -> Result<u64, Full> {
        let len = HEADER_LEN + payload.len();
        let mut state = self.state()?;
        // A piece that ends where no unit does is the first, and is given away by now.
        debug_assert!(state.used % UNIT == 0, "whole units");
        debug_assert!(len % UNIT == 0, "whole units");
        if state.room() < len + UNIT {
            // The rest of the window is a chunk with nothing in it.
            let next = self.next_window(&state)?;
            let payload_len = (state.room() - HEADER_LEN) as u32;
            let rest = Chunk { open: true, ..Chunk::without_events(Kind::Events, payload_len) };
            self.write(state.end(), &rest.encode(&[]))?;
            state.enter(next);
        }
        let offset = state.end();
        // As one, for the system then needs fewer and larger pages for it; no piece behind it is
        // given away meanwhile.
        if let Err(error) = write_both_at(&self.file, offset, header, payload) {
            state.broken = Some(error.to_string());
            return Err(Full(error.to_string()));
        }
        state.used += len;
        Ok(offset)
    }

    /// Writes to a piece that was given away, other than by its map.
    pub(in crate::rt) fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Full> {
        write_at(&self.file, offset, bytes).map_err(|error| Full(error.to_string()))
    }

    fn state(&self) -> Result<MutexGuard<'_, State>, Full> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = &state.broken {
            return Err(Full(why.clone()));
        }
        if state.closed { Err(Full("recording has ended".to_owned())) } else { Ok(state) }
    }

    /// Maps the window after the last one.
    fn next_window(&self, state: &State) -> Result<Window, Full> {
        let last = state.windows.last().map_or(0, Mapping::len);
        let offset = state.window_offset + last as u64;
        let size = (last * 2).min(LARGEST_WINDOW);
        Ok(Window { offset, map: map(&self.file, offset, size, self.max_bytes)? })
    }

    /// Gives away the last piece of the file, and no more; says where it is. The piece is trimmed
    /// to `len` bytes, and so is the file.
    pub(in crate::rt) fn close(&self, len: usize, fill: impl FnOnce(Slot)) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return None;
        }
        state.closed = true;
        let mut slot = state.take(UNIT, 0);
        slot.len = len;
        fill(slot);
        state.windows.iter().for_each(|window| window.keep(&self.file));
        // Should that fail, the file is longer than it need be, with zeros at its end.
        let _ = self.file.set_len(slot.offset + len as u64);
        Some(slot.offset)
    }
}

/// A piece of the file that is mapped at once.
struct Window {
    offset: u64,
    map: Mapping,
}

impl State {
    /// Goes on to the next window.
    fn enter(&mut self, next: Window) {
        self.windows.push(next.map);
        self.used = 0;
        self.window_offset = next.offset;
    }

    /// Where in the file what is not given away starts.
    fn end(&self) -> u64 {
        self.window_offset + self.used as u64
    }

    /// How much of the last window is not given away.
    fn room(&self) -> usize {
        self.windows.last().map_or(0, |window| window.len() - self.used)
    }

    /// Cuts a piece off the last window, but for the last `reserve` bytes, so that what follows
    /// starts at a multiple of the unit.
    fn take(&mut self, wanted: usize, reserve: usize) -> Slot {
        let len = (wanted - self.used % UNIT).min(self.room() - reserve);
        let offset = self.end();
        let window = self.windows.last().expect("a trace file has a window");
        // SAFETY: there is room for the piece, which is within the window.
        let start = unsafe { window.start().add(self.used) };
        self.used += len;
        Slot { start, len, offset }
    }
}

/// Whether the file may be so long.
fn allow(len: u64, max_bytes: u64) -> Result<(), Full> {
    if len <= max_bytes {
        return Ok(());
    }
    let variable = Variable::MaxBytes;
    Err(Full(format!(
        "the trace has reached its greatest size, {max_bytes} bytes; {variable} says another, or `none`"
    )))
}

/// Makes the file longer, with room on the disk for all of it, and maps what is new.
fn map(file: &File, offset: u64, len: usize, max_bytes: u64) -> Result<Mapping, Full> {
    allow(offset + len as u64, max_bytes)?;
    Mapping::new(file, offset, len).map_err(|error| Full(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_neighbours_across_windows_until_there_is_no_room() {
        let folder = std::env::temp_dir().join(format!("racelog-file-{}", std::process::id()));
        let path = folder.join("test.rlog");
        let file = TraceFile::create(&path, b"header", 1 << 20).unwrap();
        let mut next = 6;
        let full = loop {
            match file.allocate(64 * 1024, |_| {}) {
                Ok(slot) => {
                    assert_eq!(slot.offset, next);
                    next += slot.len as u64;
                }
                Err(full) => break full,
            }
        };
        assert!(full.0.contains("greatest size"), "{}", full.0);
        let last = file.close(100, |_| {}).unwrap();
        assert_eq!(last, next);
        assert!(file.allocate(UNIT, |_| {}).is_err());
        assert_eq!(std::fs::metadata(&path).unwrap().len(), next + 100);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_the_last_piece_does_not_need_is_given_away_again() {
        let folder = std::env::temp_dir().join(format!("racelog-short-{}", std::process::id()));
        let file = TraceFile::create(&folder.join("test.rlog"), b"header", 1 << 20).unwrap();
        let first = file.allocate(4 * UNIT, |_| {}).unwrap();
        let second = file.allocate(8 * UNIT, |_| {}).unwrap();
        let shortened = |slot: Slot, used: usize| {
            let mut len = 0;
            file.shorten(slot, used, |slot| len = slot.len);
            len
        };
        // Another piece stands behind it.
        assert_eq!(shortened(first, 10), first.len);
        assert_eq!(shortened(second, UNIT + 1), 2 * UNIT);
        let third = file.allocate(UNIT, |_| {}).unwrap();
        assert_eq!(third.offset, second.offset + 2 * UNIT as u64);
        assert_eq!(shortened(third, UNIT), UNIT);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
