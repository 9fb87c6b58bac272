//! Writes a binary trace, event by event: two threads that write one variable, the second only
//! because of what it reads.
//!
//! ```text
//! cargo run -p racelog-examples --bin write_trace -- demo.rlog
//! cargo run -p predictor -- explore demo.rlog
//! ```

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

use racelog::trace::binary::Writer;
use racelog::trace::{
    Dictionary, End, Event, Item, Location, MemoryOrdering, Metadata, Object, Op, Patience, Stamp,
    ThreadId, Value, VarId,
};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: write_trace FILE.rlog")?;

    // Names and locations are kept once; events refer to them by id.
    let mut dictionary = Dictionary::new();
    let (producer, consumer) = (ThreadId::new(0), ThreadId::new(1));
    dictionary.name(Object::Thread(producer), "producer")?;
    dictionary.name(Object::Thread(consumer), "consumer")?;
    let (data, ready) = (VarId::new(0), VarId::new(1));
    dictionary.name(Object::Var(data), "data")?;
    dictionary.name(Object::Var(ready), "ready")?;
    let file = dictionary.string("src/demo.rs")?;

    let (one, two) = (Value::Nat(1), Value::Nat(2));
    let ordering = Some(MemoryOrdering::Relaxed);
    let steps = [
        (producer, Op::Write { var: data, value: one }),
        (producer, Op::Store { var: ready, value: one, ordering }),
        (consumer, Op::Load { var: ready, value: one, ordering }),
        // Without this branch the two writes of `data` would race.
        (consumer, Op::Branch),
        (consumer, Op::Write { var: data, value: two }),
    ];

    let metadata = Metadata { program: Some("write_trace".into()), ..Metadata::default() };
    let mut writer = Writer::new(BufWriter::new(File::create(&path)?), &metadata)?;
    for (stamp, (thread, op)) in (1..).zip(steps) {
        let line = Location::Source { file, line: 10 * u32::try_from(stamp)?, column: None };
        let location = Some(dictionary.location(line)?);
        let (stamp, patience) = (Stamp::new(stamp), Patience::Forever);
        let event = Event { thread, stamp, op, location, recorded: true, patience };
        writer.write(&dictionary, &Item::Event(event))?;
    }
    writer.finish(&dictionary, End::Clean)?;
    Ok(())
}
