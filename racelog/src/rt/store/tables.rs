//! The tables of a trace that is being recorded: strings and locations, each defined once.

use std::collections::HashMap;

use super::file::TraceFile;
use super::slot::{Full, Slot, UNIT, publish, put_header};
use crate::rt::base::call_site::{CallSite, Origin};
use crate::rt::memory::freed_vars;
use crate::rt::memory::modules::module_of;
use crate::trace::binary::chunk::{Chunk, HEADER_LEN, Kind};
use crate::trace::binary::tables::{PoisonFlag, put_definition, put_poison_flag};
use crate::trace::{
    Definition, Dictionary, LocId, Location, Object, ShapeId, StrId, Term, ThreadId, VarId,
};

/// The first tables chunk has about this many bytes, for most traces are small. Then they grow.
const FIRST_CHUNK: usize = 1024;
const LARGEST_CHUNK: usize = 64 * 1024;

/// So many threads that may belong to a trace and are not in it are counted.
const MOST_MISSED: usize = 1000;

/// What is defined in a trace, and the chunk that new definitions go to.
#[derive(Debug)]
pub(in crate::rt) struct Tables {
    dictionary: Dictionary,
    /// How many definitions are in the file.
    written: usize,
    /// Where each call site is defined, by its key: its id and the offset of its chunk.
    call_sites: HashMap<usize, (LocId, u64)>,
    /// How many variables' memory had been freed when the trace began, and when that was last
    /// looked at.
    freed: (u32, u32),
    /// The threads that may belong here and are not recorded here.
    missed: Vec<std::thread::ThreadId>,
    slot: Slot,
    at: usize,
    next_size: usize,
}

impl Tables {
    pub(in crate::rt) fn new(file: &TraceFile) -> Result<Self, Full> {
        let slot = allocate(file, FIRST_CHUNK)?;
        Ok(Self {
            dictionary: Dictionary::new(),
            written: 0,
            call_sites: HashMap::new(),
            freed: (freed_vars::count(), freed_vars::count()),
            missed: Vec::new(),
            slot,
            at: HEADER_LEN,
            next_size: 4 * FIRST_CHUNK,
        })
    }

    /// The location's id, and the offset of the chunk that defines it.
    pub(in crate::rt) fn locate(
        &mut self,
        file: &TraceFile,
        call_site: CallSite,
    ) -> Result<(LocId, u64), Full> {
        let key = call_site.key();
        if let Some(known) = self.call_sites.get(&key) {
            return Ok(*known);
        }
        let mut string =
            |text: &str| self.dictionary.string(&as_text(text)).expect("it was made to fit");
        let location = match call_site.origin() {
            Origin::Source(place) => {
                let (line, column) = (place.line(), Some(place.column()));
                Location::Source { file: string(place.file()), line, column }
            }
            Origin::Code(address) => {
                let (module, pc) = module_of(address);
                Location::Code { module: string(&module), pc }
            }
        };
        let id = self.dictionary.location(location).expect("its file is defined");
        self.write(file)?;
        // Two addresses can stand for one location; the later chunk is always late enough.
        self.call_sites.insert(key, (id, self.slot.offset));
        Ok((id, self.slot.offset))
    }

    /// The id of a text, and the offset of a chunk that comes no earlier than its definition.
    pub(in crate::rt) fn text(
        &mut self,
        file: &TraceFile,
        text: &str,
    ) -> Result<(StrId, u64), Full> {
        let id = self.dictionary.string(&as_text(text)).expect("it was made to fit");
        self.write(file)?;
        Ok((id, self.slot.offset))
    }

    /// The id of a shape of expressions, and the offset of the chunk that defines it; `None` if it
    /// computes nothing.
    pub(in crate::rt) fn shape(
        &mut self,
        file: &TraceFile,
        shape: &[Term],
    ) -> Result<Option<(ShapeId, u64)>, Full> {
        let Ok(id) = self.dictionary.shape(shape) else { return Ok(None) };
        self.write(file)?;
        Ok(Some((id, self.slot.offset)))
    }

    /// Gives an object a name.
    pub(in crate::rt) fn name(
        &mut self,
        file: &TraceFile,
        object: Object,
        name: &str,
    ) -> Result<(), Full> {
        let mut name = as_text(name).replace(' ', "_");
        if matches!(&*name, "-" | "init") {
            name.push('_');
        }
        // An object that has a name already keeps it.
        let _ = self.dictionary.name(object, &name);
        self.write(file)
    }

    /// Says which memory a variable stands for; returns the offset of the chunk that says so.
    pub(in crate::rt) fn memory(
        &mut self,
        file: &TraceFile,
        var: VarId,
        address: u64,
        size: u32,
    ) -> Result<u64, Full> {
        // What was freed before this memory was used for anything must be known before: the
        // two may be the same. Of what this trace does not know nothing has to be said.
        let dictionary = &mut self.dictionary;
        let (start, seen) = self.freed;
        let now = freed_vars::since(seen, |var, until| {
            let _ = dictionary.define(Definition::GivenBack { var, until: until - start });
        });
        self.freed = (start, now);
        // A variable that has memory already keeps it.
        let since = now - start;
        let _ = self.dictionary.define(Definition::Memory { var, address, size, since });
        self.write(file)?;
        Ok(self.slot.offset)
    }

