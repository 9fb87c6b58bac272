//! Whether a race does harm: a comparison of the two orders, and with the recorded run.
//!
//! A panic that comes in both orders is not the doing of their order, and one that the recorded run
//! has as well is not even that of the schedule. So harm is only what one order leads to, and
//! neither the other nor the recorded run.

use racelog::contract::marker::{Marker, failed_check};
use racelog::trace::{End, Object};
use serde::{Deserialize, Serialize};

use super::Order;
use super::outcome::{Aftermath, ThreadPlace};
use crate::finding::Place;
use crate::trace::Trace;

/// How a run of the program ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ending {
    /// What could be seen.
    pub then: Aftermath,
    /// Who panicked first, and where.
    pub panicked: Option<ThreadPlace>,
    /// The exit code, if it is known.
    pub code: Option<i32>,
}

/// What a comparison says of all that went wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Harm {
    /// Nothing went wrong in either order.
    Nothing,
    /// Something did in one of them, and neither in the other nor in the recorded run.
    OneOrder,
    /// Something did in one of them, and likewise in the recorded run.
    OneOrderAndRecorded,
    /// The same did in both, and not in the recorded run.
    BothOrders,
    /// The same did in both; how the recorded run ended is not known.
    BothOrdersAtLeast,
    /// The same did in both, and in the recorded run.
    EveryRun,
    /// What was predicted is itself what goes wrong: threads wait for ever.
    Itself,
    /// It happened in one run, after which something went wrong that did not in the recorded run.
    Followed,
}

impl Harm {
    /// Whether it is what was predicted that does it.
    pub const fn is_of_the_finding(self) -> bool {
        matches!(self, Self::OneOrder | Self::Itself | Self::Followed)
    }

    /// Compares the one run in which a message had no receiver with the recorded one.
    pub fn of_one(run: &Ending, recorded: Option<&Ending>) -> Self {
        let in_recorded = recorded.and_then(|recorded| recorded.is_as(run));
        match (run.went_wrong(), in_recorded) {
            (false, _) => Self::Nothing,
            (true, Some(true)) => Self::EveryRun,
            (true, Some(false) | None) => Self::Followed,
        }
    }

    /// Compares.
    pub fn of(orders: [&Ending; 2], recorded: Option<&Ending>) -> Self {
        let [one, other] = orders;
        let in_recorded = |ending: &Ending| recorded.and_then(|recorded| recorded.is_as(ending));
        match (one.went_wrong(), other.went_wrong()) {
            (false, false) => Self::Nothing,
            (true, true) if one.is_like(other) => match in_recorded(one) {
                None => Self::BothOrdersAtLeast,
                Some(false) => Self::BothOrders,
                Some(true) => Self::EveryRun,
            },
            (first, second) => {
                let wrong = [(first, one), (second, other)];
                let wrong = wrong.iter().filter(|(wrong, _)| *wrong);
                // What the recorded run has not is enough.
                let new = wrong.into_iter().any(|(_, ending)| in_recorded(ending) != Some(true));
                if new { Self::OneOrder } else { Self::OneOrderAndRecorded }
            }
        }
    }
}

impl Ending {
    /// How the run ended that left a trace, as far as the trace says it. The prefixes are taken off
    /// the names of files.
    pub fn recorded(trace: &Trace, prefixes: &[String]) -> Option<Self> {
        // One that was cut off may have ended in any way.
        Self::panicked(trace, prefixes)
            .or_else(|| (trace.end() == End::Clean).then(|| Self::quiet(None)))
    }

    /// As [`recorded`](Self::recorded), of a run whose exit code is known.
    pub fn recorded_with_code(trace: &Trace, prefixes: &[String], code: i32) -> Option<Self> {
        let panicked = Self::panicked(trace, prefixes).map(|it| Self { code: Some(code), ..it });
        panicked.or_else(|| Self::says_all(trace).then(|| Self::quiet(Some(code))))
    }

    /// As [`recorded`](Self::recorded), of a run that a signal of its own has killed.
    pub fn recorded_with_signal(trace: &Trace, prefixes: &[String], signal: i32) -> Option<Self> {
        let killed = || Self { then: Aftermath::Killed(signal), ..Self::quiet(None) };
        Self::panicked(trace, prefixes).or_else(|| Self::says_all(trace).then(killed))
    }

    /// Whether the trace would have a panic, had there been one.
    fn says_all(trace: &Trace) -> bool {
        trace.end() != End::Full && trace.lost_events() == 0
    }

    /// A run of which no more could be seen.
    fn quiet(code: Option<i32>) -> Self {
        Self { then: Aftermath::Nothing, panicked: None, code }
    }

    /// The first panic of the run that left a trace.
    fn panicked(trace: &Trace, prefixes: &[String]) -> Option<Self> {
        let mut printer = trace.printer();
        trace.events().find_map(|event| {
            let Marker::Panic { place, message } = trace.marker(event)? else { return None };
            let place = Some(Place::of_trace(place).stripped(prefixes));
            let thread = printer.name(Object::Thread(trace.thread(event))).to_owned();
            let then = match failed_check(message) {
                Some(check) => Aftermath::Check(check.to_owned()),
                None => Aftermath::Panic(message.to_owned()),
            };
            Some(Self {
                then,
                panicked: Some(ThreadPlace { thread: Some(thread), place }),
                code: None,
            })
        })
    }

    pub(super) fn of(order: &Order) -> Self {
        let outcome = &order.outcome;
        let (then, panicked) = (outcome.then.clone(), outcome.panicked.clone());
        Self { then, panicked, code: order.code }
    }

