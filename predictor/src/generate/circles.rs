//! Lock-order circles: some are deadlocks, the others only look like some.
//!
//! The members of a circle run one after the other in the trace, so nothing happens there. A
//! deadlock's members are listeners, but for the last: while a listener is held back with a lock of
//! the circle, all that talkers do goes on as it was, and so the last member gets to its lock. What
//! is no deadlock is none for one of several reasons, which are taken in turn.

use racelog::trace::{LockId, Op, Patience, ThreadId, Value, VarId};

use super::Plan;
use super::world::{LOOSE, Step};

/// How often the members of most circles do what they do.
const ROUNDS: usize = 3;

/// The most members that a circle has.
const MEMBERS: usize = 5;

/// Why circles that are no deadlocks are none.
const REASONS: [Shape; 8] = [
    Shape::Gate,
    Shape::Flag,
    Shape::Try,
    Shape::Join,
    Shape::Shared,
    Shape::Busy,
    Shape::Timed,
    Shape::Fork,
];

/// What a circle is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    Deadlock,
    /// All members hold a lock besides.
    Gate,
    /// The second member goes on only if it finds what the first leaves when it is done.
    Flag,
    /// The last member tries to take its second lock.
    Try,
    /// The last member waits for its second lock for a time only.
    Timed,
    /// All share both locks.
    Shared,
    /// The first member starts the second when it is done.
    Fork,
    /// The second member begins when the first has ended.
    Join,
    /// Both members take a flag by compare-exchange.
    Busy,
}

/// What one thread does in a circle, once.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) circle: usize,
    pub(super) thread: usize,
    pub(super) steps: Vec<Step>,
}

/// An event of a circle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seeded {
    pub(super) op: Op<Value>,
    pub(super) patience: Patience,
    /// The thread, if it is not the one whose section it is.
    pub(super) by: Option<usize>,
    pub(super) circle: usize,
    pub(super) line: u32,
}

/// The circles of a plan.
pub(super) struct Circles<'a> {
    plan: &'a Plan,
    pub(super) sections: Vec<Section>,
    /// The locks, and what they are called.
    pub(super) locks: Vec<(LockId, String)>,
    vars: usize,
    threads: usize,
    /// The section that is made.
    steps: Vec<Step>,
    circle: usize,
    by: Option<usize>,
}

impl<'a> Circles<'a> {
    /// Makes the sections of all circles, each circle's in the order in which they are to run.
    pub(super) fn new(plan: &'a Plan) -> Self {
        let mut circles = Self {
            plan,
            sections: Vec::new(),
            locks: Vec::new(),
            vars: plan.vars + plan.near_races + plan.far_races + LOOSE,
            threads: plan.threads,
            steps: Vec::new(),
            circle: 0,
            by: None,
        };
        for circle in 0..plan.deadlocks + plan.false_circles {
            circles.circle = circle;
            circles.make(match circle.checked_sub(plan.deadlocks) {
                None => Shape::Deadlock,
                Some(number) => REASONS[number % REASONS.len()],
            });
        }
        circles
    }

    fn make(&mut self, shape: Shape) {
        match shape {
            Shape::Deadlock | Shape::Gate | Shape::Try | Shape::Timed | Shape::Shared => {
                self.ring(shape);
            }
            Shape::Flag => self.flag(),
            Shape::Busy => self.busy(),
            Shape::Fork | Shape::Join => self.one_after_the_other(shape),
        }
    }

    /// A ring of threads, each of which takes its own lock and the next one's.
    fn ring(&mut self, shape: Shape) {
        let Plan { threads, .. } = *self.plan;
        let talkers = threads.div_ceil(2);
        let listeners = threads - talkers;
        let members = 2 + self.circle % listeners.min(MEMBERS - 1);
        let locks = self.new_locks(shape, members);
        let gate = (shape == Shape::Gate).then(|| self.new_locks(shape, 1)[0]);
        for _ in 0..ROUNDS {
            for member in 0..members {
                let is_last = member + 1 == members;
                let patience = match shape {
                    Shape::Try if is_last => Patience::Try,
                    Shape::Timed if is_last => Patience::Timed,
                    _ => Patience::Forever,
                };
                let pair = [locks[member], locks[(member + 1) % members]];
                self.emit(gate.map(Op::Acquire), member, 0);
                self.nested(pair, shape == Shape::Shared, patience, member);
                self.emit(gate.map(Op::Release), member, 9);
                let listener = talkers + (self.circle + member) % listeners;
                let talker = self.circle % talkers;
                self.section(if is_last { talker } else { listener });
            }
        }
    }