    /// Says that a thread is foreign: no recorded thread has started it.
    pub(in crate::rt) fn foreign(
        &mut self,
        file: &TraceFile,
        thread: ThreadId,
    ) -> Result<(), Full> {
        // A thread is new when this is said of it.
        let _ = self.dictionary.define(Definition::Foreign { thread });
        self.write(file)
    }

    /// Says that the calling thread, which is not recorded here, may do so what belongs here.
    pub(in crate::rt) fn misses(
        &mut self,
        file: &TraceFile,
        here: Option<CallSite>,
    ) -> Result<(), Full> {
        let thread = std::thread::current().id();
        if self.missed.len() >= MOST_MISSED || self.missed.contains(&thread) {
            return Ok(());
        }
        let location = match here {
            Some(call_site) => Some(self.locate(file, call_site)?.0),
            None => None,
        };
        self.missed.push(thread);
        let _ = self.dictionary.define(Definition::Unattributed { location });
        self.write(file)
    }

    /// Says something of an object, once; returns the offset of a chunk that comes no earlier.
    pub(in crate::rt) fn define(
        &mut self,
        file: &TraceFile,
        definition: Definition,
    ) -> Result<u64, Full> {
        // Of an object that it is said of already nothing has to be said.
        let _ = self.dictionary.define(definition);
        self.write(file)?;
        Ok(self.slot.offset)
    }

    /// Writes what is new.
    fn write(&mut self, file: &TraceFile) -> Result<(), Full> {
        while let Some(definition) = self.dictionary.definitions().get(self.written) {
            let mut bytes = Vec::new();
            put_definition(&mut bytes, definition);
            if self.put(file, &bytes)? {
                self.written += 1;
            } else {
                // A string of several kilobytes: no name or path is so long. Another stands in.
                self.shorten();
            }
        }
        Ok(())
    }

    /// Writes a record; false if it is too long for any chunk.
    fn put(&mut self, file: &TraceFile, record: &[u8]) -> Result<bool, Full> {
        // A zero has to follow, or the chunk has to end.
        if self.at + record.len() > self.slot.len {
            self.seal();
            let needed = HEADER_LEN + record.len() + UNIT;
            self.slot = allocate(file, self.next_size.max(needed).min(LARGEST_CHUNK))?;
            self.at = HEADER_LEN;
            self.next_size = (self.next_size * 4).min(LARGEST_CHUNK);
            if self.at + record.len() > self.slot.len {
                return Ok(false);
            }
        }
        publish(self.slot, self.at, record);
        self.at += record.len();
        Ok(true)
    }

    /// Says which variable a lock's poison flag is; returns the offset of the chunk that says so.
    pub(in crate::rt) fn poison_flag(
        &mut self,
        file: &TraceFile,
        flag: PoisonFlag,
    ) -> Result<u64, Full> {
        let mut bytes = Vec::new();
        put_poison_flag(&mut bytes, flag);
        self.put(file, &bytes)?;
        Ok(self.slot.offset)
    }

    /// Replaces the definition that does not fit by one that does.
    fn shorten(&mut self) {
        if let Some(Definition::String { id, .. }) = self.dictionary.definitions().get(self.written)
        {
            let text = format!("(too_long_{})", id.get());
            let mut bytes = Vec::new();
            put_definition(&mut bytes, &Definition::String { id: *id, text: text.into() });
            publish(self.slot, self.at, &bytes);
            self.at += bytes.len();
        }
        self.written += 1;
    }

    /// Marks the chunk as complete.
    pub(in crate::rt) fn seal(&mut self) {
        let payload = self.slot.bytes(HEADER_LEN..self.slot.len);
        let chunk = Chunk::without_events(Kind::Tables, payload.len() as u32);
        put_header(self.slot, &chunk.encode(payload));
    }
}

fn allocate(file: &TraceFile, size: usize) -> Result<Slot, Full> {
    file.allocate(size, |slot| {
        let mut chunk = Chunk::without_events(Kind::Tables, (slot.len - HEADER_LEN) as u32);
        chunk.open = true;
        publish(slot, 0, &chunk.encode(&[]));
    })
}

/// A string that can stand in a trace.
fn as_text(text: &str) -> String {
    let fits = |c: char| !c.is_whitespace() && !c.is_control() && c != '#';
    let words: Vec<String> = text
        .split_whitespace()
        .map(|word| word.chars().map(|c| if fits(c) { c } else { '_' }).collect::<String>())
        .map(|word| if word == "@" { "_".to_owned() } else { word })
        .collect();
    if words.is_empty() { "_".to_owned() } else { words.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_made_to_fit() {
        for text in ["src/main.rs", "a  b", "#x", "", " ", "@", "a\u{7}b"] {
            assert!(crate::trace::is_text(&as_text(text)), "{text:?}");
        }
        assert_eq!(as_text("src/my file.rs"), "src/my file.rs");
    }
}
