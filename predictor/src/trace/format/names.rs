//! How objects are called where people read a trace.

use racelog::trace::{Definition, Dictionary, Memory, Object};
use rustc_hash::{FxHashMap, FxHashSet};

/// Gives every object one name, and no two objects of a kind the same.
///
/// An object's own name is used where it has one. A variable that stands for a piece of memory
/// says so: `name[0x7f00+4]`. Other objects are called by their kind and number.
#[derive(Debug, Default)]
pub struct Names {
    names: FxHashMap<Object, Box<str>>,
    taken: FxHashSet<(Kind, Box<str>)>,
    /// How many definitions have been looked at.
    seen: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Kind {
    Thread,
    Var,
    Lock,
    Condvar,
    Channel,
    Barrier,
}

impl Names {
    /// No names yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The object's name.
    pub fn name(&mut self, dictionary: &Dictionary, object: Object) -> &str {
        // The borrow checker wants the look-up twice.
        if !self.names.contains_key(&object) {
            self.take_defined(dictionary);
            if !self.names.contains_key(&object) {
                self.give(object, &generated(object));
            }
        }
        &self.names[&object]
    }

    /// Own names go first, so that a generated one never takes another object's own.
    fn take_defined(&mut self, dictionary: &Dictionary) {
        let new = &dictionary.definitions()[self.seen..];
        self.seen = dictionary.definitions().len();
        for definition in new {
            let object = match *definition {
                Definition::Name { object, .. } => object,
                Definition::Memory { var, .. } => Object::Var(var),
                Definition::String { .. }
                | Definition::Location { .. }
                | Definition::GivenBack { .. }
                | Definition::Foreign { .. }
                | Definition::Freed { .. }
                | Definition::Capacity { .. }
                | Definition::Fair { .. }
                | Definition::Shape { .. }
                | Definition::Unattributed { .. } => continue,
            };
            if !self.names.contains_key(&object) {
                self.give(object, &own(dictionary, object));
            }
        }
    }

    fn give(&mut self, object: Object, wanted: &str) {
        let kind = kind_and_number(object).0;
        let mut name: Box<str> = wanted.into();
        while !self.taken.insert((kind, name.clone())) {
            name = format!("{name}~{}", kind_and_number(object).1).into();
        }
        self.names.insert(object, name);
    }
}

fn own(dictionary: &Dictionary, object: Object) -> String {
    let name = dictionary.get_name(object);
    if let Object::Var(var) = object
        && let Some(memory) = dictionary.get_memory(var)
    {
        return format!("{}{}", name.unwrap_or_default(), place(memory));
    }
    name.map_or_else(|| generated(object), str::to_owned)
}

/// How memory is spelled: with its life, unless it was always there.
pub(super) fn place(memory: Memory) -> String {
    let Memory { address, size, since, until } = memory;
    match until {
        None if since == 0 => format!("[{address:#x}+{size}]"),
        None => format!("[{address:#x}+{size}@{since}..]"),
        Some(until) => format!("[{address:#x}+{size}@{since}..{until}]"),
    }
}

fn generated(object: Object) -> String {
    let (kind, number) = kind_and_number(object);
    let prefix = match kind {
        Kind::Thread => "t",
        Kind::Var => "x",
        Kind::Lock => "l",
        Kind::Condvar => "c",
        Kind::Channel => "ch",
        Kind::Barrier => "b",
    };
    format!("{prefix}{number}")
}

fn kind_and_number(object: Object) -> (Kind, u32) {
    match object {
        Object::Thread(id) => (Kind::Thread, id.get()),
        Object::Var(id) => (Kind::Var, id.get()),
        Object::Lock(id) => (Kind::Lock, id.get()),
        Object::Condvar(id) => (Kind::Condvar, id.get()),
        Object::Channel(id) => (Kind::Channel, id.get()),
        Object::Barrier(id) => (Kind::Barrier, id.get()),
    }
}

#[cfg(test)]
mod tests {
    use racelog::trace::{LockId, VarId};

    use super::*;

    #[test]
    fn names_are_unique_within_their_kind() {
        let mut dictionary = Dictionary::new();
        let var = |n| Object::Var(VarId::new(n));
        dictionary.name(var(5), "x3").unwrap();
        dictionary.name(var(6), "x3").unwrap();
        let mut names = Names::new();
        assert_eq!(names.name(&dictionary, var(3)), "x3~3");
        assert_eq!(names.name(&dictionary, var(5)), "x3");
        assert_eq!(names.name(&dictionary, var(6)), "x3~6");
        assert_eq!(names.name(&dictionary, Object::Lock(LockId::new(3))), "l3");
    }

    #[test]
    fn memory_is_shown_by_its_place() {
        let mut dictionary = Dictionary::new();
        let memory = |var, address| Definition::Memory { var, address, size: 4, since: 0 };
        dictionary.define(memory(VarId::new(1), 0x1000)).unwrap();
        dictionary.name(Object::Var(VarId::new(2)), "head").unwrap();
        dictionary.define(memory(VarId::new(2), 0x1004)).unwrap();
        let mut names = Names::new();
        assert_eq!(names.name(&dictionary, Object::Var(VarId::new(1))), "[0x1000+4]");
        assert_eq!(names.name(&dictionary, Object::Var(VarId::new(2))), "head[0x1004+4]");
    }
}
