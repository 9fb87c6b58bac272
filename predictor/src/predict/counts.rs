//! What became of the candidates.

/// What became of the candidates: conflicting pairs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Conflicting pairs in all.
    pub candidates: u64,
    /// Proven to be races by holding a thread back.
    pub held_back: u64,
    /// Proven to be races by what they force.
    pub closed: u64,
    /// Proven to be races by holding a thread back while the others wait for what they need.
    pub waited: u64,
    /// Proven to be races by the solver.
    pub solved: u64,
    /// No races: both hold a lock that only one can hold.
    pub locked: u64,
    /// No races: the order in which locks were taken keeps them apart.
    pub crossed: u64,
    /// No races: one comes before the other in every execution.
    pub ordered: u64,
    /// No races: the values that have been read force one to come before the other.
    pub forced: u64,
    /// No races: what such a race would force is a contradiction.
    pub contradicted: u64,
    /// No races, says the solver.
    pub refuted: u64,
    /// Not looked at, because another pair of the same two source locations is a race.
    pub covered: u64,
    /// Not decided: the time was up.
    pub timed_out: u64,
    /// Not decided: no window has both accesses.
    pub apart: u64,
    /// Not decided: no race within its window, which is not the whole trace.
    pub cut: u64,
    /// Not decided: there are too many pairs of the same two source locations.
    pub too_many: u64,
    /// The checker did not accept what the solver found: a bug of ours.
    pub unconfirmed: u64,
}

impl Counts {
    /// How many pairs are proven to be races.
    pub fn proven(&self) -> u64 {
        self.held_back + self.closed + self.waited + self.solved
    }

    /// How many pairs could not be decided.
    pub fn unknown(&self) -> u64 {
        self.timed_out + self.apart + self.cut + self.too_many + self.unconfirmed
    }

    /// Adds what became of others.
    pub(super) fn add(&mut self, other: &Self) {
        self.candidates += other.candidates;
        self.held_back += other.held_back;
        self.closed += other.closed;
        self.waited += other.waited;
        self.solved += other.solved;
        self.locked += other.locked;
        self.crossed += other.crossed;
        self.ordered += other.ordered;
        self.forced += other.forced;
        self.contradicted += other.contradicted;
        self.refuted += other.refuted;
        self.covered += other.covered;
        self.timed_out += other.timed_out;
        self.apart += other.apart;
        self.cut += other.cut;
        self.unconfirmed += other.unconfirmed;
        self.too_many += other.too_many;
    }
}
