//! Channels: a queue. The matching of messages is kept, so a `recv` takes the message that it took,
//! which has to be first in the queue; who finds nothing finds the queue empty.

use racelog::trace::ChannelId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

use super::{Encoder, Stated};
use crate::index::Message;
use crate::solve::formula::Lit;
use crate::trace::{EventId, Op};

pub(super) fn state_receive(encoder: &mut Encoder<'_>, recv: EventId, channel: ChannelId) {
    let send = sent(encoder, recv, channel);
    let (included, sent) = (encoder.included(recv), encoder.included(send));
    encoder.formula.implies(&[included], &[sent]);
    encoder.order(send, recv);
}

/// The `send` of what an event receives.
pub(super) fn sent(encoder: &Encoder<'_>, recv: EventId, channel: ChannelId) -> EventId {
    let number = encoder.index.message_at[&recv] as usize;
    encoder.index.channels[channel.index()].messages[number].send
}

/// Had no sender been left, the receiver would have seen the end; one that was not dropped in the
/// whole trace is always left.
pub(super) fn state_empty(encoder: &mut Encoder<'_>, empty: EventId, channel: ChannelId) {
    let index = encoder.index;
    let closes = &index.channels[channel.index()].closes;
    if closes.last().is_none_or(|last| *last < empty) {
        return;
    }
    let mut reasons = vec![!encoder.included(empty)];
    for close in closes {
        let happens = encoder.included(*close);
        reasons.push(!happens);
        if happens != Lit::FALSE {
            reasons.push(encoder.before(empty, *close));
        }
    }
    encoder.formula.clause(&reasons);
}

pub(super) fn state_closed(encoder: &mut Encoder<'_>, end: EventId, channel: ChannelId) {
    let index = encoder.index;
    let included = encoder.included(end);
    for close in &index.channels[channel.index()].closes {
        let conditions = [encoder.included(*close), encoder.before(*close, end)];
        encoder.formula.implies(&[included], &conditions);
    }
}

/// A message is sent while a receiver may be left: not all that are dropped in the whole trace are.
pub(super) fn state_send(encoder: &mut Encoder<'_>, send: EventId, channel: ChannelId) {
    let index = encoder.index;
    let closes = &index.channels[channel.index()].receiver_closes;
    if closes.is_empty() {
        return;
    }
    let mut reasons = vec![!encoder.included(send)];
    for close in closes {
        let happens = encoder.included(*close);
        reasons.push(!happens);
        if happens != Lit::FALSE {
            reasons.push(encoder.before(send, *close));
        }
    }
    encoder.formula.clause(&reasons);
}

pub(super) fn state_send_closed(encoder: &mut Encoder<'_>, send: EventId, channel: ChannelId) {
    let index = encoder.index;
    let included = encoder.included(send);
    for close in &index.channels[channel.index()].receiver_closes {
        let conditions = [encoder.included(*close), encoder.before(*close, send)];
        encoder.formula.implies(&[included], &conditions);
    }
}

/// States the order of messages where a sequence does not respect it.
pub(super) fn refine(encoder: &mut Encoder<'_>, sequence: &[EventId]) {
    let trace = encoder.trace;
    let mut queues: FxHashMap<ChannelId, VecDeque<EventId>> = FxHashMap::default();
    for send in &encoder.window.unreceived {
        if let Op::Send { channel, .. } = trace.op(*send) {
            queues.entry(channel).or_default().push_back(*send);
        }
    }
    for event in sequence {
        match trace.op(*event) {
            Op::Send { channel, .. } => {
                let queue = queues.entry(channel).or_default();
                let capacity = trace.capacity(channel).map_or(usize::MAX, |room| room as usize);
                if queue.len() >= capacity {
                    let full: Vec<EventId> = queue.iter().take(capacity).copied().collect();
                    state_room(encoder, *event, &full, channel);
                }
                queues.entry(channel).or_default().push_back(*event);
            }
            Op::Recv { channel, .. } => {
                let send = sent(encoder, *event, channel);
                let queue = queues.entry(channel).or_default();
                let place = queue.iter().position(|other| *other == send).unwrap_or(0);
                for earlier in queue.iter().take(place) {
                    state_order(encoder, send, *earlier, channel);
                }
                queue.retain(|other| *other != send);
            }
            Op::RecvEmpty(channel) | Op::RecvClosed(channel) => {
                for waiting in queues.entry(channel).or_default().iter() {
                    state_emptiness(encoder, *event, *waiting, channel);
                }
            }
            Op::SendFull(channel) => {
                let queue = queues.entry(channel).or_default();
                let capacity = trace.capacity(channel).map_or(usize::MAX, |room| room as usize);
                if queue.len() < capacity {
                    state_fullness(encoder, *event, queue, channel);
                }
            }
            _ => {}
        }
    }
}

fn receive(encoder: &Encoder<'_>, send: EventId, channel: ChannelId) -> Option<EventId> {
    let number = encoder.index.message_at[&send] as usize;
    encoder.index.channels[channel.index()].messages[number].recv
}

/// A message is received only when another one that was sent earlier has been.
fn state_order(encoder: &mut Encoder<'_>, message: EventId, other: EventId, channel: ChannelId) {
    if !encoder.stated.insert(Stated::Messages(message, other)) {
        return;
    }
    let Some(recv) = receive(encoder, message, channel) else { return };
    let happens = [encoder.included(recv), encoder.included(other)];
    let later = encoder.before(message, other);
    let gone = gone_before(encoder, other, recv, channel);
    encoder.formula.clause(&[!happens[0], !happens[1], later, gone]);
}

