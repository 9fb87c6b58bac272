//! The payloads of tables chunks, dictionary entries and initial values, and of the end.

use super::primitive::{
    Malformed, Out, put_str, put_u8, put_u32, put_u64, put_value, take_str, take_u8, take_u32,
    take_u64, take_value,
};
use super::said::{put_shape, take_shape};
use crate::trace::{
    BarrierId, ChannelId, CondvarId, Definition, End, LocId, Location, LockId, Object, ShapeId,
    StrId, ThreadId, Value, VarId,
};

/// One record of a tables chunk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Record {
    Definition(Definition),
    Init(Init),
    PoisonFlag(PoisonFlag),
}

/// An initial value, and its place among the events: just before the first whose stamp is at
/// least `before`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Init {
    pub(crate) var: VarId,
    pub(crate) value: Value,
    pub(crate) before: u64,
}

/// The variable that says whether a lock is poisoned. The lock is poisoned somewhere in the trace,
/// so each time that it is taken before that, the variable is read: these reads are not written
/// down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PoisonFlag {
    pub(crate) lock: LockId,
    pub(crate) flag: VarId,
}

mod tag {
    pub(super) const STRING: u8 = 1;
    pub(super) const SOURCE_LINE: u8 = 2;
    pub(super) const SOURCE_COLUMN: u8 = 3;
    pub(super) const CODE: u8 = 4;
    pub(super) const NAME: u8 = 5;
    pub(super) const MEMORY: u8 = 6;
    pub(super) const INIT: u8 = 7;
    pub(super) const LATER_MEMORY: u8 = 8;
    pub(super) const GIVEN_BACK: u8 = 9;
    pub(super) const FOREIGN: u8 = 10;
    pub(super) const POISON_FLAG: u8 = 11;
    pub(super) const FREED: u8 = 12;
    pub(super) const UNATTRIBUTED: u8 = 13;
    pub(super) const CAPACITY: u8 = 14;
    pub(super) const FAIR: u8 = 15;
    pub(super) const SHAPE: u8 = 17;
}

pub(crate) fn put_definition(out: &mut impl Out, definition: &Definition) {
    match definition {
        Definition::String { id, text } => {
            put_u8(out, tag::STRING);
            put_u32(out, id.get());
            put_str(out, text);
        }
        Definition::Location { id, location } => put_location(out, *id, *location),
        Definition::Name { object, name } => {
            let (kind, number) = match *object {
                Object::Thread(id) => (0, id.get()),
                Object::Var(id) => (1, id.get()),
                Object::Lock(id) => (2, id.get()),
                Object::Condvar(id) => (3, id.get()),
                Object::Channel(id) => (4, id.get()),
                Object::Barrier(id) => (5, id.get()),
            };
            put_u8(out, tag::NAME);
            put_u8(out, kind);
            put_u32(out, number);
            put_u32(out, name.get());
        }
        Definition::Memory { var, address, size, since } => {
            put_u8(out, if *since == 0 { tag::MEMORY } else { tag::LATER_MEMORY });
            put_u32(out, var.get());
            put_u64(out, *address);
            put_u32(out, *size);
            if *since > 0 {
                put_u32(out, *since);
            }
        }
        Definition::GivenBack { var, until } => {
            put_u8(out, tag::GIVEN_BACK);
            put_u32(out, var.get());
            put_u32(out, *until);
        }
        Definition::Foreign { thread } => {
            put_u8(out, tag::FOREIGN);
            put_u32(out, thread.get());
        }
        Definition::Freed { var } => {
            put_u8(out, tag::FREED);
            put_u32(out, var.get());
        }
        Definition::Capacity { channel, messages } => {
            put_u8(out, tag::CAPACITY);
            put_u32(out, channel.get());
            put_u32(out, *messages);
        }
        Definition::Fair { lock } => {
            put_u8(out, tag::FAIR);
            put_u32(out, lock.get());
        }
        Definition::Shape { id, shape } => {
            put_u8(out, tag::SHAPE);
            put_u32(out, id.get());
            put_shape(shape, out);
        }
        Definition::Unattributed { location } => {
            put_u8(out, tag::UNATTRIBUTED);
            put_u8(out, u8::from(location.is_some()));
            if let Some(location) = location {
                put_u32(out, location.get());
            }
        }
    }
}

