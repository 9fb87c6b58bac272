//! One event as bytes: a code, then varints, most of them differences to the event before. Plain
//! accesses that are like one before take two bytes: see [`super::kept`].

use super::code::{self, code_of, ordering_of_bits, with_patience, without_patience};
use super::kept::{Form, Kept, Slots, kept_code, slot_and_step};
use super::primitive::{
    Malformed, Out, put_i64, put_u8, put_u32, put_u64, put_value, take_i64, take_u8, take_u32,
    take_u64, take_value,
};
use super::said::{put_said, take_said};
use crate::trace::{
    BarrierId, ChannelId, CondvarId, Event, Item, LocId, LockId, Op, Patience, Said, Stamp, StrId,
    ThreadId, Value, VarId, Woken,
};

/// No event and no initial value has more bytes: a code or two, three varints of 64 bits, of which
/// the stamp can have a bit more, and at most two values of an escape and a varint of 128 bits.
#[cfg(any(feature = "record", test))]
pub(crate) const LONGEST: usize = 2 + 3 * 10 + 2 * 20;

/// Stands where no item has been decoded yet.
pub(crate) const NO_ITEM: Item = Item::Init { var: VarId::new(0), value: Value::Opaque };

/// Encodes and decodes the events of one chunk, in order: what it remembers of one event shortens
/// the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coder {
    stamp: u64,
    /// 0 for no location, else its id + 1.
    location: i64,
    var: i64,
    /// A recorder, which has its own idea of what is worth keeping, does not use them.
    slots: Slots,
    /// What was said of the last event that was decoded.
    said: Vec<Said>,
}

impl Coder {
    /// For a chunk whose first event has this stamp; stamps start at 1.
    pub(crate) fn new(first_stamp: u64) -> Self {
        Self { stamp: first_stamp.saturating_sub(1), ..Self::default() }
    }

    /// The stamp of the last event.
    pub(crate) fn stamp(&self) -> u64 {
        self.stamp
    }

    /// Events that were encoded elsewhere, each with the next stamp, come before the next.
    #[cfg(feature = "record")]
    pub(crate) fn skip(&mut self, events: u64) {
        self.stamp += events;
    }

    /// Encodes what is said of the next event.
    pub(crate) fn encode_said(&mut self, said: &[Said], out: &mut impl Out) {
        put_u8(out, code::SAID);
        put_said(said, self.stamp, out);
    }

    /// The same without its code.
    #[cfg(feature = "record")]
    pub(crate) fn encode_said_rest(&mut self, said: &[Said], out: &mut impl Out) {
        put_said(said, self.stamp, out);
    }

    /// What was said of the event that was decoded last, which is forgotten with that.
    pub(super) fn take_said(&mut self) -> Option<Vec<Said>> {
        (!self.said.is_empty()).then(|| std::mem::take(&mut self.said))
    }

    /// Encodes an event, as short as can be.
    pub(crate) fn encode(&mut self, event: &Event, out: &mut impl Out) {
        let Event { stamp, op, location, recorded, patience, .. } = *event;
        let is_next = self.stamp.checked_add(1) == Some(stamp.get());
        let access = Kept::of(&op, location, recorded).filter(|_| is_next);
        match access.map_or(Form::Full, |(access, value)| self.slots.form(access, value)) {
            Form::Full => {
                put_u8(out, with_patience(code_of(&op), patience));
                self.encode_rest(stamp, &op, location, recorded, out);
            }
            Form::Kept(slot) => {
                put_u8(out, kept_code(matches!(op, Op::Write { .. })));
                self.encode_kept_rest(stamp, slot, &op, location, recorded, out);
            }
            Form::Again(bytes) => {
                bytes.into_iter().for_each(|byte| put_u8(out, byte));
                self.stamp = stamp.get();
            }
        }
    }

