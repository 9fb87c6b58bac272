//! Random small traces that say where values come from: named reads, expressions, checks and
//! regions that are meant to be atomic. They are valid by construction.
//!
//! It shares no code with the expressions that it tests.

use std::collections::VecDeque;

use predictor::trace::Trace;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A random small trace of values, as text and loaded.
pub fn small_value_trace(seed: u64) -> (String, Trace) {
    let text = World::new(seed).run();
    let trace = text.parse().unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    (text, trace)
}

const VARS: [&str; 2] = ["x", "y"];

struct World {
    rng: ChaCha8Rng,
    lines: Vec<String>,
    /// How many events there are.
    events: usize,
    threads: Vec<Thread>,
    vars: Vec<i64>,
    /// Who holds the lock.
    holder: Option<usize>,
    /// Messages that were sent, and what they say.
    queue: VecDeque<(usize, Option<i64>)>,
    messages: usize,
    names: usize,
    /// Whether threads take the lock often.
    locks: bool,
}

#[derive(Clone, Default)]
struct Thread {
    /// What it has named, and what that is.
    named: Vec<(String, i64)>,
    /// The events that have taken input.
    inputs: Vec<usize>,
    in_region: bool,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let threads = rng.random_range(2..4);
        let vars = rng.random_range(1..3);
        let locks = seed.is_multiple_of(3);
        Self {
            rng,
            lines: Vec::new(),
            events: 0,
            threads: vec![Thread::default(); threads],
            vars: vec![0; vars],
            holder: None,
            queue: VecDeque::new(),
            messages: 0,
            names: 0,
            locks,
        }
    }

    fn run(mut self) -> String {
        for thread in 0..self.threads.len() {
            if self.rng.random_ratio(1, 7) {
                self.lines.push(format!("#racelog unrecorded t{thread}"));
            }
        }
        for _ in 0..self.rng.random_range(8..13) {
            let thread = self.rng.random_range(0..self.threads.len());
            if self.locks && self.rng.random_ratio(1, 4) {
                self.lock(thread);
            } else {
                self.step(thread);
            }
        }
        self.lines.join("\n") + "\n"
    }

    fn step(&mut self, t: usize) {
        let var = self.rng.random_range(0..self.vars.len());
        let (name, held) = (VARS[var], self.vars[var]);
        match self.rng.random_range(0..100) {
            0..25 => {
                let word = self.one_of(&["read", "load"]);
                let named =
                    if self.rng.random_ratio(3, 4) { self.name(t, held) } else { String::new() };
                self.emit(t, &format!("{word} {name} {held}{named}"));
                self.input(t);
            }
            25..50 => self.write(t, var),
            50..58 if self.rng.random_ratio(2, 3) => {
                let named = self.name(t, held);
                let own = &self.threads[t].named.last().expect("it was named").0.clone();
                self.vars[var] = held + 1;
                self.emit(t, &format!("rmw {name} {held} {}{named} := {own} + 1", held + 1));
                self.input(t);
            }
            50..58 => {
                self.vars[var] = 1;
                self.emit(t, &format!("rmw {name} {held} 1"));
                self.input(t);
            }
            58..64 => self.exchange(t, var),
            64..75 => {
                let condition = self.maybe_condition(t);
                self.emit(t, &format!("branch{condition}"));
            }
            75..86 => {
                let word = self.one_of(&["check", "check_panic"]);
                let condition = self.maybe_condition(t);
                self.emit(t, &format!("{word}{condition}"));
            }
            86..93 => self.lock(t),
            93..96 => self.message(t),
            _ => {
                let inside = std::mem::replace(&mut self.threads[t].in_region, false);
                self.threads[t].in_region = !inside;
                self.emit(t, if inside { "atomic_end" } else { "atomic_begin" });
            }
        }
    }

    /// Takes the lock, or gives it back; nothing if another thread has it.
    fn lock(&mut self, t: usize) {
        match self.holder {
            None => {
                self.holder = Some(t);
                self.emit(t, "acquire l");
            }
            Some(holder) if holder == t => {
                self.holder = None;
                self.emit(t, "release l");
            }
            Some(_) => {}
        }
    }

    fn write(&mut self, t: usize, var: usize) {
        let word = self.one_of(&["write", "store"]);
        let (value, said) = match self.expression(t) {
            Some((text, value)) if self.rng.random_ratio(2, 3) => {
                (value, format!(" := {text}{}", self.since(t)))
            }
            _ => (self.rng.random_range(0..3), String::new()),
        };
        self.vars[var] = value;
        self.emit(t, &format!("{word} {} {value}{said}", VARS[var]));
    }

    fn exchange(&mut self, t: usize, var: usize) {
        let (name, held) = (VARS[var], self.vars[var]);
        let new = self.rng.random_range(0..3);
        match self.expression(t) {
            Some((text, value)) if value == held => {
                self.vars[var] = new;
                let since = self.since(t);
                self.emit(t, &format!("cas {name} {held} {new} expect {text}{since}"));
            }
            Some((text, _)) if self.rng.random_ratio(4, 5) => {
                self.emit(t, &format!("cas_fail {name} {held} expect {text}"));
            }
            _ => {
                self.vars[var] = new;
                self.emit(t, &format!("cas {name} {held} {new}"));
            }
        }
        self.input(t);
    }

    fn message(&mut self, t: usize) {
        let next = if self.rng.random() { self.queue.pop_front() } else { None };
        if let Some((message, content)) = next {
            let named = match content {
                Some(content) if self.rng.random_ratio(2, 3) => self.name(t, content),
                _ => String::new(),
            };
            self.emit(t, &format!("recv ch {message}{named}"));
            return self.input(t);
        }
        self.messages += 1;
        let message = self.messages;
        let said = self.expression(t).filter(|_| !message.is_multiple_of(3));
        self.queue.push_back((message, said.as_ref().map(|(_, value)| *value)));
        let said = said.map_or_else(String::new, |(text, _)| format!(" := {text}"));
        self.emit(t, &format!("send ch {message}{said}"));
    }

    /// Names what the next event finds.
    fn name(&mut self, t: usize, value: i64) -> String {
        self.names += 1;
        let name = format!("a{}", self.names);
        self.threads[t].named.push((name.clone(), value));
        format!(" -> {name}")
    }

    fn emit(&mut self, t: usize, what: &str) {
        self.events += 1;
        self.lines.push(format!("t{t} {what}"));
    }

    fn input(&mut self, t: usize) {
        self.threads[t].inputs.push(self.events);
    }

    /// An event that an expression relies on, now and then.
    fn since(&mut self, t: usize) -> String {
        let inputs = &self.threads[t].inputs;
        if inputs.is_empty() || !self.rng.random_ratio(1, 6) {
            return String::new();
        }
        let event = inputs[self.rng.random_range(0..inputs.len())];
        format!(" since {event}")
    }

    /// An expression over what a thread has named, and what it is.
    fn expression(&mut self, t: usize) -> Option<(String, i64)> {
        let named = self.threads[t].named.clone();
        if named.is_empty() {
            return None;
        }
        let any = |rng: &mut ChaCha8Rng| named[rng.random_range(0..named.len())].clone();
        let (a, x) = any(&mut self.rng);
        let k = self.rng.random_range(0..3);
        Some(match self.rng.random_range(0..10) {
            0..3 => (a, x),
            3..6 => (format!("{a} + {k}"), x + k),
            6..8 => {
                let (b, y) = any(&mut self.rng);
                (format!("{a} + {b}"), x + y)
            }
            8 => (format!("({a} * {k}) as u8"), (x * k) & 255),
            _ => (format!("{a} % 2"), x % 2),
        })
    }

    /// A condition that holds, now and then.
    fn maybe_condition(&mut self, t: usize) -> String {
        let Some((text, value)) = self.expression(t).filter(|_| !self.events.is_multiple_of(5))
        else {
            return String::new();
        };
        let k = self.rng.random_range(0..4);
        let holding =
            [("==", value == k), ("!=", value != k), ("<", value < k), (">=", value >= k)];
        let holding: Vec<&str> =
            holding.iter().filter(|(_, holds)| *holds).map(|(op, _)| *op).collect();
        let op = holding[self.rng.random_range(0..holding.len())];
        format!(" {text} {op} {k}{}", self.since(t))
    }

    fn one_of(&mut self, words: &[&'static str]) -> &'static str {
        words[self.rng.random_range(0..words.len())]
    }
}
