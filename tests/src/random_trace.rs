//! Random traces that are valid by construction: a little world is simulated, and each thread that
//! can do something does it.
//!
//! It shares no code with the semantics that it tests.

mod waits;

use std::collections::VecDeque;
use std::fmt::Write;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub use self::waits::small_waiting_trace;

/// How a random trace is to look.
#[derive(Clone, Debug)]
pub struct Shape {
    /// How many events, about.
    pub events: usize,
    /// How many threads.
    pub threads: usize,
    /// How many variables.
    pub vars: usize,
    /// How many locks, and as many condvars, channels and barriers.
    pub objects: usize,
    /// Which operations occur.
    pub operations: Vec<Family>,
    /// Whether events have locations.
    pub locations: bool,
    /// Whether threads leave recorded code now and then.
    pub unrecorded: bool,
    /// How many threads, of those above, nobody forks: they are foreign.
    pub foreign: usize,
    /// Whether it is said how long threads wait, channels have capacities, locks are fair,
    /// receivers are dropped, locks are given back in any order, and most threads come to their
    /// ends.
    pub waits: bool,
}

/// A family of operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Family {
    Plain,
    Atomic,
    Exclusive,
    Branch,
    Lock,
    TryLock,
    Condvar,
    Park,
    Channel,
    Barrier,
    Assert,
    Once,
    Scope,
}

/// All families but `Once` and `Scope`, which came later: the traces of a seed stay what they are.
pub const ALL: [Family; 11] = [
    Family::Plain,
    Family::Atomic,
    Family::Exclusive,
    Family::Branch,
    Family::Lock,
    Family::TryLock,
    Family::Condvar,
    Family::Park,
    Family::Channel,
    Family::Barrier,
    Family::Assert,
];

impl Default for Shape {
    fn default() -> Self {
        Self {
            events: 20,
            threads: 3,
            vars: 3,
            objects: 2,
            operations: ALL.to_vec(),
            locations: true,
            unrecorded: true,
            foreign: 0,
            waits: false,
        }
    }
}

/// A random trace, in the text format; the same for the same seed.
pub fn random_trace(seed: u64, shape: &Shape) -> String {
    let mut world = World::new(ChaCha8Rng::seed_from_u64(seed), shape);
    while world.events < shape.events && world.idle < 1000 {
        world.act();
    }
    if shape.waits {
        world.wind_down();
    }
    world.text
}

#[derive(Clone, Debug, Default)]
struct Thread {
    started: bool,
    ended: bool,
    begun: bool,
    /// Whether it is said that it is foreign.
    known: bool,
    unrecorded: bool,
    /// Locks it holds, and whether exclusively.
    held: Vec<(usize, bool)>,
    /// The onces whose initialisers it runs.
    initialises: Vec<usize>,
    /// Condvar, lock, notified.
    waits: Option<(usize, usize, bool)>,
    /// Whether its wait has a time limit.
    timed: bool,
    token: bool,
    /// Barrier and generation that it has arrived for.
    arrived: Option<(usize, u64)>,
}

#[derive(Clone, Debug, Default)]
struct Channel {
    queue: VecDeque<u32>,
    sent: u32,
    closed: u32,
    finished: bool,
    /// How many messages it has room for.
    capacity: Option<usize>,
    /// How many of its receivers are dropped in all, and how many have been.
    receivers: u32,
    receivers_closed: u32,
}

#[derive(Clone, Debug, Default)]
struct Barrier {
    generation: u64,
    arrived: usize,
}

struct World<'a> {
    rng: ChaCha8Rng,
    shape: &'a Shape,
    text: String,
    events: usize,
    /// How many attempts in a row came to nothing.
    idle: usize,
    threads: Vec<Thread>,
    /// The value of each variable; odd variables are opaque.
    vars: Vec<String>,
    writers: Vec<Option<usize>>,
    readers: Vec<Vec<usize>>,
    channels: Vec<Channel>,
    barriers: Vec<Barrier>,
    /// Who runs the initialiser of each once.
    onces: Vec<Option<usize>>,
    scopes: Vec<Scope>,
}

/// A scope that threads work in.
#[derive(Clone, Debug, Default)]
struct Scope {
    /// Those that have done what they do there.
    arrived: Vec<usize>,
    ended: bool,
}

const ORDERINGS: [&str; 6] = ["", " relaxed", " acquire", " release", " acqrel", " seqcst"];
const VALUES: [&str; 6] = ["0", "1", "2", "-1", "red", "0x10"];

