//! Handles of threads, and parking.
//!
//! Parking is our own: the trace has to know whether a token was there, and std does not say.

use std::cell::RefCell;
use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use crate::rt::{Here, with};
use crate::trace::{self, Op};

/// A handle to a thread, as [`std::thread::Thread`].
#[derive(Clone)]
pub struct Thread {
    inner: std::thread::Thread,
    parker: Arc<Parker>,
}

impl Thread {
    pub(super) fn new(inner: std::thread::Thread, parker: Arc<Parker>) -> Self {
        Self { inner, parker }
    }

    /// As [`std::thread::Thread::unpark`].
    #[track_caller]
    pub fn unpark(&self) {
        self.parker.unpark(Some(Location::caller()));
    }

    /// As [`std::thread::Thread::id`].
    #[must_use]
    pub fn id(&self) -> ThreadId {
        self.inner.id()
    }

    /// As [`std::thread::Thread::name`].
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.inner.name()
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// What a thread parks on.
#[derive(Debug, Default)]
pub(super) struct Parker {
    token: Mutex<Token>,
    condvar: Condvar,
    /// The session and thread that the parker's thread is recorded as; 0 for none.
    recorded: AtomicU64,
}

#[derive(Debug, Default)]
struct Token {
    set: bool,
    /// The session of whoever set it, so far as that is recorded.
    session: u32,
    clock: u64,
}

impl Parker {
    /// Says what its thread is recorded as.
    pub(super) fn record_as(&self, recorded: Option<(u32, trace::ThreadId)>) {
        let packed = recorded
            .map_or(0, |(session, thread)| u64::from(session) << 32 | u64::from(thread.get()));
        self.recorded.store(packed, Ordering::Relaxed);
    }

    fn recorded(&self) -> (u32, trace::ThreadId) {
        let packed = self.recorded.load(Ordering::Relaxed);
        ((packed >> 32) as u32, trace::ThreadId::new(packed as u32))
    }

    fn token(&self) -> MutexGuard<'_, Token> {
        self.token.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unpark(&self, here: Here) {
        let mut token = self.token();
        token.set = true;
        with(|log| {
            let (session, thread) = self.recorded();
            if session == log.session_number() {
                token.clock = log.tick(token.clock);
                log.emit(token.clock, Op::Unpark(thread), here);
                token.session = session;
            }
        });
        self.condvar.notify_one();
    }

    fn park(&self, deadline: Option<Instant>, here: Here) {
        let mut token = self.token();
        while !token.set {
            token = match deadline {
                None => self.condvar.wait(token).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        break;
                    }
                    let waited = self.condvar.wait_timeout(token, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        token.set = false;
        let session = std::mem::take(&mut token.session);
        with(|log| {
            // A token that this trace does not know of is none to it.
            let known = session == log.session_number();
            token.clock = log.tick(token.clock);
            log.emit(token.clock, if known { Op::Park } else { Op::ParkTimeout }, here);
        });
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Thread>> = const { RefCell::new(None) };
}

/// As [`std::thread::current`].
#[must_use]
pub fn current() -> Thread {
    let thread = CURRENT.try_with(|current| {
        let mut current = current.borrow_mut();
        current.get_or_insert_with(new_handle).clone()
    });
    let thread = thread.unwrap_or_else(|_| new_handle());
    // A thread may go from one session to the next.
    thread.parker.record_as(with(|log| (log.session_number(), log.thread())));
    thread
}

fn new_handle() -> Thread {
    Thread { inner: std::thread::current(), parker: Arc::default() }
}

/// Makes a parker that others know that of the calling thread.
pub(super) fn install(parker: Arc<Parker>) {
    let handle = Thread { inner: std::thread::current(), parker };
    CURRENT.with(|current| *current.borrow_mut() = Some(handle));
}

/// As [`std::thread::park`].
#[track_caller]
pub fn park() {
    current().parker.park(None, Some(Location::caller()));
}

/// As [`std::thread::park_timeout`].
#[track_caller]
pub fn park_timeout(dur: Duration) {
    // A time that no clock reaches is no deadline.
    let deadline = Instant::now().checked_add(dur);
    current().parker.park(deadline, Some(Location::caller()));
}

/// As [`std::thread::park_timeout_ms`].
#[deprecated(since = "1.6.0", note = "replaced by `std::thread::park_timeout`")]
#[track_caller]
pub fn park_timeout_ms(ms: u32) {
    park_timeout(Duration::from_millis(ms.into()));
}
