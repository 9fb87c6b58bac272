//! A session: what is recorded into one trace.

use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::clocks::Clocks;
use crate::rt::base::call_site::CallSite;
use crate::rt::base::message::say;
use crate::rt::memory::freeing::{Frees, quiet};
use crate::rt::store::file::TraceFile;
use crate::rt::store::lost::Lost;
use crate::rt::store::slot::{Full, publish};
use crate::rt::store::tables::Tables;
use crate::trace::binary::chunk::{Chunk, HEADER_LEN, Kind};
use crate::trace::binary::header;
use crate::trace::binary::state::State;
use crate::trace::binary::tables::{PoisonFlag, encode_end};
use crate::trace::{
    Definition, End, LocId, LockId, Metadata, Object, ShapeId, StrId, Term, ThreadId, VarId,
};

static NEXT_SESSION: AtomicU32 = AtomicU32::new(1);

/// The number of the session that was opened last.
pub(in crate::rt) fn newest_session() -> u32 {
    NEXT_SESSION.load(Ordering::Relaxed) - 1
}

/// A trace that is being recorded.
pub(crate) struct Session {
    number: u32,
    file: TraceFile,
    /// Points into the file.
    lost: Lost,
    tables: Mutex<Tables>,
    next_thread: AtomicU32,
    clocks: Clocks,
    /// Nothing more is recorded.
    stopped: AtomicBool,
    /// About the largest stamp so far. A thread without a recorded parent starts there: were its
    /// stamps small, losing one of them would cost all that is recorded.
    latest: AtomicU64,
    /// Stamps that are taken from now on are above this: 0, until recording ends or a foreign
    /// thread does something. So what is not recorded is after what is, whatever the clock of the
    /// thread that does it; and all that is done after a foreign thread did something is after
    /// that.
    floor: AtomicU64,
    /// Whether a thread has panicked.
    panicked: AtomicBool,
}

impl Session {
    /// Opens a trace file for a new session.
    pub(in crate::rt) fn create(
        path: &Path,
        metadata: &Metadata,
        max_bytes: u64,
    ) -> io::Result<Arc<Self>> {
        let mut bytes = Vec::new();
        header::write(&mut bytes, metadata)?;
        bytes.extend(State::WHOLE.encode(bytes.len()));
        let file = TraceFile::create(path, &bytes, max_bytes)?;
        // SAFETY: the file starts with these bytes, of which the state chunk is the last, and its
        // start is mapped for as long as it is open, which is longer than the session uses it.
        let lost = unsafe { Lost::new(file.start().add(bytes.len())) };
        let tables = Tables::new(&file).map_err(|Full(why)| io::Error::other(why))?;
        Ok(Arc::new(Self {
            number: NEXT_SESSION.fetch_add(1, Ordering::Relaxed),
            file,
            tables: Mutex::new(tables),
            next_thread: AtomicU32::new(0),
            clocks: Clocks::new(),
            stopped: AtomicBool::new(false),
            lost,
            latest: AtomicU64::new(0),
            floor: AtomicU64::new(0),
            panicked: AtomicBool::new(false),
        }))
    }

    /// Whether no thread has panicked before.
    pub(in crate::rt) fn is_first_panic(&self) -> bool {
        !self.panicked.swap(true, Ordering::Relaxed)
    }

    pub(in crate::rt) fn number(&self) -> u32 {
        self.number
    }

    pub(in crate::rt) fn file(&self) -> &TraceFile {
        &self.file
    }

    #[inline]
    pub(in crate::rt) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// The stamp that all further ones are above.
    #[inline]
    pub(in crate::rt) fn floor(&self) -> u64 {
        self.floor.load(Ordering::Relaxed)
    }

    pub(in crate::rt) fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// The largest stamp so far; for a foreign thread.
    #[cold]
    pub(in crate::rt) fn highest(&self) -> u64 {
        self.latest.load(Ordering::Relaxed).max(self.clocks.highest())
    }

    /// A foreign thread has taken this stamp.
    #[cold]
    pub(in crate::rt) fn raise_floor(&self, stamp: u64) {
        // Once recording has ended, what is above the floor is not recorded.
        if !self.is_stopped() {
            self.reached(stamp);
            self.floor.fetch_max(stamp, Ordering::AcqRel);
        }
    }

    /// The calling thread, which is not recorded here, may do here what belongs to the trace.
    pub(in crate::rt) fn misses(&self, here: Option<CallSite>) {
        let mut tables = self.tables();
        if !self.is_stopped() {
            if let Err(full) = tables.misses(&self.file, here) {
                // A trace that cannot say that it is not complete must not go on.
                drop(tables);
                self.lose(self.highest() + 1, true);
                self.stop(&full);
            }
        }
    }

    /// There is an event with this stamp.
    pub(in crate::rt) fn reached(&self, stamp: u64) {
        self.latest.fetch_max(stamp, Ordering::Relaxed);
    }

    pub(in crate::rt) fn locate(&self, call_site: CallSite) -> Result<(LocId, u64), Full> {
        let mut tables = self.tables();
        if self.is_stopped() {
            return Err(Full("recording has ended".to_owned()));
        }
        tables.locate(&self.file, call_site)
    }

    /// The id of the text of an assertion, and the offset of the chunk that defines it.
    pub(in crate::rt) fn text(&self, text: &str) -> Result<(StrId, u64), Full> {
        let mut tables = self.tables();
        if self.is_stopped() {
            return Err(Full("recording has ended".to_owned()));
        }
        tables.text(&self.file, text)
    }

