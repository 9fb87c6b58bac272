//! The edges of condvars and of parking.

use std::collections::VecDeque;

use racelog::trace::{CondvarId, ThreadId, Woken};

use super::edges::Wakeups;
use super::flow::{Knower, Knowledge, leave};
use crate::trace::{EventId, Op, Trace};

/// Who waits, and what those who may have woken them knew.
#[derive(Debug)]
pub(super) struct WakeupState {
    wakeups: Wakeups,
    /// Who waits on each condvar and is not certainly notified.
    waiters: Vec<Vec<ThreadId>>,
    /// For each thread: what those who may have notified it knew.
    notified: Vec<Option<Knower>>,
    /// For each thread: what all who have unparked it knew.
    tokens: Vec<Option<Knower>>,
    /// The notification that comes before any wake-up from a condvar, and what its thread knew.
    first: Vec<Option<(EventId, Option<Knower>)>>,
    /// The one thread that unparks a thread, and what it knew each time.
    unparkers: Vec<Unparks>,
}

#[derive(Clone, Debug, Default)]
struct Unparks {
    by_one: bool,
    known: VecDeque<Knower>,
}

impl WakeupState {
    pub(super) fn new(trace: &Trace, wakeups: Wakeups) -> Self {
        let threads = trace.thread_count();
        let mut state = Self {
            wakeups,
            waiters: vec![Vec::new(); trace.condvar_count()],
            notified: vec![None; threads],
            tokens: vec![None; threads],
            first: vec![None; trace.condvar_count()],
            unparkers: vec![Unparks::default(); threads],
        };
        if wakeups == Wakeups::Necessary {
            state.find_necessary(trace);
        }
        state
    }

    fn find_necessary(&mut self, trace: &Trace) {
        let mut notifiers = vec![Sole::Nobody; self.first.len()];
        let mut unparkers = vec![Sole::Nobody; self.unparkers.len()];
        for event in trace.events() {
            match trace.op(event) {
                Op::NotifyOne { condvar, .. } | Op::NotifyAll(condvar) => {
                    notifiers[condvar.index()].add(trace, event);
                }
                Op::Unpark(thread) => unparkers[thread.index()].add(trace, event),
                _ => {}
            }
        }
        for (first, notifier) in self.first.iter_mut().zip(notifiers) {
            *first = notifier.first().map(|event| (event, None));
        }
        for (unparks, unparker) in self.unparkers.iter_mut().zip(unparkers) {
            unparks.by_one = unparker.first().is_some();
        }
    }

    pub(super) fn wait(&mut self, t: ThreadId, condvar: CondvarId) {
        self.waiters[condvar.index()].push(t);
    }

    pub(super) fn notify_one<K: Knowledge>(
        &mut self,
        know: &mut K,
        event: EventId,
        t: ThreadId,
        condvar: CondvarId,
        woken: Woken,
    ) {
        if self.wakeups == Wakeups::Necessary {
            return self.notify_first(know, event, t, condvar);
        }
        let waiters = &mut self.waiters[condvar.index()];
        match woken {
            Woken::Nobody => return,
            Woken::Thread(woken) => {
                waiters.retain(|waiter| *waiter != woken);
                leave(know, &mut self.notified[woken.index()], Knower::of(t));
            }
            Woken::Unknown => {
                for waiter in waiters {
                    leave(know, &mut self.notified[waiter.index()], Knower::of(t));
                }
            }
        }
        know.publish(t);
    }

    pub(super) fn notify_all<K: Knowledge>(
        &mut self,
        know: &mut K,
        event: EventId,
        t: ThreadId,
        condvar: CondvarId,
    ) {
        if self.wakeups == Wakeups::Necessary {
            return self.notify_first(know, event, t, condvar);
        }
        for waiter in self.waiters[condvar.index()].drain(..) {
            leave(know, &mut self.notified[waiter.index()], Knower::of(t));
        }
        know.publish(t);
    }

    fn notify_first<K: Knowledge>(
        &mut self,
        know: &mut K,
        event: EventId,
        t: ThreadId,
        condvar: CondvarId,
    ) {
        if let Some((first, known)) = &mut self.first[condvar.index()]
            && *first == event
        {
            leave(know, known, Knower::of(t));
            know.publish(t);
        }
    }

    pub(super) fn wake<K: Knowledge>(&mut self, know: &mut K, t: ThreadId, condvar: CondvarId) {
        self.waiters[condvar.index()].retain(|waiter| *waiter != t);
        if let Some(notified) = self.notified[t.index()].take() {
            know.join(Knower::of(t), notified);
            know.free(notified);
        }
        if let Some((_, Some(first))) = self.first[condvar.index()] {
            know.join(Knower::of(t), first);
        }
    }

    /// The wait ended without any of the notifications that may have been for it.
    pub(super) fn time_out<K: Knowledge>(&mut self, know: &mut K, t: ThreadId, condvar: CondvarId) {
        self.waiters[condvar.index()].retain(|waiter| *waiter != t);
        if let Some(notified) = self.notified[t.index()].take() {
            know.free(notified);
        }
    }

    pub(super) fn unpark<K: Knowledge>(&mut self, know: &mut K, t: ThreadId, unparked: ThreadId) {
        match self.wakeups {
            Wakeups::Observed => leave(know, &mut self.tokens[unparked.index()], Knower::of(t)),
            Wakeups::Necessary => {
                let unparks = &mut self.unparkers[unparked.index()];
                if !unparks.by_one {
                    return;
                }
                let knower = know.new_knower();
                know.copy(knower, Knower::of(t));
                unparks.known.push_back(knower);
            }
        }
        know.publish(t);
    }

    /// Each park needs a token of its own, so the n-th comes after the n-th unpark at the earliest.
    pub(super) fn park<K: Knowledge>(&mut self, know: &mut K, t: ThreadId) {
        if let Some(token) = self.tokens[t.index()].take() {
            know.join(Knower::of(t), token);
            know.free(token);
        }
        if let Some(knower) = self.unparkers[t.index()].known.pop_front() {
            know.join(Knower::of(t), knower);
            know.free(knower);
        }
    }
}

/// Whether all of some events are by one thread.
#[derive(Clone, Copy, Debug)]
enum Sole {
    Nobody,
    /// The first of them.
    One(EventId),
    Several,
}

impl Sole {
    fn add(&mut self, trace: &Trace, event: EventId) {
        *self = match *self {
            Self::Nobody => Self::One(event),
            Self::One(first) if trace.thread(first) == trace.thread(event) => Self::One(first),
            Self::One(_) | Self::Several => Self::Several,
        };
    }

    fn first(self) -> Option<EventId> {
        match self {
            Self::One(first) => Some(first),
            Self::Nobody | Self::Several => None,
        }
    }
}
