//! The first byte of every entry in a chunk of events. 0 is no code, so that zeroed memory is no
//! event; 112 to 127 are reserved.

use super::primitive::Malformed;
use crate::trace::{MemoryOrdering, Op, Patience, Woken};

pub(super) const BEGIN: u8 = 1;
pub(super) const END: u8 = 2;
pub(super) const FORK: u8 = 3;
pub(super) const JOIN: u8 = 4;
pub(super) const READ: u8 = 5;
pub(super) const WRITE: u8 = 6;
pub(super) const EXCLUSIVE: u8 = 7;
pub(super) const BRANCH: u8 = 8;
pub(super) const ACQUIRE: u8 = 9;
pub(super) const RELEASE: u8 = 10;
pub(super) const READ_ACQUIRE: u8 = 11;
pub(super) const READ_RELEASE: u8 = 12;
pub(super) const ACQUIRE_FAIL: u8 = 13;
pub(super) const READ_ACQUIRE_FAIL: u8 = 14;
pub(super) const WAIT: u8 = 15;
pub(super) const WAKE: u8 = 16;
pub(super) const WAKE_TIMEOUT: u8 = 17;
pub(super) const NOTIFY_ONE_UNKNOWN: u8 = 18;
pub(super) const NOTIFY_ONE_NOBODY: u8 = 19;
pub(super) const NOTIFY_ONE_THREAD: u8 = 20;
pub(super) const NOTIFY_ALL: u8 = 21;
pub(super) const PARK: u8 = 22;
pub(super) const PARK_TIMEOUT: u8 = 23;
pub(super) const UNPARK: u8 = 24;
pub(super) const SEND: u8 = 25;
pub(super) const RECV: u8 = 26;
pub(super) const RECV_EMPTY: u8 = 27;
pub(super) const RECV_CLOSED: u8 = 28;
pub(super) const CLOSE: u8 = 29;
pub(super) const ARRIVE: u8 = 30;
pub(super) const LEAVE: u8 = 31;
pub(super) const ASSERT: u8 = 32;
/// No event, but an initial value that was found out at first use.
pub(crate) const INIT: u8 = 33;
// Plain accesses that are kept in a slot, to be referred to.
pub(super) const KEPT_READ: u8 = 34;
pub(super) const KEPT_WRITE: u8 = 35;
// Since version 4.
pub(super) const RECEIVER_CLOSE: u8 = 36;
pub(super) const SEND_CLOSED: u8 = 37;
pub(super) const ONCE_BEGIN: u8 = 38;
pub(super) const ONCE_END: u8 = 39;
pub(super) const ONCE_WAIT: u8 = 40;
/// From here on: operations whose thread would not have waited for ever, [`IMPATIENT`] of them that
/// only try, then the same with a time limit.
const TRY: u8 = 41;
const TIMED: u8 = TRY + IMPATIENT.len() as u8;
const LAST_TIMED: u8 = TIMED + IMPATIENT.len() as u8 - 1;
const IMPATIENT: [u8; 7] = [ACQUIRE, READ_ACQUIRE, WAIT, PARK, SEND, RECV, RECV_CLOSED];
// Atomic operations have room for their ordering in the low three bits.
pub(super) const LOAD: u8 = 64;
pub(super) const STORE: u8 = 72;
pub(super) const RMW: u8 = 80;
pub(super) const CAS: u8 = 88;
pub(super) const CAS_FAIL: u8 = 96;
pub(super) const FENCE: u8 = 104;
pub(super) const RESERVED: u8 = 112;
/// The access that is kept in a slot, again. Most of the slot is in the low seven bits.
pub(super) const AGAIN: u8 = 128;

/// No event: a thread is about to do what follows, which is coded like an event, and waits.
pub(crate) const REQUEST: u8 = LAST_TIMED + 1;
pub(super) const SEND_FULL: u8 = REQUEST + 1;
// Since version 5.
/// No event: something is said of the event that follows.
pub(crate) const SAID: u8 = 58;
pub(super) const CHECK: u8 = 59;
pub(super) const CHECK_BY_LANGUAGE: u8 = 60;
pub(super) const ATOMIC_BEGIN: u8 = 61;
pub(super) const ATOMIC_END: u8 = 62;

/// The first byte of an event, given that of its operation.
#[inline]
pub(crate) fn with_patience(code: u8, patience: Patience) -> u8 {
    let first = match patience {
        Patience::Forever => return code,
        Patience::Try => TRY,
        Patience::Timed => TIMED,
    };
    // Others wait as they always do.
    let place = IMPATIENT.iter().position(|impatient| *impatient == code);
    place.map_or(code, |place| first + place as u8)
}

