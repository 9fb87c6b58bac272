//! Handles of threads, and parking.
//!
//! Parking is our own: the trace has to know whether a token was there, and std does not say.

use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use crate::rt::{self, CallSite, with};
use crate::sched::{self, Action, Deadline, Intent};
use crate::trace::{self, Op};

/// A handle to a thread, as [`std::thread::Thread`].
#[derive(Clone)]
pub struct Thread {
    inner: Inner,
    parker: Arc<Parker>,
}

#[derive(Clone)]
enum Inner {
    Thread(std::thread::Thread),
    /// A fiber, by its number in its run.
    #[cfg(fibers)]
    Fiber {
        number: usize,
        name: Option<Arc<str>>,
    },
}

impl Thread {
    pub(super) fn new(inner: std::thread::Thread, parker: Arc<Parker>) -> Self {
        Self { inner: Inner::Thread(inner), parker }
    }

    /// The fiber of this number.
    #[cfg(fibers)]
    pub(super) fn of_fiber(number: usize, parker: Arc<Parker>, name: Option<&str>) -> Self {
        Self { inner: Inner::Fiber { number, name: name.map(Arc::from) }, parker }
    }

    /// As [`std::thread::Thread::unpark`].
    #[track_caller]
    pub fn unpark(&self) {
        self.parker.unpark(Some(CallSite::caller()));
    }

    /// As [`std::thread::Thread::id`].
    #[must_use]
    pub fn id(&self) -> ThreadId {
        match &self.inner {
            Inner::Thread(thread) => thread.id(),
            #[cfg(fibers)]
            Inner::Fiber { number, .. } => sched::id_of_fiber(*number),
        }
    }

    /// As [`std::thread::Thread::name`].
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.inner {
            Inner::Thread(thread) => thread.name(),
            #[cfg(fibers)]
            Inner::Fiber { name, .. } => name.as_deref(),
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As std has it.
        f.debug_struct("Thread")
            .field("id", &self.id())
            .field("name", &self.name())
            .finish_non_exhaustive()
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
    /// Whether the thread sleeps, and has to be woken.
    sleeps: bool,
    /// The session of the thread that set it, so far as that is recorded.
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

    fn key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn unpark(&self, here: Option<CallSite>) {
        sched::point(Action::Unpark, self.key(), here);
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
        if token.sleeps {
            self.condvar.notify_one();
        }
    }

    fn park(&self, deadline: Option<Deadline>, here: Option<CallSite>) {
        if !rt::is_off() && !self.token().set {
            with(|log| log.request(Op::Park, Deadline::patience(deadline), here));
        }
        let intent = || Intent::new(Action::Park, self.key(), here);
        let controlled = sched::block(intent, deadline, &|late| late || self.token().set);
        let mut token = self.token();
        token.sleeps = true;
        // Under control it has waited by now.
        while !token.set && !controlled {
            token = match deadline {
                None => self.condvar.wait(token).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.left();
                    if left.is_zero() {
                        break;
                    }
                    let waited = self.condvar.wait_timeout(token, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        token.set = false;
        token.sleeps = false;
        let session = std::mem::take(&mut token.session);
        with(|log| {
            // A token that this trace does not know of is none to it.
            let known = session == log.session_number();
            token.clock = log.tick(token.clock);
            let op = if known { Op::Park } else { Op::ParkTimeout };
            log.emit_with(token.clock, op, Deadline::patience(deadline), here);
        });
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Thread>> = const { RefCell::new(None) };
}

/// As [`std::thread::current`].
#[must_use]
pub fn current() -> Thread {
    #[cfg(fibers)]
    if let Some(fiber) = sched::fiber_thread() {
        return fiber;
    }
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
    Thread::new(std::thread::current(), Arc::default())
}

/// Makes a parker that others know that of the calling thread.
pub(super) fn install(parker: Arc<Parker>) {
    let handle = Thread::new(std::thread::current(), parker);
    CURRENT.with(|current| *current.borrow_mut() = Some(handle));
}

/// As [`std::thread::park`].
#[track_caller]
pub fn park() {
    current().parker.park(None, Some(CallSite::caller()));
}

/// As [`std::thread::park_timeout`].
#[track_caller]
pub fn park_timeout(dur: Duration) {
    current().parker.park(Deadline::after(dur), Some(CallSite::caller()));
}

/// As [`std::thread::park_timeout_ms`].
#[deprecated(since = "1.6.0", note = "replaced by `std::thread::park_timeout`")]
#[track_caller]
pub fn park_timeout_ms(ms: u32) {
    park_timeout(Duration::from_millis(ms.into()));
}
