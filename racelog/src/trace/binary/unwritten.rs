//! The reads that are not written down: that a lock was found not poisoned.
//!
//! A lock that nobody ever poisons tells those who take it nothing, so a recorder writes nothing.
//! Once one is poisoned, it was a read each time that it was found sound, and a recorder writes
//! down those to come. Those that went before are added here, where the trace is read: so a
//! reader of a trace sees all of them, as events like any other, and no other code has to know.
//!
//! Events then have other numbers than in the file, and their stamps are these numbers: there would
//! be no room for the new ones between the old.

use rustc_hash::FxHashMap;

use super::tables::PoisonFlag;
use crate::trace::{
    Event, Item, LockId, MemoryOrdering, Op, Patience, Said, Stamp, ThreadId, Value, VarId,
};

/// What a lock's poison flag holds before the lock is poisoned.
const SOUND: Value = Value::Nat(0);

/// Adds the reads that are not written down.
#[derive(Debug, Default)]
pub(super) struct UnwrittenReads {
    /// The flags of locks that have not been poisoned yet.
    flags: FxHashMap<LockId, VarId>,
    /// The other way round.
    locks: FxHashMap<VarId, Vec<LockId>>,
    /// How many events were yielded, if they are numbered anew.
    renumbered: Option<u64>,
    /// What comes next.
    next: Option<Event>,
    /// The stamps that each thread's events had, and those that they have now.
    stamps: FxHashMap<ThreadId, Vec<(u64, u64)>>,
}

impl UnwrittenReads {
    pub(super) fn new(known: &[PoisonFlag]) -> Self {
        let mut reads = Self { renumbered: (!known.is_empty()).then_some(0), ..Self::default() };
        for PoisonFlag { lock, flag } in known {
            reads.flags.insert(*lock, *flag);
            reads.locks.entry(*flag).or_default().push(*lock);
        }
        reads
    }

    /// Whether there may be anything to do.
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        self.renumbered.is_some()
    }

    /// The read that comes next, if there is one.
    pub(super) fn next(&mut self) -> Option<Item> {
        let mut event = self.next.take()?;
        self.number(&mut event);
        // It belongs to the event before it.
        if let Some(last) = self.stamps.get_mut(&event.thread).and_then(|list| list.last_mut()) {
            last.1 = event.stamp.get();
        }
        Some(Item::Event(event))
    }

    /// Looks at an item that was written down. False if it is not to be yielded.
    pub(super) fn pass(&mut self, item: &mut Item) -> bool {
        let event = match item {
            // A variable that is not spoken of holds this, and may have been read already.
            Item::Init { var, value } => {
                return !(*value == SOUND && self.locks.contains_key(var));
            }
            Item::Request(event) => {
                self.number(event);
                return true;
            }
            Item::Said { thread, said } => {
                if let Said::Since(stamp) = said {
                    *stamp = self.renumbered(*thread, *stamp);
                }
                return true;
            }
            Item::Event(event) => event,
        };
        let was = event.stamp.get();
        self.number(event);
        self.stamps.entry(event.thread).or_default().push((was, event.stamp.get()));
        match event.op {
            Op::Store { var, value, .. } | Op::Exclusive { var, value } if value != SOUND => {
                // From here on all reads are written down.
                for lock in self.locks.remove(&var).unwrap_or_default() {
                    self.flags.remove(&lock);
                }
            }
            Op::Acquire(lock)
            | Op::ReadAcquire(lock)
            | Op::Wake { lock, .. }
            | Op::WakeTimeout { lock, .. } => {
                self.next = self.flags.get(&lock).map(|flag| found_sound(event, *flag));
            }
            _ => {}
        }
        true
    }

    /// The stamp that the last event of a thread up to a stamp has now.
    fn renumbered(&self, thread: ThreadId, stamp: Stamp) -> Stamp {
        let stamps = self.stamps.get(&thread).map_or(&[][..], Vec::as_slice);
        let count = stamps.partition_point(|(was, _)| *was <= stamp.get());
        Stamp::new(count.checked_sub(1).map_or(0, |last| stamps[last].1))
    }

    fn number(&mut self, event: &mut Event) {
        if let Some(count) = &mut self.renumbered {
            *count += 1;
            event.stamp = Stamp::new(*count);
        }
    }
}

