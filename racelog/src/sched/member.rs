//! The threads of a run, and where the mirrors meet it.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::intent::Intent;
use super::run::{ChildControl, Run};
use super::strategy::Guide;
use super::time::Deadline;
use super::turn::{Turn, Word};
use crate::rt::{self, Action, Here};
use crate::trace::Op;

/// What a thread unwinds with that is sent away.
#[derive(Debug)]
pub(super) struct SentAway;

/// A thread's membership in a run. Only the thread itself uses it, once it runs.
pub(crate) struct Member {
    run: Arc<Run>,
    slot: usize,
    turn: Arc<Turn>,
    ended: Arc<AtomicBool>,
    /// The program's closure is done.
    left: Arc<AtomicBool>,
    /// It is being sent away.
    leaving: Cell<bool>,
    /// It is past the program's closure: whatever it still runs must not panic.
    closing: Cell<bool>,
    panicked: RefCell<Option<String>>,
}

impl Member {
    pub(super) fn new(run: Arc<Run>, slot: usize, turn: Arc<Turn>) -> Self {
        Self {
            run,
            slot,
            turn,
            ended: Arc::default(),
            left: Arc::default(),
            leaving: Cell::new(false),
            closing: Cell::new(false),
            panicked: RefCell::default(),
        }
    }

    pub(super) fn run(&self) -> &Arc<Run> {
        &self.run
    }

    pub(super) fn slot(&self) -> usize {
        self.slot
    }

    pub(super) fn turn(&self) -> &Turn {
        &self.turn
    }

    pub(super) fn ended(&self) -> &Arc<AtomicBool> {
        &self.ended
    }

    pub(super) fn left(&self) -> &Arc<AtomicBool> {
        &self.left
    }

    /// Whether a panic may send it away now.
    pub(super) fn can_leave(&self) -> bool {
        !self.closing.get() && !std::thread::panicking()
    }

    fn step(&self, intent: Intent, ready: Option<&dyn Fn(bool) -> bool>, deadline: Option<u64>) {
        if self.run.step(self, intent, ready, deadline) == Word::Leave {
            self.leave(intent.action);
        }
    }

    /// The run is over.
    fn leave(&self, action: Action) {
        // What happens from here on is not what the program did.
        if self.slot == 0 {
            std::mem::forget(rt::silence());
        } else {
            rt::abandon_log();
        }
        self.leaving.set(true);
        if self.can_leave() && !action.is_of_destructors() {
            panic::resume_unwind(Box::new(SentAway));
        }
    }

    pub(super) fn finish(&self) {
        MEMBER.set(OFF);
        // One that was sent away has not come to its closure's end.
        self.left.store(true, Ordering::Release);
        self.run.finish(self.slot, self.panicked.take(), &self.ended);
    }
}

thread_local! {
    /// This thread's membership; null while that is not known, [`OFF`] if there is none. Without a
    /// destructor, so that destructors of other thread-locals are under control, too.
    static MEMBER: Cell<*const Member> = const { Cell::new(ptr::null()) };

    /// The membership itself, of threads that were spawned under control. It is the first
    /// thread-local with a destructor that such a thread has, so it is the last to go.
    static OWNED: Owned = const { Owned(Cell::new(None)) };
}

/// Counted, and not boxed: to move a box is to say that nobody else points into it, and
/// [`MEMBER`] does.
struct Owned(Cell<Option<Rc<Member>>>);

impl Owned {
    /// Makes this the calling thread's membership; `None` if the thread is past having one.
    fn install(member: Rc<Member>) -> Option<*const Member> {
        let pointer = Rc::as_ptr(&member);
        OWNED.try_with(|owned| owned.0.set(Some(member))).ok()?;
        MEMBER.set(pointer);
        Some(pointer)
    }