    /// Encodes what a thread is about to do.
    pub(crate) fn encode_request(&mut self, event: &Event, out: &mut impl Out) {
        put_u8(out, code::REQUEST);
        put_u8(out, with_patience(code_of(&event.op), event.patience));
        self.encode_rest(event.stamp, &event.op, event.location, event.recorded, out);
    }

    /// Encodes all of a plain access that is kept but its code.
    #[inline(always)]
    pub(crate) fn encode_kept_rest(
        &mut self,
        stamp: Stamp,
        slot: usize,
        op: &Op,
        location: Option<LocId>,
        recorded: bool,
        out: &mut impl Out,
    ) {
        self.encode_stamp(stamp, recorded, out);
        self.encode_location(location, out);
        put_u8(out, slot as u8);
        self.encode_operands(op, out);
    }

    /// Encodes all of an event but its code.
    #[inline(always)]
    pub(crate) fn encode_rest(
        &mut self,
        stamp: Stamp,
        op: &Op,
        location: Option<LocId>,
        recorded: bool,
        out: &mut impl Out,
    ) {
        self.encode_stamp(stamp, recorded, out);
        self.encode_location(location, out);
        self.encode_operands(op, out);
    }

    /// Encodes all of an initial value but its code; it has a stamp of its own.
    #[cfg(any(feature = "record", test))]
    pub(crate) fn encode_init_rest(
        &mut self,
        stamp: Stamp,
        var: VarId,
        value: Value,
        out: &mut impl Out,
    ) {
        self.encode_stamp(stamp, false, out);
        put_i64(out, 0);
        self.encode_var(var, out);
        put_value(out, value);
    }

    #[inline(always)]
    fn encode_stamp(&mut self, stamp: Stamp, recorded: bool, out: &mut impl Out) {
        // Stamps rise strictly: the step of one that always happens need not be written.
        let step = stamp.get() - self.stamp - 1;
        let recorded = u64::from(recorded);
        match step.checked_mul(2) {
            Some(double) => put_u64(out, double | recorded),
            // One value in 2^63 needs a 65th bit: postcard's u128 is the same varint, longer.
            None => super::primitive::put_u128(out, u128::from(step) << 1 | u128::from(recorded)),
        }
        self.stamp = stamp.get();
    }

    #[inline(always)]
    fn encode_location(&mut self, location: Option<LocId>, out: &mut impl Out) {
        let location = location.map_or(0, |id| i64::from(id.get()) + 1);
        put_i64(out, location - self.location);
        self.location = location;
    }

    /// Decodes an event or an initial value, whose stamp is then that of the coder.
    pub(crate) fn decode(
        &mut self,
        thread: ThreadId,
        input: &mut &[u8],
    ) -> Result<Item, Malformed> {
        let mut item = NO_ITEM;
        self.decode_into(thread, input, &mut item)?;
        Ok(item)
    }

    /// The same, to where the item is wanted: items are large, and moving them costs more than
    /// decoding them.
    pub(crate) fn decode_into(
        &mut self,
        thread: ThreadId,
        input: &mut &[u8],
        item: &mut Item,
    ) -> Result<(), Malformed> {
        let mut code = take_u8(input)?;
        if code == code::SAID {
            self.said.clear();
            take_said(&mut self.said, self.stamp, input)?;
            code = take_u8(input)?;
            // Nothing is said of what is no event.
            if matches!(code, code::SAID | code::REQUEST | code::INIT) {
                return Err(Malformed);
            }
        }
        if code >= code::AGAIN {
            return self.decode_again(code, thread, input, item);
        }
        let is_request = code == code::REQUEST;
        let code = if is_request { take_u8(input)? } else { code };
        let step = super::primitive::take_u128(input)?;
        let recorded = step & 1 == 1;
        let step = u64::try_from(step >> 1).map_err(|_| Malformed)?;
        let next = self.stamp.checked_add(1).and_then(|stamp| stamp.checked_add(step));
        self.stamp = next.ok_or(Malformed)?;
        self.location = self.location.checked_add(take_i64(input)?).ok_or(Malformed)?;
        let location = match self.location {
            0 => None,
            id => Some(LocId::new(u32::try_from(id - 1).map_err(|_| Malformed)?)),
        };
        if code == code::INIT && !is_request {
            *item = Item::Init { var: self.take_var(input)?, value: take_value(input)? };
            return Ok(());
        }
        let kept = !is_request && matches!(code, code::KEPT_READ | code::KEPT_WRITE);
        let slot = if kept { Some(usize::from(take_u8(input)?)) } else { None };
        let (code, patience) = without_patience(code);
        let op = self.decode_operands(code, input)?;
        if let (Some(slot), Some((access, value))) = (slot, Kept::of(&op, location, recorded)) {
            self.slots.keep(slot, access, value);
        }
        let stamp = Stamp::new(self.stamp);
        let event = Event { thread, stamp, op, location, recorded, patience };
        *item = if is_request { Item::Request(event) } else { Item::Event(event) };
        Ok(())
    }

