//! Writes the text format.

use std::collections::hash_map::Entry;
use std::io::{self, Write};

use racelog::trace::{
    Definition, Dictionary, End, Event, Item, LocId, Location, MemoryOrdering, Metadata, Object,
    Op, Patience, Said, ThreadId, Value, VarId, Woken,
};
use rustc_hash::FxHashMap;

use super::directive::Directive;
use super::said::{self, ValueNames};
use crate::trace::format::names::Names;
use crate::trace::since::UnsureReads;

/// Writes a trace as text.
#[derive(Debug)]
pub struct TextWriter<W> {
    out: W,
    printer: EventPrinter,
    line: Vec<u8>,
    /// Which threads are, by the last comment about them, not in recorded code.
    unrecorded: FxHashMap<ThreadId, bool>,
    lost: u64,
    /// How many threads that may belong to the trace and are not in it have been spoken of.
    unattributed: usize,
    /// How many definitions have been looked at for what is said of channels and locks.
    declared: usize,
    /// What is said of values.
    values: SaidPrinter,
}

/// What is said of values, as it stands in the lines of events. It has to see all of a trace.
#[derive(Debug, Default)]
pub struct SaidPrinter {
    names: ValueNames,
    /// What is said of each thread's next event.
    said: FxHashMap<ThreadId, Vec<Said>>,
    reads: FxHashMap<ThreadId, UnsureReads>,
    events: u64,
}

impl SaidPrinter {
    /// A printer that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Something is said of a thread's next event.
    pub fn say(&mut self, thread: ThreadId, said: Said) {
        self.said.entry(thread).or_default().push(said);
    }

    /// What is said of an event, which is the next: what its line has before its location.
    pub fn event(&mut self, dictionary: &Dictionary, event: &Event) -> String {
        self.events += 1;
        let said = self.said.remove(&event.thread).unwrap_or_default();
        let reads = self.reads.entry(event.thread).or_default();
        let (thread, op) = (event.thread, &event.op);
        let decides = |said: &Said| matches!(said, Said::Is(_) | Said::Expects(_));
        let conditions = matches!(op, Op::Branch | Op::Check { .. } | Op::Cas { .. });
        let is_sure = (conditions || matches!(op, Op::CasFail { .. })) && !said.iter().any(decides);
        // After what takes input in code that does not record its branches, a branch follows.
        let guarded = op.implies_branch() && !event.recorded;
        if is_sure || guarded {
            reads.clear();
        }
        let text = said::print(dictionary, &mut self.names, reads, (thread, op), &said);
        if op.takes_input() && !guarded {
            reads.add(event.stamp, self.events);
        }
        text
    }
}

impl<W: Write> TextWriter<W> {
    /// Starts a trace.
    pub fn new(mut out: W, metadata: &Metadata) -> io::Result<Self> {
        for directive in Directive::of_metadata(metadata) {
            writeln!(out, "{directive}")?;
        }
        let printer = EventPrinter::new();
        let (line, unrecorded) = (Vec::new(), FxHashMap::default());
        let values = SaidPrinter::new();
        Ok(Self { out, printer, line, unrecorded, lost: 0, unattributed: 0, declared: 0, values })
    }