/// The code of an event's operation, and its patience.
#[inline]
pub(super) fn without_patience(code: u8) -> (u8, Patience) {
    match code {
        TRY..TIMED => (IMPATIENT[usize::from(code - TRY)], Patience::Try),
        TIMED..=LAST_TIMED => (IMPATIENT[usize::from(code - TIMED)], Patience::Timed),
        _ => (code, Patience::Forever),
    }
}

/// The first byte of an event that waits for ever.
#[inline(always)]
pub(crate) fn code_of(op: &Op) -> u8 {
    match *op {
        Op::Begin => BEGIN,
        Op::End => END,
        Op::Fork(_) => FORK,
        Op::Join(_) => JOIN,
        Op::Read { .. } => READ,
        Op::Write { .. } => WRITE,
        Op::Exclusive { .. } => EXCLUSIVE,
        Op::Branch => BRANCH,
        Op::Acquire(_) => ACQUIRE,
        Op::Release(_) => RELEASE,
        Op::ReadAcquire(_) => READ_ACQUIRE,
        Op::ReadRelease(_) => READ_RELEASE,
        Op::AcquireFail(_) => ACQUIRE_FAIL,
        Op::ReadAcquireFail(_) => READ_ACQUIRE_FAIL,
        Op::Wait { .. } => WAIT,
        Op::Wake { .. } => WAKE,
        Op::WakeTimeout { .. } => WAKE_TIMEOUT,
        Op::NotifyOne { woken: Woken::Unknown, .. } => NOTIFY_ONE_UNKNOWN,
        Op::NotifyOne { woken: Woken::Nobody, .. } => NOTIFY_ONE_NOBODY,
        Op::NotifyOne { woken: Woken::Thread(_), .. } => NOTIFY_ONE_THREAD,
        Op::NotifyAll(_) => NOTIFY_ALL,
        Op::Park => PARK,
        Op::ParkTimeout => PARK_TIMEOUT,
        Op::Unpark(_) => UNPARK,
        Op::Send { .. } => SEND,
        Op::Recv { .. } => RECV,
        Op::RecvEmpty(_) => RECV_EMPTY,
        Op::RecvClosed(_) => RECV_CLOSED,
        Op::Close(_) => CLOSE,
        Op::ReceiverClose(_) => RECEIVER_CLOSE,
        Op::SendClosed { .. } => SEND_CLOSED,
        Op::SendFull(_) => SEND_FULL,
        Op::OnceBegin(_) => ONCE_BEGIN,
        Op::OnceEnd(_) => ONCE_END,
        Op::OnceWait(_) => ONCE_WAIT,
        Op::Arrive { .. } => ARRIVE,
        Op::Leave { .. } => LEAVE,
        Op::Assert(_) => ASSERT,
        Op::Check { by_language: false, .. } => CHECK,
        Op::Check { by_language: true, .. } => CHECK_BY_LANGUAGE,
        Op::AtomicBegin(_) => ATOMIC_BEGIN,
        Op::AtomicEnd => ATOMIC_END,
        Op::Load { ordering, .. } => LOAD | bits_of_ordering(ordering),
        Op::Store { ordering, .. } => STORE | bits_of_ordering(ordering),
        Op::Rmw { ordering, .. } => RMW | bits_of_ordering(ordering),
        Op::Cas { ordering, .. } => CAS | bits_of_ordering(ordering),
        Op::CasFail { ordering, .. } => CAS_FAIL | bits_of_ordering(ordering),
        Op::Fence(ordering) => FENCE | bits_of_ordering(ordering),
    }
}

#[inline]
fn bits_of_ordering(ordering: Option<MemoryOrdering>) -> u8 {
    match ordering {
        None => 0,
        Some(MemoryOrdering::Relaxed) => 1,
        Some(MemoryOrdering::Acquire) => 2,
        Some(MemoryOrdering::Release) => 3,
        Some(MemoryOrdering::AcqRel) => 4,
        Some(MemoryOrdering::SeqCst) => 5,
    }
}

pub(super) fn ordering_of_bits(bits: u8) -> Result<Option<MemoryOrdering>, Malformed> {
    Ok(match bits {
        0 => None,
        1 => Some(MemoryOrdering::Relaxed),
        2 => Some(MemoryOrdering::Acquire),
        3 => Some(MemoryOrdering::Release),
        4 => Some(MemoryOrdering::AcqRel),
        5 => Some(MemoryOrdering::SeqCst),
        _ => return Err(Malformed),
    })
}
