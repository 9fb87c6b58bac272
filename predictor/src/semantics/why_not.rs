//! Why a step is not enabled.

use racelog::trace::{BarrierId, ChannelId, CondvarId, LockId, Object, ThreadId, VarId};

use crate::trace::{EventId, Printer, ValueId};

/// Why a thread cannot take an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WhyNot {
    /// The event is not the thread's next one; that is this one, if any.
    NotNext(ThreadId, Option<EventId>),
    /// The thread is not forked yet.
    NotForked(ThreadId),
    /// The thread has events left, the first of them this one.
    NotFinished(ThreadId, EventId),
    /// The thread is past its last event, but the branch after it is not taken.
    EndNotClean(ThreadId),
    /// The thread has read something else than in the observed trace.
    NotClean(ThreadId),
    /// The thread has found something else than in the observed trace, and whether it gets here
    /// depends on what is not known.
    NotKnown(ThreadId),
    /// The condition does not hold with what the thread has found.
    Fails(ThreadId),
    /// The variable does not hold what it should.
    Holds {
        /// The variable.
        var: VarId,
        /// What it should hold.
        wanted: ValueId,
        /// What it holds, if that is known.
        found: Option<ValueId>,
    },
    /// So many of the variable's accesses must have happened; so many have.
    AccessOrder(VarId, u32, u32),
    /// So many events must have happened, because threads of unknown origin keep their place among
    /// all others; so many have.
    ForeignOrder(u32, u32),
    /// The lock is held, by this thread among others.
    Taken(LockId, ThreadId),
    /// The lock is not held by the thread.
    NotHeld(LockId, ThreadId),
    /// Nobody holds the lock in a way that would make the attempt fail.
    Free(LockId),
    /// The thread does not wait on the condvar.
    NotWaiting(CondvarId, ThreadId),
    /// The thread is not notified.
    NotNotified(CondvarId, ThreadId),
    /// The thread is notified.
    Notified(CondvarId, ThreadId),
    /// The thread said to be woken is no waiter that can be notified.
    NoSuchWaiter(CondvarId, ThreadId),
    /// Nobody is said to be woken, but this thread waits.
    SomebodyWaits(CondvarId, ThreadId),
    /// The thread has no token to consume.
    NoToken(ThreadId),
    /// The thread has a token, which it would have consumed.
    Token(ThreadId),
    /// The channel's next message is another one, or there is none.
    Front(ChannelId, ValueId, Option<ValueId>),
    /// The channel is not empty: this message is next.
    NotEmpty(ChannelId, ValueId),
    /// Senders of the channel are left: so many of so many are dropped.
    SendersLeft(ChannelId, u32, u32),
    /// All senders of the channel are dropped.
    NoSenders(ChannelId),
    /// The channel has room for no more messages.
    Full(ChannelId),
    /// The channel has room: so many messages are in it.
    Room(ChannelId, usize),
    /// All receivers of the channel are dropped.
    NoReceivers(ChannelId),
    /// Receivers of the channel may be left.
    ReceiversLeft(ChannelId),
    /// The generation before is not complete: so many of so many have arrived.
    Early(BarrierId, u32, u32),
    /// The generation is not complete: so many of so many have arrived.
    Incomplete(BarrierId, u32, u32),
}

