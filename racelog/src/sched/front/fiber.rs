//! Threads of a body as fibers of one thread.
//!
//! The thread that explores is the driver: it resumes the fiber whose turn it is, until that one
//! waits for another turn. Nothing else is different from threads of the system: the same points,
//! the same choices, so the same seeds.
//!
//! Should a fiber block where racelog does not see it, on a lock of std's for example, its thread
//! does, and what it waits for may be another fiber's to give. Then another thread takes over and
//! drives all the others, as threads of the system go on when one of them blocks. The fiber that
//! comes back waits for its turn as ever, and its thread for the end of the run.
//!
//! So a fiber may go on in another thread. Its own thread-locals are with it; those of std that the
//! program uses are those of the thread that it runs in, and none of ours is looked for by code
//! that the compiler could merge over such a change.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult};

use super::attach::is_controlled;
use super::child::Newcomer;
use super::life;
use super::locals::{self, Locals};
use crate::rt;
use crate::sched::engine::monitor;
use crate::sched::engine::run::{Run, RunKind, RunResult};
use crate::sched::members::current::enter;
use crate::sched::members::member::{Member, message};
use crate::sched::model::turn::Suspend;
use crate::sched::strategy::Guide;
use crate::thread::Thread;

/// How large the first stack is: that of a program's first thread. Memory is used as far as it is
/// touched.
const FIRST_STACK: usize = 8 << 20;

/// A fiber.
struct Fiber {
    member: Member,
    /// What it has of its own. The first has what the calling thread has.
    locals: Option<Locals>,
    /// Nothing when it is done.
    coroutine: Option<Coroutine<(), (), ()>>,
}

/// Where a fiber is.
struct Place {
    fiber: RefCell<Fiber>,
    /// Whether it is being resumed. Drivers take turns, but one that was replaced may still come
    /// back from a fiber which the next is to resume already.
    is_running: AtomicBool,
}

/// The fibers of a run, by slot. Boxed, for while one runs it may spawn others.
#[derive(Default)]
struct Driver {
    #[expect(clippy::vec_box, reason = "a place stays where it is when there are more")]
    fibers: RefCell<Vec<Box<Place>>>,
}

/// How often a driver looks whether it has something to do.
const PAUSE: Duration = Duration::from_micros(200);