impl<'a> World<'a> {
    fn new(rng: ChaCha8Rng, shape: &'a Shape) -> Self {
        let mut world = Self {
            rng,
            shape,
            text: String::new(),
            events: 0,
            idle: 0,
            threads: vec![Thread::default(); shape.threads],
            vars: vec!["0".to_owned(); shape.vars],
            writers: vec![None; shape.objects],
            readers: vec![Vec::new(); shape.objects],
            channels: vec![Channel::default(); shape.objects],
            barriers: vec![Barrier::default(); shape.objects],
            onces: vec![None; shape.objects],
            scopes: vec![Scope::default(); shape.objects],
        };
        world.threads[0].started = true;
        for thread in shape.threads - shape.foreign..shape.threads {
            world.threads[thread].started = true;
        }
        for var in 0..shape.vars {
            if world.chance(0.3) {
                let value = world.new_value(var);
                writeln!(world.text, "init x{var} {value}").expect("memory");
                world.vars[var] = value;
            }
        }
        if shape.waits {
            world.declare();
        }
        world
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.rng.random_bool(probability)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.rng.random_range(0..limit)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        if from.is_empty() { None } else { Some(from[self.below(from.len())]) }
    }

    fn is_foreign(&self, thread: usize) -> bool {
        thread + self.shape.foreign >= self.shape.threads
    }

    fn emit(&mut self, thread: usize, what: &str) {
        if self.is_foreign(thread) && !std::mem::replace(&mut self.threads[thread].known, true) {
            writeln!(self.text, "#racelog foreign t{thread}").expect("memory");
        }
        let known = self.threads[thread].unrecorded;
        if self.shape.unrecorded && self.chance(0.1) {
            self.threads[thread].unrecorded = !known;
            let word = if known { "recorded" } else { "unrecorded" };
            writeln!(self.text, "#racelog {word} t{thread}").expect("memory");
        }
        write!(self.text, "t{thread} {what}").expect("memory");
        if self.shape.locations && self.chance(0.8) {
            let line = self.below(40);
            write!(self.text, " @ src/lib.rs:{line}").expect("memory");
            if !line.is_multiple_of(3) {
                write!(self.text, ":{}", line % 3).expect("memory");
            }
        }
        self.text.push('\n');
        self.events += 1;
        self.idle = 0;
    }

    /// Lets a random thread try something.
    fn act(&mut self) {
        self.idle += 1;
        let t = self.below(self.threads.len());
        let thread = self.threads[t].clone();
        if !thread.started || thread.ended {
            return;
        }
        // Every event of a foreign thread cuts the trace in two: there should be something to cut.
        if self.is_foreign(t) && self.chance(0.8) {
            return;
        }
        if let Some(waiting) = thread.waits {
            return self.end_wait(t, waiting);
        }
        if let Some((barrier, generation)) = thread.arrived {
            if self.barriers[barrier].generation > generation {
                self.threads[t].arrived = None;
                self.emit(t, &format!("leave b{barrier} {generation}"));
            }
            return;
        }
        if !thread.begun {
            self.threads[t].begun = true;
            if self.chance(0.5) {
                return self.emit(t, "begin");
            }
        }
        if self.chance(0.15) && self.live(t) {
            return;
        }
        let families = self.shape.operations.clone();
        match self.pick(&families).expect("some operations") {
            Family::Plain => self.plain(t),
            Family::Atomic => self.atomic(t),
            Family::Exclusive if self.chance(0.3) => self.exclusive(t),
            Family::Exclusive => self.plain(t),
            Family::Branch => self.emit(t, "branch"),
            Family::Lock => self.lock(t),
            Family::TryLock => self.try_lock(t),
            Family::Condvar => self.condvar(t),
            Family::Park => self.park(t),
            Family::Channel => self.channel(t),
            Family::Barrier => self.barrier(t),
            Family::Assert => self.emit(t, "assert the sum is 3"),
            Family::Once => self.once(t),
            Family::Scope => self.scope(t),
        }
    }

    /// Forks, joins, ends.
    fn live(&mut self, t: usize) -> bool {
        let unstarted: Vec<usize> =
            (0..self.threads.len()).filter(|u| !self.threads[*u].started).collect();
        if let Some(child) = self.pick(&unstarted) {
            self.threads[child].started = true;
            self.emit(t, &format!("fork t{child}"));
            return true;
        }
        let ended: Vec<usize> =
            (0..self.threads.len()).filter(|u| *u != t && self.threads[*u].ended).collect();
        if let Some(child) = self.pick(&ended) {
            self.emit(t, &format!("join t{child}"));
            return true;
        }
        let is_busy = !self.threads[t].held.is_empty() || !self.threads[t].initialises.is_empty();
        if t > 0 && !is_busy && self.chance(0.3) {
            self.threads[t].ended = true;
            if self.chance(0.7) {
                self.emit(t, "end");
            }
            return true;
        }
        false
    }

