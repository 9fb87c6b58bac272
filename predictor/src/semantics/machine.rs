//! The rules: when a step is enabled, and what it changes.
//!
//! [`Machine::enabled`] and [`Machine::apply`] follow the table of the semantics row by row.

use racelog::trace::{BarrierId, ChannelId, CondvarId, LockEffect, LockId, ThreadId, VarId};

use super::observed::Observed;
use super::state::{State, Waits};
use super::{Model, WhyNot};
use crate::trace::{EventId, Op, Trace, ValueId};

/// The executions of one trace.
#[derive(Debug)]
pub struct Machine<'a> {
    trace: &'a Trace,
    model: Model,
    observed: Observed,
}

impl<'a> Machine<'a> {
    /// The machine for a trace.
    pub fn new(trace: &'a Trace) -> Self {
        Self::of_model(trace, Model::default())
    }

    /// The machine for a trace in a model.
    pub fn of_model(trace: &'a Trace, model: Model) -> Self {
        Self { trace, model, observed: Observed::new(trace) }
    }

    /// The model.
    #[inline]
    pub fn model(&self) -> Model {
        self.model
    }

    /// The trace.
    pub fn trace(&self) -> &'a Trace {
        self.trace
    }

    /// Where every execution starts.
    pub fn initial(&self) -> State {
        State::initial(self.trace, self.observed.generation_count())
    }

    /// The next event of a thread.
    #[inline]
    pub fn next(&self, state: &State, thread: ThreadId) -> Option<EventId> {
        self.trace.events_of_thread(thread).get(state.position(thread)).copied()
    }

    /// Takes an event, or says why that cannot be. `woken` is the waiter that a `notify_one`
    /// notifies: any of [`State::waiters`], and nobody only if there are none.
    #[inline]
    pub fn step(
        &self,
        state: &mut State,
        event: EventId,
        woken: Option<ThreadId>,
    ) -> Result<(), WhyNot> {
        let op = self.trace.op(event);
        self.enabled_but_for(state, event, &op, 0)?;
        if let Op::NotifyOne { condvar, .. } = op {
            can_be_woken(state, condvar, woken)?;
        }
        self.apply_op(state, event, &op, woken);
        Ok(())
    }

    /// Whether an event can be taken.
    pub fn enabled(&self, state: &State, event: EventId) -> Result<(), WhyNot> {
        self.enabled_but_for(state, event, &self.trace.op(event), 0)
    }

    /// Whether an event could be taken beside another one that can be: in mixed memory, where all
    /// accesses keep their order, the other may be the one that it would have to wait for.
    pub fn enabled_beside(
        &self,
        state: &State,
        event: EventId,
        other: EventId,
    ) -> Result<(), WhyNot> {
        let op = self.trace.op(event);
        let var = op.var();
        let mixed = var.is_some_and(|var| self.trace.is_mixed(var));
        let waits = mixed && var == self.trace.op(other).var() && other < event;
        self.enabled_but_for(state, event, &op, u32::from(waits))
    }

    /// Whether an event, which does `op`, can be taken if that many accesses of its variable may be
    /// missing.
    #[inline]
    fn enabled_but_for(
        &self,
        state: &State,
        event: EventId,
        op: &Op,
        missing: u32,
    ) -> Result<(), WhyNot> {
        let t = self.trace.thread(event);
        let thread = &state.threads[t.index()];
        // A thread's next event is the one whose place in the thread it has come to.
        if thread.position as usize != self.trace.position(event) {
            return Err(WhyNot::NotNext(t, self.next(state, t)));
        }
        require(thread.started, WhyNot::NotForked(t))?;
        if let Some(required) = self.observed.preceding_events(event) {
            let happened = state.happened;
            require(happened >= required, WhyNot::ForeignOrder(required, happened))?;
        }
        if self.trace.is_guarded(event) && self.model.has_values() {
            require(thread.other.is_none(), WhyNot::NotClean(t))?;
        }
        if let Some(var) = op.var()
            && let Some(required) = self.observed.required_accesses(event)
        {
            let happened = state.vars[var.index()].accesses;
            let enough = happened + missing >= required;
            require(enough, WhyNot::AccessOrder(var, required, happened))?;
        }
        if !self.model.has_all_synchronisation() && !is_nested(op) {
            return Ok(());
        }
        match *op {
            Op::Begin
            | Op::End
            | Op::Fork(_)
            | Op::Assert(_)
            | Op::AtomicBegin(_)
            | Op::AtomicEnd
            | Op::Fence(_) => Ok(()),
            Op::Join(child) => self.finished(state, child),
            Op::Read { .. }
            | Op::Load { .. }
            | Op::Write { .. }
            | Op::Store { .. }
            | Op::Rmw { .. }
            | Op::Exclusive { .. } => Ok(()),
            Op::Cas { var, old: value, .. } | Op::CasFail { var, seen: value, .. } => {
                self.may_exchange(state, event, var, value)
            }
            Op::Branch | Op::Check { .. } => self.may_decide(state, event),
            Op::Acquire(lock) | Op::OnceBegin(lock) => is_free(state, lock),
            Op::Release(lock) | Op::OnceEnd(lock) | Op::Wait { lock, .. } => {
                let held = state.locks[lock.index()].writer == Some(t);
                require(held, WhyNot::NotHeld(lock, t))
            }
            Op::ReadAcquire(lock) | Op::OnceWait(lock) => match state.locks[lock.index()].writer {
                Some(writer) => Err(WhyNot::Taken(lock, writer)),
                None => Ok(()),
            },
            Op::ReadRelease(lock) => {
                let held = state.locks[lock.index()].readers.contains(&t);
                require(held, WhyNot::NotHeld(lock, t))
            }
            Op::AcquireFail(lock) => {
                require(!state.locks[lock.index()].is_free(), WhyNot::Free(lock))
            }
            Op::ReadAcquireFail(lock) => {
                require(state.locks[lock.index()].writer.is_some(), WhyNot::Free(lock))
            }
            Op::NotifyOne { .. } | Op::NotifyAll(_) => Ok(()),
            Op::Wake { condvar, lock } => {
                if self.model.has_all_synchronisation() {
                    let waits = thread.waits.filter(|waits| waits.condvar == condvar);
                    let waits = waits.ok_or(WhyNot::NotWaiting(condvar, t))?;
                    require(waits.notified, WhyNot::NotNotified(condvar, t))?;
                }
                is_free(state, lock)
            }
            Op::WakeTimeout { condvar, lock } => {
                if self.model.has_all_synchronisation() {
                    let waits = thread.waits.filter(|waits| waits.condvar == condvar);
                    let waits = waits.ok_or(WhyNot::NotWaiting(condvar, t))?;
                    require(!waits.notified, WhyNot::Notified(condvar, t))?;
                }
                is_free(state, lock)
            }
            Op::Unpark(_) => Ok(()),
            Op::Park => require(thread.token, WhyNot::NoToken(t)),
            Op::ParkTimeout => require(!thread.token, WhyNot::Token(t)),
            Op::Close(_) | Op::ReceiverClose(_) => Ok(()),
            Op::Send { channel, .. } => {
                require(!self.has_no_receivers(state, channel), WhyNot::NoReceivers(channel))?;
                let full = self.trace.capacity(channel).is_some_and(|capacity| {
                    state.channels[channel.index()].queue.len() >= capacity as usize
                });
                require(!full, WhyNot::Full(channel))
            }
            Op::SendFull(channel) => {
                require(!self.has_no_receivers(state, channel), WhyNot::NoReceivers(channel))?;
                let messages = state.channels[channel.index()].queue.len();
                let capacity = self.trace.capacity(channel);
                let full = capacity.is_some_and(|capacity| messages >= capacity as usize);
                require(full, WhyNot::Room(channel, messages))
            }
            Op::SendClosed { channel, .. } => {
                require(self.has_no_receivers(state, channel), WhyNot::ReceiversLeft(channel))
            }
            Op::Recv { channel, message } => {
                let front = state.channels[channel.index()].queue.front().map(|front| front.name);
                require(front == Some(message), WhyNot::Front(channel, message, front))
            }
            Op::RecvEmpty(channel) => {
                is_empty(state, channel)?;
                // Had no sender been left, the receiver would have seen the end.
                let (closed, all) = self.closed(state, channel);
                let sender_left = closed < all || self.observed.outlives_closes(event);
                require(sender_left, WhyNot::NoSenders(channel))
            }
            Op::RecvClosed(channel) => {
                is_empty(state, channel)?;
                let (closed, all) = self.closed(state, channel);
                require(closed == all, WhyNot::SendersLeft(channel, closed, all))
            }
            Op::Arrive { barrier, generation } => {
                let generation = self.observed.generation(barrier, generation);
                let Some(previous) = self.observed.previous_generation(generation) else {
                    return Ok(());
                };
                let (arrived, all) = self.arrived(state, previous);
                require(arrived == all, WhyNot::Early(barrier, arrived, all))
            }
            Op::Leave { barrier, generation } => {
                let generation = self.observed.generation(barrier, generation);
                let (arrived, all) = self.arrived(state, generation);
                require(arrived == all, WhyNot::Incomplete(barrier, arrived, all))
            }
        }
    }

    /// Takes an event that is enabled.
    pub fn apply(&self, state: &mut State, event: EventId, woken: Option<ThreadId>) {
        self.apply_op(state, event, &self.trace.op(event), woken);
    }

    /// A thread does what it can.
    #[inline]
    fn apply_op(&self, state: &mut State, event: EventId, op: &Op, woken: Option<ThreadId>) {
        let t = self.trace.thread(event);
        state.happened += 1;
        state.threads[t.index()].position += 1;
        if let Some(var) = op.var() {
            state.vars[var.index()].accesses += 1;
        }
        match *op {
            Op::Begin
            | Op::End
            | Op::Join(_)
            | Op::Assert(_)
            | Op::Check { .. }
            | Op::AtomicBegin(_)
            | Op::AtomicEnd
            | Op::Fence(_)
            | Op::Branch => {}
            Op::Fork(child) => state.threads[child.index()].started = true,
            Op::Read { var, value } | Op::Load { var, value, .. } => {
                self.find(state, event, var, value);
            }
            Op::Write { var, value }
            | Op::Store { var, value, .. }
            | Op::Exclusive { var, value } => self.write(state, event, var, value),
            Op::Rmw { var, old, new, .. } => {
                self.find(state, event, var, old);
                self.write(state, event, var, new);
            }
            Op::Cas { var, old, new, .. } => {
                self.find(state, event, var, old);
                self.write(state, event, var, new);
            }
            Op::CasFail { var, seen, .. } => self.find(state, event, var, seen),
            Op::AcquireFail(_)
            | Op::ReadAcquireFail(_)
            | Op::OnceWait(_)
            | Op::SendClosed { .. }
            | Op::SendFull(_) => {}
            Op::Acquire(lock) | Op::OnceBegin(lock) => state.locks[lock.index()].writer = Some(t),
            Op::Release(lock) | Op::OnceEnd(lock) => state.locks[lock.index()].writer = None,
            Op::ReadAcquire(lock) => state.locks[lock.index()].add_reader(t),
            Op::ReadRelease(lock) => state.locks[lock.index()].remove_reader(t),
            Op::Wait { condvar, lock } => {
                state.locks[lock.index()].writer = None;
                state.threads[t.index()].waits = Some(Waits { condvar, notified: false });
            }
            Op::NotifyOne { condvar, .. } => {
                if let Some(woken) = woken {
                    state.threads[woken.index()].waits = Some(Waits { condvar, notified: true });
                }
            }
            Op::NotifyAll(condvar) => {
                for waits in state.threads.iter_mut().filter_map(|thread| thread.waits.as_mut()) {
                    waits.notified |= waits.condvar == condvar;
                }
            }
            Op::Wake { lock, .. } | Op::WakeTimeout { lock, .. } => {
                state.threads[t.index()].waits = None;
                state.locks[lock.index()].writer = Some(t);
            }
            Op::Unpark(thread) => state.threads[thread.index()].token = true,
            Op::Park => state.threads[t.index()].token = false,
            Op::ParkTimeout => {}
            Op::Send { channel, message } => {
                let message = self.message(state, event, message);
                state.channels[channel.index()].queue.push_back(message);
            }
            Op::Recv { channel, .. } => {
                let received = state.channels[channel.index()].queue.pop_front();
                self.receive(state, event, received);
            }
            Op::RecvEmpty(_) | Op::RecvClosed(_) | Op::Leave { .. } => {}
            Op::Close(channel) => state.channels[channel.index()].closed += 1,
            Op::ReceiverClose(channel) => state.channels[channel.index()].receivers_closed += 1,
            Op::Arrive { barrier, generation } => {
                state.arrived[self.observed.generation(barrier, generation)] += 1;
            }
        }
    }

    /// Whether a variable holds a value. Mixed memory holds what it held, since its accesses keep
    /// their order, unless a thread that was not clean has written there.
    pub(super) fn finds(&self, state: &State, var: VarId, value: ValueId) -> bool {
        let found = state.vars[var.index()].value;
        found == Some(value) || (found.is_some() && self.trace.is_mixed(var))
    }

    pub(super) fn holds(&self, state: &State, var: VarId, wanted: ValueId) -> Result<(), WhyNot> {
        let found = state.vars[var.index()].value;
        require(self.finds(state, var, wanted), WhyNot::Holds { var, wanted, found })
    }

    fn write(&self, state: &mut State, event: EventId, var: VarId, value: ValueId) {
        let (t, mixed) = (self.trace.thread(event), self.trace.is_mixed(var));
        let written = match mixed {
            true => state.is_clean(t).then_some(value),
            false => self.written(state, event, t, value),
        };
        let held = &mut state.vars[var.index()].value;
        // Of mixed memory, a write leaves parts as they were, so what is unknown stays so.
        *held = written.filter(|_| held.is_some() || !mixed);
    }

    /// How many senders of a channel have been dropped, and how many are in the whole trace.
    pub(super) fn closed(&self, state: &State, channel: ChannelId) -> (u32, u32) {
        (state.channels[channel.index()].closed, self.observed.closes(channel))
    }

    /// Whether all receivers of a channel have been dropped: as many as are in the whole trace, and
    /// at least one.
    pub(super) fn has_no_receivers(&self, state: &State, channel: ChannelId) -> bool {
        let all = self.observed.receiver_closes(channel);
        all > 0 && state.channels[channel.index()].receivers_closed == all
    }

    /// How many threads have arrived for a generation of a barrier, and how many do in all.
    fn arrived(&self, state: &State, generation: usize) -> (u32, u32) {
        (state.arrived[generation], self.observed.arrivals(generation).len() as u32)
    }

    /// The threads that are yet to arrive for a generation of a barrier.
    pub(super) fn to_arrive(
        &self,
        state: &State,
        barrier: BarrierId,
        generation: u64,
    ) -> Vec<ThreadId> {
        let arrivals = self.observed.arrivals(self.observed.generation(barrier, generation));
        let is_ahead = |event: &&EventId| {
            self.trace.position(**event) >= state.position(self.trace.thread(**event))
        };
        arrivals.iter().filter(is_ahead).map(|event| self.trace.thread(*event)).collect()
    }

    /// Whether a thread has taken all its events, and the branch that may follow the last.
    pub(super) fn finished(&self, state: &State, thread: ThreadId) -> Result<(), WhyNot> {
        match self.next(state, thread) {
            Some(next) => Err(WhyNot::NotFinished(thread, next)),
            None if self.trace.ends_guarded(thread) => {
                let passes = state.is_clean(thread) || !self.model.has_values();
                require(passes, WhyNot::EndNotClean(thread))
            }
            None => Ok(()),
        }
    }
}

