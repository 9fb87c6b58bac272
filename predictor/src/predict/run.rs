//! All pairs of a trace, in parallel.
//!
//! The work is cut into pieces that do not depend on how many threads do it, and what is learnt
//! stays within a piece: so the result does not depend on it either, unless the time runs out.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::histories;
use super::{
    Candidates, Closed, Closures, Counts, Decider, HeldLocks, HoldBack, MustOrder, Options,
    Prediction, Proof, Race, Verdict, Writes,
};
use crate::encode::{Forced, Index, Window};
use crate::race::{Pair, Signature};
use crate::semantics::Machine;
use crate::solve::is_over;
use crate::trace::Trace;
use crate::witness::{Checker, Schedule};

/// How many entries of the list of candidates make a piece of work.
const PIECE: usize = 4;

/// How many steps holding a thread back may take for a signature, after the first pair.
const STEPS: usize = 1 << 20;

/// Finds all races. `progress` is called now and then with how many signatures are done, of how
/// many.
pub fn predict(
    trace: &Trace,
    options: &Options,
    progress: impl Fn(usize, usize) + Sync + Send,
) -> Prediction {
    // Whoever calls this from a pool of its own has several traces to look at.
    if options.jobs.is_none() && rayon::current_thread_index().is_some() {
        return in_parallel(trace, options, &progress);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs.unwrap_or(0)).build();
    match pool {
        Ok(pool) => pool.install(|| in_parallel(trace, options, &progress)),
        // No thread to be had is no reason to find nothing.
        Err(_) => in_parallel(trace, options, &progress),
    }
}

fn in_parallel(
    trace: &Trace,
    options: &Options,
    progress: &(impl Fn(usize, usize) + Sync),
) -> Prediction {
    let deadline = options.total_time.map(|time| Instant::now() + time);
    let machine = Machine::new(trace);
    let (index, (held, writes)) =
        rayon::join(|| Index::new(trace), || (HeldLocks::new(trace), Writes::new(trace)));
    let proofs = options.proofs;
    let ((checker, candidates), (plain, forced)) = rayon::join(
        || {
            let checker = Checker::new(&machine);
            (checker, Candidates::new(trace, &held, proofs.common_lock))
        },
        || {
            let plain = MustOrder::plain(trace, &index);
            let forced = || plain.by_values(trace, &index, &held, &writes);
            let forced = proofs.forced_order.then(forced);
            (plain, forced)
        },
    );
    // The plain order and the one that values force, where they are asked for.
    let orders = [proofs.must_order.then_some(plain), forced];
    let windows = match options.window {
        Some(size) if size < trace.len() => Window::cut(&machine, &index, &bounds(trace, size)),
        _ => vec![Window::whole(&machine)],
    };
    let job = Job {
        trace,
        options,
        index: &index,
        held: &held,
        windows: &windows,
        checker: &checker,
        orders: orders.each_ref().map(Option::as_ref),
        candidates: &candidates,
        writes: &writes,
        deadline,
    };
    let done = AtomicUsize::new(0);
    let entries: Vec<usize> = (0..candidates.len()).collect();
    let pieces = entries.chunks(PIECE).enumerate();
    let pieces = pieces.filter(|(number, _)| options.part.has(*number));
    let pieces: Vec<&[usize]> = pieces.map(|(_, entries)| entries).collect();
    let all = pieces.iter().map(|entries| entries.len()).sum();
    let pieces: Vec<Prediction> = pieces
        .into_par_iter()
        .map(|entries| {
            let found = job.piece(entries);
            let before = done.fetch_add(entries.len(), Ordering::Relaxed);
            progress(before + entries.len(), all);
            found
        })
        .collect();
    let mut found = Prediction::default();
    if options.part.is_first() {
        // The others are counted where they are looked at.
        found.counts.candidates = candidates.locked;
        found.counts.locked = candidates.locked;
    }
    for piece in pieces {
        found.counts.add(&piece.counts);
        found.races.extend(piece.races);
        found.unknown.extend(piece.unknown);
        found.disagreement = found.disagreement.or(piece.disagreement);
    }
    found.races.sort_by_key(|race| race.pair);
    found.unknown.sort_unstable();
    found
}

