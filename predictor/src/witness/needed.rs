//! Makes a witness shorter: leaves out what its end does not need.

use racelog::trace::{Object, Op, ThreadId, VarId};
use rustc_hash::FxHashSet;

use super::touched::touched;
use crate::trace::{EventId, Trace};

/// The events of a sequence, which may begin in the middle of a run, that these threads need to get
/// where it brings them: of each read the write that it finds, of whatever else is touched all that
/// touched it before. More than is needed may be kept; that what is kept can still happen is for
/// the checker to say.
pub fn needed(
    trace: &Trace,
    sequence: &[EventId],
    threads: impl IntoIterator<Item = ThreadId>,
) -> Vec<EventId> {
    let mut wanted = Wanted::default();
    wanted.all.extend(threads.into_iter().map(Object::Thread));
    let mut kept: Vec<EventId> = Vec::new();
    // Of what comes before an event of a foreign thread all is needed.
    let foreign = |event: &EventId| trace.is_foreign(trace.thread(*event));
    let needed = sequence.iter().rposition(foreign).map_or(0, |last| last + 1);
    for event in sequence[needed..].iter().rev() {
        if wanted.wants(trace, *event) {
            wanted.keep(trace, *event);
            kept.push(*event);
        }
    }
    kept.extend(sequence[..needed].iter().rev());
    kept.reverse();
    kept
}

/// What of the earlier events is needed.
#[derive(Default)]
struct Wanted {
    /// All that touch these.
    all: FxHashSet<Object>,
    /// The last write of these.
    write: FxHashSet<VarId>,
    /// The last exclusive use of these.
    exclusive: FxHashSet<VarId>,
}

impl Wanted {
    fn wants(&self, trace: &Trace, event: EventId) -> bool {
        let op = trace.op(event);
        let is_of_thread = self.all.contains(&Object::Thread(trace.thread(event)));
        if matches!(op, Op::OnceWait(_)) && !is_of_thread {
            // It leaves nothing behind. And before the value is there no program comes to it, but
            // calls the initialiser itself.
            return false;
        }
        let written = op.var().filter(|_| op.writes());
        let used = written.filter(|_| op.is_exclusive());
        written.is_some_and(|var| self.write.contains(&var))
            || used.is_some_and(|var| self.exclusive.contains(&var))
            || touched(trace, event).any(|(object, _)| self.all.contains(&object))
    }

    fn keep(&mut self, trace: &Trace, event: EventId) {
        let op = trace.op(event);
        for (object, _) in touched(trace, event) {
            let Object::Var(var) = object else {
                self.all.insert(object);
                continue;
            };
            if op.is_exclusive() || trace.is_mixed(var) {
                self.all.insert(object);
                continue;
            }
            if op.writes() {
                self.write.remove(&var);
            }
            if op.reads() {
                self.write.insert(var);
            }
            self.exclusive.insert(var);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_needs_is_left_out() {
        let text = "a fork b\na fork c\na write x 1\nc write x 2\na write y 5\nc write z 1\n\
                    b read x 2\nb branch\nb read w 0\n";
        let trace: Trace = text.parse().expect("the trace is valid");
        let all: Vec<EventId> = trace.events().collect();
        let numbers = |threads: &[u32]| -> Vec<u64> {
            let threads = threads.iter().map(|thread| ThreadId::new(*thread));
            needed(&trace, &all, threads).iter().map(|event| event.number()).collect()
        };
        assert_eq!(numbers(&[0]), [1, 2, 3, 5]);
        assert_eq!(numbers(&[2]), [1, 2, 4, 6]);
        // The write of a that b does not find is not needed.
        assert_eq!(numbers(&[1]), [1, 2, 4, 7, 8, 9]);
    }

    #[test]
    fn who_waits_for_an_initialiser_is_needed_by_nobody_else() {
        let text = "a fork b\nb fork c\na once_begin o\na once_end o\nc once_wait o\n\
                    b once_wait o\nb read y 0\n";
        let trace: Trace = text.parse().expect("the trace is valid");
        let order: Vec<EventId> =
            [1, 2, 5, 3, 4, 6, 7].into_iter().filter_map(EventId::from_number).collect();
        let kept = needed(&trace, &order, [ThreadId::new(1)]);
        let numbers: Vec<u64> = kept.iter().map(|event| event.number()).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 6, 7]);
    }

    #[test]
    fn locks_are_kept_with_all_who_held_them() {
        let text = "a fork b\na acquire m\na write x 1\na release m\na write x 2\nb acquire m\nb read y 0\n";
        let trace: Trace = text.parse().expect("the trace is valid");
        let all: Vec<EventId> = trace.events().collect();
        let kept = needed(&trace, &all, [ThreadId::new(1)]);
        let numbers: Vec<u64> = kept.iter().map(|event| event.number()).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 6, 7]);
    }
}
