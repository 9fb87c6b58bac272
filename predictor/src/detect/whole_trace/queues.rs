//! Channels: messages leave a queue in the order in which they came, and who finds nothing finds it
//! empty. Who receives which message is as it was.

use std::collections::VecDeque;

use racelog::trace::ChannelId;
use rustc_hash::FxHashMap;

use super::{Stated, WholeTrace};
use crate::index::Message;
use crate::solve::formula::Lit;
use crate::trace::{EventId, Op};

/// A sender is left when the queue is found empty: see `docs/ALGORITHM.md`. Eager: the other half
/// is among what must happen before.
pub(super) fn state_sender_left(whole: &mut WholeTrace<'_>, empty: EventId, channel: ChannelId) {
    let index = whole.index;
    let closes = &index.channels[channel.index()].closes;
    if closes.last().is_none_or(|last| *last < empty) {
        return;
    }
    let reasons: Vec<Lit> = closes.iter().map(|close| whole.before(empty, *close)).collect();
    whole.formula.clause(&reasons);
}

/// A message is sent while a receiver may be left.
pub(super) fn state_receiver_left(whole: &mut WholeTrace<'_>, send: EventId, channel: ChannelId) {
    let index = whole.index;
    let closes = &index.channels[channel.index()].receiver_closes;
    if !closes.is_empty() {
        let reasons: Vec<Lit> = closes.iter().map(|close| whole.before(send, *close)).collect();
        whole.formula.clause(&reasons);
    }
}

/// States the order of messages where a sequence does not respect it.
pub(super) fn refine(whole: &mut WholeTrace<'_>, sequence: &[EventId]) {
    let (trace, index) = (whole.trace, whole.index);
    let mut queues: FxHashMap<ChannelId, VecDeque<Message>> = FxHashMap::default();
    let message = |event: &EventId, channel: ChannelId| {
        index.channels[channel.index()].messages[index.message_at[event] as usize]
    };
    for event in sequence {
        match trace.op(*event) {
            Op::Send { channel, .. } => {
                let queue = queues.entry(channel).or_default();
                let capacity = trace.capacity(channel).map_or(usize::MAX, |room| room as usize);
                if queue.len() >= capacity {
                    state_room(whole, *event, queue.iter().take(capacity));
                }
                queue.push_back(message(event, channel));
            }
            Op::Recv { channel, .. } => {
                let received = message(event, channel);
                let queue = queues.entry(channel).or_default();
                for other in queue.iter().take_while(|other| other.send != received.send) {
                    state_order(whole, received.send, *event, *other);
                }
                queue.retain(|other| other.send != received.send);
            }
            Op::RecvEmpty(channel) | Op::RecvClosed(channel) => {
                for waiting in queues.entry(channel).or_default().iter() {
                    state_emptiness(whole, *event, *waiting);
                }
            }
            Op::SendFull(channel) => {
                let queue = queues.entry(channel).or_default();
                let capacity = trace.capacity(channel).map_or(usize::MAX, |room| room as usize);
                if queue.len() < capacity {
                    state_fullness(whole, *event, queue, channel);
                }
            }
            _ => {}
        }
    }
}

/// A message is received only when another one that was sent earlier has been.
fn state_order(whole: &mut WholeTrace<'_>, send: EventId, recv: EventId, other: Message) {
    if whole.stated.insert(Stated::Messages(send, other.send)) {
        let later = whole.before(send, other.send);
        let gone = gone_before(whole, other, recv);
        whole.formula.clause(&[later, gone]);
    }
}

/// A message is sent only when one of those that would fill its channel is not yet there, or no
/// longer.
fn state_room<'q>(
    whole: &mut WholeTrace<'_>,
    send: EventId,
    full: impl Iterator<Item = &'q Message>,
) {
    let mut reasons: Vec<Lit> = Vec::new();
    for other in full {
        reasons.push(whole.before(send, other.send));
        reasons.push(gone_before(whole, *other, send));
    }
    whole.formula.clause(&reasons);
}

/// The queue is found full only when one is in it of the messages that are not, as there are too
/// few.
fn state_fullness(
    whole: &mut WholeTrace<'_>,
    full: EventId,
    queue: &VecDeque<Message>,
    channel: ChannelId,
) {
    let index = whole.index;
    let mut reasons: Vec<Lit> = Vec::new();
    for message in &index.channels[channel.index()].messages {
        if queue.iter().any(|other| other.send == message.send) {
            continue;
        }
        let mut conditions = vec![whole.before(message.send, full)];
        conditions.extend(message.recv.map(|recv| whole.before(full, recv)));
        reasons.push(whole.all(&conditions));
    }
    whole.formula.clause(&reasons);
}

/// The queue is found empty only when a message is not yet in it, or no longer.
fn state_emptiness(whole: &mut WholeTrace<'_>, empty: EventId, waiting: Message) {
    if whole.stated.insert(Stated::Emptiness(empty, waiting.send)) {
        let later = whole.before(empty, waiting.send);
        let gone = gone_before(whole, waiting, empty);
        whole.formula.clause(&[later, gone]);
    }
}

/// That a message is received before an event.
fn gone_before(whole: &mut WholeTrace<'_>, message: Message, event: EventId) -> Lit {
    message.recv.map_or(Lit::FALSE, |recv| whole.before(recv, event))
}
