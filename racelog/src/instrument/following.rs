//! Values that the expansion follows, on their way through expressions and variables.
//!
//! An expression of the program stays where it is. What is said of it is computed by closures that
//! come after it, and waits in *slots*: those of the function are made first in its body, and each
//! expression that may find something, or panic, has one of them. Beside a variable stands a
//! [`Followed`].
//!
//! What is found owes no branch as long as it only goes where it is followed. Wherever it goes
//! another way, or where nothing is known of what is computed, it is *lost*: a branch comes there,
//! and what is computed is the same in every execution that has passed it.

use std::cell::{Cell, RefCell};

use super::arithmetic::Computed;
use super::data::{Naming, Origin, lose, value_of};
use super::pointer::Updating;
use super::{HOOKS, Hooks};
use crate::rt::{CallSite, Traced, WordKind, kind_of, with};
use crate::trace::expression::Binary;

/// What waits to be used, of one expression.
#[derive(Debug, Default)]
pub struct Slot {
    origin: RefCell<Origin>,
    naming: Cell<Option<Naming>>,
}

/// The slots of a function.
#[derive(Debug)]
pub struct Slots<const N: usize>([Slot; N]);

/// A variable that is followed.
#[derive(Debug)]
pub struct Followed(RefCell<Origin>);

impl Hooks {
    /// The slots of a function.
    #[inline]
    pub fn slots<const N: usize>(self) -> Slots<N> {
        Slots(std::array::from_fn(|_| Slot::default()))
    }

    /// A variable that has this value now. If it is not `kept` it goes other ways than those that
    /// are followed, too.
    #[inline]
    pub fn binds<T>(self, value: &T, kept: bool, origin: Origin) -> Followed {
        Followed(RefCell::new(origin.bound(value, kept)))
    }

    /// A variable that has no value yet.
    #[inline]
    pub fn declares(self) -> Followed {
        Followed(RefCell::default())
    }

    /// A condition, which the thread goes on by.
    #[track_caller]
    #[inline]
    pub fn goes_by(self, condition: bool, origin: impl FnOnce() -> Origin) -> bool {
        self.decides(origin().bound(&condition, true));
        condition
    }

    /// A condition that has to hold, by the program.
    #[track_caller]
    #[inline]
    pub fn insists(self, condition: bool, text: &str, origin: impl FnOnce() -> Origin) -> bool {
        let origin = origin().bound(&condition, true);
        match condition {
            true => check(origin, text, false, CallSite::caller()),
            false => self.decides(origin),
        }
        condition
    }

    /// As `insists`, with a label by which people know the check.
    #[track_caller]
    #[inline]
    pub fn holds(self, condition: bool, label: &str, origin: impl FnOnce() -> Origin) -> bool {
        let origin = origin().bound(&condition, true);
        let here = CallSite::caller();
        match condition {
            false => self.decides(origin),
            true if origin.tells() && origin.1 == WordKind::Bool => {
                check(origin, label, false, here);
            }
            true => {
                lose(Some(here));
                with(|log| log.emit_assert(label, Some(here)));
            }
        }
        condition
    }

    /// An index of an element of so many, if it is known how many there are. Which element it is
    /// decides what happens.
    #[track_caller]
    #[inline]
    pub fn indexes<I>(self, index: I, count: Option<usize>, origin: impl FnOnce() -> Origin) -> I {
        let origin = origin().bound(&index, true);
        let here = CallSite::caller();
        if let Some(count) = count {
            let count = self.literal(count as u128);
            let is_one = origin.clone().operated(Binary::Lt, count, true).origin;
            if is_one.holds() == Some(true) && is_one.tells() {
                check(is_one, "index out of bounds", true, here);
            }
        }
        let this = self.constant(&index);
        self.decides(origin.operated(Binary::Eq, this, true).origin);
        index
    }

    /// What was read goes ways that are not followed.
    #[inline]
    pub fn owes(self) {
        with(crate::rt::ThreadLog::owe);
    }

    /// What was compared, by the program, is so.
    #[track_caller]
    #[inline]
    pub fn has_insisted(self, op: Binary, text: &str, sides: impl FnOnce() -> (Origin, Origin)) {
        let (left, right) = sides();
        let origin = left.operated(op, right, true).origin;
        check(origin, text, false, CallSite::caller());
    }

    /// The last argument of an operation, with what the operation leaves.
    #[inline]
    pub fn with<V>(self, value: V) -> Last<V> {
        Last(value)
    }

    /// A value that goes a way that is not followed.
    #[inline]
    pub fn escapes<V>(self, value: V, origin: impl FnOnce() -> Origin) -> V {
        origin().escapes();
        value
    }

    /// Of this nothing is known.
    #[inline]
    pub fn unknown(self) -> Origin {
        Origin::default()
    }
}

/// The last argument of an operation: when it is evaluated all is.
#[derive(Debug)]
pub struct Last<V>(V);