/// Windows of this size, each of which starts in the middle of the one before.
fn bounds(trace: &Trace, size: usize) -> Vec<Range<usize>> {
    let step = (size / 2).max(1);
    let mut bounds: Vec<Range<usize>> = Vec::new();
    for start in (0..trace.len()).step_by(step) {
        bounds.push(start..(start + size).min(trace.len()));
        if start + size >= trace.len() {
            break;
        }
    }
    bounds
}

/// What was done about a signature.
#[derive(Clone, Copy, Debug, Default)]
struct Tried {
    pairs: usize,
    proven: bool,
    /// How many steps it took to hold threads back.
    steps: usize,
}

/// Why no other pair of a signature is looked at.
#[derive(Clone, Copy, Debug)]
enum Enough {
    Proven,
    TooMany,
}

struct Job<'a> {
    trace: &'a Trace,
    options: &'a Options,
    index: &'a Index,
    held: &'a HeldLocks,
    windows: &'a [Window],
    checker: &'a Checker<'a, 'a>,
    /// The plain order, and the one that values force.
    orders: [Option<&'a MustOrder>; 2],
    candidates: &'a Candidates,
    writes: &'a Writes,
    deadline: Option<Instant>,
}

impl<'a> Job<'a> {
    fn piece(&self, entries: &[usize]) -> Prediction {
        let mut found = Prediction::default();
        let mut deciders = FxHashMap::default();
        for entry in entries {
            self.entry(*entry, &mut deciders, &mut found);
        }
        found.disagreement = deciders.values().find_map(|decider| decider.disagreement().cloned());
        found
    }

    fn entry(
        &self,
        entry: usize,
        deciders: &mut FxHashMap<usize, Decider<'a>>,
        found: &mut Prediction,
    ) {
        let pairs = self.candidates.pairs(entry, self.trace, self.orders);
        let [all, unordered, unforced] = pairs.unordered;
        found.counts.candidates += all;
        found.counts.ordered += all - unordered;
        found.counts.forced += unordered - unforced;
        let mut left = unforced;
        let mut tried: FxHashMap<Signature, Tried> = FxHashMap::default();
        for pair in pairs {
            let signature = Signature::of(self.trace, pair);
            let tried = tried.entry(signature).or_default();
            let enough = self.is_enough(tried);
            // If both accesses have places in the program, the whole entry has one signature.
            let passed_over = match enough {
                None => 0,
                Some(_) if signature.has_locations() => left,
                Some(_) => 1,
            };
            left -= passed_over.max(1);
            match enough {
                None => self.pair(pair, tried, deciders, found),
                Some(Enough::Proven) => found.counts.covered += passed_over,
                Some(Enough::TooMany) => {
                    found.counts.too_many += passed_over;
                    found.unknown.push(pair);
                }
            }
            if left == 0 {
                break;
            }
        }
    }

    /// Whether another pair of a signature need not be looked at.
    fn is_enough(&self, tried: &Tried) -> Option<Enough> {
        let limit = self.options.pairs_per_signature.unwrap_or(usize::MAX);
        match tried {
            _ if self.options.all_pairs => None,
            Tried { proven: true, .. } => Some(Enough::Proven),
            Tried { pairs, .. } if *pairs >= limit => Some(Enough::TooMany),
            _ => None,
        }
    }

    fn pair(
        &self,
        pair: Pair,
        tried: &mut Tried,
        deciders: &mut FxHashMap<usize, Decider<'a>>,
        found: &mut Prediction,
    ) {
        let started = Instant::now();
        let fate = self.fate(pair, tried, deciders);
        tried.pairs += 1;
        *fate.count(&mut found.counts) += 1;
        match fate {
            Fate::Race(witness, proof) => {
                tried.proven = true;
                found.races.push(Race { pair, witness, proof, time: started.elapsed() });
            }
            Fate::Crossed | Fate::Contradicted | Fate::Refuted => {}
            Fate::Cut | Fate::TimedOut | Fate::Unconfirmed | Fate::Apart => {
                found.unknown.push(pair);
            }
        }
    }