    /// Whether the program ended as it should not.
    pub fn went_wrong(&self) -> bool {
        let failed = self.code.is_some_and(|code| code != 0);
        self.then.is_harm() || self.then == Aftermath::Nothing && failed
    }

    /// Whether the recorded run, of which not all is known, went wrong in the same way as another.
    fn is_as(&self, other: &Self) -> Option<bool> {
        let only_code = self.then == Aftermath::Nothing && other.then == Aftermath::Nothing;
        (!only_code || self.code.is_some()).then(|| self.is_like(other))
    }

    /// Whether two runs went wrong in the same way. A panic is the same if it comes from the same
    /// place; its message may have numbers in it.
    pub fn is_like(&self, other: &Self) -> bool {
        use Aftermath::{Check, Nothing, Panic};
        let place = |ending: &Self| ending.panicked.as_ref().and_then(|spot| spot.place.clone());
        match (&self.then, &other.then) {
            (Panic(one), Panic(two)) | (Check(one), Check(two)) => {
                match (place(self), place(other)) {
                    (Some(one), Some(two)) => one == two,
                    _ => one == two,
                }
            }
            (Nothing, Nothing) => self.code == other.code,
            (one, two) => one == two,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::format::{Format, Source};

    fn ending(then: Aftermath, code: i32) -> Ending {
        Ending { then, panicked: None, code: Some(code) }
    }

    fn panic(message: &str, line: u32) -> Ending {
        let place = Some(Place { file: "a.rs".to_owned(), line, column: 1 });
        let panicked = Some(ThreadPlace { thread: Some("main".to_owned()), place });
        Ending { then: Aftermath::Panic(message.to_owned()), panicked, code: Some(101) }
    }

    #[test]
    fn harm_is_what_only_one_order_does() {
        let (good, bad) = (ending(Aftermath::Nothing, 0), panic("7 < 8", 3));
        assert_eq!(Harm::of([&good, &good], None), Harm::Nothing);
        for recorded in [None, Some(&good)] {
            assert_eq!(Harm::of([&good, &bad], recorded), Harm::OneOrder);
            assert_eq!(Harm::of([&bad, &good], recorded), Harm::OneOrder);
        }
        assert_eq!(Harm::of([&bad, &good], Some(&bad)), Harm::OneOrderAndRecorded);
        assert!(
            Harm::OneOrder.is_of_the_finding() && !Harm::OneOrderAndRecorded.is_of_the_finding()
        );
    }

    #[test]
    fn what_always_happens_is_no_harm() {
        let (good, bad) = (ending(Aftermath::Nothing, 0), panic("7 < 8", 3));
        let again = panic("9 < 8", 3);
        assert_eq!(Harm::of([&bad, &again], Some(&bad)), Harm::EveryRun);
        assert_eq!(Harm::of([&bad, &again], Some(&good)), Harm::BothOrders);
        assert_eq!(Harm::of([&bad, &again], None), Harm::BothOrdersAtLeast);
        // Another panic is another matter.
        assert_eq!(Harm::of([&bad, &panic("7 < 8", 4)], Some(&bad)), Harm::OneOrder);
    }

    #[test]
    fn what_follows_a_message_to_nobody_is_compared_with_the_recorded_run() {
        let (good, bad) = (ending(Aftermath::Nothing, 0), panic("no receiver", 3));
        assert_eq!(Harm::of_one(&good, None), Harm::Nothing);
        assert_eq!(Harm::of_one(&bad, None), Harm::Followed);
        assert_eq!(Harm::of_one(&bad, Some(&good)), Harm::Followed);
        assert_eq!(Harm::of_one(&bad, Some(&bad)), Harm::EveryRun);
        assert!(Harm::Itself.is_of_the_finding() && !Harm::EveryRun.is_of_the_finding());
    }

    #[test]
    fn a_trace_says_how_its_run_ended() {
        let of = |text: &str| {
            let bytes = text.as_bytes().to_vec();
            let mut source = Source::of_bytes(bytes, Some(Format::Text)).unwrap();
            let trace = Trace::load(&mut source, |_| {}).unwrap();
            Ending::recorded(&trace, &["/p".to_owned()])
        };
        let Some(panic) = of("t1 assert panicked at /p/a.rs:3:5: 7 < 8: no\n") else { panic!() };
        assert_eq!(panic.then, Aftermath::Panic("7 < 8: no".to_owned()));
        let spot = panic.panicked.unwrap();
        assert_eq!(
            (spot.thread.as_deref(), spot.place.unwrap().to_string()),
            (Some("t1"), "a.rs:3:5".into())
        );
        let Some(check) = of("t1 assert panicked at a.rs:3:5: check failed: x\n") else { panic!() };
        assert_eq!(check.then, Aftermath::Check("x".to_owned()));
        assert!(of("t1 assert panicked?\n").is_none_or(|it| it.then == Aftermath::Nothing));
    }

    #[test]
    fn exit_codes_count_where_nothing_else_is_seen() {
        let [zero, three] = [0, 3].map(|code| ending(Aftermath::Nothing, code));
        assert_eq!(Harm::of([&zero, &three], Some(&zero)), Harm::OneOrder);
        assert_eq!(Harm::of([&three, &three], Some(&three)), Harm::EveryRun);
        // Traces do not have the exit code.
        let unknown = Ending { code: None, ..zero.clone() };
        assert_eq!(Harm::of([&three, &three], Some(&unknown)), Harm::BothOrdersAtLeast);
        let stuck = ending(Aftermath::Stuck, 101);
        assert_eq!(Harm::of([&stuck, &zero], None), Harm::Nothing);
    }
}