    fn end(&self) {
        if let Some(member) = self.0.take() {
            member.finish();
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.end();
    }
}

/// An address where no member is.
const OFF: *const Member = ptr::without_provenance(1);

/// Runs `f` with this thread's membership, if it is under control.
#[inline]
pub(super) fn with<R>(f: impl FnOnce(&Member) -> R) -> Option<R> {
    let member = MEMBER.get();
    if member == OFF { None } else { with_member(member, f) }
}

#[cold]
#[inline(never)]
fn with_member<R>(member: *const Member, f: impl FnOnce(&Member) -> R) -> Option<R> {
    let member = if member.is_null() { attach()? } else { member };
    // SAFETY: the pointer is changed before the member goes, on this thread and not within `f`.
    Some(f(unsafe { &*member }))
}

/// Finds out whether this thread belongs to the run of the whole process.
fn attach() -> Option<*const Member> {
    // What follows may come back here, from the program's allocator for example.
    MEMBER.set(OFF);
    Owned::install(Rc::new(super::process::member()?))
}

/// Makes the calling thread a member until the guard is dropped.
pub(super) fn enter(member: &Member) -> Entered {
    let outer = MEMBER.replace(ptr::from_ref(member));
    Entered { outer }
}

/// Ends a membership that was entered.
pub(super) struct Entered {
    outer: *const Member,
}

impl Drop for Entered {
    fn drop(&mut self) {
        MEMBER.set(self.outer);
    }
}

/// Whether the calling thread is under control.
pub(crate) fn is_controlled() -> bool {
    !rt::is_off() && with(|_| ()).is_some()
}

/// Whether the calling thread is being sent away, because the run is over.
pub(crate) fn is_leaving() -> bool {
    with(|member| member.leaving.get()).unwrap_or(false)
}

/// The calling thread goes away, if it is to and may.
pub(crate) fn leave_if_asked() {
    with(|member| {
        if member.leaving.get() {
            member.leave(Action::Begin);
        }
    });
}

/// An address as traces have it: under control, where a seed decides what is in a trace, it is the
/// number of those that were met before.
pub(crate) fn number_of_address(address: usize) -> usize {
    if address == 0 {
        return 0;
    }
    with(|member| member.run.lock().number_of_address(address)).unwrap_or(address)
}

/// The calling thread, whose events are watched, has done this.
pub(crate) fn observe(op: &Op, here: Here) {
    with(|member| {
        let mut state = member.run.lock();
        let state = &mut *state;
        if let Guide::Replay(replay) = &mut state.guide {
            replay.observe(&state.slots[member.slot].path, op, here);
        }
    });
}

/// What the calling thread is known by to others of its run, if it is under control.
pub(crate) fn number() -> Option<usize> {
    if rt::is_off() { None } else { with(|member| member.slot) }
}

/// The calling thread's place in the tree of threads, if it is under control. Who panics may ask: it waits for
/// nobody.
pub(super) fn path() -> Option<String> {
    let member = MEMBER.get();
    if member.is_null() || member == OFF {
        return None;
    }
    // SAFETY: as in `with_member`: the pointer is changed before the member goes, on this thread.
    let member = unsafe { &*member };
    member.run.try_lock().map(|state| state.slots[member.slot].path.clone())
}

/// Whom the notification is to wake that the calling thread is about to give, by the
/// [`number`] of that thread, if somebody has decided that.
pub(crate) fn whom_to_wake() -> Option<usize> {
    if rt::is_off() {
        return None;
    }
    let wanted = with(|member| {
        let state = member.run.lock();
        let Guide::Replay(replay) = &state.guide else { return None };
        let woken = replay.woken(&state.slots[member.slot].path)?;
        state.slots.iter().position(|slot| slot.path == woken)
    });
    wanted.flatten()
}

/// Whether time is up for the calling thread, which waits until then on the run's clock.
pub(super) fn is_time_up(until: u64, action: Action, here: Here) -> bool {
    let passed = with(|member| {
        let state = member.run.lock();
        let decided = match &state.guide {
            Guide::Replay(replay) => replay.gives_up(&state.slots[member.slot].path, action, here),
            _ => None,
        };
        decided.unwrap_or_else(|| until <= member.run.now())
    });
    // Who is no longer under control has waited long enough.
    passed.unwrap_or(true)
}

/// The calling thread has taken a lock by trying.
#[inline]
pub(crate) fn took(lock: usize, here: Here) {
    if rt::is_off() {
        return;
    }
    with(|member| {
        let held = super::slot::Held { lock, here };
        member.run.lock().slots[member.slot].held.push(held);
    });
}

/// The run's time, if this thread is under control.
pub(super) fn now() -> Option<u64> {
    with(|member| member.run.now())
}

/// The calling thread is about to do something that cannot block: somebody else may go first.
#[inline]
pub(crate) fn point(action: Action, object: usize, here: Here) {
    if rt::is_off() {
        return;
    }
    rt::about_to_do(here);
    with(|member| member.step(Intent::new(action, object, here), None, None));
}

/// As [`point`], of an access of so many bytes of memory.
#[inline]
pub(crate) fn point_in_memory(action: Action, address: usize, size: usize, here: Here) {
    if rt::is_off() {
        return;
    }
    rt::about_to_do(here);
    let intent = Intent::new(action, address, here).with_size(size);
    with(|member| member.step(intent, None, None));
}

/// The calling thread is about to do something that can block: returns when it would not. `ready`
/// says when that is; it is called by other threads, while this one waits. Its argument is whether
/// the deadline has passed. False, and at once, if the thread is not under control.
#[inline]
pub(crate) fn block(
    intent: impl FnOnce() -> Intent,
    deadline: Option<Deadline>,
    ready: &dyn Fn(bool) -> bool,
) -> bool {
    if rt::is_off() {
        return false;
    }
    with(|member| {
        let deadline = deadline.map(|deadline| match deadline {
            Deadline::Virtual(at) => at,
            // Made before the thread was under control: it has passed.
            Deadline::Real(_) => 0,
        });
        let intent = intent();
        let timed = intent.timed || deadline.is_some();
        member.step(intent.timed(timed), Some(ready), deadline);
    })
    .is_some()
}

/// As [`block`], of an operation on one object that waits as long as it must.
#[inline]
pub(crate) fn block_on(action: Action, object: usize, here: Here, ready: impl Fn() -> bool) {
    if rt::is_off() {
        return;
    }
    rt::about_to_do(here);
    with(|member| member.step(Intent::new(action, object, here), Some(&|_| ready()), None));
}

/// A thread that is about to be spawned under control.
pub(crate) struct Newcomer(Box<Member>);

/// Adds a thread to the run, if this thread is under control.
pub(crate) fn newcomer(name: Option<&str>, here: Here) -> Option<Newcomer> {
    with(|parent| Newcomer(Box::new(parent.run.add(parent.slot, name, here))))
}

impl Newcomer {
    #[cfg(feature = "fibers")]
    pub(super) fn member(self) -> Box<Member> {
        self.0
    }

