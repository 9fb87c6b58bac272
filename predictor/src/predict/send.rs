//! Sends to nobody: which could be some.

use std::collections::BTreeMap;

use racelog::trace::LocId;

use crate::goal::Goal;
use crate::index::Index;
use crate::trace::{EventId, Op, Trace};

/// The sends on channels of which a receiver is dropped, by their places in the program.
pub(super) fn candidates(trace: &Trace, index: &Index) -> Vec<Vec<Goal>> {
    if index.channels.iter().all(|channel| channel.receiver_closes.is_empty()) {
        return Vec::new();
    }
    let mut places: BTreeMap<Result<LocId, EventId>, Vec<Goal>> = BTreeMap::new();
    for event in trace.events() {
        let Op::Send { channel, .. } = trace.op(event) else { continue };
        if !index.channels[channel.index()].receiver_closes.is_empty() {
            let place = trace.location(event).ok_or(event);
            places.entry(place).or_default().push(Goal::SendToNobody(event));
        }
    }
    places.into_values().collect()
}
