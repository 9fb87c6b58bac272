//! The chunks that a thread writes its events to.
//!
//! A thread's first chunks are pieces of the mapped file, each larger than the one before. Every
//! page of them costs a fault, which for a thread with much to say is more than the events
//! themselves. So the first large piece is the last: when it is full it is copied to the end of the
//! file by a system call, and written anew. At any instant all events are in the file, if need be
//! twice.

use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicU8, Ordering, compiler_fence};

use super::file::TraceFile;
use super::slot::{Full, Slot, UNIT, publish, put_header};
use crate::trace::ThreadId;
use crate::trace::binary::chunk::{Chunk, HEADER_LEN, Kind};
use crate::trace::binary::event::{Coder, LONGEST};
use crate::trace::binary::primitive::Out;
use crate::trace::binary::said::LONGEST as LONGEST_SAID;

/// A thread's first chunk is small, for there may be many threads that do little; then they grow.
const FIRST_CHUNK: usize = UNIT;
const LARGEST_CHUNK: usize = 64 * 1024;

/// A piece of at least this size is written over and over again: small enough that what is left of
/// it at the end is little. Only where what is written to a file is at once seen in its map, and the
/// other way round.
const REUSED: Option<usize> =
    if cfg!(all(target_os = "linux", not(miri))) { Some(LARGEST_CHUNK / 4 * 3) } else { None };

/// How many bytes a short event has.
const SHORT: usize = 2;

/// There are no more short events than this without another one between them. Others assume the
/// most, and go that far ahead of the thread.
const SHORT_IN_A_ROW: usize = 1024;

/// What is written to a chunk at once.
pub(in crate::rt) trait Entry {
    fn stamp(&self) -> u64;

    /// Its first byte.
    fn code(&self) -> u8;

    /// No entry of its kind has more bytes.
    #[inline(always)]
    fn longest(&self) -> usize {
        LONGEST
    }

    /// Encodes what follows the first byte.
    fn encode_rest(&self, coder: &mut Coder, out: &mut Cursor);
}

/// Where the events of one thread go. Only the thread itself uses it.
pub(in crate::rt) struct Chunks {
    thread: ThreadId,
    /// The chunk that is being written.
    open: Cell<Option<Slot>>,
    /// The piece that is written over and over again, once there is one.
    reused: Cell<Option<Slot>>,
    /// Whether a copy of it was made: then it comes after that, wherever it stands.
    copied: Cell<bool>,
    /// How far the open chunk is written, and where it ends; the same if there is none.
    at: Cell<*mut u8>,
    end: Cell<*mut u8>,
    /// Up to where a short event may start: where it just fits, or nowhere.
    last_short: Cell<*mut u8>,
    /// Up to where all events are counted.
    counted: Cell<*mut u8>,
    events: Cell<u32>,
    first_stamp: Cell<u64>,
    next_size: Cell<usize>,
    coder: UnsafeCell<Coder>,
}

// SAFETY: the pointers are into a slot, which its owner may write to on any thread.
unsafe impl Send for Chunks {}

impl Chunks {
    pub(in crate::rt) fn new(thread: ThreadId) -> Self {
        Self {
            thread,
            open: Cell::new(None),
            reused: Cell::new(None),
            copied: Cell::new(false),
            at: Cell::new(std::ptr::null_mut()),
            end: Cell::new(std::ptr::null_mut()),
            last_short: Cell::new(std::ptr::null_mut()),
            counted: Cell::new(std::ptr::null_mut()),
            events: Cell::new(0),
            first_stamp: Cell::new(0),
            next_size: Cell::new(FIRST_CHUNK),
            coder: UnsafeCell::new(Coder::new(1)),
        }
    }

    /// The stamp of the last event.
    #[inline]
    pub(in crate::rt) fn stamp(&self) -> u64 {
        // SAFETY: only this thread uses it, and there is no other reference now.
        unsafe { (*self.coder.get()).stamp() }
    }

    /// Whether what is defined at this offset comes after the chunk that is being written.
    pub(in crate::rt) fn is_before(&self, offset: u64) -> bool {
        // What is written over and over again ends up behind all that is there.
        self.reused.get().is_none() && self.open.get().is_some_and(|open| open.offset < offset)
    }

    fn room(&self) -> usize {
        self.end.get().addr() - self.at.get().addr()
    }