    fn new_value(&mut self, var: usize) -> String {
        if var % 2 == 1 { "_".to_owned() } else { VALUES[self.below(VALUES.len())].to_owned() }
    }

    fn plain(&mut self, t: usize) {
        let var = self.below(self.vars.len());
        if self.chance(0.5) {
            let value = self.vars[var].clone();
            self.emit(t, &format!("read x{var} {value}"));
        } else {
            let value = self.new_value(var);
            self.emit(t, &format!("write x{var} {value}"));
            self.vars[var] = value;
        }
    }

    fn atomic(&mut self, t: usize) {
        let var = self.below(self.vars.len());
        let ordering = ORDERINGS[self.below(ORDERINGS.len())];
        let old = self.vars[var].clone();
        let new = self.new_value(var);
        match self.below(6) {
            0 => return self.emit(t, &format!("load x{var} {old}{ordering}")),
            1 => return self.emit(t, &format!("cas_fail x{var} {old}{ordering}")),
            2 => return self.emit(t, &format!("fence{ordering}")),
            3 => self.emit(t, &format!("store x{var} {new}{ordering}")),
            4 => self.emit(t, &format!("rmw x{var} {old} {new}{ordering}")),
            _ => self.emit(t, &format!("cas x{var} {old} {new}{ordering}")),
        }
        self.vars[var] = new;
    }

    fn exclusive(&mut self, t: usize) {
        let var = self.below(self.vars.len());
        let value = self.new_value(var);
        self.emit(t, &format!("exclusive x{var} {value}"));
        self.vars[var] = value;
    }

    fn is_free(&self, lock: usize) -> bool {
        self.writers[lock].is_none() && self.readers[lock].is_empty()
    }

    fn lock(&mut self, t: usize) {
        // Who holds several locks may wait for one with the others in hand.
        let over = if self.shape.waits { 0.35 } else { 0.5 };
        if !self.threads[t].held.is_empty() && self.chance(over) {
            return self.give_back(t);
        }
        let lock = self.below(self.writers.len());
        if self.chance(0.6) {
            if self.is_free(lock) {
                self.writers[lock] = Some(t);
                self.threads[t].held.push((lock, true));
                let patience = self.patience();
                self.emit(t, &format!("acquire l{lock}{patience}"));
            }
        } else if self.writers[lock].is_none() {
            self.readers[lock].push(t);
            self.threads[t].held.push((lock, false));
            let patience = self.patience();
            self.emit(t, &format!("racquire l{lock}{patience}"));
        }
    }

    /// Gives a lock back: the last that was taken, or any if threads wait.
    fn give_back(&mut self, t: usize) {
        let last = self.threads[t].held.len() - 1;
        let place = if self.shape.waits { self.below(last + 1) } else { last };
        let (lock, exclusive) = self.threads[t].held.remove(place);
        if exclusive {
            self.writers[lock] = None;
            self.emit(t, &format!("release l{lock}"));
        } else {
            let at = self.readers[lock].iter().position(|reader| *reader == t);
            self.readers[lock].remove(at.expect("held"));
            self.emit(t, &format!("rrelease l{lock}"));
        }
    }

    fn try_lock(&mut self, t: usize) {
        let lock = self.below(self.writers.len());
        if self.writers[lock].is_some() && self.chance(0.5) {
            self.emit(t, &format!("racquire_fail l{lock}"));
        } else if !self.is_free(lock) {
            self.emit(t, &format!("acquire_fail l{lock}"));
        } else {
            self.lock(t);
        }
    }

    fn condvar(&mut self, t: usize) {
        let condvar = self.below(self.writers.len());
        let waiters: Vec<usize> = (0..self.threads.len())
            .filter(|u| matches!(self.threads[*u].waits, Some((c, _, false)) if c == condvar))
            .collect();
        match self.below(4) {
            0 => {
                for waiter in waiters {
                    self.threads[waiter].waits.as_mut().expect("waits").2 = true;
                }
                self.emit(t, &format!("notify_all c{condvar}"));
            }
            1 => {
                let woken = self.pick(&waiters);
                if let Some(woken) = woken {
                    self.threads[woken].waits.as_mut().expect("waits").2 = true;
                }
                let said = match woken {
                    _ if self.chance(0.5) => String::new(),
                    None => " -".to_owned(),
                    Some(woken) => format!(" t{woken}"),
                };
                self.emit(t, &format!("notify_one c{condvar}{said}"));
            }
            _ => match self.threads[t].held.last().copied() {
                Some((lock, true)) => {
                    self.threads[t].held.pop();
                    self.writers[lock] = None;
                    self.threads[t].waits = Some((condvar, lock, false));
                    let timed = self.time_limit();
                    self.threads[t].timed = !timed.is_empty();
                    self.emit(t, &format!("wait c{condvar} l{lock}{timed}"));
                }
                _ => self.lock(t),
            },
        }
    }

