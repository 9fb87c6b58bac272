//! Race-directed random testing.
//!
//! After Sen, "Race Directed Random Testing of Concurrent Programs" (PLDI 2008), Algorithms 1 and
//! 2: a random walk that postpones every thread which is about to execute one of two given
//! statements, until two of them stand before accesses that race; then it reports the race as real,
//! and a coin decides which of them goes first.
//!
//! Deviations. Where all threads are postponed, the paper takes a random one out of the set, and
//! its next iteration could put the same thread back at once; here that thread executes its
//! statement, as the paper's first example has it. The paper's monitor threads are counts of steps
//! here, so that a seed decides them, too: a thread that was postponed for very long, or while the
//! others do no more than spin, executes its statement. Two atomic accesses do not race.
//!
//! Claim: a race that is reported has happened: both threads stood before their accesses at the
//! same time. Missed are races that need a particular order of operations elsewhere which the
//! random walk does not come upon.

use std::fmt;

use rustc_hash::FxHashMap;

use super::choice::Choice;
use super::postponed::{Next, Postponed};
use super::random::Numbers;
use crate::contract::place::SourcePlace;
use crate::rt::CallSite;
use crate::sched::model::intent::Intent;
use crate::sched::model::place::{is_at, place_of};

/// Two threads stood before accesses that race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RealRace {
    /// Where one of them stood.
    pub first: SourcePlace,
    /// Where the other stood.
    pub second: SourcePlace,
}

impl fmt::Display for RealRace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "real race: {} and {}", self.first, self.second)
    }
}

pub(in crate::sched) struct RaceDirected {
    sites: [SourcePlace; 2],
    pub(super) numbers: Numbers,
    /// Threads that stand before one of the sites.
    postponed: Postponed,
    found: Vec<RealRace>,
    /// A race was found, and nobody has asked since.
    has_news: bool,
    /// Whether a location is one of the sites, by its address.
    known: FxHashMap<usize, bool>,
}

impl RaceDirected {
    pub(in crate::sched) fn new(sites: [SourcePlace; 2], seed: u64) -> Self {
        Self {
            sites,
            numbers: Numbers::new(seed),
            postponed: Postponed::default(),
            found: Vec::new(),
            has_news: false,
            known: FxHashMap::default(),
        }
    }

    /// The races that were found, each once.
    pub(in crate::sched) fn found(&self) -> Vec<RealRace> {
        self.found.clone()
    }

    /// Whether a race was found since this was asked.
    pub(super) fn has_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }

    /// Only looks whether threads stand before accesses that race, while another strategy picks.
    pub(super) fn watch(&mut self, choice: &Choice<'_>) {
        let slots = choice.slots;
        let mut all: Vec<usize> = choice.enabled.iter().chain(choice.spinning).copied().collect();
        all.retain(|&at| self.is_site(&slots[at].intent));
        for (number, &at) in all.iter().enumerate() {
            for &other in &all[..number] {
                if slots[other].intent.races_with(&slots[at].intent) {
                    self.report(slots[other].intent.here, slots[at].intent.here);
                }
            }
        }
    }

    pub(super) fn pick(&mut self, choice: &Choice<'_>) -> usize {
        loop {
            let at = match self.postponed.next(&mut self.numbers, choice) {
                Next::Goes(at) => return at,
                Next::Asks(at) => at,
            };
            let intent = &choice.slots[at].intent;
            if !self.is_site(intent) {
                return at;
            }
            let racing = self.racing(choice, intent);
            if racing.is_empty() {
                self.postponed.add(at, choice.step);
                continue;
            }
            for &other in &racing {
                self.report(choice.slots[other].intent.here, intent.here);
            }
            if self.numbers.coin() {
                return at;
            }
            self.postponed.add(at, choice.step);
            self.postponed.release(&racing);
        }
    }

    /// Algorithm 2: the postponed threads whose accesses race with this one.
    fn racing(&self, choice: &Choice<'_>, intent: &Intent) -> Vec<usize> {
        self.postponed
            .threads()
            .filter(|&slot| choice.slots[slot].intent.races_with(intent))
            .collect()
    }

    fn is_site(&mut self, intent: &Intent) -> bool {
        let Some(here) = intent.here else { return false };
        let sites = &self.sites;
        let address = here.key();
        let known = self.known.entry(address);
        intent.action.is_access()
            && *known.or_insert_with(|| sites.iter().any(|site| is_at(site, intent.here)))
    }

    fn report(&mut self, first: Option<CallSite>, second: Option<CallSite>) {
        if let (Some(first), Some(second)) = (place_of(first), place_of(second)) {
            let race = RealRace { first, second };
            if !self.found.contains(&race) {
                self.found.push(race);
                self.has_news = true;
            }
        }
    }
}