    fn decode_again(
        &mut self,
        code: u8,
        thread: ThreadId,
        input: &mut &[u8],
        item: &mut Item,
    ) -> Result<(), Malformed> {
        let (slot, step) = slot_and_step(code, take_u8(input)?);
        let (access, value) = self.slots.again(slot, step)?;
        self.stamp = self.stamp.checked_add(1).ok_or(Malformed)?;
        *item = Item::Event(Event {
            thread,
            stamp: Stamp::new(self.stamp),
            op: access.op(value),
            location: access.location,
            recorded: access.recorded,
            patience: Patience::Forever,
        });
        Ok(())
    }

    #[inline(always)]
    fn encode_operands(&mut self, op: &Op, out: &mut impl Out) {
        if let Some(var) = op.var() {
            self.encode_var(var, out);
        }
        match *op {
            Op::Begin | Op::End | Op::Branch | Op::Fence(_) | Op::Park | Op::ParkTimeout => {}
            Op::Fork(thread) | Op::Join(thread) | Op::Unpark(thread) => put_u32(out, thread.get()),
            Op::Read { value, .. }
            | Op::Write { value, .. }
            | Op::Exclusive { value, .. }
            | Op::Load { value, .. }
            | Op::Store { value, .. }
            | Op::CasFail { seen: value, .. } => put_value(out, value),
            Op::Rmw { old, new, .. } | Op::Cas { old, new, .. } => {
                put_value(out, old);
                put_value(out, new);
            }
            Op::Acquire(lock)
            | Op::Release(lock)
            | Op::ReadAcquire(lock)
            | Op::ReadRelease(lock)
            | Op::AcquireFail(lock)
            | Op::ReadAcquireFail(lock)
            | Op::OnceBegin(lock)
            | Op::OnceEnd(lock)
            | Op::OnceWait(lock) => put_u32(out, lock.get()),
            Op::Wait { condvar, lock }
            | Op::Wake { condvar, lock }
            | Op::WakeTimeout { condvar, lock } => {
                put_u32(out, condvar.get());
                put_u32(out, lock.get());
            }
            Op::NotifyOne { condvar, woken } => {
                put_u32(out, condvar.get());
                if let Woken::Thread(thread) = woken {
                    put_u32(out, thread.get());
                }
            }
            Op::NotifyAll(condvar) => put_u32(out, condvar.get()),
            Op::Send { channel, message }
            | Op::Recv { channel, message }
            | Op::SendClosed { channel, message } => {
                put_u32(out, channel.get());
                put_value(out, message);
            }
            Op::RecvEmpty(channel)
            | Op::RecvClosed(channel)
            | Op::Close(channel)
            | Op::ReceiverClose(channel)
            | Op::SendFull(channel) => {
                put_u32(out, channel.get());
            }
            Op::Arrive { barrier, generation } | Op::Leave { barrier, generation } => {
                put_u32(out, barrier.get());
                put_u64(out, generation);
            }
            Op::Assert(text) => put_u32(out, text.get()),
            Op::Check { text, .. } | Op::AtomicBegin(text) => put_text(text, out),
            Op::AtomicEnd => {}
        }
    }