    /// Appends an entry, if there is room for any; false if there may be none.
    #[inline(always)]
    pub(in crate::rt) fn try_append(&self, entry: &impl Entry) -> bool {
        debug_assert!(!self.has_uncounted(), "short events are counted before others follow");
        if self.room() < entry.longest() {
            return false;
        }
        // SAFETY: only this thread uses it, and nothing below comes back here.
        let coder = unsafe { &mut *self.coder.get() };
        let start = self.at.get();
        // SAFETY: the chunk is ours and has room for an entry: for all of it but the first byte
        // behind that.
        let mut rest = Cursor { next: unsafe { start.add(1) } };
        entry.encode_rest(coder, &mut rest);
        // SAFETY: the place is ours. The first byte, which says that there is something, is written
        // as an atomic, so that the compiler keeps it last.
        unsafe { AtomicU8::from_ptr(start).store(entry.code(), Ordering::Release) };
        self.go_to(rest.next);
        self.events.set(self.events.get() + 1);
        true
    }

    /// From now on there may be no short events.
    #[inline]
    pub(in crate::rt) fn forbid_short(&self) {
        self.last_short.set(std::ptr::null_mut());
    }

    /// From now on there may be short events, until something else happens. Says how many can be.
    #[inline]
    pub(in crate::rt) fn allow_short(&self) -> u64 {
        let most = (self.room() / SHORT).min(SHORT_IN_A_ROW);
        match most.checked_sub(1) {
            Some(before_last) => {
                self.last_short.set(self.at.get().wrapping_add(before_last * SHORT));
            }
            None => self.forbid_short(),
        }
        most as u64
    }

    /// Appends an event of two bytes, which has the next stamp; false if there may be none, or if
    /// there is no room.
    #[inline(always)]
    pub(in crate::rt) fn append_short(&self, bytes: u16) -> bool {
        let at = self.at.get();
        if at > self.last_short.get() {
            return false;
        }
        // SAFETY: the chunk is ours, and reaches beyond this.
        unsafe { store_short(at, bytes) };
        self.at.set(at.wrapping_add(SHORT));
        true
    }

    /// Whether there are short events that were not counted yet.
    #[inline]
    pub(in crate::rt) fn has_uncounted(&self) -> bool {
        self.at.get() != self.counted.get()
    }

    /// Counts the short events that were not counted yet.
    pub(in crate::rt) fn count_short(&self) -> u64 {
        let events = (self.at.get().addr() - self.counted.get().addr()) / SHORT;
        self.counted.set(self.at.get());
        self.events.set(self.events.get() + events as u32);
        // SAFETY: only this thread uses it, and there is no other reference now.
        unsafe { (*self.coder.get()).skip(events as u64) };
        events as u64
    }

    /// All that is written up to here is counted.
    #[inline(always)]
    fn go_to(&self, at: *mut u8) {
        self.at.set(at);
        self.counted.set(at);
    }

    /// Appends to a chunk that may be too short, or to a new one. Says whether it is a new one.
    pub(in crate::rt) fn append_slowly(
        &self,
        file: &TraceFile,
        entry: &dyn Entry,
    ) -> Result<bool, Full> {
        if self.open.get().is_some() && self.append_if_it_fits(entry) {
            return Ok(false);
        }
        self.open_chunk(file, entry.stamp())?;
        let fits = self.append_if_it_fits(entry);
        debug_assert!(fits, "an entry fits into an empty chunk");
        Ok(true)
    }

    fn append_if_it_fits(&self, entry: &dyn Entry) -> bool {
        // SAFETY: only this thread uses it, and nothing below comes back here.
        let coder = unsafe { &mut *self.coder.get() };
        let before = coder.clone();
        let mut bytes = [0; LONGEST + LONGEST_SAID];
        bytes[0] = entry.code();
        let start = bytes.as_mut_ptr();
        // SAFETY: there is room for an entry from `start` on.
        let mut rest = Cursor { next: unsafe { start.add(1) } };
        entry.encode_rest(coder, &mut rest);
        let len = rest.next.addr() - start.addr();
        if len > self.room() {
            *coder = before;
            return false;
        }
        let room = Slot { start: self.at.get(), len: self.room(), offset: 0 };
        publish(room, 0, &bytes[..len]);
        // SAFETY: there is room for that much.
        self.go_to(unsafe { self.at.get().add(len) });
        self.events.set(self.events.get() + 1);
        true
    }

