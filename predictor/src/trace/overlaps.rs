//! Variables that share bytes.
//!
//! Raw memory is recorded by address and size, so `*p` and `(*p).field` are two variables that
//! overlap. All variables that hang together by overlaps become one, which is then *mixed*: what an
//! access finds there depends on several others, so analyses keep the observed order of all
//! accesses of a mixed variable. Which part each event accesses is remembered: two accesses
//! conflict only if their bytes overlap.
//!
//! Memory that was given back before other memory at the same place was first used does not overlap
//! it: these are two objects.

use racelog::trace::{Dictionary, Memory, Object, VarId};
use rustc_hash::FxHashMap;

use super::EventId;
use super::columns::Columns;
use super::originals::Originals;

/// The mixed variables of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Overlaps {
    /// Whether each variable is mixed; empty if none is.
    mixed: Vec<bool>,
    /// The part of a mixed variable that each event accesses.
    parts: FxHashMap<EventId, (VarId, Memory)>,
}

impl Overlaps {
    /// Finds the variables that overlap, and makes their accesses accesses of one.
    pub(super) fn merge(
        dictionary: &Dictionary,
        originals: &Originals,
        columns: &mut Columns,
    ) -> Self {
        let count = originals.vars.len();
        let memory = |var: VarId| -> Option<Memory> {
            let Object::Var(original) = originals.object(Object::Var(var)) else { return None };
            dictionary.get_memory(original)
        };
        let ids = (0..count as u32).map(VarId::new);
        let all: Vec<(Memory, VarId)> = ids.filter_map(|var| Some((memory(var)?, var))).collect();
        let mut merged: FxHashMap<VarId, VarId> = FxHashMap::default();
        for cluster in clusters(all) {
            let first = cluster.iter().map(|(_, var)| *var).min();
            if let (Some(first), [_, _, ..]) = (first, &cluster[..]) {
                merged.extend(cluster.iter().map(|(_, var)| (*var, first)));
            }
        }
        let mut overlaps = Self::default();
        if merged.is_empty() {
            return overlaps;
        }
        overlaps.mixed = vec![false; count];
        for index in 0..columns.len() {
            let event = EventId::from_index(index);
            let Some(part) = columns.op(event).var() else { continue };
            if let (Some(whole), Some(memory)) = (merged.get(&part), memory(part)) {
                overlaps.mixed[whole.index()] = true;
                overlaps.parts.insert(event, (part, memory));
                columns.set_var(event, *whole);
            }
        }
        overlaps
    }

    #[inline]
    pub(super) fn is_mixed(&self, var: VarId) -> bool {
        self.mixed.get(var.index()).is_some_and(|mixed| *mixed)
    }

    /// The part of a mixed variable that an event accesses.
    pub(super) fn part(&self, event: EventId) -> Option<VarId> {
        self.parts.get(&event).map(|(part, _)| *part)
    }

    /// Whether two accesses of a variable touch the same bytes.
    pub(super) fn overlap(&self, a: EventId, b: EventId) -> bool {
        match (self.parts.get(&a), self.parts.get(&b)) {
            (Some((_, a)), Some((_, b))) => a.overlaps(b),
            _ => true,
        }
    }
}

type Cluster = Vec<(Memory, VarId)>;

/// Sorts out what hangs together: no two that overlap are in different clusters.
///
/// Clusters are cut where no byte is shared, and where no time is, as long as that finds anything
/// to cut. What is left may be larger than it need be, which costs precision and nothing else.
fn clusters(all: Cluster) -> Vec<Cluster> {
    let mut done = Vec::new();
    let mut open = vec![all];
    while let Some(cluster) = open.pop() {
        for in_space in cut(cluster, |memory| memory.address, |memory| Some(memory.last())) {
            let last_moment = |memory: &Memory| memory.until.map(|until| u64::from(until) - 1);
            let mut in_time = cut(in_space, |memory| memory.since.into(), last_moment);
            if in_time.len() == 1 {
                done.append(&mut in_time);
            } else {
                open.append(&mut in_time);
            }
        }
    }
    done
}

/// Cuts a cluster of intervals where one begins after all before it have ended. One may have no
/// end.
fn cut(
    mut cluster: Cluster,
    first: impl Fn(&Memory) -> u64,
    last: impl Fn(&Memory) -> Option<u64>,
) -> Vec<Cluster> {
    cluster.sort_unstable_by_key(|(memory, var)| (first(memory), *var));
    let mut pieces: Vec<Cluster> = Vec::new();
    let mut reach = 0;
    for (memory, var) in cluster {
        match pieces.last_mut() {
            Some(piece) if first(&memory) <= reach => piece.push((memory, var)),
            _ => {
                pieces.push(vec![(memory, var)]);
                reach = 0;
            }
        }
        reach = reach.max(last(&memory).unwrap_or(u64::MAX));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(memory: &[(u64, u32, u32, Option<u32>)], expected: &[&[u32]]) {
        let all = (0..).zip(memory).map(|(var, (address, size, since, until))| {
            let memory = Memory { address: *address, size: *size, since: *since, until: *until };
            (memory, VarId::new(var))
        });
        let mut found: Vec<Vec<u32>> = clusters(all.collect())
            .iter()
            .map(|cluster| cluster.iter().map(|(_, var)| var.get()).collect())
            .collect();
        found.iter_mut().for_each(|cluster| cluster.sort_unstable());
        found.sort_unstable();
        assert_eq!(found, expected, "{memory:?}");
    }

    #[test]
    fn what_shares_bytes_hangs_together() {
        check(&[(0, 8, 0, None), (4, 2, 0, None), (8, 4, 0, None)], &[&[0, 1], &[2]]);
        check(&[(0, 8, 0, None), (4, 8, 0, None), (8, 4, 0, None)], &[&[0, 1, 2]]);
    }

    #[test]
    fn lives_that_follow_each_other_do_not() {
        check(&[(0, 8, 0, Some(1)), (0, 8, 1, Some(2)), (0, 8, 2, None)], &[&[0], &[1], &[2]]);
        // Parts of one object that end one after the other live together.
        check(&[(0, 8, 0, Some(1)), (0, 4, 0, Some(2)), (0, 8, 2, None)], &[&[0, 1], &[2]]);
    }

    #[test]
    fn cutting_in_time_and_in_space_go_on_until_both_find_nothing() {
        let old = [(0, 8, 0, Some(1)), (8, 8, 0, Some(2))];
        let across = (4, 8, 2, Some(3));
        let new = [(0, 8, 3, None), (8, 8, 3, None)];
        check(&[old[0], old[1], across, new[0], new[1]], &[&[0], &[1], &[2], &[3], &[4]]);
    }
}