    #[inline(always)]
    fn encode_var(&mut self, var: VarId, out: &mut impl Out) {
        let var = i64::from(var.get());
        put_i64(out, var - self.var);
        self.var = var;
    }

    #[inline]
    fn decode_operands(&mut self, code: u8, input: &mut &[u8]) -> Result<Op, Malformed> {
        Ok(match code {
            code::BEGIN => Op::Begin,
            code::END => Op::End,
            code::FORK => Op::Fork(take_thread(input)?),
            code::JOIN => Op::Join(take_thread(input)?),
            code::READ | code::KEPT_READ => {
                Op::Read { var: self.take_var(input)?, value: take_value(input)? }
            }
            code::WRITE | code::KEPT_WRITE => {
                Op::Write { var: self.take_var(input)?, value: take_value(input)? }
            }
            code::EXCLUSIVE => {
                Op::Exclusive { var: self.take_var(input)?, value: take_value(input)? }
            }
            code::BRANCH => Op::Branch,
            code::ACQUIRE => Op::Acquire(take_lock(input)?),
            code::RELEASE => Op::Release(take_lock(input)?),
            code::READ_ACQUIRE => Op::ReadAcquire(take_lock(input)?),
            code::READ_RELEASE => Op::ReadRelease(take_lock(input)?),
            code::ACQUIRE_FAIL => Op::AcquireFail(take_lock(input)?),
            code::READ_ACQUIRE_FAIL => Op::ReadAcquireFail(take_lock(input)?),
            code::WAIT => Op::Wait { condvar: take_condvar(input)?, lock: take_lock(input)? },
            code::WAKE => Op::Wake { condvar: take_condvar(input)?, lock: take_lock(input)? },
            code::WAKE_TIMEOUT => {
                Op::WakeTimeout { condvar: take_condvar(input)?, lock: take_lock(input)? }
            }
            code::NOTIFY_ONE_UNKNOWN => {
                Op::NotifyOne { condvar: take_condvar(input)?, woken: Woken::Unknown }
            }
            code::NOTIFY_ONE_NOBODY => {
                Op::NotifyOne { condvar: take_condvar(input)?, woken: Woken::Nobody }
            }
            code::NOTIFY_ONE_THREAD => Op::NotifyOne {
                condvar: take_condvar(input)?,
                woken: Woken::Thread(take_thread(input)?),
            },
            code::NOTIFY_ALL => Op::NotifyAll(take_condvar(input)?),
            code::PARK => Op::Park,
            code::PARK_TIMEOUT => Op::ParkTimeout,
            code::UNPARK => Op::Unpark(take_thread(input)?),
            code::SEND => Op::Send { channel: take_channel(input)?, message: take_value(input)? },
            code::RECV => Op::Recv { channel: take_channel(input)?, message: take_value(input)? },
            code::RECV_EMPTY => Op::RecvEmpty(take_channel(input)?),
            code::RECV_CLOSED => Op::RecvClosed(take_channel(input)?),
            code::CLOSE => Op::Close(take_channel(input)?),
            code::RECEIVER_CLOSE => Op::ReceiverClose(take_channel(input)?),
            code::SEND_FULL => Op::SendFull(take_channel(input)?),
            code::SEND_CLOSED => {
                Op::SendClosed { channel: take_channel(input)?, message: take_value(input)? }
            }
            code::ONCE_BEGIN => Op::OnceBegin(take_lock(input)?),
            code::ONCE_END => Op::OnceEnd(take_lock(input)?),
            code::ONCE_WAIT => Op::OnceWait(take_lock(input)?),
            code::ARRIVE => {
                Op::Arrive { barrier: take_barrier(input)?, generation: take_u64(input)? }
            }
            code::LEAVE => {
                Op::Leave { barrier: take_barrier(input)?, generation: take_u64(input)? }
            }
            code::ASSERT => Op::Assert(StrId::new(take_u32(input)?)),
            code::CHECK => Op::Check { text: take_text(input)?, by_language: false },
            code::CHECK_BY_LANGUAGE => Op::Check { text: take_text(input)?, by_language: true },
            code::ATOMIC_BEGIN => Op::AtomicBegin(take_text(input)?),
            code::ATOMIC_END => Op::AtomicEnd,
            code::LOAD..code::RESERVED => self.decode_atomic(code, input)?,
            _ => return Err(Malformed),
        })
    }

