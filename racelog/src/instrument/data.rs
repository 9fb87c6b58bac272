//! Where values of instrumented code come from.
//!
//! [`Origin`] stands beside a value that the expansion follows: a number of the program's text,
//! what an operation has found, or what operators make of these. Whatever cannot be followed is
//! [`unfollowed`](Hooks::unfollowed): it holds only as long as all that the thread has read so far
//! is what it was. An origin knows what it computes to in this run; where that is not what the
//! event has, nothing is said, so a mistake of the expansion costs predictions and not the trace.
//!
//! What is said stands for the next event that is expected, as an [operation](super::shim) of ours
//! expects it: nothing reaches an event of code that was not instrumented.

use super::Hooks;
use crate::rt::{CallSite, ThreadLog, Traced, WordKind, kind_of, plain_word_of, with, word_of};
use crate::trace::Value;
use crate::trace::expression::{Binary, Unary};

/// Where a value comes from. It says nothing where nothing is recorded.
#[derive(Clone, Debug, Default)]
pub struct Origin(pub(super) Option<Traced>, pub(super) WordKind);

impl Origin {
    /// Of a value of this type.
    fn of<T>(traced: Option<Traced>) -> Self {
        Self(traced, kind_of::<T>())
    }

    /// What an operator makes of it. The type of that is the caller's to know.
    pub fn unary(self, op: Unary) -> Self {
        Self(self.0.map(|traced| traced.unary(op)), WordKind::Other)
    }

    /// What an operator makes of two. The type of that is the caller's to know.
    pub fn binary(self, op: Binary, other: Self) -> Self {
        let both = self.0.zip(other.0);
        Self(both.map(|(left, right)| left.binary(op, right)), WordKind::Other)
    }

    /// Whether it is known to be true, or known not to be.
    pub fn holds(&self) -> Option<bool> {
        let value = self.0.as_ref()?.value()?;
        Some(crate::trace::expression::is_true(value))
    }
}

/// What is recorded of a word, be it one of memory or one that a lock guards.
pub(super) fn value_of<T>(value: &T) -> Option<Value> {
    let is_known = |value: &Value| *value != Value::Opaque;
    Some(word_of(value)).filter(is_known).or_else(|| Some(plain_word_of(value)).filter(is_known))
}

/// What was read goes a way that cannot be followed: a branch, if something was.
#[inline]
pub(super) fn lose(here: Option<CallSite>) {
    with(|log| {
        log.owe();
        if log.is_pending() {
            log.branch(here);
        }
    });
}

/// What is said of values.
impl Hooks {
    /// A word of the program's text.
    pub fn constant<T>(self, value: &T) -> Origin {
        Origin::of::<T>(value_of(value).map(Traced::constant))
    }

    /// A number of the program's text, of a type that it does not say.
    pub fn literal(self, number: u128) -> Origin {
        Origin(Some(Traced::constant(Value::Nat(number))), WordKind::Literal)
    }

    /// A word that comes by ways that cannot be followed.
    pub fn unfollowed<T>(self, value: &T) -> Origin {
        let value = value_of(value);
        Origin::of::<T>(value.and_then(|value| with(|log| log.unfollowed(value))))
    }

    /// What the next operation finds gets a number, and a name for people. Call
    /// [`found`](Self::found) when it is done.
    pub fn names(self, name: Option<&'static str>) -> Naming {
        Naming::begin(|log| log.say_found(name))
    }

    /// As [`names`](Self::names), where all that becomes of it will be said: then no branch is owed
    /// for it.
    pub fn keeps(self, name: Option<&'static str>) -> Naming {
        Naming::begin(|log| log.say_kept(name))
    }

    /// What the next operation leaves or sends.
    pub fn leaves(self, origin: Origin) {
        if let Some(traced) = origin.0 {
            with(|log| log.say_is(traced));
        }
    }

    /// What the next operation, a compare-exchange, expects to find.
    pub fn expects(self, origin: Origin) {
        if let Some(traced) = origin.0 {
            with(|log| log.say_expects(traced));
        }
    }

    /// The operation is over: what was said of an event that has not happened is said no more.
    pub fn said(self) {
        with(crate::rt::ThreadLog::say_nothing);
    }

