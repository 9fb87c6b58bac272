//! Where the threads stand at the end of a trace that ends early: of a program that hangs, that is
//! as much as its trace says.
//!
//! A trace has operations that were done. What a thread was about to do, and so what it waited for,
//! is not in it, but for a wait on a condition variable, which is recorded as it begins.

use racelog::trace::{LockId, Object, ThreadId};

use crate::index::open_after;
use crate::trace::{EventId, Op, Trace};

/// Where a thread stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LastSeen {
    /// The thread.
    pub thread: String,
    /// The last operation of it that was recorded.
    pub last: String,
    /// Where that is in the source.
    pub place: Option<String>,
    /// The condition variable that it waits on, if that is what it did last.
    pub waits_on: Option<String>,
    /// The locks that it holds, and where it took them.
    pub holds: Vec<(String, Option<String>)>,
}

/// Where all threads stand that have not ended.
pub fn last_seen(trace: &Trace) -> Vec<LastSeen> {
    trace.threads().filter_map(|thread| stands(trace, thread)).collect()
}

fn stands(trace: &Trace, thread: ThreadId) -> Option<LastSeen> {
    let events = trace.events_of_thread(thread);
    let last = *events.iter().rev().find(|event| !trace.op(**event).decides())?;
    if trace.op(last) == Op::End {
        return None;
    }
    let mut printer = trace.printer();
    let holds = held_at_end(trace, thread).into_iter().map(|(lock, taken)| {
        let name = printer.name(Object::Lock(lock)).to_owned();
        (name, taken.and_then(|event| printer.location(event)))
    });
    let holds = holds.collect();
    let waits_on = match trace.op(last) {
        Op::Wait { condvar, .. } => Some(printer.name(Object::Condvar(condvar)).to_owned()),
        _ => None,
    };
    Some(LastSeen {
        thread: printer.name(Object::Thread(thread)).to_owned(),
        last: printer.operation(last),
        place: printer.location(last),
        waits_on,
        holds,
    })
}

fn held_at_end(trace: &Trace, thread: ThreadId) -> Vec<(LockId, Option<EventId>)> {
    let open = open_after(trace, trace.events_of_thread(thread)).into_iter();
    open.map(|region| (region.lock, Some(region.acquire))).collect()
}

impl std::fmt::Display for LastSeen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`: its last recorded operation is `{}`", self.thread, self.last)?;
        if let Some(place) = &self.place {
            write!(f, " at {place}")?;
        }
        if let Some(condvar) = &self.waits_on {
            write!(f, ", so it waits on `{condvar}`")?;
        }
        for (at, (lock, taken)) in self.holds.iter().enumerate() {
            f.write_str(if at == 0 { "; holds " } else { " and " })?;
            write!(f, "`{lock}`")?;
            if let Some(taken) = taken {
                write!(f, " since {taken}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_stands_where_is_said() {
        let text = "t1 fork t2 @ a.rs:1\nt1 fork t3 @ a.rs:2\nt2 begin\nt2 acquire l @ a.rs:3\n\
                    t2 read x 0\nt2 branch\nt3 begin\nt3 acquire m @ a.rs:4\nt3 wait c m @ a.rs:5\n\
                    t1 fork t4\nt4 begin\nt4 end\n";
        let trace: Trace = text.parse().unwrap();
        let lines: Vec<String> = last_seen(&trace).iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "`t1`: its last recorded operation is `fork t4`",
                "`t2`: its last recorded operation is `read x 0`; holds `l` since a.rs:3",
                "`t3`: its last recorded operation is `wait c m` at a.rs:5, so it waits on `c`",
            ]
        );
    }
}
