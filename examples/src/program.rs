//! What is said of a program: what it is, how large it can be, and which races it has.

use crate::labels::{LabelError, Labels, Place};

/// One of the field's classic programs.
///
/// The function it runs is ordinary code on racelog's types: it is recorded, controlled and
/// replayed as any program is. What is known of it stands here, so that tests and tables can hold
/// the predictor to it.
#[derive(Debug)]
pub struct Program {
    /// Its name, by which it is run.
    pub name: &'static str,
    /// What it does and what is wrong, in one line.
    pub about: &'static str,
    /// The collection that it is known from.
    pub origin: Origin,
    /// The module that it is written in: races are stated by labels in it.
    pub source: Source,
    /// Does its work once, and panics if harm has come of it.
    pub run: fn(&Size),
    /// A size to learn and test with.
    pub small: Size,
    /// A size to measure with.
    pub large: Size,
    /// All its races, each once.
    pub races: &'static [Race],
    /// All else that can happen to it and is known, each once: deadlocks, failed checks and so on.
    pub goals: &'static [Goal],
    /// A seed of the controlled scheduler. The run at the small size that it gives admits all races
    /// but those that say why not.
    pub schedule: &'static str,
    /// How the program may never end, if it may: a deadlock, or a wake-up that gets lost.
    pub hangs: Option<&'static str>,
}

impl Program {
    /// Where its races are: pairs of places, each pair sorted, in the order of [`Program::races`].
    pub fn expected(&self) -> Result<Vec<[Place; 2]>, LabelError> {
        let labels = Labels::of(&self.source)?;
        let place = |label: &str| labels.place(label);
        let pairs = self.races.iter().map(|race| {
            let (one, other) = (place(race.labels.0)?, place(race.labels.1)?);
            Ok([one.min(other), one.max(other)])
        });
        pairs.collect()
    }

    /// Where its other goals are, in the order of [`Program::goals`], each with its places sorted.
    pub fn expected_goals(&self) -> Result<Vec<Vec<Place>>, LabelError> {
        let labels = Labels::of(&self.source)?;
        let places = self.goals.iter().map(|goal| {
            let places = goal.labels.iter().map(|label| labels.place(label));
            let mut places = places.collect::<Result<Vec<Place>, _>>()?;
            places.sort_unstable();
            Ok(places)
        });
        places.collect()
    }

    /// How many lines of its file are neither empty nor comments. Twins share a file, and the
    /// number.
    pub fn lines_of_code(&self) -> usize {
        let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
        self.source.text.lines().filter(is_code).count()
    }
}

/// How much a program is to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// How many threads it starts, or of each kind if there are several.
    pub threads: usize,
    /// How much each of them has to do: rounds, elements, requests; the program's docs say which.
    pub work: usize,
}

impl Size {
    /// So many threads, with so much to do for each.
    pub const fn new(threads: usize, work: usize) -> Self {
        Self { threads, work }
    }
}

/// Where programs are known from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The exercises of IBM's ConTest project, which are in most comparisons of race predictors.
    ConTest,
    /// The multithreaded part of the Java Grande Forum benchmarks.
    JavaGrande,
    /// Larger programs: those of von Praun and Gross (OOPSLA 2001), and others that papers have
    /// since added to them.
    Larger,
    /// The examples of symbolic prediction: Wang, Kundu, Ganai and Gupta (FM 2009) and others.
    Fusion,
    /// What Rust programs are made of: queues, rings, arenas, reference counts.
    Shapes,
    /// Deadlocks, stalls and lost wake-ups, as programs have them.
    Hangs,
    /// Steps that belong together, and that another thread may come in between.
    Steps,
}

impl Origin {
    /// What it is called in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::ConTest => "IBM ConTest",
            Self::JavaGrande => "Java Grande",
            Self::Larger => "larger programs",
            Self::Fusion => "symbolic prediction",
            Self::Shapes => "shapes of Rust",
            Self::Hangs => "programs that may hang",
            Self::Steps => "steps that belong together",
        }
    }
}

/// The file that a program is written in.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Its path, as the recorder names it: `file!()`.
    pub file: &'static str,
    /// Its text: `include_str!` of itself.
    pub text: &'static str,
}

/// Two lines that race.
///
/// Lines are known by labels: comments at their end, such as `// [sold-read]`.
#[derive(Clone, Copy, Debug)]
pub struct Race {
    /// The two labels. They are the same if a line races with itself in another thread.
    pub labels: (&'static str, &'static str),
    /// What may come of it.
    pub harm: Harm,
    /// Why it is a race, and what goes wrong.
    pub why: &'static str,
    /// Why the run by [`Program::schedule`] does not admit it, if it does not.
    pub not_in_trace: Option<&'static str>,
    /// Whether it is one by memory orderings alone: every schedule orders the two accesses, but
    /// with flags too weak to count. Happens-before reports it; there is no schedule to prove it.
    pub is_weak: bool,
}

impl Race {
    /// A race of two labelled lines.
    pub const fn new(
        one: &'static str,
        other: &'static str,
        harm: Harm,
        why: &'static str,
    ) -> Self {
        Self { labels: (one, other), harm, why, not_in_trace: None, is_weak: false }
    }

    /// The same race, which the run by [`Program::schedule`] does not admit, and why.
    pub const fn not_in_trace(self, reason: &'static str) -> Self {
        Self { not_in_trace: Some(reason), ..self }
    }

    /// The same race, which is one by memory orderings alone.
    pub const fn weak(self) -> Self {
        Self { is_weak: true, ..self }
    }
}

/// Something else than a race that can happen.
///
/// Its lines are known by labels, as those of a race.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// What it is.
    pub kind: GoalKind,
    /// The lines where threads then stand, one for each thread. Of a stall only the roots.
    pub labels: &'static [&'static str],
    /// How it comes about.
    pub why: &'static str,
    /// Why it cannot be proven from a run in which nothing happened, if it cannot.
    pub unproven: Option<&'static str>,
}

impl Goal {
    /// A goal whose threads stand at labelled lines.
    pub const fn new(kind: GoalKind, labels: &'static [&'static str], why: &'static str) -> Self {
        Self { kind, labels, why, unproven: None }
    }

    /// The same goal, which cannot be proven, and why.
    pub const fn unproven(self, reason: &'static str) -> Self {
        Self { unproven: Some(reason), ..self }
    }
}

/// What else than a race can happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GoalKind {
    /// Threads wait for each other in a circle.
    Deadlock,
    /// The same, where writers that wait for a lock keep readers out.
    FairDeadlock,
    /// Every thread waits, and some for what nobody is left to do.
    Stall,
    /// A message is sent, and all receivers are dropped.
    SendToNobody,
    /// What the program insists on does not hold.
    FailedCheck,
    /// What the language insists on does not hold: a sum fits, an index is one.
    Panic,
    /// Another thread comes in between two accesses of a region that is marked as one step.
    Atomicity,
    /// Another thread comes in between two accesses that belong together by what the program does.
    InferredAtomicity,
}

/// What may come of a race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Harm {
    /// Nothing that anybody would notice, but for undefined behaviour.
    Benign,
    /// A read is overtaken, and what is done by its value is wrong.
    StaleRead,
    /// Of two changes one is lost.
    LostUpdate,
    /// Data that belong together no longer do.
    BrokenInvariant,
    /// A panic, such as by `unwrap` on what has just been taken away.
    Crash,
}
