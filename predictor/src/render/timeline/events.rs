//! Events as columns of small numbers, with a table for each kind of word.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::finding::{Operation, Place};
use crate::trace::{EventId, Trace};

/// What stands in a column where an event has nothing of the kind.
pub const NONE: u32 = 0;

/// Some events of a trace, in its order. A row is an index into the columns.
///
/// Columns whose events may lack something count from 1; [`NONE`] stands for what is missing.
#[derive(Clone, Debug, Default)]
pub struct Events {
    /// Which events.
    pub ids: Vec<EventId>,
    /// The thread of each.
    pub thread: Vec<u32>,
    /// What each does: an index into [`kinds`](Self::kinds).
    pub kind: Vec<u32>,
    /// To what, from 1 into [`objects`](Self::objects).
    pub object: Vec<u32>,
    /// Values, orderings and other operands, from 1 into [`details`](Self::details).
    pub detail: Vec<u32>,
    /// Where, from 1 into [`places`](Self::places).
    pub place: Vec<u32>,
    /// The operations that occur, as the text format calls them.
    pub kinds: Vec<String>,
    /// The names of objects.
    pub objects: Vec<String>,
    /// Other operands.
    pub details: Vec<String>,
    /// Places in the source.
    pub places: Vec<Place>,
}

impl Events {
    /// These events of a trace, which are in its order.
    pub(super) fn new(trace: &Trace, kept: &[EventId], prefixes: &[String]) -> Self {
        let mut events = Self { ids: kept.to_vec(), ..Self::default() };
        let [mut kinds, mut objects, mut details] = [Table::new(), Table::new(), Table::new()];
        let mut places = FxHashMap::default();
        let mut printer = trace.printer();
        for event in kept {
            let does = Operation::of(&mut printer, *event);
            events.thread.push(trace.thread(*event).index() as u32);
            events.kind.push(kinds.index(does.operation));
            events.object.push(objects.index_from_1(does.object));
            events.detail.push(details.index_from_1(does.operands));
            let place = trace.location(*event).map_or(NONE, |location| {
                *places.entry(location).or_insert_with(|| {
                    let text = printer.location(*event).unwrap_or_default();
                    events.places.push(Place::of_trace(&text).stripped(prefixes));
                    events.places.len() as u32
                })
            });
            events.place.push(place);
        }
        [events.kinds, events.objects, events.details] =
            [kinds.words, objects.words, details.words];
        events
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Where an event stands, if it is kept.
    pub fn row(&self, event: EventId) -> Option<u32> {
        // Mostly all are kept, and then this is where it stands.
        if self.ids.get(event.index()) == Some(&event) {
            return Some(event.index() as u32);
        }
        self.ids.binary_search(&event).ok().map(|row| row as u32)
    }

    /// What an event does, as the text format has it, without thread and location.
    pub fn text(&self, row: u32) -> String {
        let row = row as usize;
        let mut text = self.kinds[self.kind[row] as usize].clone();
        for (table, index) in [(&self.objects, self.object[row]), (&self.details, self.detail[row])]
        {
            if index != NONE {
                text.push(' ');
                text.push_str(&table[index as usize - 1]);
            }
        }
        text
    }

    /// Where an event stands in the source.
    pub fn place_of(&self, row: u32) -> Option<&Place> {
        self.places.get((self.place[row as usize] as usize).checked_sub(1)?)
    }
}

/// Words, each kept once.
struct Table<T> {
    words: Vec<T>,
    indices: FxHashMap<T, u32>,
}

impl<T: Clone + Eq + Hash> Table<T> {
    fn new() -> Self {
        Self { words: Vec::new(), indices: FxHashMap::default() }
    }

    fn index(&mut self, word: T) -> u32 {
        let words = &mut self.words;
        *self.indices.entry(word).or_insert_with_key(|word| {
            words.push(word.clone());
            words.len() as u32 - 1
        })
    }
}

impl Table<String> {
    fn index_from_1(&mut self, word: Option<String>) -> u32 {
        word.map_or(NONE, |word| self.index(word) + 1)
    }
}