/// Whether an operation counts where of synchronisation only locks, forks and joins do.
fn is_nested(op: &Op) -> bool {
    match op.lock_use() {
        Some(used) => matches!(used.effect, LockEffect::Takes | LockEffect::GivesBack),
        None => matches!(op, Op::Fork(_) | Op::Join(_)),
    }
}

#[inline]
fn require(condition: bool, why_not: WhyNot) -> Result<(), WhyNot> {
    if condition { Ok(()) } else { Err(why_not) }
}

fn is_free(state: &State, lock: LockId) -> Result<(), WhyNot> {
    let held = &state.locks[lock.index()];
    match held.writer.or(held.readers.first().copied()) {
        Some(holder) => Err(WhyNot::Taken(lock, holder)),
        None => Ok(()),
    }
}

fn is_empty(state: &State, channel: ChannelId) -> Result<(), WhyNot> {
    match state.channels[channel.index()].queue.front() {
        Some(front) => Err(WhyNot::NotEmpty(channel, front.name)),
        None => Ok(()),
    }
}

fn can_be_woken(state: &State, condvar: CondvarId, woken: Option<ThreadId>) -> Result<(), WhyNot> {
    match woken {
        Some(woken) => {
            let waits = state.waiters(condvar).any(|waiter| waiter == woken);
            require(waits, WhyNot::NoSuchWaiter(condvar, woken))
        }
        None => match state.waiters(condvar).next() {
            Some(waiter) => Err(WhyNot::SomebodyWaits(condvar, waiter)),
            None => Ok(()),
        },
    }
}
