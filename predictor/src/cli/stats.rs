//! `predictor stats`

use std::io::Write;

use racelog::trace::{Event, Item, LockId, Op, ThreadId, VarId};
use rustc_hash::FxHashSet;

use super::args::Stats;
use super::input::Input;
use super::{Failure, Outcome, say, terminal};
use crate::render::harmless;
use crate::report::{Table, WAITING, Waiting};

pub(super) fn run(args: &Stats) -> Result<Outcome, Failure> {
    let headings = HEADINGS.iter().chain(&WAITING).chain(&[DENSITY]);
    let mut table = Table::new(headings.map(|heading| (*heading).to_owned()).collect());
    let (mut damaged, mut counted) = (false, false);
    for path in &args.paths {
        let mut input = match Input::open(path, args.from.format) {
            Ok(input) => input,
            // The others are counted all the same.
            Err(Failure::Message(message)) => {
                say("error", message);
                damaged = true;
                continue;
            }
            Err(broken @ Failure::BrokenPipe) => return Err(broken),
        };
        let mut counts = Counts::default();
        while let Some(item) = input.next_item() {
            match item {
                Item::Event(event) => {
                    counts.add(&event);
                    counts.waiting.add(&event, input.source().dictionary());
                }
                Item::Request(event) => counts.waiting.add_request(event.thread),
                Item::Init { .. } | Item::Said { .. } => {}
            }
        }
        damaged |= input.is_damaged();
        let name = harmless(&input.path().display().to_string());
        table.add(counts.row(name, input.len()));
        counted = true;
    }
    if !counted {
        return Ok(Outcome::Incomplete);
    }
    let mut out = terminal::stdout(terminal::Kind::Text);
    table.write_text(&mut out)?;
    out.flush()?;
    Ok(if damaged { Outcome::Incomplete } else { Outcome::NothingFound })
}

const HEADINGS: [&str; 9] =
    ["trace", "threads", "events", "rw", "sync", "branches", "implicit", "locks", "variables"];

const DENSITY: &str = "bytes/event";

#[derive(Default)]
struct Counts {
    threads: FxHashSet<ThreadId>,
    locks: FxHashSet<LockId>,
    vars: FxHashSet<VarId>,
    events: u64,
    accesses: u64,
    branches: u64,
    implicit: u64,
    waiting: Waiting,
}

impl Counts {
    fn add(&mut self, event: &Event) {
        self.events += 1;
        self.threads.insert(event.thread);
        if let Op::Fork(child) = event.op {
            self.threads.insert(child);
        }
        self.locks.extend(event.op.lock());
        self.vars.extend(event.op.var());
        self.accesses += u64::from(event.op.var().is_some());
        self.branches += u64::from(event.op.decides());
        self.implicit += u64::from(!event.recorded && event.op.implies_branch());
    }

    fn row(&self, name: String, bytes: Option<u64>) -> Vec<String> {
        let density = match bytes {
            Some(bytes) if self.events > 0 => format!("{:.2}", bytes as f64 / self.events as f64),
            _ => "-".to_owned(),
        };
        let figures = [
            self.threads.len() as u64,
            self.events,
            self.accesses,
            self.events - self.accesses - self.branches,
            self.branches,
            self.implicit,
            self.locks.len() as u64,
            self.vars.len() as u64,
        ];
        let figures = figures.into_iter().chain(self.waiting.figures());
        let figures = figures.map(|figure| figure.to_string());
        std::iter::once(name).chain(figures).chain([density]).collect()
    }
}