    #[cfg(feature = "fibers")]
    pub(super) fn slot(&self) -> usize {
        self.0.slot
    }

    pub(crate) fn control(&self) -> ChildControl {
        ChildControl::new(&self.0)
    }

    /// Makes the calling thread, which is new, the newcomer. Call [`wait`] next.
    pub(crate) fn install(self) {
        self.0.run.begun(self.0.slot);
        Owned::install(Rc::from(self.0));
    }
}

/// The calling thread waits for its first turn.
pub(crate) fn wait_for_first_turn() {
    with(|member| {
        if member.turn.take() == Word::Leave {
            member.leave(Action::Begin);
        }
    });
}

/// Runs the closure of a thread; if it panics under control, keeps the message.
pub(crate) fn run_closure<T>(f: impl FnOnce() -> T) -> T {
    if !is_controlled() {
        return f();
    }
    match panic::catch_unwind(panic::AssertUnwindSafe(f)) {
        Ok(result) => result,
        Err(payload) => {
            with(|member| *member.panicked.borrow_mut() = message(&*payload));
            panic::resume_unwind(payload)
        }
    }
}

/// The calling thread has panicked with this.
#[cfg(feature = "fibers")]
pub(super) fn note_panic(message: Option<String>) {
    with(|member| *member.panicked.borrow_mut() = message);
}

/// The calling fiber is that of the thread whose turn it is.
#[cfg(feature = "fibers")]
pub(super) fn belongs_to_fiber(fiber: &super::fiber::Suspend) {
    with(|member| member.turn.belongs_to(fiber));
}

/// The calling fiber has nothing left to do.
#[cfg(feature = "fibers")]
pub(super) fn finish_fiber() {
    with(Member::finish);
}

/// The calling thread is done with its closure; what it still runs are destructors.
pub(crate) fn closing() {
    with(|member| {
        member.closing.set(true);
        member.run.leave(member.slot, member.panicked.take(), &member.left);
    });
}

/// What a panic says; nothing if it is one that sends a thread away.
pub(super) fn message(payload: &(dyn Any + Send)) -> Option<String> {
    if payload.is::<SentAway>() {
        return None;
    }
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    Some(text.unwrap_or_else(|| "something that is no text".to_owned()))
}
