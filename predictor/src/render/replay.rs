//! What came of a replay, in words.

use std::io::{self, Write};

use racelog::contract::operation::AccessValues;
use racelog::contract::waiting::WaitsFor;

use super::list;
use super::names::Names;
use crate::finding::{Place, Replay};
use crate::replay::{
    Aftermath, Cause, Ending, Harm, Operation, Order, OtherValue, Reached, ReplayResult, Replayed,
    Standing, Target, ThreadPlace, ThreadState, ThreadValues,
};

/// What there is to say of a replay besides its status, a sentence a line.
pub(super) fn lines(replay: &Replay, names: &Names) -> Vec<String> {
    let words = ReplayWords { names };
    match (&replay.replayed, &replay.cause) {
        (Some(replayed), _) => words.replayed(replayed),
        (None, Some(cause)) => words.cause(cause),
        // A report of a racelog that kept only the words.
        (None, None) => replay.lines.clone(),
    }
}

/// The same, with the names of the trace, for readers of reports that know no more than words.
pub fn replay_lines(replay: &Replay) -> Vec<String> {
    lines(replay, &Names::default())
}

/// What people read of a replay of its own.
pub fn write_replay(out: &mut impl Write, replayed: &Replayed) -> io::Result<()> {
    let words = ReplayWords { names: &Names::default() };
    let head = match &replayed.verdict {
        ReplayResult::Confirmed { harm: Harm::Itself, .. } => "confirmed".to_owned(),
        ReplayResult::Confirmed { harmful: true, .. } => "confirmed, and does harm".to_owned(),
        ReplayResult::Confirmed { harmful: false, .. } => "confirmed".to_owned(),
        _ => words.where_it_left(replayed).unwrap_or_default(),
    };
    writeln!(out, "{head}")?;
    let said = usize::from(!replayed.is_confirmed());
    words.replayed(replayed).iter().skip(said).try_for_each(|line| writeln!(out, "  {line}"))
}

/// Whether no schedule was followed.
fn is_by_seed(replayed: &Replayed) -> bool {
    replayed.orders.iter().all(|order| order.outcome.reached == Reached::Ran)
}

struct ReplayWords<'a> {
    names: &'a Names,
}