    /// What becomes of a pair: the cheap proofs first, then the solver.
    fn fate(
        &self,
        pair: Pair,
        tried: &mut Tried,
        deciders: &mut FxHashMap<usize, Decider<'a>>,
    ) -> Fate {
        // What holding a thread back can prove of a signature, it most often proves of the first pair: that
        // much time there is.
        if tried.pairs > 0 && is_over(self.deadline) {
            return Fate::TimedOut;
        }
        let deadline = self.options.pair_time.map(|time| Instant::now() + time);
        let deadline = deadline.into_iter().chain(self.deadline).min();
        if self.options.proofs.histories && histories::exclude(self.trace, self.held, pair) {
            return Fate::Crossed;
        }
        if let Some(witness) = self.hold_back(pair, tried) {
            return Fate::Race(witness, Proof::HeldBack);
        }
        let forced = match self.close(pair, deadline) {
            Closed::Race(witness) => return Fate::Race(witness, Proof::Closure),
            Closed::NoRace => return Fate::Contradicted,
            Closed::Open(forced) => Some(forced),
            Closed::Unfinished => None,
        };
        match self.decide(pair, forced.as_ref(), deadline, deciders) {
            Some(Verdict::Race(witness)) => Fate::Race(witness, Proof::Solver),
            Some(Verdict::NoRace) if self.windows.len() == 1 => Fate::Refuted,
            Some(Verdict::NoRace) => Fate::Cut,
            Some(Verdict::Unknown) => Fate::TimedOut,
            Some(Verdict::Unconfirmed(_)) => Fate::Unconfirmed,
            None => Fate::Apart,
        }
    }

    /// Tries to prove a race by holding a thread back. The checker decides.
    fn hold_back(&self, pair: Pair, tried: &mut Tried) -> Option<Schedule> {
        if !self.options.proofs.hold_back || (tried.pairs > 0 && tried.steps > STEPS) {
            return None;
        }
        tried.steps += pair.second().index() - pair.first().index();
        HoldBack { trace: self.trace, index: self.index, held: self.held }.prove(pair, self.checker)
    }

    /// Follows what a race would force.
    fn close(&self, pair: Pair, deadline: Option<Instant>) -> Closed {
        if !self.options.proofs.closure {
            return Closed::Unfinished;
        }
        let (trace, index, writes, orders) = (self.trace, self.index, self.writes, self.orders);
        Closures { trace, index, writes, orders }.decide(pair, self.checker, deadline)
    }

    /// Decides a pair in each window that has both accesses, until it is proven.
    fn decide(
        &self,
        pair: Pair,
        forced: Option<&Forced>,
        deadline: Option<Instant>,
        deciders: &mut FxHashMap<usize, Decider<'a>>,
    ) -> Option<Verdict> {
        let contains =
            |window: &Window| window.contains(pair.first()) && window.contains(pair.second());
        let first =
            self.windows.partition_point(|window| window.range().end <= pair.second().index());
        let mut verdict = None;
        for (number, window) in self.windows.iter().enumerate().skip(first) {
            if !contains(window) {
                break;
            }
            if is_over(deadline) {
                return Some(Verdict::Unknown);
            }
            let decider = deciders.entry(number).or_insert_with(|| {
                let solver = self.options.solver.build();
                Decider::new(self.trace, self.index, window, self.checker, solver)
            });
            match decider.decide(pair, forced, deadline) {
                race @ Verdict::Race(_) => return Some(race),
                Verdict::NoRace => verdict = verdict.or(Some(Verdict::NoRace)),
                other => verdict = Some(other),
            }
        }
        verdict
    }
}

/// What becomes of a pair that no order and no lock rules out.
enum Fate {
    Race(Schedule, Proof),
    Crossed,
    Contradicted,
    Refuted,
    Cut,
    TimedOut,
    Unconfirmed,
    Apart,
}

impl Fate {
    /// Where it is counted.
    fn count<'c>(&self, counts: &'c mut Counts) -> &'c mut u64 {
        match self {
            Self::Race(_, Proof::HeldBack) => &mut counts.held_back,
            Self::Race(_, Proof::Closure) => &mut counts.closed,
            Self::Race(_, Proof::Solver) => &mut counts.solved,
            Self::Crossed => &mut counts.crossed,
            Self::Contradicted => &mut counts.contradicted,
            Self::Refuted => &mut counts.refuted,
            Self::Cut => &mut counts.cut,
            Self::TimedOut => &mut counts.timed_out,
            Self::Unconfirmed => &mut counts.unconfirmed,
            Self::Apart => &mut counts.apart,
        }
    }
}
