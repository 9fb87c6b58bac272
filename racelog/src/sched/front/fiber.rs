//! Threads of a body as fibers of one thread.
//!
//! The thread that explores is the driver: it resumes the fiber whose turn it is, until that one
//! waits for another turn. Nothing else is different from threads of the system: the same points,
//! the same choices, so the same seeds.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult};

use super::attach::is_controlled;
use super::child::Newcomer;
use super::life;
use crate::rt;
use crate::sched::engine::monitor;
use crate::sched::engine::run::{Run, RunKind, RunResult};
use crate::sched::members::current::enter;
use crate::sched::members::member::{Member, message};
use crate::sched::model::turn::Suspend;
use crate::sched::strategy::{Guide, Random};
use crate::thread::{Thread, swap_current};

/// How large the stacks are; memory is used as far as it is touched.
const STACK: usize = 1 << 20;

/// A fiber, while it does not run.
struct Fiber {
    member: Box<Member>,
    /// What it has learned about itself.
    thread: Option<Thread>,
    stage: Stage,
}

enum Stage {
    New(Box<dyn FnOnce()>),
    Begun(Coroutine<(), (), ()>),
}

/// The fibers of a run, by slot.
#[derive(Default)]
struct Driver {
    fibers: RefCell<Vec<Option<Fiber>>>,
}

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
    monitor::watch(&run);
    let payload = Cell::new(None);
    let main: Box<dyn FnOnce() + '_> = Box::new(|| {
        if let Err(panicked) = panic::catch_unwind(AssertUnwindSafe(body)) {
            let text = message(&*panicked);
            payload.set(text.is_some().then_some(panicked));
            life::note_panic(text);
        }
    });
    let log = rt::about_to_be_controlled();
    let driver = Driver::default();
    let outer = DRIVER.replace(&raw const driver);
    let first = Box::new(Member::new(run.clone(), run.first(Some("main".to_owned()))));
    // SAFETY: the first fiber is done when the driver is, or the process is aborted.
    unsafe { driver.add(first, main) };
    loop {
        let current = run.lock().current;
        match current {
            Some(slot) => driver.resume(slot),
            None => break,
        }
    }
    DRIVER.set(outer);
    drop(log);
    // Those that could not be sent away stay where they are.
    driver.fibers.into_inner().into_iter().flatten().for_each(std::mem::forget);
    (run.result(Guide::Random(Random::new(0))), payload.into_inner())
}

impl Driver {
    /// # Safety
    ///
    /// The fiber must not outlive what its closure borrows.
    unsafe fn add(&self, member: Box<Member>, main: Box<dyn FnOnce() + '_>) {
        // SAFETY: only the lifetime changes, and the caller promises to keep it.
        let main = unsafe {
            std::mem::transmute::<Box<dyn FnOnce() + '_>, Box<dyn FnOnce() + 'static>>(main)
        };
        let mut fibers = self.fibers.borrow_mut();
        debug_assert_eq!(fibers.len(), member.slot(), "every thread of the run is a fiber");
        fibers.push(Some(Fiber { member, thread: None, stage: Stage::New(main) }));
    }

    /// Runs a fiber until it waits or is done.
    fn resume(&self, slot: usize) {
        let fiber = self.fibers.borrow_mut()[slot].take();
        let Fiber { member, thread, stage } = fiber.expect("it waits for its turn");
        let mut coroutine = match stage {
            Stage::Begun(coroutine) => coroutine,
            Stage::New(main) => Coroutine::with_stack(stack(), move |suspend: &Suspend, ()| {
                life::belongs_to_fiber(suspend);
                main();
                life::finish_fiber();
            }),
        };
        let entered = enter(&member);
        let outer = swap_current(thread);
        let result = coroutine.resume(());
        let thread = swap_current(outer);
        drop(entered);
        match result {
            CoroutineResult::Yield(()) => {
                let stage = Stage::Begun(coroutine);
                self.fibers.borrow_mut()[slot] = Some(Fiber { member, thread, stage });
            }
            CoroutineResult::Return(()) => {
                let stack = coroutine.into_stack();
                let (lowest, highest) = (stack.limit().get(), stack.base().get());
                rt::forget_memory(lowest, highest - lowest);
                STACKS.with_borrow_mut(|stacks| stacks.push(stack));
            }
        }
    }
}

fn stack() -> DefaultStack {
    let used = STACKS.with_borrow_mut(Vec::pop);
    used.unwrap_or_else(|| DefaultStack::new(STACK).expect("there is memory for a stack"))
}

/// Whether the calling code runs in a fiber.
pub(crate) fn in_fiber() -> bool {
    !DRIVER.get().is_null() && is_controlled()
}

/// Adds a fiber to the run; `main` does not panic.
///
/// # Safety
///
/// The caller is in a fiber, and the new one must not outlive what `main` borrows.
pub(crate) unsafe fn spawn_fiber(newcomer: Newcomer, main: Box<dyn FnOnce() + '_>) {
    // SAFETY: code in a fiber has a driver, and the caller promises the rest.
    unsafe { (*DRIVER.get()).add(newcomer.member(), main) };
}

/// What a fiber is known by to those who ask for the id of a thread: that of a thread which did
/// nothing else.
pub(crate) fn identity(newcomer: &Newcomer) -> std::thread::Thread {
    static IDENTITIES: Mutex<Vec<std::thread::Thread>> = Mutex::new(Vec::new());
    let mut identities = IDENTITIES.lock().unwrap_or_else(PoisonError::into_inner);
    while identities.len() <= newcomer.slot() {
        identities.push(std::thread::spawn(|| {}).thread().clone());
    }
    identities[newcomer.slot()].clone()
}
