//! What keeps a thread waiting when the prefix ends, one row of the table of operations that wait
//! after the other.

use racelog::trace::{Awaited, BarrierId, ChannelId, CondvarId, LockId, ThreadId};

use super::holders::{self, Holders};
use super::{Asked, Root};
use crate::encode::{Encoder, barriers, channels, condvars, parking};
use crate::solve::formula::Lit;
use crate::trace::EventId;

/// States that something keeps a thread from an event that it has come to, if it is `blocked`
/// there; and says what makes it a root. None if nothing ever keeps it.
pub(super) fn state(
    encoder: &mut Encoder<'_>,
    asked: &mut Asked,
    event: EventId,
    awaited: Awaited,
    blocked: Lit,
) -> Option<Option<Root>> {
    // Any thread could end it, and none does: each of these is a root.
    let anybody = Some(Root { is: blocked, waits_for_blocked: Lit::FALSE });
    let mut lock_given_back = |lock, only_writer| {
        let holders = holders::of(encoder, asked, lock, only_writer);
        Some(state_lock(encoder, holders, blocked, Lit::FALSE))
    };
    match awaited {
        Awaited::Lock { lock, shared } => return lock_given_back(lock, shared),
        Awaited::Initialiser(lock) => return lock_given_back(lock, true),
        Awaited::LockAgain(lock) => return lock_given_back(lock, false),
        Awaited::Notification { condvar, lock } => {
            return Some(state_wake(encoder, asked, event, condvar, lock, blocked));
        }
        Awaited::End(thread) => return state_join(encoder, thread, blocked),
        Awaited::EndOfScope(barrier, generation) => {
            barriers::state_incomplete(encoder, barrier, generation, blocked);
            return Some(state_scope(encoder, barrier, generation, blocked));
        }
        Awaited::Token => parking::state_no_token(encoder, event, blocked, false),
        Awaited::Message(channel) => {
            let empty = empty(encoder, asked, channel);
            encoder.formula.implies(&[blocked], &[empty]);
            channels::state_sender_left_at_end(encoder, channel, blocked);
        }
        Awaited::LastSender(channel) => {
            if encoder.index.channels[channel.index()].closes.is_empty() {
                return None;
            }
            let empty = empty(encoder, asked, channel);
            encoder.formula.implies(&[blocked], &[empty]);
            channels::state_sender_left_at_end(encoder, channel, blocked);
        }
        Awaited::Room(channel) => {
            let formula = &mut encoder.formula;
            let full = *asked.full.entry(channel).or_insert_with(|| formula.proposition(false));
            encoder.formula.implies(&[blocked], &[full]);
            channels::state_receiver_left_at_end(encoder, channel, blocked);
        }
        Awaited::Arrivals(barrier, generation) => {
            barriers::state_incomplete(encoder, barrier, generation, blocked);
        }
    }
    Some(anybody)
}

/// A thread holds the lock; unless something else keeps the one that wants it.
fn state_lock(
    encoder: &mut Encoder<'_>,
    holders: Holders,
    blocked: Lit,
    unless: Lit,
) -> Option<Root> {
    encoder.formula.clause(&[!blocked, holders.finished, unless, holders.blocked]);
    let is = encoder.all(&[blocked, holders.none_blocked]);
    Some(Root { is, waits_for_blocked: holders.blocked })
}

/// A thread holds the waiter's lock; or the waiter is not notified.
fn state_wake(
    encoder: &mut Encoder<'_>,
    asked: &mut Asked,
    wake: EventId,
    condvar: CondvarId,
    lock: LockId,
    blocked: Lit,
) -> Option<Root> {
    let holders = holders::of(encoder, asked, lock, false);
    let never_notified = encoder.formula.proposition(false);
    condvars::state_never_notified(encoder, condvar, wake, never_notified);
    state_lock(encoder, holders, blocked, never_notified)
}

/// The thread has not come to its end. One that has taken all its events and is not clean then
/// keeps the state from being a stall.
fn state_join(encoder: &mut Encoder<'_>, thread: ThreadId, blocked: Lit) -> Option<Option<Root>> {
    let last = encoder.trace.events_of_thread(thread).last().copied()?;
    let last = encoder.included(last);
    encoder.formula.implies(&[blocked], &[!last]);
    let Some(fork) = encoder.trace.fork_of(thread) else { return Some(None) };
    let started = encoder.included(fork);
    let is = encoder.all(&[blocked, !started]);
    Some(Some(Root { is, waits_for_blocked: started }))
}

/// A thread of the scope has not arrived. It is blocked if it has been started, for in a stall who
/// has not come to its end is.
fn state_scope(
    encoder: &mut Encoder<'_>,
    barrier: BarrierId,
    generation: u64,
    blocked: Lit,
) -> Option<Root> {
    let index = encoder.index;
    let waits_for_blocked = encoder.formula.proposition(false);
    let is = encoder.formula.proposition(false);
    let mut one_of = vec![!waits_for_blocked];
    encoder.formula.implies(&[is], &[blocked]);
    for arrival in index.arrivals_of(barrier, generation) {
        let arrived = encoder.included(*arrival);
        let fork = encoder.trace.fork_of(encoder.trace.thread(*arrival));
        let started = fork.map_or(Lit::TRUE, |fork| encoder.included(fork));
        one_of.push(encoder.all(&[started, !arrived]));
        encoder.formula.clause(&[!is, !started, arrived]);
    }
    encoder.formula.clause(&one_of);
    Some(Root { is, waits_for_blocked })
}

/// That a channel is empty when the prefix ends.
fn empty(encoder: &mut Encoder<'_>, asked: &mut Asked, channel: ChannelId) -> Lit {
    *asked.empty.entry(channel).or_insert_with(|| channels::empty_at_end(encoder, channel))
}
