//! Sessions: what is recorded into one trace.

use std::cell::Cell;
use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut};
use std::panic::Location as Caller;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;

use super::clocks::Clocks;
use super::config::config;
use super::control;
use super::file::{Full, TraceFile};
use super::foreign::{self, Whose};
use super::given_back::{self, Frees};
use super::kept_log::KeptLog;
use super::log::{Here, ThreadLog};
use super::lost::Lost;
use super::meta::{Spin, counters};
use super::ownership;
use super::panics;
use super::stack::forget_stack;
use super::strings::{Tables, publish};
use crate::trace::binary::chunk::{Chunk, HEADER_LEN, Kind};
use crate::trace::binary::header;
use crate::trace::binary::state::State;
use crate::trace::binary::tables::{PoisonFlag, encode_end};
use crate::trace::{
    End, LocId, LockId, MemoryOrdering, Metadata, Object, Op, StrId, ThreadId, Value, VarId,
};

static NEXT_SESSION: AtomicU32 = AtomicU32::new(1);

/// The number of the session that was opened last.
pub(super) fn newest_session() -> u32 {
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
    /// About the largest stamp so far. A thread that nobody forked starts there: were its stamps
    /// small, losing one of them would cost all that is recorded.
    latest: AtomicU64,
    /// Stamps that are taken from now on are above this: 0, until recording ends or a foreign thread
    /// does something. So what is not recorded is after what is, whatever the clock of the thread that
    /// does it; and all that is done after a foreign thread did something is after that.
    floor: AtomicU64,
    /// Whether somebody has panicked.
    panicked: AtomicBool,
}