    fn decode_atomic(&mut self, code: u8, input: &mut &[u8]) -> Result<Op, Malformed> {
        let ordering = ordering_of_bits(code & 7)?;
        let base = code & !7;
        if base == code::FENCE {
            return Ok(Op::Fence(ordering));
        }
        let var = self.take_var(input)?;
        let value = take_value(input)?;
        Ok(match base {
            code::LOAD => Op::Load { var, value, ordering },
            code::STORE => Op::Store { var, value, ordering },
            code::RMW => Op::Rmw { var, old: value, new: take_value(input)?, ordering },
            code::CAS => Op::Cas { var, old: value, new: take_value(input)?, ordering },
            code::CAS_FAIL => Op::CasFail { var, seen: value, ordering },
            _ => return Err(Malformed),
        })
    }

    #[inline]
    fn take_var(&mut self, input: &mut &[u8]) -> Result<VarId, Malformed> {
        self.var = self.var.checked_add(take_i64(input)?).ok_or(Malformed)?;
        Ok(VarId::new(u32::try_from(self.var).map_err(|_| Malformed)?))
    }
}

/// A text, or none: its id and one more, or 0.
fn put_text(text: Option<StrId>, out: &mut impl Out) {
    put_u64(out, text.map_or(0, |id| u64::from(id.get()) + 1));
}

fn take_text(input: &mut &[u8]) -> Result<Option<StrId>, Malformed> {
    let id = match take_u64(input)?.checked_sub(1) {
        None => return Ok(None),
        Some(id) => u32::try_from(id).map_err(|_| Malformed)?,
    };
    Ok(Some(StrId::new(id)))
}

fn take_thread(input: &mut &[u8]) -> Result<ThreadId, Malformed> {
    take_u32(input).map(ThreadId::new)
}

fn take_lock(input: &mut &[u8]) -> Result<LockId, Malformed> {
    take_u32(input).map(LockId::new)
}

fn take_condvar(input: &mut &[u8]) -> Result<CondvarId, Malformed> {
    take_u32(input).map(CondvarId::new)
}

fn take_channel(input: &mut &[u8]) -> Result<ChannelId, Malformed> {
    take_u32(input).map(ChannelId::new)
}