fn put_location(out: &mut impl Out, id: LocId, location: Location) {
    match location {
        Location::Source { file, line, column } => {
            put_u8(out, if column.is_some() { tag::SOURCE_COLUMN } else { tag::SOURCE_LINE });
            put_u32(out, id.get());
            put_u32(out, file.get());
            put_u32(out, line);
            if let Some(column) = column {
                put_u32(out, column);
            }
        }
        Location::Code { module, pc } => {
            put_u8(out, tag::CODE);
            put_u32(out, id.get());
            put_u32(out, module.get());
            put_u64(out, pc);
        }
    }
}

pub(crate) fn put_init(out: &mut impl Out, init: Init) {
    put_u8(out, tag::INIT);
    put_u32(out, init.var.get());
    put_value(out, init.value);
    put_u64(out, init.before);
}

#[cfg(any(test, feature = "record"))]
pub(crate) fn put_poison_flag(out: &mut impl Out, record: PoisonFlag) {
    put_u8(out, tag::POISON_FLAG);
    put_u32(out, record.lock.get());
    put_u32(out, record.flag.get());
}

pub(crate) fn take_record(input: &mut &[u8]) -> Result<Record, Malformed> {
    let definition = match take_u8(input)? {
        tag::STRING => {
            Definition::String { id: StrId::new(take_u32(input)?), text: take_str(input)?.into() }
        }
        tag::SOURCE_LINE => Definition::Location {
            id: LocId::new(take_u32(input)?),
            location: Location::Source {
                file: StrId::new(take_u32(input)?),
                line: take_u32(input)?,
                column: None,
            },
        },
        tag::SOURCE_COLUMN => Definition::Location {
            id: LocId::new(take_u32(input)?),
            location: Location::Source {
                file: StrId::new(take_u32(input)?),
                line: take_u32(input)?,
                column: Some(take_u32(input)?),
            },
        },
        tag::CODE => Definition::Location {
            id: LocId::new(take_u32(input)?),
            location: Location::Code { module: StrId::new(take_u32(input)?), pc: take_u64(input)? },
        },
        tag::NAME => {
            Definition::Name { object: take_object(input)?, name: StrId::new(take_u32(input)?) }
        }
        tag::MEMORY => Definition::Memory {
            var: VarId::new(take_u32(input)?),
            address: take_u64(input)?,
            size: take_u32(input)?,
            since: 0,
        },
        tag::LATER_MEMORY => Definition::Memory {
            var: VarId::new(take_u32(input)?),
            address: take_u64(input)?,
            size: take_u32(input)?,
            since: take_u32(input)?,
        },
        tag::GIVEN_BACK => {
            Definition::GivenBack { var: VarId::new(take_u32(input)?), until: take_u32(input)? }
        }
        tag::FOREIGN => Definition::Foreign { thread: ThreadId::new(take_u32(input)?) },
        tag::FREED => Definition::Freed { var: VarId::new(take_u32(input)?) },
        tag::CAPACITY => Definition::Capacity {
            channel: ChannelId::new(take_u32(input)?),
            messages: take_u32(input)?,
        },
        tag::FAIR => Definition::Fair { lock: LockId::new(take_u32(input)?) },
        tag::SHAPE => Definition::Shape {
            id: ShapeId::new(take_u32(input)?),
            shape: take_shape(input)?.into(),
        },
        tag::UNATTRIBUTED => Definition::Unattributed {
            location: match take_u8(input)? {
                0 => None,
                1 => Some(LocId::new(take_u32(input)?)),
                _ => return Err(Malformed),
            },
        },
        tag::POISON_FLAG => {
            return Ok(Record::PoisonFlag(PoisonFlag {
                lock: LockId::new(take_u32(input)?),
                flag: VarId::new(take_u32(input)?),
            }));
        }
        tag::INIT => {
            return Ok(Record::Init(Init {
                var: VarId::new(take_u32(input)?),
                value: take_value(input)?,
                before: take_u64(input)?,
            }));
        }
        _ => return Err(Malformed),
    };
    Ok(Record::Definition(definition))
}

/// The end has its last eight bytes where a recorder can reach them: the stamp from which on
/// events are not to be trusted, because others before them may be lost.
const CUT_LEN: usize = 8;

