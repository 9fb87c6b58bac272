//! How what instrumented code says of values gets into the trace.

use super::entries::{SaidStep, Step};
use super::saying::{Left, Next, Traced};
use super::thread_log::{KEPT, PENDING, ThreadLog};
use crate::rt::base::call_site::CallSite;
use crate::rt::base::control;
use crate::rt::store::slot::Full;
use crate::trace::IntType;
use crate::trace::expression::{Binary, Node, Unary, is_true, take_apart};
use crate::trace::{Formula, LocId, Op, Patience, Said, Stamp, StrId, Value};

impl ThreadLog {
    /// The next event that instrumented code expects names what it finds.
    pub(crate) fn say_found(&self, name: Option<&'static str>) {
        self.saying.next.borrow_mut().found = Some(name);
        self.saying.any.set(true);
    }

    /// As [`say_found`](Self::say_found), where all that becomes of it will be said: so the event
    /// owes no branch.
    pub(crate) fn say_kept(&self, name: Option<&'static str>) {
        self.say_found(name);
        self.saying.next.borrow_mut().kept = true;
    }

    /// The next event that instrumented code expects leaves or sends this.
    pub(crate) fn say_is(&self, value: Traced) {
        self.say_left(Left::Known(value));
    }

    /// The next event that instrumented code expects leaves what an operator makes of what it finds
    /// itself and of this, as the type has it.
    pub(crate) fn say_of_found(&self, op: Binary, other: Traced, int: Option<IntType>) {
        self.say_left(Left::OfFound(op, other, int));
    }

    fn say_left(&self, left: Left) {
        self.saying.next.borrow_mut().is = Some(left);
        self.saying.any.set(true);
    }

    /// The next event that instrumented code expects is a compare-exchange of this.
    pub(crate) fn say_expects(&self, value: Traced) {
        self.saying.next.borrow_mut().expects = Some(value);
        self.saying.any.set(true);
    }

    /// Two events follow, of which the first finds something and the second leaves something:
    /// records the first, and keeps what is said of the second.
    pub(in crate::rt) fn say_of_second(&self, first: impl FnOnce()) {
        let is = match self.saying.is_any() {
            true => self.saying.next.borrow_mut().is.take(),
            false => None,
        };
        first();
        if let Some(is) = is {
            self.say_left(is);
        }
    }

    /// Whether it is said what the next event leaves.
    pub(in crate::rt) fn says_what_is_left(&self) -> bool {
        self.saying.is_any() && self.saying.next.borrow().is.is_some()
    }

    /// Nothing is said of the next event, if that has not happened.
    pub(crate) fn say_nothing(&self) {
        if self.saying.any.replace(false) {
            self.saying.next.take();
        }
    }

    /// As [`say_nothing`](Self::say_nothing), of what the event would leave.
    pub(crate) fn say_nothing_left(&self) {
        if self.saying.any.get() {
            self.saying.next.borrow_mut().is = None;
        }
    }

    /// How many values the thread has named.
    pub(crate) fn named(&self) -> u32 {
        self.saying.named.get()
    }

    /// The number of what the event with this stamp has named; 0 if nothing.
    pub(super) fn named_at(&self, stamp: u64) -> u32 {
        let named = self.saying.found.get() == Some(stamp);
        if named { self.named() } else { 0 }
    }

    /// What was named since the last branch goes a way that is not said: so it owes one now.
    pub(crate) fn owe(&self) {
        if self.bars_short.get() & KEPT != 0 {
            self.mark(PENDING, true);
        }
    }

    /// A value that the thread has named, by its number from 1, which is this in this run.
    pub(crate) fn named_value(&self, number: u32, value: Value) -> Traced {
        Traced { value: Some(value), nodes: vec![Node::Read(number)], since: 0 }
    }

    /// A value that comes by ways that cannot be followed from what the thread has read so far.
    pub(crate) fn unfollowed(&self, value: Value) -> Traced {
        Traced { since: self.clock(), ..Traced::constant(value) }
    }

    /// What is too long to be said holds as long as all that was read so far is what it was.
    pub(crate) fn shortened(&self, traced: Traced) -> Traced {
        match traced.value {
            Some(value) if !traced.is_short() => self.unfollowed(value),
            _ => traced,
        }
    }

    /// Records that the thread decides by a condition.
    pub(crate) fn decide(&self, condition: Traced, here: Option<CallSite>) {
        let condition = match condition.value {
            Some(value) if !is_true(value) => condition.unary(Unary::Not),
            _ => condition,
        };
        if !condition.value.is_some_and(is_true) || !condition.is_short() {
            return self.branch(here);
        }
        let before = self.clock();
        if self.has_decided(&condition, before) {
            return;
        }
        // What else was read is still to be followed by a branch, so that is owed as before.
        let stamp = self.tick(0);
        self.looks.branched(before, stamp);
        self.saying.decided.borrow_mut().0 = stamp;
        self.write_next(stamp, Op::Branch, here, Patience::Forever, |next| {
            next.is = Some(Left::Known(condition));
        });
    }

    /// Whether the thread has gone by the same condition just now: a loop that waits for something
    /// does. If not, it does now.
    fn has_decided(&self, condition: &Traced, clock: u64) -> bool {
        let mut decided = self.saying.decided.borrow_mut();
        if decided.0 != clock {
            decided.1.clear();
        }
        let again = condition.since == 0 && decided.1.contains(&condition.nodes);
        if !again {
            decided.1.push(condition.nodes.clone());
        }
        again
    }