impl<V> Last<V> {
    /// The operation leaves this, if it is one of ours.
    #[inline]
    pub fn leaving(self, ours: bool, origin: impl FnOnce() -> Origin) -> V {
        let origin = origin();
        match ours {
            true => HOOKS.leaves(origin),
            false => origin.escapes(),
        }
        self.0
    }

    /// The operation leaves what an operator makes of what it finds and of this, if it is one of
    /// ours.
    #[inline]
    pub fn leaving_with(self, ours: bool, op: Binary, origin: impl FnOnce() -> Origin) -> V {
        let origin = origin();
        if !ours {
            origin.escapes();
        }
        let Origin(traced, kind) = origin;
        let int = match kind {
            WordKind::Int(int) => Some(Some(int)),
            WordKind::Bool => Some(None),
            _ => None,
        };
        if let (true, Some(traced), Some(int)) = (ours, traced, int) {
            with(|log| log.say_of_found(op, traced, int));
        }
        self.0
    }
}

impl Origin {
    /// What is said of a value that has this origin, as it is now in a variable or decided by.
    fn bound<T>(self, value: &T, kept: bool) -> Self {
        let is_so = self.0.as_ref().is_some_and(|traced| traced.value() == value_of(value));
        let kind = kind_of::<T>();
        let known =
            is_so && kind != WordKind::Other && (self.1 == kind || self.1 == WordKind::Literal);
        if !kept || !known {
            with(crate::rt::ThreadLog::owe);
        }
        match known {
            true => Self(self.0.map(shortened), kind),
            false => HOOKS.unfollowed(value),
        }
    }

    /// The value goes a way that is not followed.
    pub(super) fn escapes(&self) {
        if self.tells() {
            with(crate::rt::ThreadLog::owe);
        }
    }

    /// Whether something is to be said of a decision by it.
    fn tells(&self) -> bool {
        self.0.as_ref().is_none_or(|traced| !traced.is_fixed())
    }
}

fn shortened(traced: Traced) -> Traced {
    match traced.is_short() {
        true => traced,
        false => with(|log| log.shortened(traced.clone())).unwrap_or(traced),
    }
}

/// A condition was checked, and held.
fn check(condition: Origin, text: &str, by_language: bool, here: CallSite) {
    let here = Some(here);
    match condition.0 {
        Some(traced) if traced.is_fixed() => {}
        Some(traced) if condition.1 == WordKind::Bool => {
            with(|log| log.check(Some(traced), text, by_language, here));
        }
        _ => lose(here),
    }
}

impl<const N: usize> Slots<N> {
    /// One of them.
    #[inline]
    pub fn at(&self, slot: usize) -> &Slot {
        &self.0[slot]
    }
}

impl Slot {
    /// What it has, which is used now.
    #[inline]
    pub fn take(&self) -> Origin {
        self.origin.take()
    }

    /// An operation comes next, which is one of ours or not. What it finds gets a name.
    #[inline]
    pub fn begin(&self, ours: bool, name: &'static str) -> &Self {
        let name = Some(name).filter(|name| !name.is_empty());
        self.naming.set(ours.then(|| HOOKS.keeps(name)));
        self
    }

    /// As `begin`, once the last argument of the operation was evaluated.
    #[inline]
    pub fn begin_after<V>(&self, value: V, ours: bool, name: &'static str) -> V {
        self.begin(ours, name);
        value
    }

    /// As `begin_after`, without a name for people.
    #[inline]
    pub fn begin_unnamed<V>(&self, value: V, ours: bool) -> V {
        self.begin_after(value, ours, "")
    }

    /// The operand of a change that comes next, which leaves what the slot has, if it is one of
    /// ours.
    #[inline]
    pub fn leaving<V>(&self, value: V, ours: bool) -> V {
        Last(value).leaving(ours, || self.take())
    }

    /// What the operation has found.
    #[inline]
    pub fn found<T>(&self, value: T) -> T {
        let origin = match self.naming.take() {
            Some(naming) => naming.found(&value),
            None => HOOKS.unfollowed(&value),
        };
        self.put(origin);
        value
    }

