//! Strings, locations and names, each kept once and numbered in order of first use.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

use super::{
    BarrierId, ChannelId, CondvarId, LocId, Location, LockId, Said, Shape, ShapeId, StrId, Term,
    ThreadId, Value, VarId, expression, is_text, is_word,
};

/// Anything that has a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs, reason = "the variants are the ids they hold")]
pub enum Object {
    Thread(ThreadId),
    Var(VarId),
    Lock(LockId),
    Condvar(CondvarId),
    Channel(ChannelId),
    Barrier(BarrierId),
}

/// One entry of a [`Dictionary`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Definition {
    /// A string.
    String {
        /// Its id; ids are given in order, from 0.
        id: StrId,
        /// The string: see [`is_text`](super::is_text) for what may stand in it.
        text: Arc<str>,
    },
    /// A source location.
    Location {
        /// Its id; ids are given in order, from 0.
        id: LocId,
        /// The location.
        location: Location,
    },
    /// The name of an object. Objects without one are shown by their number.
    Name {
        /// The object.
        object: Object,
        /// Its name, a [word](super::is_word).
        name: StrId,
    },
    /// The memory that a variable stands for. Variables whose memory overlaps are parts of one
    /// another, if they lived at the same time.
    Memory {
        /// The variable.
        var: VarId,
        /// Its first byte.
        address: u64,
        /// How many bytes it has.
        size: u32,
        /// How many variables' memory had been given back before.
        since: u32,
    },
    /// The memory that a variable stood for was given back: what stands there later is something
    /// else.
    GivenBack {
        /// The variable.
        var: VarId,
        /// How many variables' memory has been given back by then, its own included.
        until: u32,
    },
    /// Nobody who is recorded has started this thread, so nothing is known of what orders it.
    Foreign {
        /// The thread, before its first event.
        thread: ThreadId,
    },
    /// The last access of this variable, a write, is that its memory was given back.
    Freed {
        /// The variable.
        var: VarId,
    },
    /// A channel holds at most so many messages; others hold any number.
    Capacity {
        /// The channel.
        channel: ChannelId,
        /// How many: at least one.
        messages: u32,
    },
    /// A thread that waits to take this lock exclusively keeps out those that want to share it.
    Fair {
        /// The lock.
        lock: LockId,
    },
    /// What expressions compute.
    Shape {
        /// Its id; ids are given in order, from 0.
        id: ShapeId,
        /// The computation.
        shape: Shape,
    },
    /// A thread that may have worked for what is recorded here was not recorded here: several
    /// traces were under way, and nobody knows whose it is.
    Unattributed {
        /// Where it first did something that would have been recorded, if that is known.
        location: Option<LocId>,
    },
}

/// The memory that a variable stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Memory {
    /// Its first byte.
    pub address: u64,
    /// How many bytes it has: at least one.
    pub size: u32,
    /// How many variables' memory had been given back before.
    pub since: u32,
    /// How many there were when its own was, itself included; none if it never was.
    pub until: Option<u32>,
}

impl Memory {
    /// The address of its last byte.
    pub fn last(&self) -> u64 {
        self.address + (u64::from(self.size) - 1)
    }

    /// Whether the two share bytes at the same time.
    pub fn overlaps(&self, other: &Self) -> bool {
        let ended_before = |a: &Self, b: &Self| a.until.is_some_and(|until| until <= b.since);
        self.address <= other.last()
            && other.address <= self.last()
            && !ended_before(self, other)
            && !ended_before(other, self)
    }
}