impl Session {
    fn create(path: &Path, metadata: &Metadata) -> io::Result<Arc<Self>> {
        let mut bytes = Vec::new();
        header::write(&mut bytes, metadata)?;
        bytes.extend(State::WHOLE.encode(bytes.len()));
        let file = TraceFile::create(path, &bytes, config().max_bytes)?;
        // SAFETY: the file starts with these bytes, of which the state chunk is the last, and its
        // start is mapped for as long as it is open, which is longer than the session uses it.
        let lost = unsafe { Lost::new(file.start().add(bytes.len())) };
        given_back::find_out();
        panics::listen();
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

    /// Whether nobody has panicked before.
    pub(super) fn is_first_panic(&self) -> bool {
        !self.panicked.swap(true, Ordering::Relaxed)
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    pub(super) fn file(&self) -> &TraceFile {
        &self.file
    }

    #[inline]
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// The stamp that all further ones are above.
    #[inline]
    pub(super) fn floor(&self) -> u64 {
        self.floor.load(Ordering::Relaxed)
    }

    pub(super) fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// The largest stamp so far; for a foreign thread.
    #[cold]
    pub(super) fn highest(&self) -> u64 {
        self.latest.load(Ordering::Relaxed).max(self.clocks.highest())
    }

    /// A foreign thread has taken this stamp.
    #[cold]
    pub(super) fn raise_floor(&self, stamp: u64) {
        // Once recording has ended, what is above the floor is not recorded.
        if !self.is_stopped() {
            self.reached(stamp);
            self.floor.fetch_max(stamp, Ordering::AcqRel);
        }
    }

    /// The calling thread, which is not recorded here, may do here what belongs to the trace.
    pub(super) fn misses(&self, here: Here) {
        let mut tables = self.tables();
        if !self.is_stopped()
            && let Err(full) = tables.misses(&self.file, here)
        {
            // A trace that cannot say that it is not complete must not go on.
            drop(tables);
            self.lose(self.highest() + 1, true);
            self.stop(&full);
        }
    }

    /// There is an event with this stamp.
    pub(super) fn reached(&self, stamp: u64) {
        self.latest.fetch_max(stamp, Ordering::Relaxed);
    }

    pub(super) fn locate(&self, caller: &'static Caller<'static>) -> Result<(LocId, u64), Full> {
        let mut tables = self.tables();
        if self.is_stopped() {
            return Err(Full("recording has ended".to_owned()));
        }
        tables.locate(&self.file, caller)
    }

    /// The id of the text of an assertion, and the offset of the chunk that defines it.
    pub(super) fn text(&self, text: &str) -> Result<(StrId, u64), Full> {
        let mut tables = self.tables();
        if self.is_stopped() {
            return Err(Full("recording has ended".to_owned()));
        }
        tables.text(&self.file, text)
    }

    /// Says which memory a variable stands for; returns the offset of the chunk that says so.
    pub(super) fn memory(&self, var: VarId, address: u64, size: u32) -> Result<u64, Full> {
        let mut tables = self.tables();
        if self.is_stopped() {
            return Err(Full("recording has ended".to_owned()));
        }
        tables.memory(&self.file, var, address, size)
    }

    /// Says which variable a lock's poison flag is; returns the offset of the chunk that says so.
    pub(super) fn poison_flag(&self, lock: LockId, flag: VarId) -> Result<u64, Full> {
        let mut tables = self.tables();
        if self.is_stopped() {
            return Err(Full("recording has ended".to_owned()));
        }
        tables.poison_flag(&self.file, PoisonFlag { lock, flag })
    }

    /// Says that the next access of a variable gives its memory back; returns the offset of the chunk
    /// that says so.
    pub(super) fn freed(&self, var: VarId) -> Result<u64, Full> {
        let mut tables = self.tables();
        if self.is_stopped() {
            return Err(Full("recording has ended".to_owned()));
        }
        tables.freed(&self.file, var)
    }

    fn tables(&self) -> LockedTables<'_> {
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        LockedTables { tables, _quiet: given_back::quiet() }
    }

    /// A log for a new thread of this session, whose events come after `clock`.
    fn new_log(self: &Arc<Self>, name: Option<&str>, clock: u64) -> ThreadLog {
        let thread = ThreadId::new(self.next_thread.fetch_add(1, Ordering::Relaxed));
        if let Some(name) = name {
            let mut tables = self.tables();
            if !self.is_stopped() {
                // A thread without its name is still a thread.
                let _ = tables.name(&self.file, Object::Thread(thread), name);
            }
        }
        ThreadLog::new(self.clone(), thread, clock)
    }

    /// A log for the calling thread, which nobody who is recorded has started. None if the trace cannot say
    /// so: then nothing of the thread is in it.
    fn foreign_log(self: &Arc<Self>) -> Option<ThreadLog> {
        let own = std::thread::current();
        let log = self.new_log(own.name(), 0);
        let mut tables = self.tables();
        let said = match self.is_stopped() {
            true => Err(None),
            false => tables.foreign(&self.file, log.thread()).map_err(Some),
        };
        drop(tables);
        if let Err(full) = said {
            // In this order: whoever notices the end knows where it is.
            self.lose(self.highest() + 1, true);
            if let Some(full) = full {
                self.stop(&full);
            }
            return None;
        }
        // Cells that belong to threads are used without a look at the clocks.
        let used = self.clocks.begin_foreign();
        self.reached(used);
        Some(log.of_foreign_thread())
    }

    /// There is no room for more: says so, once, and records nothing more.
    pub(super) fn stop(&self, full: &Full) {
        if self.is_stopped() {
            return;
        }
        // Whoever ends the recording knows why.
        self.lost.say_full();
        if !self.stopped.swap(true, Ordering::AcqRel) {
            say(format_args!("recording stops here, the program goes on: {}", full.0));
        }
    }

    /// What has this stamp is not recorded, be it an event or what belongs to one, and neither is what
    /// depends on it. Whoever calls this records nothing more.
    ///
    /// The trace is cut there, or rather, since nobody will ever see that stamp, at one that leaves
    /// about all that is recorded. Those who depend on the event take their stamps after the
    /// operation's exclusivity has ended, so they know of the new floor.
    ///
    /// Where the trace is cut before the stamp already there is nothing to do: those who depend on
    /// the event have greater stamps.
    pub(super) fn lose(&self, stamp: u64, count: bool) {
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
    fn finish(&self) {
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

/// The tables, while nobody else has them. What is freed meanwhile is the recorder's: were it recorded,
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

thread_local! {
    /// The log of this thread; null while that is not known, [`off`] if it has none. Without a
    /// destructor, so that destructors of other thread-locals can be recorded.
    static CURRENT: Cell<*const ThreadLog> = const { Cell::new(ptr::null()) };

    /// The log itself, for threads that were spawned in a session. It is the first thread-local
    /// with a destructor that such a thread has, so it is the last to go.
    static OWNED: OwnedLog = const { OwnedLog(Cell::new(None)) };

    /// When it was last looked whose the thread, if it is foreign, is: see [`foreign::changes`].
    static LOOKED_AT: Cell<u32> = const { Cell::new(0) };
}

fn off() -> *const ThreadLog {
    static OFF: u8 = 0;
    (&raw const OFF).cast()
}

/// The calling thread has this log from now on, or what stands for none.
fn set_current(log: *const ThreadLog) {
    CURRENT.set(log);
    ownership::enter(if is_log(log) {
        // SAFETY: it is a log, and those who make it a thread's own keep it for as long.
        unsafe { &*log }.owner()
    } else {
        None
    });
}

fn is_log(log: *const ThreadLog) -> bool {
    log != off() && log.addr() > FOREIGN.addr()
}

/// Stands for the log of a thread that is not recorded, but may be under control.
const IDLE: *const ThreadLog = ptr::without_provenance(1);

/// Stands for the log of a foreign thread, which may be another one each time.
const FOREIGN: *const ThreadLog = ptr::without_provenance(2);

/// Whether the thread is known to be neither recorded nor under control: the one thing that is
/// looked at when all is off.
#[inline]
pub(crate) fn is_off() -> bool {
    CURRENT.get() == off()
}

/// Whether the thread is recorded, as far as is known by now.
pub(super) fn is_recorded() -> bool {
    is_log(CURRENT.get())
}

/// Runs `f` with the log of this thread, if it is recorded.
#[inline]
pub(crate) fn with<R>(f: impl FnOnce(&ThreadLog) -> R) -> Option<R> {
    let log = CURRENT.get();
    if log == off() {
        return None;
    }
    let attached;
    let log = if log.addr() <= FOREIGN.addr() {
        attached = attach(log)?;
        attached.log
    } else {
        log
    };
    // SAFETY: the pointer is cleared before the log goes, on this thread, and nothing within `f`
    // ends the thread or its session.
    Some(f(unsafe { &*log }))
}

/// Runs `f` with the log of this thread, if it is known to have one. Nothing is looked for or opened.
pub(super) fn with_known<R>(f: impl FnOnce(&ThreadLog) -> R) -> Option<R> {
    let log = CURRENT.get();
    // SAFETY: as in `with`.
    is_log(log).then(|| f(unsafe { &*log }))
}

/// A log that was looked for. One of a foreign thread is the thread's while this lives.
struct Attached {
    log: *const ThreadLog,
    foreign: bool,
}

impl Drop for Attached {
    fn drop(&mut self) {
        // Unless it has another one by now.
        if self.foreign && CURRENT.get() == self.log {
            CURRENT.set(FOREIGN);
        }
    }
}

/// Finds out whether this thread belongs to a session.
#[cold]
fn attach(log: *const ThreadLog) -> Option<Attached> {
    if log == IDLE {
        return None;
    }
    if log == FOREIGN {
        return attach_foreign();
    }
    // What follows may come back here, from the program's allocator for example.
    set_current(if control::controls_process() { IDLE } else { off() });
    if !config().on {
        return None;
    }
    if !foreign::is_main_thread() {
        return attach_foreign();
    }
    let session = process_session()?;
    let name = std::thread::current().name().map(str::to_owned);
    let log = session.new_log(name.as_deref(), session.latest.load(Ordering::Relaxed));
    let log = OWNED.try_with(|owned| owned.install(log, None)).ok()?;
    Some(Attached { log, foreign: false })
}

/// Finds out whose the calling thread, which nobody who is recorded has started, is now.
fn attach_foreign() -> Option<Attached> {
    let changes = foreign::changes();
    let mut log = OWNED.try_with(OwnedLog::current).ok()?;
    if LOOKED_AT.get() != changes {
        set_current(IDLE);
        log = look_whose(log);
        LOOKED_AT.set(changes);
        set_current(FOREIGN);
    }
    let log = log?;
    // What runs within an operation belongs to the same trace.
    CURRENT.set(log);
    Some(Attached { log, foreign: true })
}

/// The log that a foreign thread, which has this one so far, has from now on.
fn look_whose(current: Option<*const ThreadLog>) -> Option<*const ThreadLog> {
    // SAFETY: the calling thread owns the log, and is in no operation.
    let own = current.map(|log| unsafe { &*log });
    let stays = own.is_some_and(ThreadLog::holds_locks);
    let session = match foreign::whose(own.map(ThreadLog::session), stays) {
        Whose::Test(session) => Some(session),
        Whose::Process => process_session().cloned(),
        Whose::Unknown => None,
    };
    if let (Some(own), Some(session)) = (own, &session)
        && Arc::ptr_eq(own.session(), session)
    {
        return current;
    }
    let log = session.and_then(|session| session.foreign_log());
    OWNED.try_with(|owned| owned.replace(log)).ok()?
}

/// The calling thread is about to do something here. That matters only while it is not known whose it is.
#[inline]
pub(crate) fn about_to_do(here: Here) {
    if CURRENT.get().addr() <= FOREIGN.addr() {
        foreign::is_about_to_act(here);
    }
}

/// The log of the calling thread, to come back to.
pub(crate) struct Silence(*const ThreadLog);

/// The calling thread, which may be under control, is not recorded until the result is dropped.
pub(crate) fn silence() -> Silence {
    let log = CURRENT.get();
    set_current(IDLE);
    Silence(log)
}

/// The calling thread will be under control. Its log is as it was when the result is dropped.
pub(crate) fn about_to_be_controlled() -> Silence {
    with(|_| ());
    let log = CURRENT.get();
    if log == off() {
        set_current(IDLE);
    }
    ownership::enter(None);
    Silence(log)
}

impl Drop for Silence {
    fn drop(&mut self) {
        set_current(self.0);
    }
}

/// The calling thread is not recorded any more, and its end is not either.
pub(crate) fn abandon_log() {
    set_current(IDLE);
    let _ = OWNED.try_with(|owned| {
        if let Some((log, _)) = owned.0.take() {
            log.seal();
            forget_stack();
        }
    });
}

/// A thread's log, and what it shares with its parent.
type Owned = (KeptLog, Option<Arc<ChildShared>>);

/// The log of a thread that is no test's. When the thread goes, `end` is the last event.
struct OwnedLog(Cell<Option<Owned>>);

impl OwnedLog {
    fn install(&self, log: ThreadLog, shared: Option<Arc<ChildShared>>) -> *const ThreadLog {
        let log = KeptLog::new(log);
        let pointer = log.pointer();
        self.0.set(Some((log, shared)));
        set_current(pointer);
        pointer
    }

    /// The log, if there is one.
    fn current(&self) -> Option<*const ThreadLog> {
        let owned = self.0.take();
        let log = owned.as_ref().map(|(log, _)| log.pointer());
        self.0.set(owned);
        log
    }

    /// A foreign thread has this log from now on, and no longer the one that it had.
    fn replace(&self, log: Option<ThreadLog>) -> Option<*const ThreadLog> {
        if let Some((before, _)) = self.0.take()
            && !before.session().is_stopped()
        {
            before.seal();
        }
        self.0.set(log.map(|log| (KeptLog::new(log), None)));
        self.current()
    }

    fn end(&self) {
        if let Some((log, shared)) = self.0.take() {
            log.emit_end();
            set_current(off());
            log.seal();
            forget_stack();
            if let Some(shared) = shared {
                shared.ended.store(log.clock(), Ordering::Release);
            }
        }
    }
}

impl Drop for OwnedLog {
    fn drop(&mut self) {
        self.end();
    }
}

/// The session of the whole process, if `RACELOG=1` asks for one.
fn process_session() -> Option<&'static Arc<Session>> {
    static PROCESS: OnceLock<Option<Arc<Session>>> = OnceLock::new();
    PROCESS
        .get_or_init(|| {
            if !config().on {
                return None;
            }
            let program = std::env::current_exe().ok();
            let stem = program.as_deref().and_then(Path::file_stem);
            let stem = stem.map_or_else(|| "program".into(), |stem| stem.to_string_lossy());
            let session = open(&format!("{stem}-{}", std::process::id()), None)?;
            at_exit(finish_process);
            Some(session)
        })
        .as_ref()
}

/// Has the function called when the process ends by itself. Miri cannot.
pub(crate) fn at_exit(function: extern "C" fn()) {
    if !cfg!(miri) {
        // SAFETY: the function has the right type and may run at any time.
        unsafe { libc::atexit(function) };
    }
}

extern "C" fn finish_process() {
    if let Some(session) = process_session() {
        with(|log| {
            if Arc::ptr_eq(log.session(), session) {
                log.seal();
            }
        });
        session.finish();
    }
}

/// Opens a session; says why if that cannot be.
fn open(name: &str, test: Option<&str>) -> Option<Arc<Session>> {
    let clean: String = name
        .chars()
        .map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' })
        .collect();
    let path = config().folder.join(format!("{clean}.rlog"));
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let metadata = Metadata {
        program: std::env::current_exe().ok().map(|path| path.to_string_lossy().into_owned()),
        arguments: std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect(),
        test: test.map(str::to_owned),
        // Under control the trace is to say the same every time.
        started: since_epoch
            .ok()
            .filter(|_| !control::controls_process())
            .and_then(|time| u64::try_from(time.as_millis()).ok()),
    };
    match Session::create(&path, &metadata) {
        Ok(session) => Some(session),
        Err(error) => {
            let path = path.display();
            say(format_args!("{path}: cannot record, the program goes on: {error}"));
            None
        }
    }
}

/// The recording of one test, on the thread that made it and all that it spawns.
#[derive(Debug)]
#[must_use]
pub(crate) struct RecordedTest {
    log: Option<KeptLog>,
    outer: *const ThreadLog,
}

impl RecordedTest {
    /// Starts to record the test `name` of `package`, if `RACELOG=1` asks for it.
    pub(crate) fn start(package: &str, name: &str) -> Self {
        let outer = CURRENT.get();
        let session = if config().on {
            open(&format!("{package}.{}", name.replace("::", ".")), Some(name))
        } else {
            None
        };
        if let Some(session) = &session {
            foreign::test_begins(name, session);
        }
        let log = session.map(|session| KeptLog::new(session.new_log(Some("main"), 0)));
        match &log {
            Some(log) => set_current(log.pointer()),
            // A test that cannot be recorded is not recorded elsewhere either.
            None if config().on => set_current(off()),
            None => {}
        }
        Self { log, outer }
    }
}

impl Drop for RecordedTest {
    fn drop(&mut self) {
        set_current(self.outer);
        if let Some(log) = self.log.take() {
            foreign::test_ends(log.session());
            log.seal();
            log.session().finish();
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({})", self.number)
    }
}

impl fmt::Debug for ThreadLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ThreadLog({:?})", self.thread())
    }
}

/// A thread that is about to be spawned by a recorded one.
pub(crate) struct Child {
    log: Option<ThreadLog>,
    shared: Arc<ChildShared>,
}

/// What parent and child both know of the child.
///
/// What the closure brings along and what it leaves behind pass from thread to thread, so each is
/// a variable of the trace.
#[derive(Debug)]
pub(crate) struct ChildShared {
    thread: ThreadId,
    session: Arc<Session>,
    brought: VarId,
    left: VarId,
    left_state: Spin<Left>,
    /// The child's clock at its end.
    ended: AtomicU64,
    joined: AtomicBool,
}

/// What is known of what a child leaves behind.
#[derive(Debug)]
struct Left {
    /// Whether it is there.
    done: bool,
    /// The clock of the last access, also of one that found nothing: the store comes after that.
    clock: u64,
}

fn store(var: VarId) -> Op {
    Op::Store { var, value: Value::Opaque, ordering: Some(MemoryOrdering::Release) }
}

fn load(var: VarId, value: Value) -> Op {
    Op::Load { var, value, ordering: Some(MemoryOrdering::Acquire) }
}

impl Child {
    /// Records the fork, if this thread is recorded.
    pub(crate) fn fork(name: Option<&str>, here: Here) -> Option<Self> {
        with(|log| {
            let session = log.session().clone();
            let var = || VarId::new(counters::VARS.fetch_add(1, Ordering::Relaxed));
            let (brought, left) = (var(), var());
            log.emit_alone(store(brought), here);
            let _quiet = given_back::quiet();
            let stamp = log.tick(0);
            let child = session.new_log(name, stamp);
            let thread = child.thread();
            log.emit(stamp, Op::Fork(thread), here);
            let shared = Arc::new(ChildShared {
                thread,
                session,
                brought,
                left,
                left_state: Spin::new(Left { done: false, clock: 0 }),
                ended: AtomicU64::new(0),
                joined: AtomicBool::new(false),
            });
            Self { log: Some(child), shared }
        })
    }

    pub(crate) fn shared(&self) -> Arc<ChildShared> {
        self.shared.clone()
    }

    /// Makes the calling thread, which is new, the child; records its beginning.
    pub(crate) fn begin(&mut self) {
        let Some(log) = self.log.take() else { return };
        let _ = OWNED.try_with(|owned| owned.install(log, Some(self.shared.clone())));
        with(|log| {
            log.emit_alone(Op::Begin, None);
            log.emit_alone(load(self.shared.brought, Value::Opaque), None);
        });
    }

    /// Records what the child leaves behind. Until the thread is gone more may follow.
    pub(crate) fn leave(&self) {
        with(|log| {
            let mut left = self.shared.left_state.lock();
            left.clock = log.tick(left.clock);
            log.emit(left.clock, store(self.shared.left), None);
            left.done = true;
        });
    }
}

impl ChildShared {
    /// The child as the traces know it: its session and its thread.
    pub(crate) fn recorded_as(&self) -> (u32, ThreadId) {
        (self.session.number, self.thread)
    }

    /// The thread that calls this has waited for the child's end.
    pub(crate) fn joined(&self, here: Here) {
        if self.joined.swap(true, Ordering::Relaxed) {
            return;
        }
        with(|log| {
            if Arc::ptr_eq(log.session(), &self.session) {
                let stamp = log.tick(self.ended.load(Ordering::Acquire));
                log.emit(stamp, Op::Join(self.thread), here);
                log.emit_alone(load(self.left, Value::Opaque), here);
            }
        });
    }

    /// The thread that calls this has waited until the closures of all these threads were done, in
    /// whatever order: it has found what each left behind. What destructors of thread-locals do may
    /// come later.
    pub(crate) fn awaited(children: &[Arc<Self>], here: Here) {
        with(|log| {
            let unjoined = children.iter().filter(|child| {
                Arc::ptr_eq(log.session(), &child.session)
                    && !child.joined.swap(true, Ordering::Relaxed)
            });
            let unjoined: Vec<&Arc<Self>> = unjoined.collect();
            // To wait for several is one operation.
            let several = unjoined.len() > 1;
            let whole =
                LockId::new(counters::LOCKS.fetch_add(u32::from(several), Ordering::Relaxed));
            if several {
                log.emit_hidden(log.tick(0), Op::Acquire(whole));
            }
            for child in unjoined {
                let mut left = child.left_state.lock();
                // One that was sent away has left nothing.
                if left.done {
                    left.clock = log.tick(left.clock);
                    log.emit_decision(left.clock, load(child.left, Value::Opaque), here);
                }
            }
            if several {
                log.emit_hidden(log.tick(0), Op::Release(whole));
            }
        });
    }

    /// The thread that calls this has looked whether the child's closure is done.
    pub(crate) fn looked(&self, finished: bool, here: Here) {
        with(|log| {
            if !Arc::ptr_eq(log.session(), &self.session) {
                return;
            }
            let mut left = self.left_state.lock();
            // If they differ it is just about to be done, and nobody has said so yet.
            if left.done == finished {
                left.clock = log.tick(left.clock);
                let value = if finished { Value::Opaque } else { Value::Nat(0) };
                log.emit_decision(left.clock, load(self.left, value), here);
            }
        });
    }
}

/// Says something to whoever runs the program.
pub(super) fn say(message: fmt::Arguments<'_>) {
    use io::Write;
    // There is nobody left to tell if this fails.
    let _ = writeln!(io::stderr(), "racelog: {message}");
}
