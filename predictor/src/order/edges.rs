//! Which edges an analysis counts.

/// Which events order others. Fork and join, messages, the end of channels, barriers, exclusive
/// accesses and foreign threads always do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edges {
    /// Whether giving a lock back comes before taking it next.
    pub locks: bool,
    /// What atomic accesses order.
    pub atomics: Atomics,
    /// What notifications and unparking order.
    pub wakeups: Wakeups,
}

/// What atomic accesses order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Atomics {
    /// Nothing.
    Nothing,
    /// What their memory orderings say, by the rules of C++20: a release write comes before an
    /// acquire read of it; read-modify-writes, and nothing else, continue a release sequence;
    /// fences turn the relaxed accesses around them into releases and acquires. Sequential
    /// consistency adds an order of its own but no happens-before. No ordering given means
    /// `SeqCst`.
    Stated,
    /// As if every ordering were `SeqCst`. Where the stated one would not do, the edge is weak; see
    /// [`Knowledge::join_weakly`](super::Knowledge::join_weakly).
    Strengthened,
    /// As Java's volatile variables: of two accesses of which one writes, the earlier comes first.
    Volatile,
}

/// What notifications and unparking order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wakeups {
    /// A notification comes before every wake-up that it may have caused in this run, and all
    /// unparking before the park that finds the token.
    ///
    /// The C++ memory model knows no such edge for notifications, but the operating system does and
    /// Miri draws it; a pair that only this edge orders cannot be brought together by any schedule.
    Observed,
    /// Only what holds in every execution. Another notification, or another unpark, would do as
    /// well; but if all are by one thread, its first must come first.
    Necessary,
}

impl Edges {
    /// Happens-before in the observed run.
    pub const HAPPENS_BEFORE: Self =
        Self { locks: true, atomics: Atomics::Stated, wakeups: Wakeups::Observed };
    /// Happens-before if every atomic access were sequentially consistent.
    pub const STRENGTHENED: Self =
        Self { locks: true, atomics: Atomics::Strengthened, wakeups: Wakeups::Observed };
    /// What is ordered in every execution.
    pub const NECESSARY: Self =
        Self { locks: false, atomics: Atomics::Nothing, wakeups: Wakeups::Necessary };
    /// Everything that synchronises, without locks: what causally-precedes takes as given.
    pub const HARD: Self =
        Self { locks: false, atomics: Atomics::Volatile, wakeups: Wakeups::Observed };
}
