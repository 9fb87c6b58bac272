//! Numbers the objects that a textual format calls by name.

use racelog::trace::{
    BarrierId, ChannelId, CondvarId, Definition, Dictionary, DictionaryError, LocId, Location,
    LockId, Memory, Object, ThreadId, VarId,
};
use rustc_hash::FxHashMap;

use super::names::place;

type Numbers = FxHashMap<Box<str>, u32>;

/// Ids for names, in order of first use, and the dictionary that explains them.
#[derive(Debug, Default)]
pub(super) struct Ids {
    pub(super) dictionary: Dictionary,
    threads: Numbers,
    vars: Numbers,
    locks: Numbers,
    condvars: Numbers,
    channels: Numbers,
    barriers: Numbers,
    locations: FxHashMap<Box<str>, LocId>,
}

macro_rules! by_name {
    ($($method:ident $map:ident $id:ident $object:ident;)*) => {$(
        pub(super) fn $method(&mut self, name: &str) -> Result<$id, DictionaryError> {
            if let Some(number) = self.$map.get(name) {
                return Ok($id::new(*number));
            }
            let id = $id::new(next_number(&self.$map));
            self.dictionary.name(Object::$object(id), name)?;
            self.$map.insert(name.into(), id.get());
            Ok(id)
        }
    )*};
}

impl Ids {
    by_name! {
        thread threads ThreadId Thread;
        lock locks LockId Lock;
        condvar condvars CondvarId Condvar;
        channel channels ChannelId Channel;
        barrier barriers BarrierId Barrier;
    }

    pub(super) fn var(&mut self, name: &str) -> Result<VarId, DictionaryError> {
        if let Some(number) = self.vars.get(name) {
            return Ok(VarId::new(*number));
        }
        let var = VarId::new(next_number(&self.vars));
        if let Some((own_name, memory)) = parse_memory(name) {
            if !own_name.is_empty() {
                self.dictionary.name(Object::Var(var), own_name)?;
            }
            let Memory { address, size, since, until } = memory;
            self.dictionary.define(Definition::Memory { var, address, size, since })?;
            if let Some(until) = until {
                self.dictionary.define(Definition::GivenBack { var, until })?;
            }
        } else {
            self.dictionary.name(Object::Var(var), name)?;
        }
        self.vars.insert(name.into(), var.get());
        Ok(var)
    }

    /// The id of the location that `text` spells; `parse` reads it when it is new.
    pub(super) fn location<E: From<DictionaryError>>(
        &mut self,
        text: &str,
        parse: impl FnOnce(&mut Dictionary, &str) -> Result<Location, E>,
    ) -> Result<LocId, E> {
        if let Some(id) = self.locations.get(text) {
            return Ok(*id);
        }
        let location = parse(&mut self.dictionary, text)?;
        let id = self.dictionary.location(location)?;
        self.locations.insert(text.into(), id);
        Ok(id)
    }
}

fn next_number(numbers: &Numbers) -> u32 {
    u32::try_from(numbers.len()).expect("four billion names do not fit in memory")
}

/// Reads `name[0x1000+4]`, or `name[0x1000+4@2..5]`, in the one spelling that
/// [`super::names::Names`] gives it.
fn parse_memory(word: &str) -> Option<(&str, Memory)> {
    let (name, range) = word.strip_suffix(']')?.rsplit_once("[0x")?;
    let (address, rest) = range.split_once('+')?;
    let (size, life) = rest.split_once('@').unwrap_or((rest, "0.."));
    let (since, until) = life.split_once("..")?;
    let memory = Memory {
        address: u64::from_str_radix(address, 16).ok()?,
        size: size.parse().ok()?,
        since: since.parse().ok()?,
        until: if until.is_empty() { None } else { Some(until.parse().ok()?) },
    };
    let canonical = place(memory) == word[name.len()..];
    let sensible = memory.size > 0
        && memory.address.checked_add(u64::from(memory.size) - 1).is_some()
        && memory.until.is_none_or(|until| memory.since < until);
    (canonical && sensible).then_some((name, memory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_recognised_only_in_its_one_spelling() {
        let always = |address, size| Memory { address, size, since: 0, until: None };
        let later = Memory { since: 3, ..always(0x1000, 4) };
        let over = Memory { until: Some(7), ..later };
        assert_eq!(parse_memory("[0x1000+4]"), Some(("", always(0x1000, 4))));
        assert_eq!(parse_memory("head[0xff+16]"), Some(("head", always(0xff, 16))));
        assert_eq!(parse_memory("[0x1000+4@3..]"), Some(("", later)));
        assert_eq!(parse_memory("head[0x1000+4@3..7]"), Some(("head", over)));
        let bytes = ["a[0]", "[0xFF+4]", "[0x0f+4]", "[0xf+0]", "[0xffffffffffffffff+2]", "[0x+1]"];
        let lives = ["[0x1+4@0..]", "[0x1+4@]", "[0x1+4@3]", "[0x1+4@7..7]", "[0x1+4@03..7]"];
        for word in bytes.into_iter().chain(lives) {
            assert_eq!(parse_memory(word), None, "{word}");
        }
    }

    #[test]
    fn kinds_have_numbers_of_their_own() {
        let mut ids = Ids::default();
        assert_eq!(ids.var("a").unwrap(), VarId::new(0));
        assert_eq!(ids.var("b").unwrap(), VarId::new(1));
        assert_eq!(ids.lock("b").unwrap(), LockId::new(0));
        assert_eq!(ids.var("b").unwrap(), VarId::new(1));
    }
}