impl ReplayWords<'_> {
    fn replayed(&self, replayed: &Replayed) -> Vec<String> {
        let mut lines: Vec<String> = self.where_it_left(replayed).into_iter().collect();
        lines.extend(replayed.cause().into_iter().flat_map(|cause| self.cause(cause)));
        for order in &replayed.orders {
            if let (true, None) = (replayed.is_confirmed(), &order.first) {
                lines.extend(self.seen(replayed.target, order));
                continue;
            }
            let first = order.first.as_ref().map(|first| format!("`{first}` "));
            let first = first.unwrap_or_default();
            if replayed.is_confirmed() {
                let values = order.outcome.values.iter().map(|values| {
                    let ThreadValues { thread, values } = values;
                    format!("`{thread}` {}, ", did(values))
                });
                let values: String = values.collect();
                let then = ending(&Ending {
                    then: order.outcome.then.clone(),
                    panicked: order.outcome.panicked.clone(),
                    code: order.code,
                });
                lines.push(format!("{first}first: {values}then {then}"));
            } else if order.outcome.then != Aftermath::Nothing
                && !matches!(replayed.cause(), Some(Cause::EndedEarly { .. }))
            {
                let to_be = if first.is_empty() { "" } else { "to be first: " };
                lines.push(format!("{first}{to_be}then {}", order.outcome.then));
            }
            lines.extend(order.outcome.waits.iter().map(|standing| self.standing(standing)));
            if replayed.is_confirmed() {
                lines.extend(order.outcome.lost.iter().map(lost));
            }
        }
        if let ReplayResult::Confirmed { harm, .. } = replayed.verdict {
            lines.extend(self.harm(harm, replayed));
        }
        if replayed.is_confirmed() && replayed.orders.len() > 1 {
            let differs = |differs: bool| if differs { "differ" } else { "do not differ" };
            let values = differs(replayed.values_differ);
            let output = differs(replayed.output_differs);
            lines.push(format!(
                "by the order, values {values}, and what is printed and exit codes {output}"
            ));
        }
        lines
    }

    /// What was seen in the one run of what has one order.
    fn seen(&self, target: Target, order: &Order) -> Vec<String> {
        let outcome = &order.outcome;
        let mut lines: Vec<String> =
            outcome.waits.iter().map(|standing| self.standing(standing)).collect();
        match target {
            Target::Race => {
                let (then, panicked) = (outcome.then.clone(), outcome.panicked.clone());
                let then = ending(&Ending { then, panicked, code: order.code });
                lines.insert(0, format!("both threads stood there at once, then {then}"));
            }
            Target::Deadlock => lines.push("none of them can go on, whatever others do".to_owned()),
            Target::Stall => lines.push("no thread of the program can go on".to_owned()),
            Target::SendToNobody => {
                let (then, panicked) = (outcome.then.clone(), outcome.panicked.clone());
                let then = ending(&Ending { then, panicked, code: order.code });
                lines.insert(0, format!("the message was refused, then {then}"));
            }
            Target::Failure => {
                let (then, panicked) = (outcome.then.clone(), outcome.panicked.clone());
                let then = ending(&Ending { then, panicked, code: order.code });
                lines.insert(0, format!("the check failed: {then}"));
            }
        }
        lines.extend(outcome.lost.iter().map(lost));
        lines
    }

    /// Where the program left its schedule.
    fn where_it_left(&self, replayed: &Replayed) -> Option<String> {
        match &replayed.verdict {
            ReplayResult::Confirmed { .. } => None,
            ReplayResult::Diverged { step, expected, .. } => {
                let expected = self.operation(expected);
                Some(format!("diverged at step {step}: expected `{expected}`"))
            }
            ReplayResult::Unreached { step, expected: Some(expected), .. } => {
                let expected = self.operation(expected);
                Some(format!("unreached: the run was over before step {step}, `{expected}`"))
            }
            ReplayResult::Unreached { expected: None, .. } => {
                Some("unreached: the run was over before the schedule began".to_owned())
            }
        }
    }

    /// Why it did not come to what was predicted.
    fn cause(&self, cause: &Cause) -> Vec<String> {
        let text = match cause {
            Cause::Untried { problem }
            | Cause::NotRun { problem }
            | Cause::ProgramChanged { problem, .. } => {
                return problem.lines().map(str::to_owned).collect();
            }
            Cause::TimeUp { seconds } => format!(
                "it has not come that far within {seconds} seconds: raise --run-time, or see what it \
                 waits for"
            ),
            Cause::Killed { signal } => format!("it was killed by signal {signal} before that"),
            Cause::ControlLost(spot) => format!(
                "{}: the schedule was not followed from there on; use racelog's types for what it \
                 waits for",
                lost(spot)
            ),
            Cause::ForeignThreads { threads } => {
                let names: Vec<String> = threads.iter().map(|name| format!("`{name}`")).collect();
                let (threads, were) =
                    if names.len() == 1 { ("thread", "was") } else { ("threads", "were") };
                format!(
                    "{threads} {} {were} not started by recorded code, so no schedule says when: \
                     start threads by `racelog::thread`",
                    list(&names)
                )
            }
            Cause::EndedEarly { then, panicked, code } => {
                let (then, panicked, code) = (then.clone(), panicked.clone(), *code);
                format!("the program ended before: {}", ending(&Ending { then, panicked, code }))
            }
            Cause::Absent { thread, parent } => match parent {
                Some(parent) => format!(
                    "nobody has started thread `{thread}`: {}, which should have",
                    self.standing(parent)
                ),
                None => format!("nobody has started thread `{thread}`, nor who should have"),
            },
            Cause::WholeOperation(early) => format!(
                "the program does `{}`, step {}, at once with what is before it, and the schedule \
                 interrupts that: no run of the program can follow it, and what was predicted may not \
                 be possible",
                self.operation(&early.operation),
                early.step
            ),
            Cause::OtherValue(differs) => self.other_value(differs),
            Cause::Blocked(standing) => format!(
                "{}; nobody who could let it go on can go on either",
                self.standing(standing)
            ),
            Cause::Ended { thread } => format!(
                "thread `{thread}` has ended without it: it depends on something besides its \
                 schedule, such as input or time"
            ),
            Cause::GoesOn { thread } => format!(
                "thread `{thread}` did not have to wait there: who holds what depends on something \
                 besides the schedule, such as input or time"
            ),
            Cause::Apart => {
                "the threads stand before operations on different objects: which these \
                             are depends on something besides the schedule, such as input or time"
                    .to_owned()
            }
            Cause::OtherOperation { found } => format!(
                "found `{}` instead, and nothing that racelog sees explains it: the program depends on \
                 something besides its schedule, such as input or time",
                self.operation(found)
            ),
        };
        vec![text]
    }

    fn other_value(&self, differs: &OtherValue) -> String {
        let OtherValue { step, access, predicted, found } = differs;
        let predicted = did(predicted);
        let place = at(access.place.as_ref());
        let object = access.object.as_deref().map_or("it", |object| self.names.best(object));
        let why = match found.wrote {
            Some(_) if found.read.is_none() => {
                "what it writes depends on something besides the schedule, such as input or time"
            }
            _ => "what is there depends on something that racelog does not see",
        };
        format!(
            "at step {step} `{}` {}{place}, an access of `{object}` (predicted: {predicted}): {why}",
            access.thread,
            did(found)
        )
    }

    /// What the comparison says that is not plain from the two lines before it.
    fn harm(&self, harm: Harm, replayed: &Replayed) -> Option<String> {
        let recorded = replayed.recorded.as_ref();
        Some(match harm {
            Harm::Nothing | Harm::Itself => return None,
            Harm::Followed if is_by_seed(replayed) => {
                "other runs under control and the recorded one do not end so".to_owned()
            }
            Harm::EveryRun if is_by_seed(replayed) => "other runs end so as well".to_owned(),
            Harm::Followed if recorded.is_some() => {
                "what goes wrong is due to that: the recorded run does not have it".to_owned()
            }
            Harm::Followed => return None,
            Harm::EveryRun if replayed.target != Target::Race => {
                "the recorded run went wrong in the same way".to_owned()
            }
            Harm::OneOrder if recorded.is_some() => {
                "what goes wrong is due to the race: neither the other order nor the recorded run \
                 has it"
                    .to_owned()
            }
            Harm::OneOrder => "what goes wrong is due to the race: the other order does not have it"
                .to_owned(),
            Harm::OneOrderAndRecorded => {
                "the recorded run went wrong in the same way; in the other order it does not"
                    .to_owned()
            }
            Harm::BothOrders => {
                "it goes wrong whichever of the two is first, and did not in the recorded run: the \
                 schedule leads there, not the race itself"
                    .to_owned()
            }
            Harm::BothOrdersAtLeast => {
                "it goes wrong whichever of the two is first, so that is not due to the race itself; \
                 how the recorded run ended is not known"
                    .to_owned()
            }
            Harm::EveryRun => {
                "it goes wrong whichever of the two is first, and did in the recorded run: that is \
                 not due to the race"
                    .to_owned()
            }
        })
    }

    fn operation(&self, operation: &Operation) -> String {
        let Operation { thread, op, object, woken: _, place } = operation;
        let object = object.as_deref().map(|object| match op.as_str() {
            "fork" | "join" | "unpark" => object,
            _ => self.names.best(object),
        });
        let object = object.map_or_else(String::new, |object| format!(" {object}"));
        let place = place.as_ref().map_or_else(String::new, |place| format!(" @ {place}"));
        format!("{thread} {op}{object}{place}")
    }

    fn standing(&self, standing: &Standing) -> String {
        let Standing { thread, state, action, place, object, joins, holders, writers } = standing;
        let waits_for = WaitsFor::of_operation(action).filter(|_| *state == ThreadState::Ready);
        let mut text = format!("thread `{thread}` ");
        match state {
            ThreadState::Ended => return text + "has ended",
            ThreadState::Outside => text += &format!("blocks outside of racelog, after `{action}`"),
            ThreadState::Ready => {
                text += &match waits_for {
                    Some(waits_for) => {
                        let joined = joins.as_ref().map(|joined| format!("thread `{joined}`"));
                        let object =
                            object.as_deref().map(|it| format!("`{}`", self.names.best(it)));
                        match (waits_for, &object) {
                            // Notified or not, it cannot go on without its lock.
                            (WaitsFor::Notification, _) if !holders.is_empty() => {
                                let lock = object.as_deref().unwrap_or("its lock");
                                format!("waits to have {lock} back")
                            }
                            _ => waits_for.words(joined.or(object).as_deref()),
                        }
                    }
                    None => format!("stands before `{action}`"),
                };
            }
        }
        text += &at(place.as_ref());
        let holds = waits_for.map_or("holds it", WaitsFor::holders_words);
        for ThreadPlace { thread: holder, place } in holders {
            let holder = name_of(holder.as_deref());
            let own = if holder == thread { ", itself," } else { "" };
            let since = place.as_ref().map_or_else(String::new, |place| format!(" since {place}"));
            text += &format!("; thread `{holder}`{own} {holds}{since}");
        }
        for ThreadPlace { thread: writer, place } in writers {
            let writer = name_of(writer.as_deref());
            let place = at(place.as_ref());
            text += &format!("; thread `{writer}` waits to write{place} and goes first");
        }
        text
    }
}