    fn end_wait(&mut self, t: usize, (condvar, lock, notified): (usize, usize, bool)) {
        let lasts = self.shape.waits && !self.threads[t].timed;
        if !self.is_free(lock) || (!notified && (lasts || self.chance(0.7))) {
            return;
        }
        self.threads[t].waits = None;
        self.writers[lock] = Some(t);
        self.threads[t].held.push((lock, true));
        let word = if notified { "wake" } else { "wake_timeout" };
        self.emit(t, &format!("{word} c{condvar} l{lock}"));
    }

    fn park(&mut self, t: usize) {
        if self.chance(0.5) {
            let other = self.below(self.threads.len());
            self.threads[other].token = true;
            self.emit(t, &format!("unpark t{other}"));
        } else if std::mem::take(&mut self.threads[t].token) {
            let timed = self.time_limit();
            self.emit(t, &format!("park{timed}"));
        } else if !self.shape.waits || self.chance(0.2) {
            self.emit(t, "park_timeout");
        }
    }

    fn channel(&mut self, t: usize) {
        let id = self.below(self.channels.len());
        let channel = &mut self.channels[id];
        if channel.finished {
            return;
        }
        if self.shape.waits {
            return self.bounded_channel(t, id);
        }
        match self.rng.random_range(0..8) {
            0..3 => {
                let message = channel.sent;
                channel.sent += 1;
                channel.queue.push_back(message);
                self.emit(t, &format!("send ch{id} {message}"));
            }
            3 => {
                channel.closed += 1;
                self.emit(t, &format!("close ch{id}"));
            }
            _ => match channel.queue.pop_front() {
                Some(message) => self.emit(t, &format!("recv ch{id} {message}")),
                None if channel.closed > 1 => {
                    channel.finished = true;
                    self.emit(t, &format!("recv_closed ch{id}"));
                }
                None => self.emit(t, &format!("recv_empty ch{id}")),
            },
        }
    }

    fn barrier(&mut self, t: usize) {
        // Whoever waits here with a lock may bring the whole world to a halt.
        if !self.threads[t].held.is_empty() {
            return self.lock(t);
        }
        let waited_at = self.barriers.iter().position(|barrier| barrier.arrived > 0);
        let id = waited_at.unwrap_or_else(|| self.below(self.barriers.len()));
        let barrier = &mut self.barriers[id];
        let generation = barrier.generation;
        barrier.arrived += 1;
        if barrier.arrived == 2 {
            barrier.arrived = 0;
            barrier.generation += 1;
        }
        self.threads[t].arrived = Some((id, generation));
        self.emit(t, &format!("arrive b{id} {generation}"));
    }
}

/// A generator of random numbers for tests; the same for the same seed.
pub fn rng(seed: u64) -> impl Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// A trace that is small enough to be explored exhaustively, of a kind that depends on the seed.
///
/// # Panics
/// If the trace does not load, which is a bug.
pub fn small_trace(seed: u64) -> (String, predictor::trace::Trace) {
    use Family::{Atomic, Branch, Condvar, Lock, Plain};
    let mut operations = vec![Plain, Plain, Plain, Lock, Branch];
    match seed % 4 {
        0 => operations.extend([Lock, Condvar, Condvar]),
        1 => operations.extend([Atomic, Atomic, Branch]),
        _ => operations.extend(ALL),
    }
    let foreign = usize::from(seed / 7 % 5 == 3);
    let shape = Shape {
        events: 10 + (seed % 19) as usize,
        threads: 2 + foreign + (seed / 3 % 3) as usize,
        vars: 1 + (seed / 5 % 3) as usize,
        objects: 1 + (seed / 2 % 2) as usize,
        operations,
        locations: seed.is_multiple_of(3),
        unrecorded: seed.is_multiple_of(5),
        foreign,
        waits: false,
    };
    loaded(seed, &shape)
}

/// A random trace, as text and loaded.
///
/// # Panics
/// If it cannot be loaded, which would be a mistake here.
pub fn loaded(seed: u64, shape: &Shape) -> (String, predictor::trace::Trace) {
    let text = random_trace(seed, shape);
    let trace = text.parse().unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    (text, trace)
}
