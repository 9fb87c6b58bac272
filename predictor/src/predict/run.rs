//! All goals of a trace, in parallel.
//!
//! The work is cut into pieces that do not depend on how many threads do it, and what is learnt
//! stays within a piece: so the result does not depend on it either, unless the time runs out.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::atomicity::Violations;
use super::deadlock::Instances;
use super::fate::{Fate, Tried};
use super::flags::Flags;
use super::stall::StallCandidates;
use super::{Candidates, Decider, MustOrder, Options, Prediction, Writes, check, send};
use crate::encode::{Forced, Window};
use crate::goal::{Goal, GoalKind, ProgramPoint, Signature, steps};
use crate::index::Index;
use crate::lock_graph::{AbstractCircle, Circles, Places, Requests};
use crate::trace::Trace;
use crate::witness::Checker;

/// How many entries of the list of candidates make a piece of work.
const PIECE: usize = 4;

/// How many candidates of an entry are put off that only a solver can decide: one that needs none
/// may prove their signature.
const PUT_OFF: usize = 8;

/// Finds all goals that executions of a trace reach. `progress` is called now and then with how
/// many signatures are done, of how many.
pub fn predict(
    trace: &Trace,
    options: &Options,
    progress: impl Fn(usize, usize) + Sync + Send,
) -> Prediction {
    // A caller with a pool of its own has several traces to look at.
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
    let options = &Options { proofs: options.proofs.in_model(options.model), ..options.clone() };
    let deadline = options.total_time.map(|time| Instant::now() + time);
    let (index, writes) = rayon::join(|| Index::new(trace), || Writes::new(trace));
    let proofs = options.proofs;
    let looks_for = |kind| options.goals.contains(kind);
    let ((checker, candidates, requests), (plain, forced)) = rayon::join(
        || {
            let regions = &index.regions;
            let races = || Candidates::new(trace, regions, proofs.common_lock);
            let races = if looks_for(GoalKind::Race) { races() } else { Candidates::default() };
            let circles = looks_for(GoalKind::Deadlock) || looks_for(GoalKind::FairDeadlock);
            let requests = || Requests::new(trace, regions);
            let requests = if circles { requests() } else { Requests::default() };
            (Checker::of_model(trace, options.model), races, requests)
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
    let fair = looks_for(GoalKind::FairDeadlock);
    let mut circles =
        Circles::new(trace, &requests, index.regions.sets(), fair, proofs.common_lock);
    circles.all.retain(|circle| looks_for(circle.kind()));
    let sends = looks_for(GoalKind::SendToNobody).then(|| send::candidates(trace, &index));
    let sends = sends.unwrap_or_default();
    let checks = match check::are_wanted(options.goals) && options.model.has_values() {
        true => check::candidates(trace, options.goals),
        false => Vec::new(),
    };
    let violations = match steps::are_wanted(options.goals) {
        true => Violations::new(trace, options.goals, orders.each_ref().map(Option::as_ref)),
        false => Violations::default(),
    };
    let others = [&sends[..], &checks].concat();
    let flags = Flags::new(trace);
    let stalls = looks_for(GoalKind::Stall).then(|| StallCandidates::new(trace, &index)).flatten();
    let job = Job {
        trace,
        options,
        index: &index,
        windows: &windows,
        checker: &checker,
        orders: orders.each_ref().map(Option::as_ref),
        candidates: &candidates,
        requests: &requests,
        violations: &violations,
        writes: &writes,
        flags: &flags,
        deadline,
    };
    let done = AtomicUsize::new(0);
    let entries: Vec<usize> = (0..candidates.len()).collect();
    let works = works(&entries, &circles, &requests, &others, &violations, stalls.as_ref());
    let works = works.into_iter().enumerate().filter(|(number, _)| options.part.has(*number));
    let works: Vec<Work<'_>> = works.map(|(_, work)| work).collect();
    let all = works.iter().map(Work::size).sum();
    let pieces: Vec<Prediction> = works
        .into_par_iter()
        .map(|work| {
            let found = job.piece(&work);
            let before = done.fetch_add(work.size(), Ordering::Relaxed);
            progress(before + work.size(), all);
            found
        })
        .collect();
    let mut found = Prediction::default();
    if options.part.is_first() {
        // The others are counted where they are looked at.
        found.counts.candidates = candidates.locked;
        found.counts.refuted.common_lock = candidates.locked;
        // How many circles were not followed is not known; that there may be some is.
        let cut = u64::from(circles.cut);
        found.counts.candidates += cut;
        found.counts.unknown.limit += cut;
        found.counts.candidates += violations.left_out + violations.ordered;
        found.counts.refuted.must_order += violations.ordered;
        found.counts.unknown.limit += violations.left_out;
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

/// A piece of work.
enum Work<'a> {
    /// Entries of the list of candidates for races.
    Races(&'a [usize]),
    /// Circles of requests that stand at the same places.
    Circles(Vec<&'a AbstractCircle>),
    /// Goals of another kind that stand at the same places.
    Others(&'a [Goal]),
    /// Atomicity violations that stand at the same places.
    Violations(usize, ProgramPoint),
    /// All stalls.
    Stalls(&'a StallCandidates),
}

impl Work<'_> {
    /// How many signatures it is about.
    fn size(&self) -> usize {
        match self {
            Self::Races(entries) => entries.len(),
            Self::Circles(_) | Self::Others(_) | Self::Violations(..) | Self::Stalls(_) => 1,
        }
    }
}

fn works<'a>(
    races: &'a [usize],
    circles: &'a Circles,
    requests: &'a Requests,
    others: &'a [Vec<Goal>],
    violations: &Violations,
    stalls: Option<&'a StallCandidates>,
) -> Vec<Work<'a>> {
    let mut at_places: BTreeMap<Vec<&Places>, Vec<&AbstractCircle>> = BTreeMap::new();
    let mut works: Vec<Work<'_>> = races.chunks(PIECE).map(Work::Races).collect();
    for circle in &circles.all {
        match circle.places(requests) {
            Some(places) => at_places.entry(places).or_default().push(circle),
            None => works.push(Work::Circles(vec![circle])),
        }
    }
    works.extend(at_places.into_values().map(Work::Circles));
    works.extend(others.iter().map(|goals| Work::Others(goals)));
    works.extend(violations.groups.iter().map(|(at, point)| Work::Violations(*at, *point)));
    works.extend(stalls.map(Work::Stalls));
    works
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
    pub(super) requests: &'a Requests,
    pub(super) violations: &'a Violations,
    pub(super) writes: &'a Writes,
    pub(super) flags: &'a Flags,
    pub(super) deadline: Option<Instant>,
}

impl<'a> Job<'a> {
    fn piece(&self, work: &Work<'_>) -> Prediction {
        let mut found = Prediction::default();
        let mut deciders = FxHashMap::default();
        match work {
            Work::Races(entries) => {
                for entry in *entries {
                    self.entry(*entry, &mut deciders, &mut found);
                }
            }
            Work::Circles(circles) => {
                let mut tried = FxHashMap::default();
                for circle in circles {
                    let goals = Instances::new(self.trace, self.requests, circle, self.orders);
                    let goals = goals.map(Goal::Deadlock);
                    self.goals(goals, None, &mut tried, &mut deciders, &mut found);
                }
            }
            Work::Others(goals) => {
                let goals = goals.iter().cloned();
                self.goals(goals, None, &mut FxHashMap::default(), &mut deciders, &mut found);
            }
            Work::Violations(at, point) => {
                let goals = self.violations.goals(self.trace, (*at, *point), self.orders);
                self.goals(goals, None, &mut FxHashMap::default(), &mut deciders, &mut found);
            }
            Work::Stalls(candidates) => self.stalls(candidates, &mut deciders, &mut found),
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
        let goals = pairs.map(Goal::Race);
        self.goals(goals, Some(unforced), &mut FxHashMap::default(), deciders, found);
    }

    /// Goals that have one signature, if all have places in the program: once that is settled the
    /// rest is passed over. Those that are not counted beforehand are counted as they come.
    fn goals(
        &self,
        goals: impl Iterator<Item = Goal>,
        count: Option<u64>,
        all_tried: &mut FxHashMap<Signature, Tried>,
        deciders: &mut FxHashMap<usize, Decider<'a>>,
        found: &mut Prediction,
    ) {
        let mut left = count.unwrap_or(u64::MAX);
        let mut put_off = Vec::new();
        let mut most_put_off = if self.options.all_goals { 0 } else { PUT_OFF };
        for goal in goals {
            let signature = goal.signature(self.trace);
            let has_locations = signature.has_locations();
            let tried = all_tried.entry(signature).or_default();
            let enough = self.is_enough(tried);
            // If all events have places in the program, the whole entry has one signature.
            let passed_over = match (enough, count) {
                (None, _) => 0,
                (Some(_), Some(_)) if has_locations => left,
                (Some(_), _) => 1,
            };
            left -= passed_over.max(1);
            if count.is_none() {
                found.counts.candidates += 1;
            }
            match enough {
                None => {
                    let started = Instant::now();
                    match self.without_solver(&goal, tried) {
                        Ok(fate) => {
                            let deadline = self.deadline_of(&goal, started.elapsed());
                            let fate = self.with_few_switches(&goal, fate, deadline, deciders);
                            fate.note(goal, started.elapsed(), tried, found);
                        }
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
                self.solve(put_off.drain(..), all_tried, deciders, found);
            }
            if left == 0 || (count.is_none() && has_locations && enough.is_some()) {
                break;
            }
        }
        self.solve(put_off.into_iter(), all_tried, deciders, found);
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
            let deadline = self.deadline_of(&goal, spent);
            let fate = self.by_solver(&goal, forced.as_ref(), deadline, tried, deciders);
            let fate = self.with_few_switches(&goal, fate, deadline, deciders);
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