/// Why a [`Definition`] does not fit a dictionary.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum DictionaryError {
    #[error("{what} {found} is defined out of order, {expected} is next")]
    OutOfOrder { what: &'static str, found: u32, expected: u32 },
    #[error("{what} {number} is not defined")]
    Undefined { what: &'static str, number: u32 },
    #[error("`{text}` cannot be {role}")]
    Unfit { text: Arc<str>, role: &'static str },
    #[error("{object:?} is defined twice")]
    Twice { object: Object },
    #[error("the memory of {var:?} is empty or reaches past the last address")]
    BadRange { var: VarId },
    #[error("{channel:?} has room for no message: no send could ever be done")]
    NoCapacity { channel: ChannelId },
    #[error("shape {number} computes nothing")]
    NoShape { number: u32 },
    #[error("an expression has {found} operands, and its shape {expected}")]
    Operands { found: usize, expected: usize },
    #[error("the memory of {var:?} is given back but was not there, or not any more")]
    NotThere { var: VarId },
}

/// What each string may be used for, found out once.
#[derive(Clone, Debug)]
struct Entry {
    text: Arc<str>,
    word: bool,
    /// A word with no other representation as a value.
    symbol: bool,
}

/// The strings, locations and names of a trace.
///
/// It only ever grows, and remembers in which order: a writer can emit what is new since it last
/// looked ([`Dictionary::definitions`]), so that a file's tables build up as its events do.
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    definitions: Vec<Definition>,
    strings: Vec<Entry>,
    string_ids: FxHashMap<Arc<str>, StrId>,
    locations: Vec<Location>,
    location_ids: FxHashMap<Location, LocId>,
    names: FxHashMap<Object, StrId>,
    memory: FxHashMap<VarId, Memory>,
    foreign: FxHashSet<ThreadId>,
    freed: FxHashSet<VarId>,
    unattributed: Vec<Option<LocId>>,
    capacities: FxHashMap<ChannelId, u32>,
    fair: FxHashSet<LockId>,
    shapes: Vec<Shape>,
    shape_ids: FxHashMap<Shape, ShapeId>,
}

impl Dictionary {
    /// An empty dictionary.
    pub fn new() -> Self {
        Self::default()
    }

    /// All definitions, in the order in which they were made.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// Adds a definition.
    pub fn define(&mut self, definition: Definition) -> Result<(), DictionaryError> {
        match &definition {
            Definition::String { id, text } => self.add_string(*id, text)?,
            Definition::Location { id, location } => self.add_location(*id, *location)?,
            Definition::Name { object, name } => {
                self.check_name(*object, *name)?;
                if self.names.insert(*object, *name).is_some() {
                    return Err(DictionaryError::Twice { object: *object });
                }
            }
            Definition::Memory { var, address, size, since } => {
                if *size == 0 || address.checked_add(u64::from(*size) - 1).is_none() {
                    return Err(DictionaryError::BadRange { var: *var });
                }
                let memory = Memory { address: *address, size: *size, since: *since, until: None };
                if self.memory.insert(*var, memory).is_some() {
                    return Err(DictionaryError::Twice { object: Object::Var(*var) });
                }
            }
            Definition::GivenBack { var, until } => match self.memory.get_mut(var) {
                Some(memory) if memory.until.is_none() && memory.since < *until => {
                    memory.until = Some(*until);
                }
                _ => return Err(DictionaryError::NotThere { var: *var }),
            },
            Definition::Foreign { thread } => {
                if !self.foreign.insert(*thread) {
                    return Err(DictionaryError::Twice { object: Object::Thread(*thread) });
                }
            }
            Definition::Freed { var } => {
                if !self.freed.insert(*var) {
                    return Err(DictionaryError::Twice { object: Object::Var(*var) });
                }
            }
            Definition::Capacity { channel, messages } => {
                if *messages == 0 {
                    return Err(DictionaryError::NoCapacity { channel: *channel });
                }
                if self.capacities.insert(*channel, *messages).is_some() {
                    return Err(DictionaryError::Twice { object: Object::Channel(*channel) });
                }
            }
            Definition::Fair { lock } => {
                if !self.fair.insert(*lock) {
                    return Err(DictionaryError::Twice { object: Object::Lock(*lock) });
                }
            }
            Definition::Shape { id, shape } => self.add_shape(*id, shape)?,
            Definition::Unattributed { location } => {
                if let Some(id) = location.filter(|id| self.get_location(*id).is_none()) {
                    let (what, number) = ("location", id.get());
                    return Err(DictionaryError::Undefined { what, number });
                }
                self.unattributed.push(*location);
            }
        }
        self.definitions.push(definition);
        Ok(())
    }

    /// The id of `text`, defined now if it was not before.
    pub fn string(&mut self, text: &str) -> Result<StrId, DictionaryError> {
        if let Some(id) = self.string_ids.get(text) {
            return Ok(*id);
        }
        let id = StrId::new(next_number(self.strings.len()));
        self.define(Definition::String { id, text: text.into() })?;
        Ok(id)
    }

    /// The id of `location`, defined now if it was not before.
    pub fn location(&mut self, location: Location) -> Result<LocId, DictionaryError> {
        if let Some(id) = self.location_ids.get(&location) {
            return Ok(*id);
        }
        let id = LocId::new(next_number(self.locations.len()));
        self.define(Definition::Location { id, location })?;
        Ok(id)
    }

    /// The id of a shape, defined now if it was not before.
    pub fn shape(&mut self, shape: &[Term]) -> Result<ShapeId, DictionaryError> {
        if let Some(id) = self.shape_ids.get(shape) {
            return Ok(*id);
        }
        let id = ShapeId::new(next_number(self.shapes.len()));
        self.define(Definition::Shape { id, shape: shape.into() })?;
        Ok(id)
    }

    /// Gives `object` a name.
    pub fn name(&mut self, object: Object, name: &str) -> Result<(), DictionaryError> {
        let name = self.string(name)?;
        self.define(Definition::Name { object, name })
    }

    /// The string with this id.
    pub fn get_string(&self, id: StrId) -> Option<&str> {
        self.strings.get(id.index()).map(|entry| &*entry.text)
    }

    /// The location with this id.
    pub fn get_location(&self, id: LocId) -> Option<Location> {
        self.locations.get(id.index()).copied()
    }

    /// The shape with this id.
    pub fn get_shape(&self, id: ShapeId) -> Option<&Shape> {
        self.shapes.get(id.index())
    }

    /// The object's name, if it has one.
    pub fn get_name(&self, object: Object) -> Option<&str> {
        self.names.get(&object).and_then(|id| self.get_string(*id))
    }

    /// The memory that the variable stands for, if that is known.
    pub fn get_memory(&self, var: VarId) -> Option<Memory> {
        self.memory.get(&var).copied()
    }

    /// Whether nobody who is recorded has started the thread.
    pub fn is_foreign(&self, thread: ThreadId) -> bool {
        self.foreign.contains(&thread)
    }

    /// Whether the last access of a variable is that its memory was given back.
    pub fn is_freed(&self, var: VarId) -> bool {
        self.freed.contains(&var)
    }

    /// How many messages a channel holds, if there is a limit.
    pub fn capacity(&self, channel: ChannelId) -> Option<u32> {
        self.capacities.get(&channel).copied()
    }

    /// Whether threads that wait to take a lock exclusively keep out those that want to share it.
    pub fn is_fair(&self, lock: LockId) -> bool {
        self.fair.contains(&lock)
    }

    /// The threads that may belong to the trace and are not in it, by where each was first met.
    pub fn unattributed(&self) -> &[Option<LocId>] {
        &self.unattributed
    }

    /// Checks that `value` is whole: a symbol must be a string of this dictionary and a word that
    /// no other kind of value spells.
    pub fn check_value(&self, value: Value) -> Result<(), DictionaryError> {
        match value {
            Value::Symbol(id) => self.require(id, "a value", |entry| entry.symbol),
            Value::Opaque | Value::Nat(_) | Value::Neg(_) => Ok(()),
        }
    }

    /// Checks that `message` can name a message: a concrete value that is
    /// [whole](Self::check_value).
    pub fn check_message(&self, message: Value) -> Result<(), DictionaryError> {
        match message {
            Value::Opaque => Err(DictionaryError::Unfit { text: "_".into(), role: "a message" }),
            _ => self.check_value(message),
        }
    }

    /// Checks that what is said of an event refers to what is there.
    pub fn check_said(&self, said: &Said) -> Result<(), DictionaryError> {
        match said {
            Said::Found(name) => {
                name.map_or(Ok(()), |id| self.require(id, "a name", |entry| entry.word))
            }
            Said::Since(_) | Said::Again(_) => Ok(()),
            Said::Is(formula) | Said::Expects(formula) => {
                let (what, number) = ("shape", formula.shape.get());
                let shape = self.get_shape(formula.shape);
                let shape = shape.ok_or(DictionaryError::Undefined { what, number })?;
                let expected = shape.iter().filter(|term| term.is_place()).count();
                let found = formula.operands().len();
                if found == expected {
                    Ok(())
                } else {
                    Err(DictionaryError::Operands { found, expected })
                }
            }
        }
    }

    /// Checks that `id` is defined.
    pub fn check_string(&self, id: StrId) -> Result<(), DictionaryError> {
        self.require(id, "a string", |_| true)
    }

    fn check_name(&self, object: Object, name: StrId) -> Result<(), DictionaryError> {
        if let Object::Thread(_) = object {
            // The text format has another use for these where a thread would stand.
            let free = |entry: &Entry| entry.word && !matches!(&*entry.text, "-" | "init");
            self.require(name, "the name of a thread", free)
        } else {
            self.require(name, "a name", |entry| entry.word)
        }
    }

    fn add_string(&mut self, id: StrId, text: &Arc<str>) -> Result<(), DictionaryError> {
        in_order("string", id.get(), self.strings.len())?;
        if !is_text(text) {
            return Err(DictionaryError::Unfit { text: text.clone(), role: "a string of a trace" });
        }
        if self.string_ids.insert(text.clone(), id).is_some() {
            return Err(DictionaryError::Unfit { text: text.clone(), role: "defined twice" });
        }
        let word = is_word(text);
        self.strings.push(Entry {
            text: text.clone(),
            word,
            symbol: word && &**text != "_" && Value::parse_number(text).is_none(),
        });
        Ok(())
    }

    fn add_location(&mut self, id: LocId, location: Location) -> Result<(), DictionaryError> {
        in_order("location", id.get(), self.locations.len())?;
        let (Location::Source { file, .. } | Location::Code { module: file, .. }) = location;
        self.check_string(file)?;
        self.locations.push(location);
        // Two ids for one location do no harm: recorders may not find out that they gave two.
        self.location_ids.entry(location).or_insert(id);
        Ok(())
    }

    fn add_shape(&mut self, id: ShapeId, shape: &Shape) -> Result<(), DictionaryError> {
        in_order("shape", id.get(), self.shapes.len())?;
        if !expression::is_whole(shape) {
            return Err(DictionaryError::NoShape { number: id.get() });
        }
        let is_number = |value| matches!(value, Value::Nat(_) | Value::Neg(_));
        if shape.iter().any(|term| matches!(term, Term::Constant(value) if !is_number(*value))) {
            return Err(DictionaryError::NoShape { number: id.get() });
        }
        self.shapes.push(shape.clone());
        // Two ids for one shape do no harm.
        self.shape_ids.entry(shape.clone()).or_insert(id);
        Ok(())
    }

    fn require(
        &self,
        id: StrId,
        role: &'static str,
        fits: impl Fn(&Entry) -> bool,
    ) -> Result<(), DictionaryError> {
        match self.strings.get(id.index()) {
            None => Err(DictionaryError::Undefined { what: "string", number: id.get() }),
            Some(entry) if fits(entry) => Ok(()),
            Some(entry) => Err(DictionaryError::Unfit { text: entry.text.clone(), role }),
        }
    }
}

fn in_order(what: &'static str, found: u32, len: usize) -> Result<(), DictionaryError> {
    let expected = next_number(len);
    if found == expected {
        Ok(())
    } else {
        Err(DictionaryError::OutOfOrder { what, found, expected })
    }
}

fn next_number(len: usize) -> u32 {
    u32::try_from(len).expect("a dictionary of four billion entries does not fit in memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_locations_are_kept_once() {
        let mut dictionary = Dictionary::new();
        let file = dictionary.string("main.rs").unwrap();
        assert_eq!(dictionary.string("main.rs").unwrap(), file);
        let location = Location::Source { file, line: 3, column: None };
        let id = dictionary.location(location).unwrap();
        assert_eq!(dictionary.location(location).unwrap(), id);
        assert_eq!(dictionary.get_location(id), Some(location));
        assert_eq!(dictionary.definitions().len(), 2);
    }

    #[test]
    fn what_the_text_format_cannot_write_is_refused() {
        let mut dictionary = Dictionary::new();
        for bad in ["", "a\nb", "a  b", "#"] {
            assert!(dictionary.string(bad).is_err(), "{bad:?}");
        }
        let thread = Object::Thread(ThreadId::new(1));
        let error = dictionary.name(thread, "two words").unwrap_err();
        assert_eq!(error.to_string(), "`two words` cannot be the name of a thread");
        assert!(dictionary.name(thread, "init").is_err());
        dictionary.name(thread, "t1").unwrap();
        assert!(matches!(dictionary.name(thread, "t2"), Err(DictionaryError::Twice { .. })));
    }

    #[test]
    fn a_symbol_never_spells_another_value() {
        let mut dictionary = Dictionary::new();
        for (text, fits) in [("red", true), ("5", false), ("-5", false), ("_", false), ("05", true)]
        {
            let id = dictionary.string(text).unwrap();
            assert_eq!(dictionary.check_value(Value::Symbol(id)).is_ok(), fits, "{text}");
        }
        assert!(dictionary.check_value(Value::Symbol(StrId::new(99))).is_err());
    }

    #[test]
    fn memory_overlaps_only_what_lived_at_the_same_time() {
        let mut dictionary = Dictionary::new();
        let mut define = |var, address, since, until: Option<u32>| {
            let var = VarId::new(var);
            dictionary.define(Definition::Memory { var, address, size: 8, since }).unwrap();
            if let Some(until) = until {
                dictionary.define(Definition::GivenBack { var, until }).unwrap();
            }
            dictionary.get_memory(var).unwrap()
        };
        let old = define(1, 0x1000, 0, Some(1));
        let part = define(2, 0x1004, 0, None);
        let new = define(3, 0x1000, 1, None);
        let neighbour = define(4, 0x1008, 0, None);
        assert!(old.overlaps(&part) && part.overlaps(&old) && part.overlaps(&new));
        assert!(!old.overlaps(&new) && !new.overlaps(&old));
        assert!(!old.overlaps(&neighbour) && part.overlaps(&neighbour));
    }

    #[test]
    fn only_what_is_there_is_given_back() {
        let mut dictionary = Dictionary::new();
        let var = VarId::new(1);
        assert!(dictionary.define(Definition::GivenBack { var, until: 1 }).is_err());
        dictionary.define(Definition::Memory { var, address: 8, size: 8, since: 1 }).unwrap();
        assert!(dictionary.define(Definition::GivenBack { var, until: 1 }).is_err());
        dictionary.define(Definition::GivenBack { var, until: 2 }).unwrap();
        assert!(dictionary.define(Definition::GivenBack { var, until: 3 }).is_err());
    }

    #[test]
    fn a_thread_is_foreign_once_and_memory_freed_once_and_places_are_known() {
        let mut dictionary = Dictionary::new();
        let thread = ThreadId::new(3);
        dictionary.define(Definition::Foreign { thread }).unwrap();
        assert!(dictionary.is_foreign(thread) && !dictionary.is_foreign(ThreadId::new(2)));
        assert!(dictionary.define(Definition::Foreign { thread }).is_err());
        let var = VarId::new(3);
        dictionary.define(Definition::Freed { var }).unwrap();
        assert!(dictionary.is_freed(var) && !dictionary.is_freed(VarId::new(2)));
        assert!(dictionary.define(Definition::Freed { var }).is_err());
        let nowhere = Definition::Unattributed { location: Some(LocId::new(0)) };
        assert!(dictionary.define(nowhere).is_err());
        dictionary.define(Definition::Unattributed { location: None }).unwrap();
        assert_eq!(dictionary.unattributed(), [None]);
    }

    #[test]
    fn ids_are_given_in_order() {
        let mut dictionary = Dictionary::new();
        let skipped = Definition::String { id: StrId::new(1), text: "a".into() };
        let error = dictionary.define(skipped).unwrap_err();
        assert_eq!(error.to_string(), "string 1 is defined out of order, 0 is next");
    }
}