impl WhyNot {
    /// Says it in the words of the trace.
    pub fn describe(&self, printer: &mut Printer<'_>) -> String {
        let mut name = |object| format!("`{}`", printer.name(object));
        match *self {
            Self::NotNext(thread, next) => {
                let thread = name(Object::Thread(thread));
                match next {
                    Some(next) => format!("the next event of {thread} is {next}"),
                    None => format!("{thread} has no event left"),
                }
            }
            Self::NotForked(thread) => {
                format!("{} is not forked yet", name(Object::Thread(thread)))
            }
            Self::NotFinished(thread, next) => {
                format!("{} has not ended: its next event is {next}", name(Object::Thread(thread)))
            }
            Self::EndNotClean(thread) => format!(
                "{} may not end: the branch after its last read depends on a value that it did \
                 not read in the observed trace",
                name(Object::Thread(thread))
            ),
            Self::NotClean(thread) => format!(
                "{} may not get here: it has read another value than in the observed trace",
                name(Object::Thread(thread))
            ),
            Self::NotKnown(thread) => format!(
                "{} may not get here: it has read another value than in the observed trace, and \
                 whether it goes on depends on what is not known",
                name(Object::Thread(thread))
            ),
            Self::Fails(thread) => format!(
                "{} does not get any further: with what it has read, the condition does not hold",
                name(Object::Thread(thread))
            ),
            Self::Holds { var, wanted, found } => {
                let var = name(Object::Var(var));
                let wanted = printer.value(wanted);
                match found {
                    Some(found) => format!("{var} holds {}, not {wanted}", printer.value(found)),
                    None => format!("{var} holds an unknown value, not {wanted}"),
                }
            }
            Self::AccessOrder(var, required, happened) => format!(
                "exclusive accesses keep their order: {required} accesses of {} come before this \
                 one, {happened} have happened",
                name(Object::Var(var))
            ),
            Self::ForeignOrder(required, happened) => format!(
                "threads that nobody who is recorded has started keep their place: {required} \
                 events come before this one, {happened} have happened"
            ),
            Self::Taken(lock, thread) => {
                format!("{} is held by {}", name(Object::Lock(lock)), name(Object::Thread(thread)))
            }
            Self::NotHeld(lock, thread) => {
                format!(
                    "{} does not hold {}",
                    name(Object::Thread(thread)),
                    name(Object::Lock(lock))
                )
            }
            Self::Free(lock) => format!("{} is not taken", name(Object::Lock(lock))),
            Self::NotWaiting(condvar, thread) => format!(
                "{} does not wait on {}",
                name(Object::Thread(thread)),
                name(Object::Condvar(condvar))
            ),
            Self::NotNotified(condvar, thread) => format!(
                "{} waits on {} and nobody has notified it",
                name(Object::Thread(thread)),
                name(Object::Condvar(condvar))
            ),
            Self::Notified(condvar, thread) => format!(
                "{} was notified on {}, so its wait did not time out",
                name(Object::Thread(thread)),
                name(Object::Condvar(condvar))
            ),
            Self::NoSuchWaiter(condvar, thread) => format!(
                "{} is said to be woken, and does not wait on {} without being notified",
                name(Object::Thread(thread)),
                name(Object::Condvar(condvar))
            ),
            Self::SomebodyWaits(condvar, thread) => format!(
                "nobody is said to be woken, yet {} waits on {}",
                name(Object::Thread(thread)),
                name(Object::Condvar(condvar))
            ),
            Self::NoToken(thread) => {
                format!("nobody has unparked {}", name(Object::Thread(thread)))
            }
            Self::Token(thread) => format!(
                "{} is unparked, so it did not return without its token",
                name(Object::Thread(thread))
            ),
            Self::Front(channel, wanted, front) => {
                let channel = name(Object::Channel(channel));
                let wanted = printer.value(wanted);
                match front {
                    Some(front) => {
                        format!(
                            "the next message in {channel} is {}, not {wanted}",
                            printer.value(front)
                        )
                    }
                    None => format!("{channel} is empty, {wanted} is not in it"),
                }
            }
            Self::NotEmpty(channel, front) => {
                let channel = name(Object::Channel(channel));
                format!("{channel} is not empty: {} is in it", printer.value(front))
            }
            Self::SendersLeft(channel, dropped, all) => format!(
                "{dropped} of {all} senders of {} are dropped, not all",
                name(Object::Channel(channel))
            ),
            Self::NoSenders(channel) => format!(
                "all senders of {} are dropped, so its end would have been seen",
                name(Object::Channel(channel))
            ),
            Self::Full(channel) => format!("{} is full", name(Object::Channel(channel))),
            Self::Room(channel, messages) => {
                format!("{} is not full: it has {messages}", name(Object::Channel(channel)))
            }
            Self::NoReceivers(channel) => {
                format!("all receivers of {} are dropped", name(Object::Channel(channel)))
            }
            Self::ReceiversLeft(channel) => {
                format!("not all receivers of {} are dropped", name(Object::Channel(channel)))
            }
            Self::Early(barrier, arrived, all) => format!(
                "{arrived} of {all} threads have arrived at {} for the generation before",
                name(Object::Barrier(barrier))
            ),
            Self::Incomplete(barrier, arrived, all) => format!(
                "{arrived} of {all} threads have arrived at {} for this generation",
                name(Object::Barrier(barrier))
            ),
        }
    }
}
