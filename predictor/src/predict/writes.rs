//! The writes of each variable by each thread.

use racelog::trace::{ThreadId, VarId};

use crate::trace::{Trace, ValueId};

/// A write: its place in its thread, and what it writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write {
    pub(super) position: u32,
    pub(super) value: ValueId,
}

/// The writes of a trace by variable and thread, each list in program order. Only lists that are
/// not empty are kept: there may be many threads, and many variables that one of them writes.
#[derive(Debug)]
pub struct Writes {
    /// Where the lists of each variable start, and at last where those of the last one end.
    starts: Vec<u32>,
    /// Whose list it is, and where it starts; at last where the last one ends.
    lists: Vec<(ThreadId, u32)>,
    writes: Vec<Write>,
}

impl Writes {
    /// Those of a trace; of mixed memory there are none.
    pub fn new(trace: &Trace) -> Self {
        let mut writes = Self { starts: vec![0], lists: Vec::new(), writes: Vec::new() };
        let mut of_var: Vec<(ThreadId, Write)> = Vec::new();
        for var in trace.vars() {
            let accesses = if trace.is_mixed(var) { &[] } else { trace.events_of_var(var) };
            of_var.clear();
            of_var.extend(accesses.iter().filter_map(|access| {
                let value = trace.op(*access).left().copied()?;
                let position = trace.position(*access) as u32;
                Some((trace.thread(*access), Write { position, value }))
            }));
            of_var.sort_unstable_by_key(|(thread, write)| (*thread, write.position));
            for list in of_var.chunk_by(|(thread, _), (other, _)| thread == other) {
                writes.lists.push((list[0].0, writes.writes.len() as u32));
                writes.writes.extend(list.iter().map(|(_, write)| *write));
            }
            writes.starts.push(writes.lists.len() as u32);
        }
        writes.lists.push((ThreadId::new(0), writes.writes.len() as u32));
        writes
    }

    /// The writes of a variable by a thread.
    pub(super) fn get(&self, var: VarId, thread: ThreadId) -> &[Write] {
        let (first, end) = self.lists_of(var);
        match self.lists[first..end].binary_search_by_key(&thread, |(thread, _)| *thread) {
            Ok(at) => self.list(first + at),
            Err(_) => &[],
        }
    }

    /// The threads that write a variable, and what they write.
    pub(super) fn of_var(&self, var: VarId) -> impl Iterator<Item = (ThreadId, &[Write])> {
        let (first, end) = self.lists_of(var);
        (first..end).map(|number| (self.lists[number].0, self.list(number)))
    }

    fn lists_of(&self, var: VarId) -> (usize, usize) {
        (self.starts[var.index()] as usize, self.starts[var.index() + 1] as usize)
    }

    fn list(&self, number: usize) -> &[Write] {
        &self.writes[self.lists[number].1 as usize..self.lists[number + 1].1 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_found_by_variable_and_thread() {
        let text = "t2 write x 1\nt1 write x 2\nt1 read x 2\nt1 write y 3\nt2 write x 4\n";
        let trace: Trace = text.parse().unwrap();
        let writes = Writes::new(&trace);
        let [t2, t1] = [0, 1].map(ThreadId::new);
        let [x, y] = [0, 1].map(VarId::new);
        let positions = |var, thread| {
            writes.get(var, thread).iter().map(|write| write.position).collect::<Vec<_>>()
        };
        assert_eq!((positions(x, t1), positions(x, t2)), (vec![0], vec![0, 1]));
        assert_eq!((positions(y, t1), positions(y, t2)), (vec![2], vec![]));
        assert_eq!(writes.of_var(x).map(|(_, list)| list.len()).sum::<usize>(), 3);
    }
}