/// A message is sent only when one of those that would fill its channel is not yet there, or no
/// longer.
fn state_room(encoder: &mut Encoder<'_>, send: EventId, full: &[EventId], channel: ChannelId) {
    let mut reasons = vec![!encoder.included(send)];
    for other in full {
        let happens = encoder.included(*other);
        let later = encoder.before(send, *other);
        let gone = gone_before(encoder, *other, send, channel);
        reasons.extend([!happens, later, gone]);
    }
    encoder.formula.clause(&reasons);
}

/// The queue is found empty only when a message is not yet in it, or no longer.
fn state_emptiness(encoder: &mut Encoder<'_>, empty: EventId, send: EventId, channel: ChannelId) {
    if !encoder.stated.insert(Stated::Emptiness(empty, send)) {
        return;
    }
    let happens = [encoder.included(empty), encoder.included(send)];
    let later = encoder.before(empty, send);
    let gone = gone_before(encoder, send, empty, channel);
    encoder.formula.clause(&[!happens[0], !happens[1], later, gone]);
}

/// The queue is found full only when one is in it of the messages that are not, as there are too
/// few.
fn state_fullness(
    encoder: &mut Encoder<'_>,
    full: EventId,
    queue: &VecDeque<EventId>,
    channel: ChannelId,
) {
    let index = encoder.index;
    let mut reasons = vec![!encoder.included(full)];
    for message in &index.channels[channel.index()].messages {
        let sent = encoder.included(message.send);
        if sent == Lit::FALSE || queue.contains(&message.send) {
            continue;
        }
        let there = encoder.formula.proposition(false);
        let conditions = [sent, encoder.before(message.send, full)];
        encoder.formula.implies(&[there], &conditions);
        if let Some(recv) = message.recv {
            let taken = encoder.included(recv);
            if taken != Lit::FALSE {
                let later = encoder.before(full, recv);
                encoder.formula.clause(&[!there, !taken, later]);
            }
        }
        reasons.push(there);
    }
    encoder.formula.clause(&reasons);
}

/// That a message is received before an event.
fn gone_before(
    encoder: &mut Encoder<'_>,
    send: EventId,
    event: EventId,
    channel: ChannelId,
) -> Lit {
    let Some(recv) = receive(encoder, send, channel) else { return Lit::FALSE };
    let gone = encoder.formula.proposition(false);
    let conditions = [encoder.included(recv), encoder.before(recv, event)];
    encoder.formula.implies(&[gone], &conditions);
    gone
}

/// That a channel is empty when the prefix ends: what was sent has been received.
pub(super) fn empty_at_end(encoder: &mut Encoder<'_>, channel: ChannelId) -> Lit {
    let index = encoder.index;
    let empty = encoder.formula.proposition(false);
    for message in &index.channels[channel.index()].messages {
        let sent = encoder.included(message.send);
        let received = message.recv.map_or(Lit::FALSE, |recv| encoder.included(recv));
        encoder.formula.clause(&[!empty, !sent, received]);
    }
    empty
}

/// If a condition holds, a sender may be left when the prefix ends: not all that are dropped in the
/// whole trace are, or none is.
pub(super) fn state_sender_left_at_end(
    encoder: &mut Encoder<'_>,
    channel: ChannelId,
    condition: Lit,
) {
    let index = encoder.index;
    state_not_all(encoder, &index.channels[channel.index()].closes, condition);
}

/// The same of receivers.
pub(super) fn state_receiver_left_at_end(
    encoder: &mut Encoder<'_>,
    channel: ChannelId,
    condition: Lit,
) {
    let index = encoder.index;
    state_not_all(encoder, &index.channels[channel.index()].receiver_closes, condition);
}

/// If a condition holds, not all of these are in the prefix, if there are any.
fn state_not_all(encoder: &mut Encoder<'_>, events: &[EventId], condition: Lit) {
    if events.is_empty() {
        return;
    }
    let mut clause = vec![!condition];
    for event in events {
        clause.push(!encoder.included(*event));
    }
    encoder.formula.clause(&clause);
}

/// Where a channel has room left at the end of a sequence, states that it is `full` only when one
/// is in it of the messages that are not, as there are too few. `there` has what has been said of
/// messages that are in their channels at the end.
pub(super) fn refine_full_at_end(
    encoder: &mut Encoder<'_>,
    channel: ChannelId,
    full: Lit,
    sequence: &[EventId],
    there: &mut FxHashMap<EventId, Lit>,
) {
    let (trace, index) = (encoder.trace, encoder.index);
    let happened: FxHashSet<EventId> = sequence.iter().copied().collect();
    let messages = &index.channels[channel.index()].messages;
    let is_there = |message: &&Message| {
        happened.contains(&message.send)
            && message.recv.is_none_or(|recv| !happened.contains(&recv))
    };
    let capacity = trace.capacity(channel).map_or(usize::MAX, |room| room as usize);
    if messages.iter().filter(is_there).count() >= capacity {
        return;
    }
    let mut reasons = vec![!full];
    for message in messages.iter().filter(|message| !is_there(message)) {
        let lit = there.entry(message.send).or_insert_with(|| {
            let sent = encoder.included(message.send);
            let received = message.recv.map_or(Lit::FALSE, |recv| encoder.included(recv));
            encoder.all(&[sent, !received])
        });
        reasons.push(*lit);
    }
    encoder.formula.clause(&reasons);
}