thread_local! {
    /// The driver of this thread; null if it has none.
    static DRIVER: Cell<*const Driver> = const { Cell::new(ptr::null()) };

    /// Stacks to be used again.
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// Runs the body once, in fibers.
pub(in crate::sched) fn run(
    guide: Guide,
    max_steps: u64,
    body: &dyn Fn(),
) -> (RunResult, Option<Box<dyn Any + Send>>) {
    let run = Run::new(guide, max_steps, RunKind::Fibers);
    monitor::watch(&run, Some(take_over));
    let payload = Cell::new(None);
    let main = || {
        if let Err(panicked) = panic::catch_unwind(AssertUnwindSafe(body)) {
            let text = message(&*panicked);
            payload.set(text.is_some().then_some(panicked));
            life::note_panic(text);
        }
    };
    let log = rt::about_to_be_controlled();
    let driver = Driver::default();
    let outer = DRIVER.replace(&raw const driver);
    run.driver().store(ptr::from_ref(&driver).cast_mut().cast(), Ordering::Release);
    let first = Member::new(run.clone(), run.first(Some("main".to_owned())));
    // SAFETY: the first fiber is done when the driver is, or the process is aborted.
    unsafe { driver.add(first, None, FIRST_STACK, main) };
    driver.drive(&run);
    // Others may have taken over.
    while !run.is_over() || run.driving().load(Ordering::Acquire) > 0 {
        std::thread::sleep(PAUSE);
    }
    DRIVER.set(outer);
    drop(log);
    // Those that could not be sent away stay where they are.
    let places = driver.fibers.into_inner().into_iter();
    places.filter(|place| place.fiber.borrow().coroutine.is_some()).for_each(std::mem::forget);
    (run.result(), payload.into_inner())
}

impl Driver {
    /// # Safety
    ///
    /// The fiber must not outlive what its closure borrows.
    unsafe fn add(&self, member: Member, thread: Option<Thread>, size: usize, main: impl FnOnce()) {
        let main = move |suspend: &Suspend, ()| {
            life::belongs_to_fiber(suspend);
            main();
            locals::end();
            life::finish_fiber();
        };
        // SAFETY: the caller promises that what is borrowed is there as long as the fiber.
        let coroutine = unsafe { Coroutine::with_stack_unchecked(stack(size), main) };
        let mut fibers = self.fibers.borrow_mut();
        debug_assert_eq!(fibers.len(), member.slot(), "every thread of the run is a fiber");
        let locals = thread.map(Locals::new);
        let fiber = RefCell::new(Fiber { member, locals, coroutine: Some(coroutine) });
        fibers.push(Box::new(Place { fiber, is_running: AtomicBool::new(false) }));
    }

    /// Resumes fibers until none is left, or another thread does.
    fn drive(&self, run: &Run) {
        let driver = run.drive();
        while !run.is_driven_by_others(driver) {
            match run.next_fiber() {
                Some(slot) => self.resume(slot),
                None if run.is_over() => return,
                // All wait for one that is outside, in the thread of an earlier driver.
                None => std::thread::sleep(PAUSE),
            }
        }
    }

    /// Runs a fiber until it waits or is done.
    fn resume(&self, slot: usize) {
        let place = {
            let fibers = self.fibers.borrow();
            ptr::from_ref(&*fibers[slot])
        };
        // SAFETY: fibers stay where they are until the driver goes.
        let place = unsafe { &*place };
        let mut tries = 0;
        while place.is_running.load(Ordering::Acquire) {
            rt::wait_a_little(&mut tries);
        }
        place.is_running.store(true, Ordering::Relaxed);
        self.resume_there(&mut place.fiber.borrow_mut());
        place.is_running.store(false, Ordering::Release);
    }

    fn resume_there(&self, fiber: &mut Fiber) {
        let Fiber { member, locals, coroutine } = fiber;
        let entered = (enter(member), locals::enter(locals.as_ref()));
        let result = coroutine.as_mut().expect("it waits for its turn").resume(());
        drop(entered);
        if let CoroutineResult::Return(()) = result {
            *locals = None;
            let stack = coroutine.take().map(Coroutine::into_stack).expect("it has just run");
            let size = stack.base().get() - stack.limit().get();
            rt::forget_memory(stack.limit().get(), size);
            STACKS.with_borrow_mut(|stacks| stacks.push(stack));
        }
    }
}

/// A stack of at least that size. Most are of the same.
fn stack(size: usize) -> DefaultStack {
    let fits = |stack: &DefaultStack| stack.base().get() - stack.limit().get() >= size;
    let used = STACKS.with_borrow_mut(|stacks| {
        let at = stacks.iter().rposition(fits)?;
        Some(stacks.swap_remove(at))
    });
    used.unwrap_or_else(|| DefaultStack::new(size).expect("there is memory for a stack"))
}

/// How large the stack of a thread is that asks for nothing, with what the recorder may need.
pub(crate) fn usual_stack() -> usize {
    static USUAL: OnceLock<usize> = OnceLock::new();
    *USUAL.get_or_init(|| {
        let set = std::env::var("RUST_MIN_STACK").ok().and_then(|text| text.parse().ok());
        set.unwrap_or(2 << 20) + (128 << 10)
    })
}

/// The driver of a run sleeps with one of its fibers: a new thread drives the others. The run is
/// not over before that fiber is.
fn take_over(run: &Arc<Run>) {
    let run = run.clone();
    let drive = move || {
        // SAFETY: the driver waits for the threads that take over, and was told of this one.
        let driver = unsafe { &*run.driver().load(Ordering::Acquire).cast::<Driver>() };
        let log = rt::about_to_be_controlled();
        DRIVER.set(driver);
        driver.drive(&run);
        DRIVER.set(ptr::null());
        drop(log);
        run.driving().fetch_sub(1, Ordering::Release);
    };
    let builder = std::thread::Builder::new().name("racelog-driver".to_owned());
    if let Err(error) = builder.spawn(drive) {
        eprintln!("racelog: a fiber blocks outside of racelog, and there is no thread: {error}");
        std::process::abort();
    }
}

/// Whether the calling code runs in a fiber. Not inlined, as all that looks at such thread-locals.
#[inline(never)]
pub(crate) fn in_fiber() -> bool {
    !DRIVER.get().is_null() && is_controlled()
}

/// Adds a fiber to the run; `main` does not panic.
///
/// # Safety
///
/// The caller is in a fiber, and the new one must not outlive what `main` borrows.
pub(crate) unsafe fn spawn_fiber(
    newcomer: Newcomer,
    thread: Thread,
    stack: usize,
    main: impl FnOnce(),
) {
    // SAFETY: code in a fiber has a driver, and the caller promises the rest.
    unsafe { (*DRIVER.get()).add(newcomer.member(), Some(thread), stack, main) };
}

/// The id of a fiber: that of a thread which did nothing else.
pub(crate) fn id_of_fiber(number: usize) -> ThreadId {
    static IDS: Mutex<Vec<ThreadId>> = Mutex::new(Vec::new());
    let mut ids = IDS.lock().unwrap_or_else(PoisonError::into_inner);
    while ids.len() <= number {
        ids.push(std::thread::spawn(|| {}).thread().id());
    }
    ids[number]
}