    /// Opens the next chunk, whose first event has this stamp, after the one that is full.
    fn open_chunk(&self, file: &TraceFile, first_stamp: u64) -> Result<(), Full> {
        self.make_room(file)?;
        let header = |slot: Slot| {
            let chunk = Chunk {
                kind: Kind::Events,
                open: true,
                thread: self.thread,
                payload_len: (slot.len - HEADER_LEN) as u32,
                events: 0,
                first_stamp,
                last_stamp: 0,
            };
            chunk.encode(&[])
        };
        let slot = match self.reused.get() {
            Some(slot) => {
                put_header(slot, &header(slot));
                slot
            }
            None => {
                let size = self.next_size.get();
                self.next_size.set((size * 4).min(LARGEST_CHUNK));
                let slot = file.allocate(size, |slot| publish(slot, 0, &header(slot)))?;
                let large = REUSED.is_some_and(|least| slot.len >= least);
                self.reused.set((large && slot.len % UNIT == 0).then_some(slot));
                slot
            }
        };
        self.open.set(Some(slot));
        // SAFETY: the slot is that long.
        unsafe {
            self.go_to(slot.start.add(HEADER_LEN));
            self.end.set(slot.start.add(slot.len));
        }
        self.events.set(0);
        self.first_stamp.set(first_stamp);
        // SAFETY: only this thread uses it, and there is no other reference now.
        unsafe { *self.coder.get() = Coder::new(first_stamp) };
        Ok(())
    }

    /// Nothing more is written: there is no room from now on.
    pub(in crate::rt) fn shut(&self) {
        debug_assert!(!self.has_uncounted(), "short events are counted before others are lost");
        self.end.set(self.at.get());
        self.forbid_short();
    }

    /// Marks the open chunk as complete. The next event opens another.
    pub(in crate::rt) fn seal(&self, file: &TraceFile) -> Result<(), Full> {
        // What was copied before has to be copied again, for it would stand before its copies.
        if self.copied.get() {
            return self.make_room(file);
        }
        self.reused.set(None);
        self.make_room(file)
    }

    /// Marks the open chunk as complete: where it stands, or, if it is to be written again, where it
    /// is copied to.
    fn make_room(&self, file: &TraceFile) -> Result<(), Full> {
        let Some(slot) = self.open.get() else { return Ok(()) };
        if self.events.get() > 0 {
            if self.reused.get().is_some() {
                self.copy(file, slot)?;
            } else {
                let used = self.at.get().addr() - slot.start.addr();
                file.shorten(slot, used, |slot| {
                    let payload = slot.bytes(HEADER_LEN..slot.len);
                    put_header(slot, &self.sealed(payload).encode(payload));
                });
            }
        }
        self.open.set(None);
        self.go_to(self.end.get());
        self.forbid_short();
        Ok(())
    }

    /// Copies the open chunk to the end of the file and empties it.
    fn copy(&self, file: &TraceFile, slot: Slot) -> Result<(), Full> {
        let used = self.at.get().addr() - slot.start.addr();
        let len = used.next_multiple_of(UNIT);
        self.copied.set(true);
        let payload = slot.bytes(HEADER_LEN..len);
        let sealed = self.sealed(payload);
        // While it is not complete, readers of the file use the original.
        let offset = file.append(&sealed.encode_as_copy(), payload)?;
        file.write(offset, &sealed.encode(payload))?;
        // SAFETY: the slot is ours, and that long. The first byte goes first: from then on there is
        // nothing in it.
        unsafe {
            let start = slot.start.add(HEADER_LEN);
            AtomicU8::from_ptr(start).store(0, Ordering::SeqCst);
            start.write_bytes(0, used - HEADER_LEN);
        }
        Ok(())
    }

    /// The header of the open chunk when it is complete.
    fn sealed(&self, payload: &[u8]) -> Chunk {
        Chunk {
            kind: Kind::Events,
            open: false,
            thread: self.thread,
            payload_len: payload.len() as u32,
            events: self.events.get(),
            first_stamp: self.first_stamp.get(),
            last_stamp: self.stamp(),
        }
    }
}

/// Writes a short event so that a process that is killed leaves all of it or nothing.
///
/// # Safety
///
/// There is room for two bytes.
#[inline(always)]
unsafe fn store_short(at: *mut u8, bytes: u16) {
    // Where memory can be written to at any address, two bytes are one instruction, whatever the
    // address.
    const AT_ONCE: bool =
        cfg!(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64"));
    let [first, second] = bytes.to_le_bytes();
    // SAFETY: the caller vouches for both bytes.
    unsafe {
        if AT_ONCE {
            at.cast::<u16>().write_unaligned(u16::from_ne_bytes([first, second]));
            compiler_fence(Ordering::Release);
        } else {
            at.add(1).write(second);
            AtomicU8::from_ptr(at).store(first, Ordering::Release);
        }
    }
}

/// Where the bytes of one entry go. There is room for them.
pub(in crate::rt) struct Cursor {
    next: *mut u8,
}

impl Out for Cursor {
    #[inline]
    fn put(&mut self, byte: u8) {
        // SAFETY: there is room for the longest entry, and one is all that is written.
        unsafe {
            self.next.write(byte);
            self.next = self.next.add(1);
        }
    }
}
