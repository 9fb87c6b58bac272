//! Checks that a trace's own order is a feasible execution.

use std::fmt;

use racelog::trace::{ChannelId, Object};
use rustc_hash::FxHashSet;

use super::{EventId, Op, Trace, ValueId};
use crate::semantics::{Machine, Replay, WhyNot};

/// The first event of a trace that breaks a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invalid {
    /// The event.
    pub event: EventId,
    /// The rule that it breaks.
    pub rule: Rule,
    /// The event as its line in the text format.
    pub line: String,
    /// What is wrong, in the words of the trace.
    pub message: String,
}

/// A rule that a trace must keep.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rule {
    /// `begin` is a thread's first event.
    BeginFirst,
    /// `end` is a thread's last event; this one has ended the thread.
    NothingAfterEnd(EventId),
    /// A thread is forked once; this event did it before.
    ForkOnce(EventId),
    /// A thread neither forks nor joins itself.
    NotItself,
    /// The event after a `wait` ends that wait; this is the wait.
    WaitThenWake(EventId),
    /// A message is sent once.
    SendOnce,
    /// Every read returns what was written last.
    ReadLastWrite {
        /// What was read.
        read: ValueId,
        /// What the variable held.
        held: ValueId,
    },
    /// Every step is enabled.
    Enabled(WhyNot),
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {}, `{}`: {}", self.event, self.line, self.message)
    }
}

impl std::error::Error for Invalid {}

/// Names the first event that breaks a rule.
pub fn validate(trace: &Trace) -> Result<(), Invalid> {
    let machine = Machine::new(trace);
    let mut replay = Replay::observed(&machine);
    let mut rows = Rows::new(trace);
    for event in trace.events() {
        let op = trace.op(event);
        let kept = rows
            .well_formed(event, &op)
            .and_then(|()| explained(&replay, trace, &op))
            .and_then(|()| replay.step(event).map_err(Rule::Enabled));
        kept.map_err(|rule| describe(trace, event, rule))?;
    }
    Ok(())
}

/// The rules about a thread's own row of events.
struct Rows<'a> {
    trace: &'a Trace,
    /// For each thread, its last event if that restricts what may follow.
    restricted: Vec<Option<EventId>>,
    sent: FxHashSet<(ChannelId, ValueId)>,
}

impl<'a> Rows<'a> {
    fn new(trace: &'a Trace) -> Self {
        let restricted = vec![None; trace.thread_count()];
        Self { trace, restricted, sent: FxHashSet::default() }
    }

    /// Takes the events in the trace's order.
    #[inline]
    fn well_formed(&mut self, event: EventId, op: &Op) -> Result<(), Rule> {
        let trace = self.trace;
        let thread = trace.thread(event);
        if *op == Op::Begin && trace.position(event) > 0 {
            return Err(Rule::BeginFirst);
        }
        if let Some(previous) = self.restricted[thread.index()].take() {
            may_follow(trace, previous, op)?;
        }
        match *op {
            Op::End | Op::Wait { .. } => self.restricted[thread.index()] = Some(event),
            Op::Fork(child) | Op::Join(child) if child == thread => return Err(Rule::NotItself),
            Op::Fork(child) => match trace.fork_of(child) {
                Some(first) if first != event => return Err(Rule::ForkOnce(first)),
                _ => {}
            },
            Op::Send { channel, message } if !self.sent.insert((channel, message)) => {
                return Err(Rule::SendOnce);
            }
            _ => {}
        }
        Ok(())
    }
}

/// Whether an operation may follow an event in its thread.
fn may_follow(trace: &Trace, previous: EventId, op: &Op) -> Result<(), Rule> {
    match trace.op(previous) {
        Op::End => Err(Rule::NothingAfterEnd(previous)),
        Op::Wait { condvar, lock }
            if *op != (Op::Wake { condvar, lock })
                && *op != (Op::WakeTimeout { condvar, lock }) =>
        {
            Err(Rule::WaitThenWake(previous))
        }
        _ => Ok(()),
    }
}

/// Whether what the event read is what its variable holds.
#[inline]
fn explained(replay: &Replay<'_, '_>, trace: &Trace, op: &Op) -> Result<(), Rule> {
    let (Some(var), Some(&read)) = (op.var(), op.found()) else { return Ok(()) };
    // What is found in mixed memory is made of parts.
    if trace.is_mixed(var) {
        return Ok(());
    }
    match replay.state().value(var) {
        Some(held) if held != read => Err(Rule::ReadLastWrite { read, held }),
        _ => Ok(()),
    }
}

fn describe(trace: &Trace, event: EventId, rule: Rule) -> Invalid {
    let mut printer = trace.printer();
    let message = match &rule {
        Rule::BeginFirst => "`begin` is not the first event of its thread".to_owned(),
        Rule::NothingAfterEnd(end) => format!("the thread has ended, with event {end}"),
        Rule::ForkOnce(fork) => format!("the thread is forked already, by event {fork}"),
        Rule::NotItself => "a thread can neither fork nor join itself".to_owned(),
        Rule::WaitThenWake(wait) => {
            format!("the thread waits since event {wait}; a `wake` or `wake_timeout` must end that")
        }
        Rule::SendOnce => "a message of that name was sent before".to_owned(),
        Rule::ReadLastWrite { read, held } => {
            let var = trace.op(event).var().map(|var| printer.name(Object::Var(var)).to_owned());
            format!(
                "no write explains this: `{}` holds {}, not {}",
                var.unwrap_or_default(),
                printer.value(*held),
                printer.value(*read)
            )
        }
        Rule::Enabled(why_not) => why_not.describe(&mut printer),
    };
    Invalid { event, line: printer.event(event), rule, message }
}