    /// The id of a shape of expressions, and the offset of the chunk that defines it.
    pub(in crate::rt) fn shape(&self, shape: &[Term]) -> Result<Option<(ShapeId, u64)>, Full> {
        let mut tables = self.tables();
        if self.is_stopped() {
            return Err(Full("recording has ended".to_owned()));
        }
        tables.shape(&self.file, shape)
    }

    /// Says which memory a variable stands for; returns the offset of the chunk that says so.
    pub(in crate::rt) fn memory(&self, var: VarId, address: u64, size: u32) -> Result<u64, Full> {
        let mut tables = self.tables();
        if self.is_stopped() {
            return Err(Full("recording has ended".to_owned()));
        }
        tables.memory(&self.file, var, address, size)
    }

    /// Says which variable a lock's poison flag is; returns the offset of the chunk that says so.
    pub(in crate::rt) fn poison_flag(&self, lock: LockId, flag: VarId) -> Result<u64, Full> {
        let mut tables = self.tables();
        if self.is_stopped() {
            return Err(Full("recording has ended".to_owned()));
        }
        tables.poison_flag(&self.file, PoisonFlag { lock, flag })
    }

    /// Says something of an object; returns the offset of a chunk that comes no earlier.
    pub(in crate::rt) fn define(&self, definition: Definition) -> Result<u64, Full> {
        let mut tables = self.tables();
        if self.is_stopped() {
            return Err(Full("recording has ended".to_owned()));
        }
        tables.define(&self.file, definition)
    }

    fn tables(&self) -> LockedTables<'_> {
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        LockedTables { tables, _quiet: quiet() }
    }

    /// A new thread, which the program may have named.
    pub(in crate::rt) fn new_thread(&self, name: Option<&str>) -> ThreadId {
        let thread = ThreadId::new(self.next_thread.fetch_add(1, Ordering::Relaxed));
        if let Some(name) = name {
            let mut tables = self.tables();
            if !self.is_stopped() {
                // A thread without its name is still a thread.
                let _ = tables.name(&self.file, Object::Thread(thread), name);
            }
        }
        thread
    }

    /// A new thread is foreign: no recorded thread has started it. False if the trace cannot say
    /// so.
    pub(in crate::rt) fn begin_foreign(&self, thread: ThreadId) -> bool {
        let mut tables = self.tables();
        let said = match self.is_stopped() {
            true => Err(None),
            false => tables.foreign(&self.file, thread).map_err(Some),
        };
        drop(tables);
        if let Err(full) = said {
            // In this order: a thread that notices the end finds the cut.
            self.lose(self.highest() + 1, true);
            if let Some(full) = full {
                self.stop(&full);
            }
            return false;
        }
        // Cells that belong to threads are used without a look at the clocks.
        let used = self.clocks.begin_foreign();
        self.reached(used);
        true
    }

    /// About the largest stamp so far.
    pub(in crate::rt) fn latest(&self) -> u64 {
        self.latest.load(Ordering::Relaxed)
    }

    /// There is no room for more: says so, once, and records nothing more.
    pub(in crate::rt) fn stop(&self, full: &Full) {
        if self.is_stopped() {
            return;
        }
        // The reason is in the file before the recording ends.
        self.lost.say_full();
        if !self.stopped.swap(true, Ordering::AcqRel) {
            say(format_args!("recording stops here, the program goes on: {}", full.0));
        }
    }

    /// What has this stamp is not recorded, be it an event or what belongs to one, and neither is
    /// what depends on it. The caller records nothing more.
    ///
    /// The trace is cut there, or rather, since no event with that stamp will be written, at one
    /// that leaves about all that is recorded. Those who depend on the event take their stamps
    /// after the operation's exclusivity has ended, so they know of the new floor.
    ///
    /// Where the trace is cut before the stamp already there is nothing to do: those who depend on
    /// the event have greater stamps.
    pub(in crate::rt) fn lose(&self, stamp: u64, count: bool) {
        if stamp < self.lost.cut() {
            let cut = stamp.max(self.latest.load(Ordering::Relaxed) + 1);
            self.floor.fetch_max(cut, Ordering::AcqRel);
            self.lost.cut_at(cut);
        }
        if count {
            self.lost.count();
        }
    }

    /// Ends the trace. What other threads still do is not in it.
    pub(in crate::rt) fn finish(&self) {
        self.floor.fetch_max(self.latest.load(Ordering::Relaxed), Ordering::AcqRel);
        self.stopped.store(true, Ordering::Release);
        self.tables().seal();
        let how = if self.lost.is_full() { End::Full } else { End::Clean };
        let payload = encode_end(how, None);
        self.file.close(HEADER_LEN + payload.len(), |slot| {
            let chunk = Chunk::without_events(Kind::End, payload.len() as u32);
            publish(slot, HEADER_LEN, &payload);
            publish(slot, 0, &chunk.encode(&payload));
        });
    }
}

/// The tables, locked. What is freed meanwhile is the recorder's: were it recorded,
/// that would need the tables.
struct LockedTables<'a> {
    tables: MutexGuard<'a, Tables>,
    _quiet: Frees,
}

impl Deref for LockedTables<'_> {
    type Target = Tables;

    fn deref(&self) -> &Tables {
        &self.tables
    }
}

impl DerefMut for LockedTables<'_> {
    fn deref_mut(&mut self) -> &mut Tables {
        &mut self.tables
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({})", self.number)
    }
}