/// The read by which a thread that has taken a lock finds that it is not poisoned. It says no
/// place, as a recorder does not either: the program does not do it by itself.
fn found_sound(taken: &Event, flag: VarId) -> Event {
    let ordering = Some(MemoryOrdering::Relaxed);
    let op = Op::Load { var: flag, value: SOUND, ordering };
    // Whether the program goes by it is not known, so it does.
    Event { op, location: None, recorded: false, patience: Patience::Forever, ..*taken }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::trace::binary::chunk::{Chunk, Kind};
    use crate::trace::binary::tables::put_poison_flag;
    use crate::trace::binary::{Reader, Writer, header};
    use crate::trace::{Dictionary, End, Metadata, Object};

    const LOCK: LockId = LockId::new(1);
    const FLAG: VarId = VarId::new(7);

    fn event(thread: u32, stamp: u64, op: Op) -> Event {
        let thread = ThreadId::new(thread);
        let (stamp, patience) = (Stamp::new(stamp), Patience::Forever);
        Event { thread, stamp, op, location: None, recorded: true, patience }
    }

    /// A lock is taken in every way, then poisoned, and taken again.
    fn file() -> Vec<u8> {
        let (metadata, mut dictionary) = (Metadata::default(), Dictionary::new());
        dictionary.name(Object::Var(FLAG), "poisoned").unwrap();
        let condvar = crate::trace::CondvarId::new(1);
        let store = Op::Store { var: FLAG, value: Value::Nat(1), ordering: None };
        let load = Op::Load { var: FLAG, value: Value::Nat(1), ordering: None };
        let ops = [
            (1, Op::Acquire(LOCK)),
            (1, Op::Wait { condvar, lock: LOCK }),
            (2, Op::ReadAcquire(LOCK)),
            (2, Op::ReadRelease(LOCK)),
            (1, Op::WakeTimeout { condvar, lock: LOCK }),
            (1, store),
            (1, Op::Release(LOCK)),
            (2, Op::Acquire(LOCK)),
            (2, load),
            (2, Op::Release(LOCK)),
        ];
        let mut writer = Writer::new(Vec::new(), &metadata).unwrap();
        let init = Item::Init { var: FLAG, value: SOUND };
        writer.write(&dictionary, &init).unwrap();
        for (stamp, (thread, op)) in (1..).zip(ops) {
            writer.write(&dictionary, &Item::Event(event(thread, stamp, op))).unwrap();
        }
        let bytes = writer.finish(&dictionary, End::Clean).unwrap();
        let mut payload = Vec::new();
        put_poison_flag(&mut payload, PoisonFlag { lock: LOCK, flag: FLAG });
        let chunk = Chunk::without_events(Kind::Tables, payload.len() as u32);
        let mut start = Vec::new();
        header::write(&mut start, &metadata).unwrap();
        let (start, rest) = bytes.split_at(start.len());
        [start, &chunk.encode(&payload), &payload, rest].concat()
    }

    #[test]
    fn what_was_found_before_the_lock_was_poisoned_is_added() {
        let mut reader = Reader::open(Cursor::new(file())).unwrap();
        let mut words = Vec::new();
        let mut number = 0;
        while let Some(item) = reader.next_item().unwrap() {
            let Item::Event(event) = item else { panic!("{item:?}") };
            number += 1;
            assert_eq!(event.stamp.get(), number);
            if let Op::Load { value, .. } = event.op {
                assert_eq!(event.recorded, value != SOUND);
            }
            words.push(event.op.keyword());
        }
        assert_eq!(
            words,
            [
                "acquire",
                "load",
                "wait",
                "racquire",
                "load",
                "rrelease",
                "wake_timeout",
                "load",
                "store",
                "release",
                "acquire",
                "load",
                "release"
            ]
        );
    }

    #[test]
    fn a_trace_without_such_locks_is_as_it_is_written() {
        let mut none = UnwrittenReads::new(&[]);
        assert!(!none.is_active());
        let mut item = Item::Event(event(1, 40, Op::Acquire(LOCK)));
        let before = item;
        assert!(none.pass(&mut item) && item == before && none.next().is_none());
    }
}
