//! Builds the trace that analyses work on.

use std::str::FromStr;

use racelog::trace::{
    BarrierId, ChannelId, CondvarId, Dictionary, End, Event, Item, LockId, Metadata, Object,
    Patience, Shape, ShapeId, ThreadId, Value, VarId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

use super::columns::Columns;
use super::data::{DataLoader, Unsound};
use super::foreign::Foreign;
use super::format::{Format, Names, Source, SourceError};
use super::loaded::Request;
use super::originals::Originals;
use super::overlaps::Overlaps;
use super::pipeline;
use super::translate::Translate;
use super::validate::{Invalid, validate};
use super::{EventId, Groups, Op, Trace, ValueId, Values};

/// Why a trace cannot be loaded.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum LoadError {
    #[error("{0}")]
    Source(#[from] SourceError),
    #[error("event {}: longer traces cannot be loaded", MAX_EVENTS)]
    TooLong,
    #[error("before event {before}: `{variable}` has an initial value already")]
    InitTwice { variable: String, before: u64 },
    #[error("before event {before}: the initial value of `{variable}` comes after its first use")]
    InitLate { variable: String, before: u64 },
    #[error("event {event}: {why}")]
    Expression { event: u64, why: String },
    #[error("{0}")]
    Invalid(#[from] Box<Invalid>),
}

/// Ids of events and values share 32 bits.
const MAX_EVENTS: usize = (1 << 31) - 1;

/// Room is made for at most so many events before they are there.
const MOST_EXPECTED: u64 = 1 << 24;

impl Trace {
    /// Loads and validates a trace. `progress` is called after every item.
    pub fn load(source: &mut Source, mut progress: impl FnMut(&Source)) -> Result<Self, LoadError> {
        let mut loader = Loader::new();
        // What a file says of its length is not believed beyond this.
        let expected = source.events().unwrap_or(0).min(MOST_EXPECTED);
        loader.columns.reserve(expected as usize);
        let mut items = 0;
        while items < WORTH_A_THREAD {
            if !source.advance()? {
                return loader.finish_of(source);
            }
            loader.push(source.dictionary(), source.item())?;
            progress(source);
            items += 1;
        }
        let loader = pipeline::read_ahead(loader, source, progress)?;
        loader.finish_of(source)
    }
}

/// So many items are loaded before a second thread is worth its while.
const WORTH_A_THREAD: usize = 1 << 14;

/// Reads the text format.
impl FromStr for Trace {
    type Err = LoadError;

    fn from_str(text: &str) -> Result<Self, LoadError> {
        Self::load(&mut Source::of_bytes(text.into(), Some(Format::Text))?, |_| {})
    }
}

/// Takes a trace item by item.
#[derive(Debug, Default)]
pub struct Loader {
    columns: Columns,
    numbering: Numbering,
    threads: Vec<ThreadProgress>,
    initialised: FxHashSet<VarId>,
    /// What each thread was last about to do, if it has done nothing since.
    requests: FxHashMap<ThreadId, Request>,
    data: DataLoader,
    shapes: Vec<Shape>,
}

/// What the loader knows of a thread.
#[derive(Clone, Copy, Debug, Default)]
struct ThreadProgress {
    events: u32,
    /// How long it would have waited to do the last one.
    patience: Option<Patience>,
    /// Whether an implicit branch follows the last event.
    guarded: bool,
    fork: Option<EventId>,
}

impl Loader {
    /// A trace with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an item; `dictionary` knows what it refers to.
    pub fn push(&mut self, dictionary: &Dictionary, item: &Item) -> Result<(), LoadError> {
        self.learn(new_shapes(dictionary, self.shapes.len()));
        self.take(item).map_err(|refused| refused.explain(dictionary))
    }

    /// Takes shapes of expressions that come after those that are known.
    pub(super) fn learn(&mut self, shapes: impl IntoIterator<Item = Shape>) {
        self.shapes.extend(shapes);
    }

    /// How many shapes of expressions are known.
    pub(super) fn shape_count(&self) -> usize {
        self.shapes.len()
    }

    /// Adds an item.
    pub(super) fn take(&mut self, item: &Item) -> Result<(), Refused> {
        match item {
            Item::Init { var, value } => self.init(*var, *value),
            Item::Event(event) => self.event(event),
            Item::Request(event) => {
                self.request(event);
                Ok(())
            }
            Item::Said { thread, said } => {
                self.data.say(*thread, *said);
                Ok(())
            }
        }
    }

    /// Finishes a trace that was read to its end.
    fn finish_of(self, source: &Source) -> Result<Trace, LoadError> {
        let dictionary = source.dictionary().clone();
        let mut trace = self.finish(source.metadata(), dictionary, source.end())?;
        trace.lost_events = source.lost_events();
        Ok(trace)
    }

    /// Indexes the trace and checks that its order is a feasible execution.
    pub fn finish(
        self,
        metadata: Metadata,
        dictionary: Dictionary,
        end: End,
    ) -> Result<Trace, LoadError> {
        let Self { mut columns, numbering, mut threads, requests, data, .. } = self;
        let Numbering { originals, values, initial, .. } = numbering;
        // Threads that are only spoken of have no events.
        threads.resize(originals.threads.len(), ThreadProgress::default());
        let overlaps = Overlaps::merge(&dictionary, &originals, &mut columns);
        let original = |thread| match originals.object(Object::Thread(ThreadId::new(thread))) {
            Object::Thread(thread) => dictionary.is_foreign(thread),
            _ => false,
        };
        let foreign = (0..threads.len() as u32).map(original).collect();
        let foreign = Foreign::new(foreign, &columns.thread);
        let of_program = |object| originals.object(object);
        let channels = (0..originals.channels.len() as u32).map(ChannelId::new);
        let capacities = channels.map(|channel| match of_program(Object::Channel(channel)) {
            Object::Channel(channel) => dictionary.capacity(channel),
            _ => None,
        });
        let capacities = capacities.collect();
        let locks = (0..originals.locks.len() as u32).map(LockId::new);
        let fair = locks.map(|lock| match of_program(Object::Lock(lock)) {
            Object::Lock(lock) => dictionary.is_fair(lock),
            _ => false,
        });
        let fair = fair.collect();
        let ops = || columns.ops.iter();
        let (by_var, (by_thread, by_lock)) = rayon::join(
            || Groups::new(initial.len(), || ops().map(|op| op.var().map(VarId::index))),
            || {
                let thread = |thread: &ThreadId| Some(thread.index());
                let lock = |op: &Op| op.lock().map(LockId::index);
                (
                    Groups::new(threads.len(), || columns.thread.iter().map(thread)),
                    Groups::new(originals.locks.len(), || ops().map(lock)),
                )
            },
        );
        let trace = Trace {
            by_thread,
            by_var,
            by_lock,
            added: super::added::Added::default(),
            endings: super::endings::Endings::default(),
            scopes: super::scopes::Scopes::default(),
            forks: threads.iter().map(|thread| thread.fork).collect(),
            guarded_end: threads.iter().map(|thread| thread.guarded).collect(),
            metadata,
            dictionary,
            end,
            lost_events: 0,
            columns,
            values,
            originals,
            overlaps,
            foreign,
            initial,
            capacities,
            fair,
            requests,
            data: data.data,
            computed: FxHashSet::default(),
            atomic: FxHashMap::default(),
        };
        let computed = trace.data.iter().filter(|(_, data)| data.is.is_some());
        let computed = computed.filter_map(|(event, _)| trace.op(*event).var()).collect();
        let trace = Trace { atomic: atomic_regions(&trace), computed, ..trace };
        validate(&trace).map_err(Box::new)?;
        Ok(trace)
    }

    fn init(&mut self, var: VarId, value: Value) -> Result<(), Refused> {
        let before = self.columns.len() as u64 + 1;
        if !self.initialised.insert(var) {
            return Err(Refused::InitTwice { var, before });
        }
        if !self.numbering.init(var, value) {
            return Err(Refused::InitLate { var, before });
        }
        Ok(())
    }

    fn request(&mut self, event: &Event) {
        self.numbering.event = self.columns.len();
        let thread = self.numbering.thread(event.thread);
        let location = event.location;
        let op = self.numbering.op(event.op);
        // What ends a wait has the patience of the wait, which is the thread's last event.
        let patience = match op {
            Op::Wake { .. } | Op::WakeTimeout { .. } => {
                let last = self.threads.get(thread.index());
                last.and_then(|last| last.patience).unwrap_or(event.patience)
            }
            _ => event.patience,
        };
        self.requests.insert(thread, Request { op, location, patience });
    }

    fn event(&mut self, event: &Event) -> Result<(), Refused> {
        let index = self.columns.len();
        if index >= MAX_EVENTS {
            return Err(Refused::TooLong);
        }
        self.numbering.event = index;
        let thread = self.numbering.thread(event.thread);
        let op = self.numbering.op(event.op);
        let known = self.numbering.originals.threads.len();
        if self.threads.len() < known {
            self.threads.resize(known, ThreadProgress::default());
        }
        if let Op::Fork(child) = op {
            // A second fork is not valid, and the validator says so.
            self.threads[child.index()].fork.get_or_insert(EventId::from_index(index));
        }
        let progress = &mut self.threads[thread.index()];
        self.columns.thread.push(thread);
        self.columns.location.push(event.location);
        self.columns.position.push(progress.events);
        self.columns.guarded.push(progress.guarded);
        self.columns.recorded.push(event.recorded);
        self.columns.ops.push(op);
        if event.patience != Patience::Forever {
            self.columns.impatient.push((EventId::from_index(index), event.patience));
        }
        self.requests.remove(&thread);
        let place = (EventId::from_index(index), progress.events);
        progress.events += 1;
        progress.patience = Some(event.patience);
        progress.guarded = !event.recorded && op.implies_branch();
        let values = &mut self.numbering.values;
        self.data.event(&self.shapes, values, event, &op, place).map_err(|why| {
            let event = place.0.number();
            Refused::Expression { event, why }
        })
    }
}

/// The outermost regions of each thread that are meant to be atomic. One without an end lasts.
fn atomic_regions(trace: &Trace) -> FxHashMap<ThreadId, Vec<(u32, u32)>> {
    let mut regions: FxHashMap<ThreadId, Vec<(u32, u32)>> = FxHashMap::default();
    let mut depths: FxHashMap<ThreadId, u32> = FxHashMap::default();
    for (index, op) in trace.ops().iter().enumerate() {
        if !matches!(op, Op::AtomicBegin(_) | Op::AtomicEnd) {
            continue;
        }
        let event = EventId::from_index(index);
        let (thread, position) = (trace.thread(event), trace.position(event) as u32);
        let depth = depths.entry(thread).or_default();
        if let Op::AtomicBegin(_) = op {
            *depth += 1;
            if *depth == 1 {
                regions.entry(thread).or_default().push((position, u32::MAX));
            }
        } else if *depth > 0 {
            *depth -= 1;
            if let (0, Some(last)) = (*depth, regions.entry(thread).or_default().last_mut()) {
                last.1 = position;
            }
        }
    }
    regions
}

/// The shapes of expressions that a dictionary has, but for the first so many.
pub(super) fn new_shapes(dictionary: &Dictionary, known: usize) -> impl Iterator<Item = Shape> {
    (known..).map_while(|id| dictionary.get_shape(ShapeId::new(id as u32)).cloned())
}

/// Why an item is not taken, said without names.
#[derive(Clone, Debug)]
pub(super) enum Refused {
    TooLong,
    Expression { event: u64, why: Unsound },
    InitTwice { var: VarId, before: u64 },
    InitLate { var: VarId, before: u64 },
}

impl Refused {
    pub(super) fn explain(self, dictionary: &Dictionary) -> LoadError {
        let name = |var| Names::new().name(dictionary, Object::Var(var)).to_owned();
        match self {
            Self::TooLong => LoadError::TooLong,
            Self::Expression { event, why } => {
                LoadError::Expression { event, why: why.describe(dictionary) }
            }
            Self::InitTwice { var, before } => LoadError::InitTwice { variable: name(var), before },
            Self::InitLate { var, before } => LoadError::InitLate { variable: name(var), before },
        }
    }
}

/// Gives objects and values the numbers that they have in a loaded trace.
#[derive(Debug, Default)]
struct Numbering {
    originals: Originals,
    values: Values,
    initial: Vec<ValueId>,
    /// What each variable holds.
    current: Vec<ValueId>,
    /// The index of the event that is being translated.
    event: usize,
}

impl Numbering {
    /// Sets a variable's initial value; false if the variable is known already.
    fn init(&mut self, var: VarId, value: Value) -> bool {
        let known = self.originals.vars.len();
        self.numbered(var, value).index() == known
    }

    /// The number of a variable, which has this initial value if it is new.
    #[inline]
    fn numbered(&mut self, var: VarId, initial: Value) -> VarId {
        let known = self.originals.vars.len();
        let number = VarId::new(self.originals.vars.number(var.get()));
        if number.index() == known {
            let value = match initial {
                Value::Opaque => self.values.opaque_initial(),
                _ => self.values.concrete(initial),
            };
            self.initial.push(value);
            self.current.push(value);
        }
        number
    }
}

impl Translate<Value, ValueId> for Numbering {
    fn thread(&mut self, id: ThreadId) -> ThreadId {
        ThreadId::new(self.originals.threads.number(id.get()))
    }

    fn var(&mut self, id: VarId) -> VarId {
        // What no one has said is 0.
        self.numbered(id, Value::Nat(0))
    }

    fn lock(&mut self, id: LockId) -> LockId {
        LockId::new(self.originals.locks.number(id.get()))
    }

    fn condvar(&mut self, id: CondvarId) -> CondvarId {
        CondvarId::new(self.originals.condvars.number(id.get()))
    }

    fn channel(&mut self, id: ChannelId) -> ChannelId {
        ChannelId::new(self.originals.channels.number(id.get()))
    }

    fn barrier(&mut self, id: BarrierId) -> BarrierId {
        BarrierId::new(self.originals.barriers.number(id.get()))
    }

    /// An opaque read has seen exactly the last write before it.
    fn found(&mut self, var: VarId, value: Value) -> ValueId {
        let current = self.current[var.index()];
        // Nearly every read finds what was written last: no need to look that up by its value.
        if value == Value::Opaque || self.values.is(current, value) {
            return current;
        }
        self.values.concrete(value)
    }

    /// An opaque write is equal to no other.
    fn left(&mut self, var: VarId, value: Value) -> ValueId {
        let id = match value {
            Value::Opaque => Values::opaque_written(EventId::from_index(self.event)),
            _ => self.values.concrete(value),
        };
        self.current[var.index()] = id;
        id
    }

    fn message(&mut self, message: Value) -> ValueId {
        self.values.concrete(message)
    }
}
