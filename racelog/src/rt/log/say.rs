//! How what instrumented code says of values gets into the trace.

use super::entries::{SaidStep, Step};
use super::saying::{Next, Traced};
use super::thread_log::ThreadLog;
use crate::rt::base::call_site::CallSite;
use crate::rt::base::control;
use crate::rt::store::slot::Full;
use crate::trace::expression::{Node, Unary, is_true, take_apart};
use crate::trace::{Formula, LocId, Op, Patience, Said, Stamp, StrId, Value};

impl ThreadLog {
    /// The next event that instrumented code expects names what it finds.
    pub(crate) fn say_found(&self, name: Option<&'static str>) {
        self.saying.next.borrow_mut().found = Some(name);
        self.saying.any.set(true);
    }

    /// The next event that instrumented code expects leaves or sends this.
    pub(crate) fn say_is(&self, value: Traced) {
        self.saying.next.borrow_mut().is = Some(value);
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
            self.say_is(is);
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

    /// How many values the thread has named.
    pub(crate) fn named(&self) -> u32 {
        self.saying.named.get()
    }

    /// A value that the thread has named, by its number from 1, which is this in this run.
    pub(crate) fn named_value(&self, number: u32, value: Value) -> Traced {
        Traced { value: Some(value), nodes: vec![Node::Read(number)], since: 0 }
    }

    /// A value that comes by ways that cannot be followed from what the thread has read so far.
    pub(crate) fn unfollowed(&self, value: Value) -> Traced {
        Traced { since: self.clock(), ..Traced::constant(value) }
    }

    /// Records that the thread decides by a condition.
    pub(crate) fn decide(&self, condition: Traced, here: Option<CallSite>) {
        let condition = match condition.value {
            Some(value) if !is_true(value) => condition.unary(Unary::Not),
            _ => condition,
        };
        if !condition.value.is_some_and(is_true) {
            return self.branch(here);
        }
        // What else was read is still to be followed by a branch, so that is owed as before.
        let stamp = self.tick(0);
        self.write_next(stamp, Op::Branch, here, Patience::Forever, |next| {
            next.is = Some(condition);
        });
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
                self.write_next(stamp, op, here, Patience::Forever, |next| next.is = condition);
            }
            Err(full) => self.lose(stamp, true, Some(&full)),
        }
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
        let mut said = match self.said(&op, next) {
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
        let is = next.is.filter(|is| match op.left() {
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
