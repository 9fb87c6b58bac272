//! All pairs of a trace, in parallel.
//!
//! The work is cut into pieces that do not depend on how many threads do it, and what is learnt
//! stays within a piece: so the result does not depend on it either, unless the time runs out.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::histories;
use super::{
    Candidates, Closed, Closures, Counts, Decider, HeldLocks, HoldBack, MustOrder, Options,
    PATIENCE, Prediction, Proof, Race, Verdict, Waiting, Writes,
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

/// How many pairs of an entry are put off that only a solver can decide: one that needs none may prove their
/// signature.
const PUT_OFF: usize = 8;

/// For how many pairs' time pairs of a signature may be thought about in vain. After that, others are not followed
/// to what they force, and no solver is asked about them.
const IN_VAIN: u32 = 2;

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
    /// How many steps threads have waited for what they need.
    waited: usize,
    /// How long pairs were thought about that were not decided.
    in_vain: Duration,
}

/// A pair that only a solver can decide.
struct PutOff {
    pair: Pair,
    /// What is known to follow from its being a race.
    forced: Option<Forced>,
    /// How long it was thought about.
    spent: Duration,
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
        let mut all_tried: FxHashMap<Signature, Tried> = FxHashMap::default();
        let mut put_off = Vec::new();
        let mut most_put_off = if self.options.all_pairs { 0 } else { PUT_OFF };
        for pair in pairs {
            let signature = Signature::of(self.trace, pair);
            let tried = all_tried.entry(signature).or_default();
            let enough = self.is_enough(tried);
            // If both accesses have places in the program, the whole entry has one signature.
            let passed_over = match enough {
                None => 0,
                Some(_) if signature.has_locations() => left,
                Some(_) => 1,
            };
            left -= passed_over.max(1);
            match enough {
                None => {
                    let started = Instant::now();
                    match self.without_solver(pair, tried) {
                        Ok(fate) => note(pair, fate, started.elapsed(), tried, found),
                        Err(forced) => {
                            tried.in_vain += started.elapsed();
                            put_off.push(PutOff { pair, forced, spent: started.elapsed() });
                        }
                    }
                }
                Some(Enough::Proven) => found.counts.covered += passed_over,
                Some(Enough::TooMany) => {
                    found.counts.too_many += passed_over;
                    found.unknown.push(pair);
                }
            }
            if put_off.len() > most_put_off {
                most_put_off = 0;
                self.solve(put_off.drain(..), &mut all_tried, deciders, found);
            }
            if left == 0 {
                break;
            }
        }
        self.solve(put_off.into_iter(), &mut all_tried, deciders, found);
    }

    /// Asks the solver about pairs that were put off.
    fn solve(
        &self,
        pairs: impl Iterator<Item = PutOff>,
        tried: &mut FxHashMap<Signature, Tried>,
        deciders: &mut FxHashMap<usize, Decider<'a>>,
        found: &mut Prediction,
    ) {
        for PutOff { pair, forced, spent } in pairs {
            let tried = tried.entry(Signature::of(self.trace, pair)).or_default();
            if tried.proven && !self.options.all_pairs {
                found.counts.covered += 1;
                continue;
            }
            let started = Instant::now();
            let deadline = self.deadline(spent);
            let fate = self.by_solver(pair, forced.as_ref(), deadline, tried, deciders);
            if let Fate::TimedOut = fate {
                tried.in_vain += started.elapsed();
            }
            note(pair, fate, spent + started.elapsed(), tried, found);
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

    /// What becomes of a pair, if the cheap proofs tell; otherwise what is known to follow from its being a
    /// race.
    fn without_solver(&self, pair: Pair, tried: &mut Tried) -> Result<Fate, Option<Forced>> {
        let is_first = tried.pairs == 0;
        tried.pairs += 1;
        // What holding a thread back can prove of a signature, it most often proves of the first pair: that
        // much time there is.
        if !is_first && is_over(self.deadline) {
            return Ok(Fate::TimedOut);
        }
        let deadline = self.deadline(Duration::ZERO);
        if self.options.proofs.histories && histories::exclude(self.trace, self.held, pair) {
            return Ok(Fate::Crossed);
        }
        if let Some(witness) = self.hold_back(pair, is_first, tried) {
            return Ok(Fate::Race(witness, Proof::HeldBack));
        }
        let closed = match self.is_in_vain(tried) {
            true => Closed::Unfinished,
            false => self.close(pair, deadline),
        };
        let forced = match closed {
            Closed::Race(witness) => return Ok(Fate::Race(witness, Proof::Closure)),
            Closed::NoRace => return Ok(Fate::Contradicted),
            Closed::Open(forced) => Some(forced),
            Closed::Unfinished => None,
        };
        match self.wait(pair, tried, deadline) {
            Some(witness) => Ok(Fate::Race(witness, Proof::Waiting)),
            None => Err(forced),
        }
    }

    /// What becomes of a pair that the cheap proofs leave.
    fn by_solver(
        &self,
        pair: Pair,
        forced: Option<&Forced>,
        deadline: Option<Instant>,
        tried: &Tried,
        deciders: &mut FxHashMap<usize, Decider<'a>>,
    ) -> Fate {
        if self.is_in_vain(tried) {
            return Fate::TimedOut;
        }
        match self.decide(pair, forced, deadline, deciders) {
            Some(Verdict::Race(witness)) => Fate::Race(witness, Proof::Solver),
            Some(Verdict::NoRace) if self.windows.len() == 1 => Fate::Refuted,
            Some(Verdict::NoRace) => Fate::Cut,
            Some(Verdict::Unknown) => Fate::TimedOut,
            Some(Verdict::Unconfirmed(_)) => Fate::Unconfirmed,
            None => Fate::Apart,
        }
    }

    /// Whether so much time was spent on a signature that only quick proofs are tried for its other pairs.
    fn is_in_vain(&self, tried: &Tried) -> bool {
        let limit = self.options.pair_time.map(|time| time.saturating_mul(IN_VAIN));
        !self.options.all_pairs && limit.is_some_and(|limit| tried.in_vain >= limit)
    }

    /// Until when there is time for a pair that has been thought about for so long.
    fn deadline(&self, spent: Duration) -> Option<Instant> {
        let left = self.options.pair_time.map(|time| time.saturating_sub(spent));
        let deadline = left.map(|left| Instant::now() + left);
        deadline.into_iter().chain(self.deadline).min()
    }

    /// Tries to prove a race by holding a thread back. The checker decides.
    fn hold_back(&self, pair: Pair, is_first: bool, tried: &mut Tried) -> Option<Schedule> {
        if !self.options.proofs.hold_back || (!is_first && tried.steps > STEPS) {
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

    /// Tries to prove a race by holding a thread back until others have done what is missing.
    fn wait(&self, pair: Pair, tried: &mut Tried, deadline: Option<Instant>) -> Option<Schedule> {
        if !self.options.proofs.waiting || tried.waited >= PATIENCE {
            return None;
        }
        let waiting = Waiting { steps: PATIENCE - tried.waited, deadline };
        let (witness, steps) = waiting.prove(pair, self.checker);
        tried.waited += steps;
        witness
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

/// Counts what became of a pair.
fn note(pair: Pair, fate: Fate, time: Duration, tried: &mut Tried, found: &mut Prediction) {
    *fate.count(&mut found.counts) += 1;
    match fate {
        Fate::Race(witness, proof) => {
            tried.proven = true;
            found.races.push(Race { pair, witness, proof, time });
        }
        Fate::Crossed | Fate::Contradicted | Fate::Refuted => {}
        Fate::Cut | Fate::TimedOut | Fate::Unconfirmed | Fate::Apart => found.unknown.push(pair),
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
            Self::Race(_, Proof::Waiting) => &mut counts.waited,
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