    /// Records that a condition, if it is known, was checked and held.
    pub(crate) fn check(
        &self,
        condition: Option<Traced>,
        text: &str,
        by_language: bool,
        here: Option<CallSite>,
    ) {
        let condition = condition.filter(|condition| condition.value.is_some_and(is_true));
        let stamp = self.tick(0);
        match self.session.text(text) {
            Ok((text, offset)) => {
                self.go_behind(offset);
                let op = Op::Check { text: Some(text), by_language };
                self.write_next(stamp, op, here, Patience::Forever, |next| {
                    next.is = condition.map(Left::Known);
                });
            }
            Err(full) => self.lose(stamp, true, Some(&full)),
        }
    }

    /// Records a write of a value that is the same in every execution.
    pub(in crate::rt) fn emit_constant(&self, stamp: u64, op: Op, here: Option<CallSite>) {
        self.pay_if_pending(stamp, here);
        let value = op.left().copied();
        self.write_next(stamp, op, here, Patience::Forever, |next| {
            next.is = value.map(|value| Left::Known(Traced::constant(value)));
        });
    }

    /// Records an event of which nothing was to be said but this.
    fn write_next(
        &self,
        stamp: u64,
        op: Op,
        here: Option<CallSite>,
        patience: Patience,
        say: impl FnOnce(&mut Next),
    ) {
        // What is to be said of a later event stays to be said.
        let kept = self.saying.next.take();
        say(&mut self.saying.next.borrow_mut());
        let any = self.saying.any.replace(true);
        self.write_said(stamp, op, here, patience);
        self.saying.any.set(any);
        *self.saying.next.borrow_mut() = kept;
    }

    /// Records an event that instrumented code has expected, and what was to be said of it.
    #[cold]
    #[inline(never)]
    pub(super) fn write_said(
        &self,
        stamp: u64,
        op: Op,
        here: Option<CallSite>,
        patience: Patience,
    ) {
        self.saying.any.set(false);
        let next = self.saying.next.take();
        let named = self.named();
        let kept = next.kept;
        let said = self.said(&op, next);
        if self.named() > named {
            self.saying.found.set(Some(stamp));
        }
        if op.implies_branch() {
            match kept && self.named() > named {
                true => self.mark(KEPT, true),
                false => self.mark(PENDING, true),
            }
        }
        let mut said = match said {
            Ok(said) => said,
            Err(full) => return self.lose(stamp, true, Some(&full)),
        };
        if said.is_empty() {
            return self.write(stamp, op, here, true, patience, None);
        }
        if self.watched {
            let copy = op;
            control::observe(&copy, here);
        }
        if self.session.is_stopped() && stamp > self.session.floor() {
            return self.lose(stamp, true, None);
        }
        let location: Option<LocId> = match self.location(here) {
            Some(location) => location,
            None => return self.lose(stamp, true, None),
        };
        said.extend(self.take_again());
        let step = Step { stamp, op, location, recorded: true, patience, slot: None };
        self.append(SaidStep { step, said: &said });
    }

    /// What can be said of an event. What does not come out as the event has it is left out.
    fn said(&self, op: &Op, next: Next) -> Result<Vec<Said>, Full> {
        let mut said = Vec::new();
        let found = op.found().is_some_and(|found| *found != Value::Opaque);
        if let Some(name) = next.found.filter(|_| found) {
            let name = name.map(|name| self.name_id(name)).transpose()?;
            said.push(Said::Found(name));
            self.saying.named.set(self.named() + 1);
        }
        let now = self.named() + u32::from(said.is_empty());
        let mut since = 0;
        let is = next.is.and_then(|is| match is {
            Left::Known(is) => Some(is),
            Left::OfFound(operator, other, int) => {
                let found = op.found().filter(|_| !said.is_empty())?;
                let sum = self.named_value(self.named(), *found).binary(operator, other);
                Some(match int {
                    Some(int) => sum.unary(Unary::As(int)),
                    None => sum,
                })
            }
        });
        let is = is.filter(|is| match op.left() {
            Some(left) => is.value == Some(*left) && *left != Value::Opaque,
            None => matches!(op, Op::Branch | Op::Check { .. } | Op::Send { .. }),
        });
        let expects = next.expects.filter(|expects| match op {
            Op::Cas { old, .. } => expects.value == Some(*old),
            Op::CasFail { seen, .. } => expects.value.is_some_and(|value| value != *seen),
            _ => false,
        });
        for (traced, make) in [(is, Said::Is as fn(Formula) -> Said), (expects, Said::Expects)] {
            let Some(traced) = traced.filter(Traced::is_short) else { continue };
            if let Some(formula) = self.formula(&traced, now)? {
                since = since.max(traced.since);
                said.push(make(formula));
            }
        }
        if since > 0 {
            said.push(Said::Since(Stamp::new(since)));
        }
        Ok(said)
    }

    fn formula(&self, traced: &Traced, now: u32) -> Result<Option<Formula>, Full> {
        let back = |node: &Node| match node {
            Node::Read(number) => Node::Read(now - number),
            other => *other,
        };
        let nodes: Vec<Node> = traced.nodes.iter().map(back).collect();
        let Some((shape, operands)) = take_apart(&nodes) else { return Ok(None) };
        let mut shapes = self.saying.shapes.borrow_mut();
        let id = match shapes.get(&shape) {
            Some(id) => *id,
            None => {
                let Some((id, offset)) = self.session.shape(&shape)? else { return Ok(None) };
                // The chunk of the event must come after that of the shape.
                self.go_behind(offset);
                shapes.insert(shape, id);
                id
            }
        };
        Ok(Formula::new(id, &operands))
    }

    fn name_id(&self, name: &'static str) -> Result<StrId, Full> {
        let mut names = self.saying.names.borrow_mut();
        if let Some(id) = names.get(name) {
            return Ok(*id);
        }
        let (id, offset) = self.session.text(name)?;
        self.go_behind(offset);
        names.insert(name, id);
        Ok(id)
    }
}