    /// The thread goes on by a condition, or by its contrary. Branches that are owed stay owed:
    /// what runs later may depend on other values.
    #[track_caller]
    pub fn decides(self, condition: Origin) {
        let here = Some(CallSite::caller());
        match condition.0 {
            // It goes this way in every execution that gets here.
            Some(traced) if traced.is_fixed() => {}
            Some(traced) => {
                with(|log| log.decide(traced, here));
            }
            None => lose(here),
        }
    }

    /// A condition was checked, and held: by the program, or by the language, as that a sum fits
    /// its type.
    #[track_caller]
    pub fn checked(self, condition: Origin, text: &str, by_language: bool) {
        let here = Some(CallSite::caller());
        with(|log| log.check(condition.0, text, by_language, here));
    }
}

/// An operation whose result is to be named.
#[derive(Clone, Copy, Debug)]
pub struct Naming(Option<u32>, u64);

impl Naming {
    fn begin(say: impl FnOnce(&ThreadLog)) -> Self {
        let before = with(|log| {
            say(log);
            (log.named(), log.repeated_look().0)
        });
        Self(before.map(|(named, _)| named), before.map_or(0, |(_, repeated)| repeated))
    }

    /// The origin of what the operation has found, which is this, once it is done: unfollowed if
    /// it was not recorded as one of instrumented code.
    pub fn found<T>(self, value: &T) -> Origin {
        let (Some(before), Some(value)) = (self.0, value_of(value)) else {
            return Origin::default();
        };
        let traced = with(|log| {
            log.say_nothing();
            let (repeated, number) = log.repeated_look();
            if log.named() == before + 1 {
                log.named_value(before + 1, value)
            } else if repeated == self.1 + 1 && number != 0 {
                // It has found what the look before it has.
                log.named_value(number, value)
            } else {
                log.unfollowed(value)
            }
        });
        Origin::of::<T>(traced)
    }

    /// The origin of what an update by an operator, such as `*guard += 1`, has found that is made
    /// and not said to be: for what it leaves, and for what was checked then. Who says what it
    /// leaves has said what was checked, so no branch follows the operator.
    pub fn found_by_update(self) -> Origin {
        let Some(before) = self.0 else { return Origin::default() };
        let traced = with(|log| {
            let found = log.found_held()?;
            Some(match log.named() == before + 1 {
                true => log.named_value(before + 1, found),
                false => log.unfollowed(found),
            })
        });
        Origin(traced.flatten(), WordKind::Other)
    }