fn lost(spot: &ThreadPlace) -> String {
    let after = spot.place.as_ref().map_or_else(String::new, |place| format!(", after {place}"));
    format!("thread `{}` blocked outside of racelog{after}", name_of(spot.thread.as_deref()))
}

/// How a run ended: `panic: 7 < 8, in t1 at a.rs:3:5`.
fn ending(ending: &Ending) -> String {
    let mut text = match (&ending.then, ending.code) {
        (Aftermath::Nothing, Some(code)) if code != 0 => return format!("exit code {code}"),
        (then, _) => then.to_string(),
    };
    if let (Aftermath::Panic(_) | Aftermath::Check(_), Some(spot)) =
        (&ending.then, &ending.panicked)
    {
        if let Some(thread) = &spot.thread {
            text += &format!(", in `{thread}`");
        }
        text += &at(spot.place.as_ref());
    }
    text
}

/// What a thread is called, which may be none under control.
fn name_of(thread: Option<&str>) -> &str {
    thread.unwrap_or("-")
}

fn did(values: &AccessValues) -> String {
    let read = values.read.as_ref().map(|value| format!("read {value}"));
    let wrote = values.wrote.as_ref().map(|value| format!("wrote {value}"));
    let did: Vec<String> = read.into_iter().chain(wrote).collect();
    list(&did)
}

fn at(place: Option<&Place>) -> String {
    place.map_or_else(String::new, |place| format!(" at {place}"))
}
