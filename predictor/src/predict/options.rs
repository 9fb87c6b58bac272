//! How to go about a prediction.

use std::time::Duration;

use crate::goal::{GoalKinds, Model};
use crate::solve::SolverKind;

/// How to go about it.
#[derive(Clone, Debug)]
pub struct Options {
    /// What to look for.
    pub goals: GoalKinds,
    /// Which executions count.
    pub model: Model,
    /// Whether every goal is decided, or one that is proven is enough for all of its signature.
    pub all_goals: bool,
    /// How many events to look at at a time; the whole trace if none.
    pub window: Option<usize>,
    /// How long to think about one goal.
    pub goal_time: Option<Duration>,
    /// How long to think in all.
    pub total_time: Option<Duration>,
    /// How many goals of one signature to try.
    pub goals_per_signature: Option<usize>,
    /// How many threads to use; as many as there are processors if none.
    pub jobs: Option<usize>,
    /// Who decides.
    pub solver: SolverKind,
    /// Which proofs are tried before the solver.
    pub proofs: Proofs,
    /// Which part of the work to do.
    pub part: Part,
    /// How many thread switches a witness may have, the goal's next events included.
    pub max_switches: Option<usize>,
    /// Whether witnesses are made to have as few thread switches as can be.
    pub fewest_switches: bool,
}

/// A part of the work on a trace: every `of`-th piece, from the `first` on. All parts together find
/// what the whole finds, with the same witnesses, wherever and in which order they are done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    first: usize,
    of: usize,
}

impl Part {
    /// All of it.
    pub const WHOLE: Self = Self { first: 0, of: 1 };

    /// The part that starts with a piece of this number, of so many parts; `None` if there is no
    /// such part.
    pub const fn new(first: usize, of: usize) -> Option<Self> {
        if first < of { Some(Self { first, of }) } else { None }
    }

    /// Whether a piece belongs to it.
    pub(super) const fn has(self, piece: usize) -> bool {
        piece % self.of == self.first
    }

    /// Whether it counts what is known without any piece.
    pub const fn is_first(self) -> bool {
        self.first == 0
    }
}

/// Cheap proofs, which spare the solver work. Each is sound by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Proofs {
    /// No, by a lock that both accesses hold.
    pub common_lock: bool,
    /// No, by the order in which locks were taken.
    pub histories: bool,
    /// No, by flags that are taken by compare-exchange.
    pub flags: bool,
    /// No, by an order that all executions share.
    pub must_order: bool,
    /// No, by an order that is forced by values.
    pub forced_order: bool,
    /// Yes, by holding a thread back.
    pub hold_back: bool,
    /// No or yes, by following what a race would force.
    pub closure: bool,
    /// Yes, by holding a thread back while the others wait for what they need.
    pub waiting: bool,
}

impl Proofs {
    /// All of them.
    pub const ALL: Self = Self {
        common_lock: true,
        histories: true,
        flags: true,
        must_order: true,
        forced_order: true,
        hold_back: true,
        closure: true,
        waiting: true,
    };

    /// None: the solver does it all.
    pub const NONE: Self = Self {
        common_lock: false,
        histories: false,
        flags: false,
        must_order: false,
        forced_order: false,
        hold_back: false,
        closure: false,
        waiting: false,
    };

    /// Each of them by itself.
    pub const EACH: [Self; 8] = [
        Self { common_lock: true, ..Self::NONE },
        Self { histories: true, ..Self::NONE },
        Self { flags: true, ..Self::NONE },
        Self { must_order: true, ..Self::NONE },
        Self { forced_order: true, ..Self::NONE },
        Self { hold_back: true, ..Self::NONE },
        Self { closure: true, ..Self::NONE },
        Self { waiting: true, ..Self::NONE },
    ];

    /// Those of them that are right in a model: some take it that threads go by what they read, or
    /// that all synchronisation counts.
    #[must_use]
    pub const fn in_model(self, model: Model) -> Self {
        let (values, all) = (model.has_values(), model.has_all_synchronisation());
        Self {
            flags: self.flags && values,
            forced_order: self.forced_order && values,
            closure: self.closure && values,
            must_order: self.must_order && all,
            ..self
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            goals: GoalKinds::ALL,
            model: Model::default(),
            all_goals: false,
            window: None,
            goal_time: Some(Duration::from_secs(10)),
            total_time: None,
            goals_per_signature: Some(1000),
            jobs: None,
            solver: SolverKind::default(),
            proofs: Proofs::ALL,
            part: Part::WHOLE,
            max_switches: None,
            fewest_switches: true,
        }
    }
}