/// The payload of the end chunk of a trace that has lost nothing.
pub(crate) fn encode_end(end: End, events: Option<u64>) -> Vec<u8> {
    let mut out = Vec::new();
    put_u8(
        &mut out,
        match end {
            End::Clean => 0,
            End::CutOff => 1,
            End::Full => 2,
        },
    );
    put_u8(&mut out, u8::from(events.is_some()));
    if let Some(events) = events {
        put_u64(&mut out, events);
    }
    out.extend_from_slice(&u64::MAX.to_le_bytes());
    out
}

/// How the trace ends, how many events there should be, and the stamp from which on they are not
/// to be trusted.
pub(crate) fn decode_end(mut input: &[u8]) -> Result<(End, Option<u64>, u64), Malformed> {
    let end = match take_u8(&mut input)? {
        0 => End::Clean,
        1 => End::CutOff,
        2 => End::Full,
        _ => return Err(Malformed),
    };
    let events = match take_u8(&mut input)? {
        0 => None,
        1 => Some(take_u64(&mut input)?),
        _ => return Err(Malformed),
    };
    let cut = input.get(..CUT_LEN).ok_or(Malformed)?;
    Ok((end, events, u64::from_le_bytes(cut.try_into().expect("eight bytes"))))
}

fn take_object(input: &mut &[u8]) -> Result<Object, Malformed> {
    let kind = take_u8(input)?;
    let number = take_u32(input)?;
    Ok(match kind {
        0 => Object::Thread(ThreadId::new(number)),
        1 => Object::Var(VarId::new(number)),
        2 => Object::Lock(LockId::new(number)),
        3 => Object::Condvar(CondvarId::new(number)),
        4 => Object::Channel(ChannelId::new(number)),
        5 => Object::Barrier(BarrierId::new(number)),
        _ => return Err(Malformed),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Term;
    use crate::trace::expression::Unary;

    #[test]
    fn every_record_comes_back() {
        let (id, file) = (LocId::new(3), StrId::new(1));
        let name = StrId::new(2);
        let located = |location| Definition::Location { id, location };
        let mut definitions = vec![
            Definition::String { id: file, text: "main.rs".into() },
            located(Location::Source { file, line: 7, column: None }),
            located(Location::Source { file, line: 7, column: Some(1) }),
            located(Location::Code { module: file, pc: u64::MAX }),
            Definition::Memory { var: VarId::new(1), address: 0x7fff_0000_1000, size: 4, since: 0 },
            Definition::Memory { var: VarId::new(2), address: 0x7fff_0000_1000, size: 4, since: 5 },
            Definition::GivenBack { var: VarId::new(1), until: 5 },
            Definition::Foreign { thread: ThreadId::new(4) },
            Definition::Freed { var: VarId::new(2) },
            Definition::Unattributed { location: Some(id) },
            Definition::Capacity { channel: ChannelId::new(3), messages: 16 },
            Definition::Fair { lock: LockId::new(3) },
            Definition::Unattributed { location: None },
            Definition::Shape {
                id: ShapeId::new(7),
                shape: [Term::Constant(Value::Nat(1)), Term::Unary(Unary::Not)].into(),
            },
        ];
        for object in [
            Object::Thread(ThreadId::new(8)),
            Object::Var(VarId::new(8)),
            Object::Lock(LockId::new(8)),
            Object::Condvar(CondvarId::new(8)),
            Object::Channel(ChannelId::new(8)),
            Object::Barrier(BarrierId::new(8)),
        ] {
            definitions.push(Definition::Name { object, name });
        }
        let init = Init { var: VarId::new(2), value: Value::Nat(5), before: 12 };

        let mut bytes = Vec::new();
        for definition in &definitions {
            put_definition(&mut bytes, definition);
        }
        put_init(&mut bytes, init);
        let poison = PoisonFlag { lock: LockId::new(3), flag: VarId::new(300) };
        put_poison_flag(&mut bytes, poison);
        let mut rest = &bytes[..];
        for definition in definitions {
            assert_eq!(take_record(&mut rest), Ok(Record::Definition(definition)));
        }
        assert_eq!(take_record(&mut rest), Ok(Record::Init(init)));
        assert_eq!(take_record(&mut rest), Ok(Record::PoisonFlag(poison)));
        assert!(rest.is_empty());
    }
}