    fn flag(&mut self) {
        let locks = self.new_locks(Shape::Flag, 2);
        let (var, ordering) = (self.new_var(), None);
        let value = Value::Nat(1);
        self.nested([locks[0], locks[1]], false, Patience::Forever, 0);
        self.emit([Op::Store { var, value, ordering }], 0, 9);
        self.section(self.talker());
        self.emit([Op::Load { var, value, ordering }, Op::Branch], 1, 0);
        self.nested([locks[1], locks[0]], false, Patience::Forever, 1);
        self.section(self.listener());
    }

    fn busy(&mut self) {
        let locks = self.new_locks(Shape::Busy, 2);
        let (var, ordering) = (self.new_var(), None);
        let (old, new) = (Value::Nat(0), Value::Nat(1));
        for _ in 0..ROUNDS {
            for member in 0..2 {
                self.emit([Op::Cas { var, old, new, ordering }], member, 0);
                let pair = [locks[member], locks[1 - member]];
                self.nested(pair, false, Patience::Forever, member);
                self.emit([Op::Store { var, value: old, ordering }], member, 9);
                self.section(if member == 0 { self.talker() } else { self.listener() });
            }
        }
    }

    /// One of the two members is a thread that the other starts and waits for.
    fn one_after_the_other(&mut self, shape: Shape) {
        let locks = self.new_locks(shape, 2);
        for _ in 0..ROUNDS {
            let child = self.threads;
            self.threads += 1;
            let id = ThreadId::new(child as u32);
            for (member, by) in [(0, shape == Shape::Join), (1, shape == Shape::Fork)] {
                if by {
                    self.emit([Op::Fork(id)], member, 0);
                }
                self.by = by.then_some(child);
                let pair = [locks[member], locks[1 - member]];
                self.nested(pair, false, Patience::Forever, member);
                self.by = None;
                if by {
                    self.emit([Op::Join(id)], member, 9);
                }
            }
            self.section(self.listener());
        }
    }

    /// Two locks, one within the other.
    fn nested(&mut self, locks: [LockId; 2], shared: bool, patience: Patience, member: usize) {
        let take = |lock| if shared { Op::ReadAcquire(lock) } else { Op::Acquire(lock) };
        let give = |lock| if shared { Op::ReadRelease(lock) } else { Op::Release(lock) };
        self.emit([take(locks[0])], member, 3);
        // A thread that is not among the workers does none of their work.
        if self.by.is_none() {
            self.steps.push(Step::Work);
        }
        self.push(take(locks[1]), patience, member, 4);
        self.emit([give(locks[1]), give(locks[0])], member, 5);
    }

    fn emit(&mut self, ops: impl IntoIterator<Item = Op<Value>>, member: usize, line: u32) {
        for (line, op) in (line..).zip(ops) {
            self.push(op, Patience::Forever, member, line);
        }
    }

    fn push(&mut self, op: Op<Value>, patience: Patience, member: usize, line: u32) {
        let (by, circle) = (self.by, self.circle);
        let line = 1 + 100 * circle as u32 + 12 * member as u32 + line;
        self.steps.push(Step::Seeded(Seeded { op, patience, by, circle, line }));
    }

    /// What was made is a section of a thread.
    fn section(&mut self, thread: usize) {
        let steps = std::mem::take(&mut self.steps);
        self.sections.push(Section { circle: self.circle, thread, steps });
    }

    fn talker(&self) -> usize {
        self.circle % self.plan.threads.div_ceil(2)
    }

    fn listener(&self) -> usize {
        let talkers = self.plan.threads.div_ceil(2);
        talkers + self.circle % (self.plan.threads - talkers)
    }

    fn new_locks(&mut self, shape: Shape, count: usize) -> Vec<LockId> {
        let name = format!("{shape:?}").to_lowercase();
        let first = self.locks.len();
        for number in first..first + count {
            let lock = LockId::new((self.plan.locks + number) as u32);
            self.locks.push((lock, format!("{name}{}.{}", self.circle, number - first)));
        }
        self.locks[first..].iter().map(|(lock, _)| *lock).collect()
    }

    fn new_var(&mut self) -> VarId {
        self.vars += 1;
        VarId::new(self.vars as u32 - 1)
    }
}
