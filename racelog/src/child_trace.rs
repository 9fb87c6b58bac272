//! The trace of a child process, for tests that look at what is recorded.
//!
//! Whether a process is recorded is settled once, when it starts. So such a test runs itself again
//! in a child process that is recorded, and reads the trace that the child leaves.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::{self, File};
use std::io::BufReader;
use std::process::Command;
use std::sync::Arc;
use std::{env, process};

use crate::contract::environment::{RECORD_ON, Variable};
use crate::trace::binary::Reader;
use crate::trace::{Dictionary, Event, Item, Location, Op, Value};

const CHILD: &str = "RACELOG_TEST_CHILD";

/// Whether this is the process that is recorded.
pub(crate) fn in_child() -> bool {
    env::var_os(CHILD).is_some()
}

/// Runs the test with this path in a child; returns the events of all traces that it leaves.
pub(crate) fn events(test: &str) -> Vec<Event> {
    located_events(test).into_iter().map(|(event, ..)| event).collect()
}

/// As [`events`], each with where in the program it happened, and what its trace defines.
pub(crate) fn located_events(test: &str) -> Vec<(Event, Option<Location>, Arc<Dictionary>)> {
    let items = located_items(test).into_iter();
    let events = items.filter_map(|(item, location, dictionary)| match item {
        Item::Event(event) => Some((event, location, dictionary)),
        Item::Init { .. } | Item::Request(_) | Item::Said { .. } => None,
    });
    events.collect()
}

/// What the threads of a test's child wait for in the end.
pub(crate) fn last_requests(test: &str) -> Vec<Event> {
    let mut requests: Vec<Event> = Vec::new();
    for (item, ..) in located_items(test) {
        if let Item::Event(event) | Item::Request(event) = item {
            requests.retain(|request| request.thread != event.thread);
        }
        if let Item::Request(event) = item {
            requests.push(event);
        }
    }
    requests
}

/// What the trace of a test's child has.
pub(crate) fn items(test: &str) -> Vec<Item> {
    located_items(test).into_iter().map(|(item, ..)| item).collect()
}

fn located_items(test: &str) -> Vec<(Item, Option<Location>, Arc<Dictionary>)> {
    let folder = format!("racelog-{}-{}", process::id(), test.replace("::", "."));
    let folder = env::temp_dir().join(folder);
    fs::create_dir_all(&folder).expect("the folder can be made");
    let output = Command::new(env::current_exe().expect("this program has a path"))
        .args([test, "--exact", "--test-threads=1"])
        .env(CHILD, "1")
        .env(Variable::Record, RECORD_ON)
        .env(Variable::Folder, &folder)
        .env_remove(Variable::MaxBytes)
        .output()
        .expect("this program can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let mut items = Vec::new();
    for entry in fs::read_dir(&folder).expect("the folder is there") {
        let file = File::open(entry.expect("it can be listed").path()).expect("it can be read");
        let mut reader = Reader::open(BufReader::new(file)).expect("it is a trace");
        let mut found = Vec::new();
        while let Some(item) = reader.next_item().expect("the trace is whole") {
            found.push(item);
        }
        let dictionary = Arc::new(reader.dictionary().clone());
        items.extend(found.into_iter().map(|item| {
            let location = match item {
                Item::Event(event) | Item::Request(event) => event.location,
                Item::Init { .. } | Item::Said { .. } => None,
            };
            let location = location.and_then(|id| dictionary.get_location(id));
            (item, location, dictionary.clone())
        }));
    }
    fs::remove_dir_all(&folder).expect("the folder can be removed");
    assert!(!items.is_empty(), "no such test: {test}");
    items
}

/// Checks that channels and variables could have behaved as the trace says.
pub(crate) fn replay(trace: &[Event]) {
    let mut queues: HashMap<_, VecDeque<Value>> = HashMap::new();
    let mut values = HashMap::new();
    let mut closed = HashMap::new();
    let mut without_receiver = HashSet::new();
    let mut all_closed: HashMap<_, usize> = HashMap::new();
    for event in trace {
        if let Op::Close(channel) = event.op {
            *all_closed.entry(channel).or_default() += 1;
        }
    }
    for event in trace {
        match event.op {
            Op::Send { channel, message } => {
                assert!(!without_receiver.contains(&channel), "{event:?}");
                queues.entry(channel).or_default().push_back(message);
            }
            Op::SendClosed { channel, .. } => {
                assert!(without_receiver.contains(&channel), "{event:?}");
            }
            Op::ReceiverClose(channel) => {
                assert!(without_receiver.insert(channel), "{event:?}");
            }
            Op::Recv { channel, message } => {
                let front = queues.entry(channel).or_default().pop_front();
                assert_eq!(front, Some(message), "{event:?}");
            }
            Op::RecvEmpty(channel) => {
                assert!(queues.entry(channel).or_default().is_empty(), "{event:?}");
            }
            Op::RecvClosed(channel) => {
                assert!(queues.entry(channel).or_default().is_empty(), "{event:?}");
                assert_eq!(closed.get(&channel), all_closed.get(&channel), "{event:?}");
            }
            Op::Close(channel) => *closed.entry(channel).or_default() += 1,
            Op::Load { var, value, .. } => {
                assert_eq!(*values.entry(var).or_insert(Value::Nat(0)), value, "{event:?}");
            }
            Op::Rmw { var, old, new, .. } | Op::Cas { var, old, new, .. } => {
                let found = values.insert(var, new).unwrap_or(Value::Nat(0));
                assert_eq!(found, old, "{event:?}");
            }
            Op::CasFail { var, seen, .. } => {
                assert_eq!(*values.entry(var).or_insert(Value::Nat(0)), seen, "{event:?}");
            }
            Op::Store { var, value, .. } | Op::Exclusive { var, value } => {
                values.insert(var, value);
            }
            _ => {}
        }
    }
}
