//! Variables that share bytes.
//!
//! Raw memory is recorded by address and size, so `*p` and `(*p).field` are two variables that
//! overlap. All variables that hang together by overlaps become one, which is then *mixed*: what an
//! access finds there depends on several others, so analyses keep the observed order of all accesses
//! of a mixed variable. Which part each event accesses is remembered: two accesses conflict only if
//! their bytes overlap.

use racelog::trace::{Dictionary, Object, VarId};
use rustc_hash::FxHashMap;

use super::EventId;
use super::columns::Columns;
use super::originals::Originals;

/// The first byte of a part, and the last.
type Bytes = (u64, u64);

/// The mixed variables of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Overlaps {
    /// Whether each variable is mixed; empty if none is.
    mixed: Vec<bool>,
    /// The part of a mixed variable that each event accesses.
    parts: FxHashMap<EventId, (VarId, Bytes)>,
}

impl Overlaps {
    /// Finds the variables that overlap, and makes their accesses accesses of one.
    pub(super) fn merge(
        dictionary: &Dictionary,
        originals: &Originals,
        columns: &mut Columns,
    ) -> Self {
        let count = originals.vars.len();
        let bytes = |var: VarId| -> Option<Bytes> {
            let Object::Var(original) = originals.object(Object::Var(var)) else { return None };
            let (address, size) = dictionary.get_memory(original)?;
            Some((address, address + (u64::from(size) - 1)))
        };
        let ids = (0..count as u32).map(VarId::new);
        let mut ranges: Vec<(Bytes, VarId)> =
            ids.filter_map(|var| Some((bytes(var)?, var))).collect();
        ranges.sort_unstable();
        let mut merged: FxHashMap<VarId, VarId> = FxHashMap::default();
        // The variables that hang together so far, and their last byte.
        let mut cluster: Vec<VarId> = Vec::new();
        let mut reach = 0;
        for (range, var) in ranges.into_iter().map(Some).chain([None]).map(Option::unzip) {
            if range.is_none_or(|(start, _)| cluster.is_empty() || start > reach) {
                if let [first, _, ..] = cluster[..] {
                    let first = cluster.iter().copied().min().unwrap_or(first);
                    merged.extend(cluster.iter().map(|var| (*var, first)));
                }
                cluster.clear();
                reach = 0;
            }
            if let (Some((_, end)), Some(var)) = (range, var) {
                cluster.push(var);
                reach = reach.max(end);
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
            if let (Some(whole), Some(bytes)) = (merged.get(&part), bytes(part)) {
                overlaps.mixed[whole.index()] = true;
                overlaps.parts.insert(event, (part, bytes));
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
            (Some((_, (start, end))), Some((_, (other, last)))) => start <= last && other <= end,
            _ => true,
        }
    }
}
