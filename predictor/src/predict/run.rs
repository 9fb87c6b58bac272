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
    Candidates, Decider, HeldLocks, HoldBack, MustOrder, Options, Prediction, Proof, Race, Verdict,
};
use crate::encode::{Index, Window};
use crate::race::{Pair, Signature};
use crate::semantics::Machine;
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
    let (index, held) = rayon::join(|| Index::new(trace), || HeldLocks::new(trace));
    let proofs = options.proofs;
    let ((checker, plain), (candidates, forced)) = rayon::join(
        || {
            let checker = Checker::new(&machine);
            (checker, proofs.must_order.then(|| MustOrder::plain(trace, &index)))
        },
        || {
            let candidates = Candidates::new(trace, &held, proofs.common_lock);
            let forced = || MustOrder::by_values(trace, &index, &held);
            (candidates, proofs.forced_order.then(forced))
        },
    );
    // The plain order and the one that values force, where they are asked for.
    let orders = [plain, forced];
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
        let counts = &mut found.counts;
        if self.options.proofs.histories && histories::exclude(self.trace, self.held, pair) {
            counts.crossed += 1;
            tried.pairs += 1;
            return;
        }
        let (count, proven) = match self.hold_back(pair, tried) {
            Some(witness) => (&mut counts.held_back, Some((witness, Proof::HeldBack))),
            None => match self.decide(pair, deciders) {
                Some(Verdict::Race(witness)) => {
                    (&mut counts.solved, Some((witness, Proof::Solver)))
                }
                Some(Verdict::NoRace) if self.windows.len() == 1 => {
                    counts.refuted += 1;
                    tried.pairs += 1;
                    return;
                }
                Some(Verdict::NoRace) => (&mut counts.cut, None),
                Some(Verdict::Unknown) => (&mut counts.timed_out, None),
                Some(Verdict::Unconfirmed(_)) => (&mut counts.unconfirmed, None),
                None => (&mut counts.apart, None),
            },
        };
        *count += 1;
        tried.pairs += 1;
        tried.proven |= proven.is_some();
        match proven {
            Some((witness, proof)) => {
                found.races.push(Race { pair, witness, proof, time: started.elapsed() });
            }
            None => found.unknown.push(pair),
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

    /// Decides a pair in each window that has both accesses, until it is proven.
    fn decide(&self, pair: Pair, deciders: &mut FxHashMap<usize, Decider<'a>>) -> Option<Verdict> {
        let contains =
            |window: &Window| window.contains(pair.first()) && window.contains(pair.second());
        let first =
            self.windows.partition_point(|window| window.range().end <= pair.second().index());
        let mut verdict = None;
        for (number, window) in self.windows.iter().enumerate().skip(first) {
            if !contains(window) {
                break;
            }
            let deadline = self.options.pair_time.map(|time| Instant::now() + time);
            let deadline = deadline.into_iter().chain(self.deadline).min();
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Some(Verdict::Unknown);
            }
            let decider = deciders.entry(number).or_insert_with(|| {
                let solver = self.options.solver.build();
                Decider::new(self.trace, self.index, window, self.checker, solver)
            });
            match decider.decide(pair, deadline) {
                race @ Verdict::Race(_) => return Some(race),
                Verdict::NoRace => verdict = verdict.or(Some(Verdict::NoRace)),
                other => verdict = Some(other),
            }
        }
        verdict
    }
}
