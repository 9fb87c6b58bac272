//! Where the mirrors and the recorder announce operations, and others may go first.

use std::time::Instant;

use super::attach::with;
use super::time::{Deadline, clock};
use crate::rt::{self, Action, CallSite};
use crate::sched::members::current;
use crate::sched::members::member::Member;
use crate::sched::model::intent::Intent;
use crate::sched::model::slot::Held;
use crate::sched::strategy::Guide;
#[cfg(feature = "crossbeam")]
use crate::trace::Object;
use crate::trace::Op;

/// The calling thread is about to do something that cannot block: another thread may go first.
#[inline]
pub(crate) fn point(action: Action, object: usize, here: Option<CallSite>) {
    if rt::is_off() {
        return;
    }
    rt::about_to_do(here);
    with(|member| member.step(&Intent::new(action, object, here), None, None));
}

/// As [`point`], of an access of so many bytes of memory.
#[inline]
pub(crate) fn point_in_memory(action: Action, address: usize, size: usize, here: Option<CallSite>) {
    if rt::is_off() {
        return;
    }
    rt::about_to_do(here);
    let intent = Intent::new(action, address, here).with_size(size);
    with(|member| member.step(&intent, None, None));
}

/// As [`point_in_memory`], of a thread that frees memory and follows a schedule, if that waits for
/// the free. The thread may be in the middle of anything, so it does not wait to find out; and
/// it frees nothing meanwhile, which would lead back here.
#[inline(never)]
pub(crate) fn point_of_free(address: usize, size: usize) {
    if current::get().is_null() {
        return;
    }
    with(|member| {
        let intent = Intent::new(Action::Free, address, None).with_size(size);
        let waited_for = member.run().try_lock().is_some_and(|state| match &state.guide {
            Guide::Replay(replay) => replay.waits_for_free(member.slot(), &intent, &state.slots),
            _ => false,
        });
        if waited_for {
            member.step(&intent, None, None);
        }
    });
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
        member.step(&intent.timed(timed), Some(ready), deadline);
    })
    .is_some()
}

/// What the calling thread sees that looks at the clock, if it is under control. Another thread may
/// go first.
pub(crate) fn look_at_clock(here: Option<CallSite>) -> Option<Instant> {
    let intent = || Intent::new(Action::Clock, 0, here).timed(true);
    block(intent, None, &|_| true).then(clock).flatten()
}

/// As [`block`], of an operation on one object that waits as long as it must.
#[inline]
pub(crate) fn block_on(
    action: Action,
    object: usize,
    here: Option<CallSite>,
    ready: impl Fn() -> bool,
) {
    if rt::is_off() {
        return;
    }
    rt::about_to_do(here);
    with(|member| member.step(&Intent::new(action, object, here), Some(&|_| ready()), None));
}

/// As [`block_on`], of a lock. `request` is called if the lock cannot be taken at once. If
/// `after_writers`, the thread also waits while others wait to take the lock exclusively.
#[inline]
pub(crate) fn block_on_lock(
    (action, after_writers): (Action, bool),
    lock: usize,
    here: Option<CallSite>,
    ready: impl Fn() -> bool,
    request: impl FnOnce(),
) {
    if rt::is_off() {
        return;
    }
    rt::about_to_do(here);
    with(|member| {
        if !ready() || (after_writers && is_kept_out(member, lock)) {
            request();
        }
        let intent = Intent::new(action, lock, here).after_writers(after_writers);
        member.step(&intent, Some(&|_| ready()), None);
    });
}

fn is_kept_out(member: &Member, lock: usize) -> bool {
    let state = member.run().lock();
    !state.guide.lets_readers_pass() && state.has_waiting_writer(lock, member.slot())
}

/// An address as traces have it: under control, where a seed decides what is in a trace, it is the
/// number of those that were met before.
pub(crate) fn number_of_address(address: usize) -> usize {
    if address == 0 {
        return 0;
    }
    with(|member| member.run().lock().number_of_address(address)).unwrap_or(address)
}

/// The calling thread, whose events are watched, has done this.
pub(crate) fn observe(op: &Op, here: Option<CallSite>) {
    with(|member| {
        let mut state = member.run().lock();
        let state = &mut *state;
        if let Guide::Replay(replay) = &mut state.guide {
            replay.observe(&state.slots[member.slot()].path, op, here);
        }
    });
}

/// What the calling thread is known by to others of its run, if it is under control.
pub(crate) fn number() -> Option<usize> {
    if rt::is_off() { None } else { with(Member::slot) }
}

/// Whom the notification is to wake that the calling thread is about to give, by the
/// [`number`] of that thread, if a schedule has decided that.
pub(crate) fn whom_to_wake() -> Option<usize> {
    if rt::is_off() {
        return None;
    }
    let wanted = with(|member| {
        let state = member.run().lock();
        let Guide::Replay(replay) = &state.guide else { return None };
        let woken = replay.woken(&state.slots[member.slot()].path)?;
        state.slots.iter().position(|slot| slot.path == woken)
    });
    wanted.flatten()
}

/// As [`point`], of an operation that is more than one action on one object.
#[cfg(feature = "crossbeam")]
pub(crate) fn point_of(intent: impl FnOnce() -> Intent, here: Option<CallSite>) {
    if rt::is_off() {
        return;
    }
    rt::about_to_do(here);
    with(|member| member.step(&intent(), None, None));
}

/// Which of so many ways that are all possible a thread under control goes.
#[cfg(feature = "crossbeam")]
pub(crate) fn any_of(ways: usize) -> Option<usize> {
    if rt::is_off() {
        return None;
    }
    with(|member| member.run().lock().guide.any_of(ways))
}

/// Which of the channels, each with whether it is to be received there, the calling thread goes on
/// with, if a schedule has decided that.
#[cfg(feature = "crossbeam")]
pub(crate) fn where_to_go_on(channels: &dyn Fn() -> Vec<(Object, bool)>) -> Option<usize> {
    if rt::is_off() {
        return None;
    }
    let wanted = with(|member| {
        let state = member.run().lock();
        let Guide::Replay(replay) = &state.guide else { return None };
        replay.chosen(&state.slots[member.slot()].path, &channels())
    });
    wanted.flatten()
}

/// The calling thread gives back what it took by [`took`].
#[inline]
pub(crate) fn gave_back(lock: usize) {
    if rt::is_off() {
        return;
    }
    with(|member| member.run().lock().slots[member.slot()].gives_back(lock));
}

/// The calling thread has taken a lock by trying, and may share it.
#[inline]
pub(crate) fn took(lock: usize, shared: bool, here: Option<CallSite>) {
    if rt::is_off() {
        return;
    }
    with(|member| {
        let held = Held { lock, shared, here };
        member.run().lock().slots[member.slot()].held.push(held);
    });
}