    /// Writes an item.
    pub fn write(&mut self, dictionary: &Dictionary, item: &Item) -> io::Result<()> {
        if let Item::Said { thread, said } = item {
            self.values.say(*thread, *said);
            return Ok(());
        }
        self.line.clear();
        self.put_declarations(dictionary)?;
        self.put_unattributed(dictionary)?;
        match item {
            Item::Said { .. } => {}
            Item::Init { var, value } => {
                self.printer.init(dictionary, *var, *value, &mut self.line);
            }
            Item::Event(event) | Item::Request(event) => {
                let unrecorded = match self.unrecorded.entry(event.thread) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(first) => {
                        if dictionary.is_foreign(event.thread) {
                            let thread = Object::Thread(event.thread);
                            let thread = self.printer.names.name(dictionary, thread);
                            writeln!(self.line, "{}", Directive::Foreign(thread))?;
                        }
                        first.insert(false)
                    }
                };
                if *unrecorded == event.recorded {
                    *unrecorded = !event.recorded;
                    let thread = self.printer.names.name(dictionary, Object::Thread(event.thread));
                    writeln!(self.line, "{}", Directive::Recorded(thread, event.recorded))?;
                }
                match item {
                    Item::Request(_) => self.printer.request(dictionary, event, &mut self.line),
                    _ => {
                        let said = self.values.event(dictionary, event);
                        self.printer.event_with(dictionary, event, &said, &mut self.line);
                    }
                }
            }
        }
        self.line.push(b'\n');
        self.out.write_all(&self.line)
    }

    /// So many events are known to be missing in the trace.
    pub fn set_lost_events(&mut self, lost: u64) {
        self.lost = lost;
    }

    /// Says how much channels hold and which locks are fair, where that is new.
    fn put_declarations(&mut self, dictionary: &Dictionary) -> io::Result<()> {
        let all = dictionary.definitions();
        for definition in &all[self.declared..] {
            match definition {
                Definition::Capacity { channel, messages } => {
                    let channel = Object::Channel(*channel);
                    let name = self.printer.names.name(dictionary, channel);
                    writeln!(self.line, "channel {name} {messages}")?;
                }
                Definition::Fair { lock } => {
                    let name = self.printer.names.name(dictionary, Object::Lock(*lock));
                    writeln!(self.line, "fair {name}")?;
                }
                _ => {}
            }
        }
        self.declared = all.len();
        Ok(())
    }

    fn put_unattributed(&mut self, dictionary: &Dictionary) -> io::Result<()> {
        for location in &dictionary.unattributed()[self.unattributed..] {
            let place = location.map(|location| location_text(dictionary, location));
            writeln!(self.line, "{}", Directive::Unattributed(place.as_deref()))?;
        }
        self.unattributed = dictionary.unattributed().len();
        Ok(())
    }

    fn put_freed(&mut self, dictionary: &Dictionary) -> io::Result<()> {
        for definition in dictionary.definitions() {
            if let Definition::Freed { var } = definition {
                let name = self.printer.names.name(dictionary, Object::Var(*var));
                writeln!(self.line, "{}", Directive::Freed(name))?;
            }
        }
        Ok(())
    }

    /// Writes the end.
    pub fn finish(mut self, dictionary: &Dictionary, end: End) -> io::Result<W> {
        self.line.clear();
        self.put_declarations(dictionary)?;
        self.put_freed(dictionary)?;
        self.put_unattributed(dictionary)?;
        self.out.write_all(&self.line)?;
        if self.lost > 0 {
            writeln!(self.out, "{}", Directive::Lost(self.lost))?;
        }
        if end != End::Clean {
            writeln!(self.out, "{}", Directive::End(end))?;
        }
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Prints events, each as its line in the text format.
#[derive(Debug, Default)]
pub struct EventPrinter {
    names: Names,
    locations: Vec<Option<Box<str>>>,
}

impl EventPrinter {
    /// A printer that has printed nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The name that this printer prints for an object.
    pub fn name(&mut self, dictionary: &Dictionary, object: Object) -> &str {
        self.names.name(dictionary, object)
    }

    /// Prints the initial value of a variable, without line break.
    pub fn init(&mut self, dictionary: &Dictionary, var: VarId, value: Value, out: &mut Vec<u8>) {
        out.extend_from_slice(b"init");
        self.put_object(dictionary, Object::Var(var), out);
        put_value(dictionary, value, out);
    }

    /// Prints an event, without line break.
    pub fn event(&mut self, dictionary: &Dictionary, event: &Event, out: &mut Vec<u8>) {
        let mut said = String::new();
        said::put_end(dictionary, &event.op, None, &mut said);
        self.event_with(dictionary, event, &said, out);
    }

    /// Prints an event and what is [said](SaidPrinter) of it, without line break.
    pub fn event_with(
        &mut self,
        dictionary: &Dictionary,
        event: &Event,
        said: &str,
        out: &mut Vec<u8>,
    ) {
        let thread = self.names.name(dictionary, Object::Thread(event.thread));
        out.extend_from_slice(thread.as_bytes());
        self.put_rest(dictionary, event, said, out);
    }

    /// Prints what a thread is about to do, without line break.
    fn request(&mut self, dictionary: &Dictionary, event: &Event, out: &mut Vec<u8>) {
        let thread = self.names.name(dictionary, Object::Thread(event.thread));
        out.extend_from_slice(thread.as_bytes());
        put_word("request", out);
        self.put_rest(dictionary, event, "", out);
    }

    /// Prints all of an event but its thread.
    fn put_rest(&mut self, dictionary: &Dictionary, event: &Event, said: &str, out: &mut Vec<u8>) {
        put_word(event.op.keyword(), out);
        self.put_operands(dictionary, &event.op, out);
        match event.patience {
            Patience::Forever => {}
            Patience::Try => put_word("try", out),
            Patience::Timed => put_word("timed", out),
        }
        out.extend_from_slice(said.as_bytes());
        if let Some(id) = event.location {
            put_word("@", out);
            out.push(b' ');
            self.put_location(dictionary, id, out);
        }
    }

    /// Prints a location.
    pub fn put_location(&mut self, dictionary: &Dictionary, id: LocId, out: &mut Vec<u8>) {
        if self.locations.len() <= id.index() {
            self.locations.resize(id.index() + 1, None);
        }
        let text =
            self.locations[id.index()].get_or_insert_with(|| location_text(dictionary, id).into());
        out.extend_from_slice(text.as_bytes());
    }

    fn put_operands(&mut self, dictionary: &Dictionary, op: &Op, out: &mut Vec<u8>) {
        for touch in op.touches() {
            self.put_object(dictionary, touch.object, out);
        }
        match *op {
            Op::Begin
            | Op::End
            | Op::Branch
            | Op::Fork(_)
            | Op::Join(_)
            | Op::Acquire(_)
            | Op::Release(_)
            | Op::ReadAcquire(_)
            | Op::ReadRelease(_)
            | Op::AcquireFail(_)
            | Op::ReadAcquireFail(_)
            | Op::Wait { .. }
            | Op::Wake { .. }
            | Op::WakeTimeout { .. }
            | Op::NotifyAll(_)
            | Op::Park
            | Op::ParkTimeout
            | Op::Unpark(_)
            | Op::RecvEmpty(_)
            | Op::RecvClosed(_)
            | Op::Close(_)
            | Op::ReceiverClose(_)
            | Op::SendFull(_)
            | Op::OnceBegin(_)
            | Op::OnceEnd(_)
            | Op::OnceWait(_) => {}
            Op::Read { value, .. } | Op::Write { value, .. } | Op::Exclusive { value, .. } => {
                put_value(dictionary, value, out);
            }
            Op::Load { value, ordering, .. }
            | Op::Store { value, ordering, .. }
            | Op::CasFail { seen: value, ordering, .. } => {
                put_value(dictionary, value, out);
                put_ordering(ordering, out);
            }
            Op::Rmw { old, new, ordering, .. } | Op::Cas { old, new, ordering, .. } => {
                put_value(dictionary, old, out);
                put_value(dictionary, new, out);
                put_ordering(ordering, out);
            }
            Op::Fence(ordering) => put_ordering(ordering, out),
            Op::NotifyOne { woken: Woken::Unknown, .. } => {}
            Op::NotifyOne { woken: Woken::Nobody, .. } => put_word("-", out),
            Op::NotifyOne { woken: Woken::Thread(thread), .. } => {
                self.put_object(dictionary, Object::Thread(thread), out);
            }
            Op::Send { message, .. }
            | Op::Recv { message, .. }
            | Op::SendClosed { message, .. } => {
                put_value(dictionary, message, out);
            }
            Op::Arrive { generation, .. } | Op::Leave { generation, .. } => {
                put_number(generation.into(), out);
            }
            // The text of a check comes after what is said of it.
            Op::Check { .. } | Op::AtomicEnd | Op::AtomicBegin(None) => {}
            Op::Assert(text) | Op::AtomicBegin(Some(text)) => {
                put_word(dictionary.get_string(text).unwrap_or("?"), out);
            }
        }
    }

    fn put_object(&mut self, dictionary: &Dictionary, object: Object, out: &mut Vec<u8>) {
        put_word(self.names.name(dictionary, object), out);
    }
}

fn location_text(dictionary: &Dictionary, id: LocId) -> String {
    let text = |id| dictionary.get_string(id).unwrap_or("?");
    match dictionary.get_location(id) {
        Some(Location::Source { file, line, column: None }) => format!("{}:{line}", text(file)),
        Some(Location::Source { file, line, column: Some(column) }) => {
            format!("{}:{line}:{column}", text(file))
        }
        Some(Location::Code { module, pc }) => format!("{}:{pc:#x}", text(module)),
        None => "?:0".to_owned(),
    }
}

fn put_word(word: &str, out: &mut Vec<u8>) {
    out.push(b' ');
    out.extend_from_slice(word.as_bytes());
}

fn put_value(dictionary: &Dictionary, value: Value, out: &mut Vec<u8>) {
    match value {
        Value::Opaque => put_word("_", out),
        Value::Nat(number) => put_number(number, out),
        Value::Neg(number) => put_word(&number.to_string(), out),
        Value::Symbol(id) => put_word(dictionary.get_string(id).unwrap_or("?"), out),
    }
}

fn put_number(number: u128, out: &mut Vec<u8>) {
    // Most numbers are small, and division of 128-bit ones is slow.
    match u64::try_from(number) {
        Ok(small) => write!(out, " {small}"),
        Err(_) => write!(out, " {number}"),
    }
    .expect("writing to memory succeeds");
}

fn put_ordering(ordering: Option<MemoryOrdering>, out: &mut Vec<u8>) {
    let word = match ordering {
        None => return,
        Some(MemoryOrdering::Relaxed) => "relaxed",
        Some(MemoryOrdering::Acquire) => "acquire",
        Some(MemoryOrdering::Release) => "release",
        Some(MemoryOrdering::AcqRel) => "acqrel",
        Some(MemoryOrdering::SeqCst) => "seqcst",
    };
    put_word(word, out);
}