    /// As `found`, of what is compared where it is, which was expected before.
    #[inline]
    pub fn looked<'v, E, T>(&self, _: E, value: &'v T) -> &'v T {
        let origin = match self.naming.take() {
            Some(naming) => naming.found(value),
            None => HOOKS.unfollowed(value),
        };
        self.put(origin);
        value
    }

    fn put(&self, origin: Origin) {
        if origin.0.is_none() || origin.1 == WordKind::Other {
            with(crate::rt::ThreadLog::owe);
        }
        self.origin.replace(origin);
    }

    /// A value of the program that is what it was when the function decided last.
    #[inline]
    pub fn constant<T>(&self, value: T) -> T {
        self.put(HOOKS.constant(&value));
        value
    }

    /// A value that is not followed.
    #[inline]
    pub fn unfollowed<T>(&self, value: T) -> T {
        self.put(HOOKS.unfollowed(&value));
        value
    }

    /// A value, and where it comes from.
    #[inline]
    pub fn keep<T>(&self, value: T, origin: impl FnOnce() -> Origin) -> T {
        let origin = origin().bound(&value, true);
        self.put(origin);
        value
    }

    /// What an operator has made of two.
    #[track_caller]
    #[inline]
    pub fn operated<T>(
        &self,
        value: T,
        op: Binary,
        overflow_panics: bool,
        operands: impl FnOnce() -> (Origin, Origin),
    ) -> T {
        let (left, right) = operands();
        self.computed(value, left.operated(op, right, overflow_panics), CallSite::caller())
    }

    /// What `-` has made of a value.
    #[track_caller]
    #[inline]
    pub fn negated<T>(
        &self,
        value: T,
        overflow_panics: bool,
        operand: impl FnOnce() -> Origin,
    ) -> T {
        self.computed(value, operand().negated(overflow_panics), CallSite::caller())
    }

    /// What `!` has made of a value.
    #[track_caller]
    #[inline]
    pub fn inverted<T>(&self, value: T, operand: impl FnOnce() -> Origin) -> T {
        let origin = operand().inverted();
        self.computed(value, Computed { origin, ..Computed::default() }, CallSite::caller())
    }

    /// What `as` has made of a value. It runs no code.
    #[track_caller]
    #[inline]
    pub fn cast<T>(&self, value: T, operand: impl FnOnce() -> Origin) -> T {
        let origin = operand().cast(kind_of::<T>());
        self.computed(value, Computed { origin, ..Computed::default() }, CallSite::caller())
    }

    /// What a method has made of a value and its arguments.
    #[track_caller]
    #[inline]
    pub fn called<T, const N: usize>(
        &self,
        value: T,
        method: &str,
        operands: impl FnOnce() -> (Origin, [Origin; N]),
    ) -> T {
        let (receiver, arguments) = operands();
        self.computed(value, receiver.called(method, arguments.into()), CallSite::caller())
    }

    /// Says what was checked; what is not known is lost.
    fn computed<T>(&self, value: T, computed: Computed, here: CallSite) -> T {
        let kind = kind_of::<T>();
        let Computed { origin, checks } = computed;
        let is_so = origin.0.as_ref().is_some_and(|it| it.value() == value_of(&value));
        let is_of_type =
            origin.1 == kind || origin.1 == WordKind::Literal && kind != WordKind::Other;
        if is_so && is_of_type {
            for (condition, message) in checks {
                if condition.tells() {
                    check(condition, message, true, here);
                }
            }
            self.origin.replace(Origin(origin.0.map(shortened), kind));
        } else {
            lose(Some(here));
            self.origin.replace(HOOKS.constant(&value));
        }
        value
    }
}

impl Updating {
    /// The update is made, of a word that a lock guards: what the operator has found got its name
    /// by a slot.
    #[track_caller]
    #[inline]
    pub fn computed(
        self,
        result: (),
        slot: &Slot,
        op: Binary,
        overflow_panics: bool,
        operand: impl FnOnce() -> Origin,
    ) {
        let operand = operand();
        let found = slot.naming.take().map(Naming::found_by_update).unwrap_or_default();
        // It is of the type of the operand, or the operator is none of words.
        let kind = match op {
            Binary::Shl | Binary::Shr => WordKind::Other,
            _ => operand.1,
        };
        let Computed { origin, checks } =
            Origin(found.0, kind).operated(op, operand, overflow_panics);
        if origin.0.is_some() {
            for (condition, message) in checks {
                if condition.tells() {
                    check(condition, message, true, CallSite::caller());
                }
            }
            HOOKS.leaves(Origin(origin.0.map(shortened), origin.1));
        } else {
            with(crate::rt::ThreadLog::owe);
        }
        self.done(result);
    }
}

impl Followed {
    /// Where its value comes from.
    #[inline]
    pub fn origin(&self) -> Origin {
        self.0.borrow().clone()
    }

    /// It has this value from now on.
    #[inline]
    pub fn assign<T>(&self, value: &T, kept: bool, origin: Origin) {
        self.0.replace(origin.bound(value, kept));
    }

    /// It was updated by an operator.
    #[track_caller]
    #[inline]
    pub fn update<T>(
        &self,
        value: &T,
        kept: bool,
        op: Binary,
        overflow_panics: bool,
        operand: Origin,
    ) {
        let slot = Slot::default();
        let computed = self.0.take().operated(op, operand, overflow_panics);
        let word = value_of(value);
        let is_so = computed.origin.0.as_ref().is_some_and(|it| it.value() == word);
        for (condition, message) in computed.checks.into_iter().filter(|_| is_so) {
            if condition.tells() {
                check(condition, message, true, CallSite::caller());
            }
        }
        if !is_so {
            lose(Some(CallSite::caller()));
            slot.put(HOOKS.constant(value));
            self.0.replace(slot.take());
            return;
        }
        self.assign(value, kept, computed.origin);
    }
}