    /// The origin of what the operation is about to find, for what the same operation leaves.
    pub fn will_find<T>(self, value: &T) -> Origin {
        let value = value_of(value);
        let number = self.0.map(|before| before + 1);
        Origin::of::<T>(
            number
                .zip(value)
                .and_then(|(number, value)| with(|log| log.named_value(number, value))),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Shared;
    use crate::child_trace::in_child;
    use crate::instrument::{HOOKS, PointerProbe};
    use crate::rt::Expected;
    use crate::sync::Mutex;
    use crate::trace::{Item, Op, Said};

    /// An operation that instrumented code expects.
    fn operation<R>(body: impl FnOnce() -> R) -> R {
        with(|log| log.expect(Expected::Bare));
        let result = body();
        with(|log| log.expect(Expected::Nothing));
        result
    }

    /// What the expansion of `let a = cell.get(); cell.set(a + 1); if a + 1 > 5 {}` would do.
    #[test]
    fn what_is_said_stands_before_its_event() {
        if in_child() {
            let cell = Shared::new(7u8);
            for _ in 0..2 {
                let naming = HOOKS.names(Some("a"));
                let value = operation(|| cell.get());
                let a = naming.found(&value);
                let sum = a.binary(Binary::Add, HOOKS.constant(&1u8));
                HOOKS.leaves(sum.clone());
                operation(|| cell.set(value + 1));
                HOOKS.said();
                HOOKS.decides(sum.clone().binary(Binary::Gt, HOOKS.constant(&8u8)));
                HOOKS.checked(sum.binary(Binary::Lt, HOOKS.constant(&100u8)), "it fits", true);
                // What is not so is not said.
                HOOKS.leaves(HOOKS.constant(&99u8));
                operation(|| cell.set(value + 1));
                let far = HOOKS.unfollowed(&(value + 1));
                HOOKS.leaves(far);
                operation(|| cell.set(value + 1));
            }
            return;
        }
        let name = "instrument::data::tests::what_is_said_stands_before_its_event";
        let items = crate::child_trace::items(name);
        let mut words = Vec::new();
        for item in &items {
            match item {
                Item::Said { said: Said::Found(name), .. } => {
                    assert!(name.is_some());
                    words.push("found");
                }
                Item::Said { said: Said::Is(formula), .. } => {
                    words.push("is");
                    let reads = formula.operands();
                    assert!(reads.len() == 1 || reads[0] == 1, "{reads:?}");
                }
                Item::Said { said: Said::Since(_), .. } => words.push("since"),
                Item::Said { said: Said::Again(_), .. } => words.push("again"),
                Item::Said { said: Said::Expects(_), .. } => words.push("expects"),
                Item::Event(event) if matches!(event.op, Op::Begin | Op::End) => {}
                Item::Event(event) => words.push(event.op.keyword()),
                Item::Init { .. } | Item::Request(_) => {}
            }
        }
        let round = [
            "found",
            "read",
            "is",
            "write",
            "is",
            "branch",
            "is",
            "check_panic",
            "write",
            "is",
            "since",
            "write",
        ];
        // The second time, `a` is 8, so the sum is more than 8; the first time it is not.
        assert_eq!(words, [round, round].concat());
    }

    /// Uses of a guard, with what is said of them at the same place: that of the macro's call.
    macro_rules! use_of {
        (*$guard:ident) => {
            PointerProbe::of(|| &raw const $guard).reading(|| &raw const *$guard).done(*$guard)
        };
        (*$guard:ident = $value:expr) => {
            *$guard = PointerProbe::of(|| &raw const $guard).writing($value, || &raw const *$guard)
        };
        (*$guard:ident += $value:expr) => {
            *$guard += PointerProbe::of(|| &raw const $guard).operand($value, || &raw const *$guard)
        };
    }

    /// What the expansion of `let a = *guard; *guard = a + 1; *guard += 2;` would do.
    #[test]
    fn words_behind_guards_are_named_as_cells_are() {
        if in_child() {
            let lock = Mutex::new(7u8);
            let mut guard = lock.lock().unwrap();

            let naming = HOOKS.names(Some("a"));
            let value = use_of!(*guard);
            let a = naming.found(&value);

            HOOKS.leaves(a.clone().binary(Binary::Add, HOOKS.constant(&1u8)));
            use_of!(*guard = value + 1);
            HOOKS.made(());
            HOOKS.said();

            let naming = HOOKS.names(None);
            let updating = HOOKS.updating();
            use_of!(*guard += 2);
            let found = naming.found_by_update();
            let sum = found.binary(Binary::Add, HOOKS.constant(&2u8));
            let fits = sum.clone().binary(Binary::Lt, HOOKS.constant(&256u16));
            HOOKS.checked(fits, "it fits", true);
            HOOKS.leaves(sum);
            updating.done(());
            HOOKS.said();
            assert_eq!(*guard, 10);
            drop(guard);
            std::mem::forget(lock);
            return;
        }
        let name = "instrument::data::tests::words_behind_guards_are_named_as_cells_are";
        let mut words = Vec::new();
        for item in crate::child_trace::items(name) {
            match item {
                Item::Said { said, .. } => words.push(match said {
                    Said::Found(Some(_)) => "found, with a name",
                    Said::Found(None) => "found",
                    Said::Is(formula) => {
                        // By what was named just before.
                        assert_eq!(formula.operands()[0], 1, "{formula:?}");
                        "is"
                    }
                    Said::Expects(_) | Said::Since(_) | Said::Again(_) => "something else",
                }),
                Item::Event(event) if matches!(event.op, Op::Begin | Op::End) => {}
                Item::Event(event) => words.push(event.op.keyword()),
                Item::Init { .. } | Item::Request(_) => {}
            }
        }
        let first = ["acquire", "found, with a name", "read", "is", "write"];
        let update = ["found", "read", "is", "check_panic", "is", "write"];
        // The last read is one by code that is not instrumented.
        let last = ["branch", "read", "release"];
        assert_eq!(words, [&first[..], &update[..], &last[..]].concat());
    }
}
