//! All goals of a trace, in parallel.
//!
//! The work is cut into pieces that do not depend on how many threads do it, and what is learnt
//! stays within a piece: so the result does not depend on it either, unless the time runs out.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::fate::{Fate, Tried};
use super::{Candidates, Decider, MustOrder, Options, Prediction, Writes};
use crate::encode::{Forced, Window};
use crate::goal::{Goal, Signature};
use crate::index::Index;
use crate::trace::Trace;
use crate::witness::Checker;

/// How many entries of the list of candidates make a piece of work.
const PIECE: usize = 4;

/// How many candidates of an entry are put off that only a solver can decide: one that needs none may
/// prove their signature.
const PUT_OFF: usize = 8;

/// Finds all goals that executions of a trace reach. `progress` is called now and then with how many signatures are done, of how
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
    let (index, writes) = rayon::join(|| Index::new(trace), || Writes::new(trace));
    let proofs = options.proofs;
    let ((checker, candidates), (plain, forced)) = rayon::join(
        || {
            let checker = Checker::new(trace);
            (checker, Candidates::new(trace, &index.regions, proofs.common_lock))
        },
        || {
            let plain = MustOrder::plain(trace, &index);
            let forced = || plain.by_values(trace, &index, &writes);
            let forced = proofs.forced_order.then(forced);
            (plain, forced)
        },
    );
    // The plain order and the one that values force, where they are asked for.
    let orders = [proofs.must_order.then_some(plain), forced];
    let windows = match options.window {
        Some(size) if size < trace.len() => {
            Window::cut(checker.machine(), &index, &bounds(trace, size))
        }
        _ => vec![Window::whole(checker.machine())],
    };
    let job = Job {
        trace,
        options,
        index: &index,
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
        found.counts.refuted.common_lock = candidates.locked;
    }
    for piece in pieces {
        found.counts.add(&piece.counts);
        found.found.extend(piece.found);
        found.unknown.extend(piece.unknown);
        found.disagreement = found.disagreement.or(piece.disagreement);
    }
    found.found.sort_by(|a, b| a.goal().cmp(b.goal()));
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

/// A goal that only a solver can decide.
struct PutOff {
    goal: Goal,
    /// What is known to follow from its being reached.
    forced: Option<Forced>,
    /// How long it was thought about.
    spent: Duration,
}

/// Why no other goal of a signature is looked at.
#[derive(Clone, Copy, Debug)]
enum Enough {
    Proven,
    TooMany,
}

/// What is known of a trace, and what is to be done about it.
pub(super) struct Job<'a> {
    pub(super) trace: &'a Trace,
    pub(super) options: &'a Options,
    pub(super) index: &'a Index,
    pub(super) windows: &'a [Window],
    pub(super) checker: &'a Checker<'a>,
    /// The plain order, and the one that values force.
    pub(super) orders: [Option<&'a MustOrder>; 2],
    pub(super) candidates: &'a Candidates,
    pub(super) writes: &'a Writes,
    pub(super) deadline: Option<Instant>,
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
        found.counts.refuted.must_order += all - unordered;
        found.counts.refuted.forced_order += unordered - unforced;
        let mut left = unforced;
        let mut all_tried: FxHashMap<Signature, Tried> = FxHashMap::default();
        let mut put_off = Vec::new();
        let mut most_put_off = if self.options.all_goals { 0 } else { PUT_OFF };
        for goal in pairs.map(Goal::Race) {
            let signature = goal.signature(self.trace);
            let has_locations = signature.has_locations();
            let tried = all_tried.entry(signature).or_default();
            let enough = self.is_enough(tried);
            // If all events have places in the program, the whole entry has one signature.
            let passed_over = match enough {
                None => 0,
                Some(_) if has_locations => left,
                Some(_) => 1,
            };
            left -= passed_over.max(1);
            match enough {
                None => {
                    let started = Instant::now();
                    match self.without_solver(&goal, tried) {
                        Ok(fate) => fate.note(goal, started.elapsed(), tried, found),
                        Err(forced) => {
                            tried.in_vain += started.elapsed();
                            put_off.push(PutOff { goal, forced, spent: started.elapsed() });
                        }
                    }
                }
                Some(Enough::Proven) => found.counts.covered += passed_over,
                Some(Enough::TooMany) => {
                    found.counts.unknown.limit += passed_over;
                    found.unknown.push(goal);
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

    /// Asks the solver about goals that were put off.
    fn solve(
        &self,
        goals: impl Iterator<Item = PutOff>,
        tried: &mut FxHashMap<Signature, Tried>,
        deciders: &mut FxHashMap<usize, Decider<'a>>,
        found: &mut Prediction,
    ) {
        for PutOff { goal, forced, spent } in goals {
            let tried = tried.entry(goal.signature(self.trace)).or_default();
            if tried.proven && !self.options.all_goals {
                found.counts.covered += 1;
                continue;
            }
            let started = Instant::now();
            let deadline = self.deadline(spent);
            let fate = self.by_solver(&goal, forced.as_ref(), deadline, tried, deciders);
            if let Fate::TimedOut = fate {
                tried.in_vain += started.elapsed();
            }
            fate.note(goal, spent + started.elapsed(), tried, found);
        }
    }

    /// Whether another goal of a signature need not be looked at.
    fn is_enough(&self, tried: &Tried) -> Option<Enough> {
        let limit = self.options.goals_per_signature.unwrap_or(usize::MAX);
        match tried {
            _ if self.options.all_goals => None,
            Tried { proven: true, .. } => Some(Enough::Proven),
            Tried { goals, .. } if *goals >= limit => Some(Enough::TooMany),
            _ => None,
        }
    }
}