fn take_barrier(input: &mut &[u8]) -> Result<BarrierId, Malformed> {
    take_u32(input).map(BarrierId::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(stamp: u64, op: Op) -> Event {
        Event {
            thread: ThreadId::new(3),
            stamp: Stamp::new(stamp),
            op,
            location: (stamp % 3 != 0).then(|| LocId::new((stamp * 7 % 1000) as u32)),
            recorded: stamp % 2 == 0,
            patience: Patience::Forever,
        }
    }

    fn one_of_each() -> Vec<Op> {
        let var = VarId::new(u32::MAX);
        let other = VarId::new(0);
        let (condvar, lock) = (CondvarId::new(1), LockId::new(300));
        let thread = ThreadId::new(9);
        let (channel, barrier) = (ChannelId::new(4), BarrierId::new(5));
        let (value, generation) = (Value::Nat(77), u64::MAX);
        let mut ops = vec![
            Op::Begin,
            Op::Fork(thread),
            Op::Join(thread),
            Op::Read { var, value },
            Op::Write { var: other, value: Value::Opaque },
            Op::Exclusive { var, value: Value::Neg(-9) },
            Op::Branch,
            Op::Acquire(lock),
            Op::Release(lock),
            Op::ReadAcquire(lock),
            Op::ReadRelease(lock),
            Op::AcquireFail(lock),
            Op::ReadAcquireFail(lock),
            Op::Wait { condvar, lock },
            Op::Wake { condvar, lock },
            Op::WakeTimeout { condvar, lock },
            Op::NotifyOne { condvar, woken: Woken::Unknown },
            Op::NotifyOne { condvar, woken: Woken::Nobody },
            Op::NotifyOne { condvar, woken: Woken::Thread(thread) },
            Op::NotifyAll(condvar),
            Op::Park,
            Op::ParkTimeout,
            Op::Unpark(thread),
            Op::Send { channel, message: value },
            Op::Recv { channel, message: value },
            Op::RecvEmpty(channel),
            Op::RecvClosed(channel),
            Op::Close(channel),
            Op::ReceiverClose(channel),
            Op::SendClosed { channel, message: value },
            Op::SendFull(channel),
            Op::OnceBegin(lock),
            Op::OnceEnd(lock),
            Op::OnceWait(lock),
            Op::Arrive { barrier, generation },
            Op::Leave { barrier, generation },
            Op::Assert(StrId::new(6)),
            Op::End,
        ];
        for bits in 0..6 {
            let ordering = ordering_of_bits(bits).unwrap();
            ops.extend([
                Op::Load { var, value, ordering },
                Op::Store { var, value, ordering },
                Op::Rmw { var, old: value, new: Value::Opaque, ordering },
                Op::Cas { var: other, old: value, new: value, ordering },
                Op::CasFail { var, seen: value, ordering },
                Op::Fence(ordering),
            ]);
        }
        ops
    }

    /// The bytes of events, which decode to what was encoded.
    fn come_back(events: &[Event]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut coder = Coder::new(1);
        for event in events {
            coder.encode(event, &mut bytes);
        }
        let mut rest = &bytes[..];
        let mut coder = Coder::new(1);
        for event in events {
            assert_eq!(coder.decode(event.thread, &mut rest), Ok(Item::Event(*event)));
        }
        assert!(rest.is_empty());
        bytes
    }

    #[test]
    fn every_operation_comes_back() {
        let events: Vec<Event> = (0u64..)
            .map(|i| 1 + i * i * i)
            .zip(one_of_each())
            .map(|(s, op)| event(s, op))
            .collect();
        come_back(&events);
    }

    #[test]
    fn patience_comes_back_where_there_is_any() {
        for op in one_of_each() {
            for patience in [Patience::Forever, Patience::Try, Patience::Timed] {
                let event = Event { patience, ..event(1, op) };
                let mut bytes = Vec::new();
                Coder::new(1).encode(&event, &mut bytes);
                let expected = if op.has_patience() { patience } else { Patience::Forever };
                let decoded = Coder::new(1).decode(event.thread, &mut &bytes[..]);
                assert_eq!(decoded, Ok(Item::Event(Event { patience: expected, ..event })));
            }
        }
    }

    #[test]
    fn requests_come_back() {
        let waits = Event { patience: Patience::Timed, ..event(5, Op::Acquire(LockId::new(2))) };
        let mut bytes = Vec::new();
        let mut coder = Coder::new(5);
        coder.encode_request(&waits, &mut bytes);
        coder.encode(&event(6, Op::Branch), &mut bytes);
        let (mut rest, mut coder) = (&bytes[..], Coder::new(5));
        assert_eq!(coder.decode(waits.thread, &mut rest), Ok(Item::Request(waits)));
        let next = Ok(Item::Event(event(6, Op::Branch)));
        assert_eq!(coder.decode(waits.thread, &mut rest), next);
        assert!(rest.is_empty());
    }

    #[test]
    fn accesses_in_a_loop_are_short_and_come_back() {
        let access = |stamp: u64| {
            let write = stamp % 2 == 0;
            let (var, value) = (VarId::new(70_000), Value::int(i128::from(stamp / 2) - 20));
            let op = if write { Op::Write { var, value } } else { Op::Read { var, value } };
            let location = Some(LocId::new(if write { 900 } else { 901 }));
            let (thread, stamp) = (ThreadId::new(3), Stamp::new(stamp));
            let patience = Patience::Forever;
            Event { thread, stamp, op, location, recorded: false, patience }
        };
        // Something of another kind, a value that is far away and a stamp that is not the next.
        let mut far = access(52);
        far.op = Op::Write { var: VarId::new(70_000), value: Value::Nat(1 << 80) };
        let events: Vec<Event> = (1..=50)
            .map(access)
            .chain([event(51, Op::Branch), far])
            .chain((53..=90).chain(100..=150).map(access))
            .collect();
        let bytes = come_back(&events);
        assert!(bytes.len() < events.len() * 2 + 60, "{}", bytes.len());
    }

    #[test]
    fn the_largest_step_comes_back() {
        let last = event(u64::MAX, Op::Branch);
        let mut bytes = Vec::new();
        Coder::new(1).encode(&last, &mut bytes);
        let decoded = Coder::new(1).decode(last.thread, &mut &bytes[..]);
        assert_eq!(decoded, Ok(Item::Event(last)));
    }

    #[test]
    fn the_longest_event_is_as_long_as_said() {
        let (var, value) = (VarId::new(u32::MAX), Value::Nat(u128::MAX));
        let long = Op::Rmw { var, old: value, new: Value::Neg(i128::MIN), ordering: None };
        let location = Some(LocId::new(u32::MAX));
        for op in one_of_each().into_iter().chain([long]) {
            let mut bytes = Vec::new();
            let event = Event { location, ..event(u64::MAX, op) };
            let coder = || Coder { location: i64::MIN / 4, var: i64::MIN / 4, ..Coder::default() };
            coder().encode(&event, &mut bytes);
            assert!(bytes.len() <= LONGEST, "{op:?}: {}", bytes.len());
            bytes.clear();
            coder().encode_kept_rest(event.stamp, 0, &op, location, true, &mut bytes);
            assert!(bytes.len() < LONGEST, "{op:?}: {}", bytes.len());
        }
    }

    #[test]
    fn an_initial_value_comes_back_between_events() {
        let (first, last) = (event(5, Op::Branch), event(7, Op::Branch));
        let (var, value) = (VarId::new(9), Value::Nat(4));
        let mut bytes = Vec::new();
        let mut coder = Coder::new(5);
        coder.encode(&first, &mut bytes);
        put_u8(&mut bytes, code::INIT);
        coder.encode_init_rest(Stamp::new(6), var, value, &mut bytes);
        coder.encode(&last, &mut bytes);
        let mut rest = &bytes[..];
        let mut coder = Coder::new(5);
        for item in [Item::Event(first), Item::Init { var, value }, Item::Event(last)] {
            assert_eq!(coder.decode(first.thread, &mut rest), Ok(item));
        }
    }

    #[test]
    fn unassigned_codes_are_refused() {
        for code in 0..=255u8 {
            let bytes = [code, 0, 0, 0, 0, 0, 0];
            let decoded = Coder::new(1).decode(ThreadId::new(0), &mut &bytes[..]);
            // A request is followed by the code of what is requested.
            let assigned = (1..=62).contains(&code)
                && ![code::REQUEST, 57, code::SAID].contains(&code)
                || ((64..112).contains(&code) && code & 7 < 6);
            assert_eq!(decoded.is_ok(), assigned, "code {code}");
        }
    }
}
