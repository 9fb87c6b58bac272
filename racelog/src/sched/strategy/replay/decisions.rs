//! What else a schedule decides, besides who goes next: whom a `notify_one` wakes, and whether a
//! wait ends by its time.
//!
//! The clock of the run has no say in either while a schedule is followed. A notification goes to
//! the thread that its step names. A wait that can end by its time does so if the step that ends it
//! is one of those that say so, such as `wake_timeout`, and then at once; if the step is another,
//! the wait goes on until what that one needs has come, however long the program wanted to wait. A
//! wait without a time, too, ends by a `wake_timeout` or `park_timeout`: as a spurious wake-up.
//! Sleeping takes no time. Where the schedule says nothing, because a wait leaves no event, it is
//! the clock's.

use super::{Action, CallSite, Choice, Intent, Operation, Replay, Status};
use crate::sched::model::place;
#[cfg(feature = "crossbeam")]
use crate::trace;

/// The steps that say how a wait has ended.
const ENDS: [&str; 12] = [
    "wake",
    "wake_timeout",
    "park",
    "park_timeout",
    "recv",
    "recv_empty",
    "recv_closed",
    "send",
    "acquire",
    "acquire_fail",
    "racquire",
    "racquire_fail",
];

/// Those of them that say that time was up.
const TIME_IS_UP: [&str; 5] =
    ["wake_timeout", "park_timeout", "recv_empty", "acquire_fail", "racquire_fail"];

impl Replay {
    /// Whether a thread waits no longer, for its time is up; nothing if the schedule does not say.
    pub(in crate::sched::strategy) fn is_time_up(
        &self,
        thread: &str,
        intent: &Intent,
    ) -> Option<bool> {
        match intent.action {
            _ if !self.is_on_its_way() => None,
            Action::Sleep => Some(true),
            // A wait that ends by its time is no wait for ever.
            _ if self.is_to_stand_still() => None,
            _ => self.ends_by_time(thread, intent.here),
        }
    }

    /// Until when a thread waits whose step is still to come, where the schedule does not say how
    /// that ends: at the latest by its time.
    pub(super) fn undecided(&self, choice: &Choice<'_>) -> Option<u64> {
        let waits = choice.slots.iter().filter(|slot| {
            slot.status == Status::Ready
                && self.coming(&slot.path).next().is_some()
                && self.is_time_up(&slot.path, &slot.intent).is_none()
        });
        let deadlines = waits.filter_map(|slot| slot.deadline);
        deadlines.filter(|deadline| *deadline > choice.now).min()
    }

    /// Whether a thread that is in an operation does not wait in it, or not once more, for its time
    /// is up; nothing if the schedule does not say.
    pub(in crate::sched) fn gives_up(
        &self,
        thread: &str,
        action: Action,
        here: Option<CallSite>,
    ) -> Option<bool> {
        if !self.is_on_its_way() || self.is_to_stand_still() {
            return None;
        }
        match action {
            Action::Wait => {
                // What is under the lock is read and written on the way, and nothing else.
                let passed =
                    |step: &&Operation| matches!(step.op.as_str(), "branch" | "read" | "write");
                let next = self.coming(thread).find(|step| !passed(step))?;
                Some(next.op != "wait" || !is_at(next, here))
            }
            Action::Receive => {
                let mut own = self.operation(thread, here).filter(|step| step.op != "branch");
                let (next, then) = (own.next()?, own.next());
                // Who starts to wait for a rendezvous finds nothing, and then says that it waits.
                let waits = then.is_some_and(|step| matches!(step.op.as_str(), "store" | "rmw"));
                Some(next.op == "recv_empty" && !waits)
            }
            _ => self.ends_by_time(thread, here),
        }
    }

    fn ends_by_time(&self, thread: &str, here: Option<CallSite>) -> Option<bool> {
        let is_end = |step: &&Operation| ENDS.contains(&step.op.as_str());
        let end = self.operation(thread, here).find(is_end)?;
        Some(TIME_IS_UP.contains(&end.op.as_str()) || self.takes_back(thread, end, here))
    }

    /// The coming steps of the operation that a thread is in, which may be several, and more of the
    /// same place. A branch that is due comes before all of them.
    fn operation(&self, thread: &str, here: Option<CallSite>) -> impl Iterator<Item = &Operation> {
        let ahead = self.coming(thread).skip_while(|step| step.op == "branch");
        ahead.take_while(move |step| is_at(step, here))
    }

    /// Whether a step takes the message back that the same operation has offered before.
    fn takes_back(&self, thread: &str, step: &Operation, here: Option<CallSite>) -> bool {
        let Some(&last) = self.last.get(thread) else { return false };
        let sent = &self.schedule.steps[last].operation;
        step.op == "recv"
            && sent.op == "send"
            && sent.object == step.object
            && sent.place.as_ref().is_some_and(|place| place::is_at(place, here))
    }

    /// The thread that is woken by the notification that a thread is about to give; nothing if that
    /// is nobody, or not said.
    pub(in crate::sched) fn woken(&self, thread: &str) -> Option<&str> {
        if !self.is_on_its_way() {
            return None;
        }
        let step = self.coming(thread).find(|step| step.op != "branch")?;
        step.woken.as_deref()
    }

    /// Which of these channels, each with whether it is to be received there, a thread goes on with
    /// that selects; nothing if the schedule does not say. One that the schedule has had before is
    /// known; of others any may be meant.
    #[cfg(feature = "crossbeam")]
    pub(in crate::sched) fn chosen(
        &self,
        thread: &str,
        channels: &[(trace::Object, bool)],
    ) -> Option<usize> {
        if !self.is_on_its_way() || self.is_to_stand_still() {
            return None;
        }
        let side = |step: &Operation| match step.op.as_str() {
            "recv" | "recv_closed" => Some(true),
            "send" | "send_closed" => Some(false),
            _ => None,
        };
        let (step, side) = self.coming(thread).find_map(|step| Some((step, side(step)?)))?;
        let known = step.object.as_ref().and_then(|name| self.objects.get(name));
        channels.iter().position(|(channel, receives)| {
            let same = known.map_or_else(
                || self.is_same(step.object.as_ref(), Some(*channel)),
                |known| known == channel,
            );
            side == *receives && same
        })
    }
}

fn is_at(step: &Operation, here: Option<CallSite>) -> bool {
    step.place.as_ref().is_none_or(|place| place::is_at(place, here))
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use super::*;
    use crate::rt::CallSite;

    /// A replay of which these are the steps of thread 0, all of this place.
    fn replay(steps: &str) -> (Replay, Option<CallSite>) {
        let here = Location::caller();
        let place = format!("{}:{}:{}", here.file(), here.line(), here.column());
        let lines = steps.split(", ").filter(|step| !step.is_empty());
        let lines: String = lines.map(|step| format!("step 0 {step} @ {place}\n")).collect();
        let text = format!("racelog-schedule 2\n{lines}race 0 write y\nrace 1 write y\n");
        (Replay::new(text.parse().unwrap()), Some(CallSite::source(here)))
    }

    #[test]
    fn the_step_that_ends_a_wait_says_how() {
        for (steps, late) in [
            ("wake c", Some(false)),
            ("wake_timeout c", Some(true)),
            ("branch -, park -", Some(false)),
            ("park_timeout -", Some(true)),
            ("recv_empty ch", Some(true)),
            ("store x, recv ch, recv_empty ch", Some(false)),
            ("store x, recv_empty ch", Some(true)),
            ("load x, branch -, recv_empty back", Some(true)),
            ("acquire l", Some(false)),
            ("read x", None),
            ("", None),
        ] {
            let (replay, here) = replay(steps);
            let intent = Intent::new(Action::Park, 0, here);
            assert_eq!(replay.is_time_up("0", &intent), late, "{steps}");
        }
    }

    #[test]
    fn who_waits_once_more_has_not_given_up() {
        let gives_up = |action: Action, steps: &str| {
            let (replay, here) = replay(steps);
            replay.gives_up("0", action, here)
        };
        assert_eq!(gives_up(Action::Wait, "read x, branch -, write x, wait c"), Some(false));
        assert_eq!(gives_up(Action::Wait, "read x, release l"), Some(true));
        assert_eq!(gives_up(Action::Receive, "recv_empty ch"), Some(true));
        assert_eq!(gives_up(Action::Receive, "recv_empty ch, store x"), Some(false));
        assert_eq!(gives_up(Action::Receive, "recv ch"), Some(false));
        assert_eq!(gives_up(Action::Send, "load x, recv_empty back"), Some(true));
    }

    #[test]
    fn sleeping_takes_no_time() {
        let (replay, here) = replay("read x");
        assert_eq!(replay.is_time_up("0", &Intent::new(Action::Sleep, 0, here)), Some(true));
    }

    #[test]
    fn a_notification_goes_to_whom_its_step_names() {
        assert_eq!(replay("branch -, notify_one c 0.3").0.woken("0"), Some("0.3"));
        assert_eq!(replay("notify_one c").0.woken("0"), None);
    }

    #[cfg(feature = "crossbeam")]
    #[test]
    fn a_selection_goes_on_where_its_step_is() {
        use crate::trace::{ChannelId, Object};

        let channel = |id| Object::Channel(ChannelId::new(id));
        let channels = [(channel(1), true), (channel(2), true), (channel(2), false)];
        let chosen = |steps, known: &[(&str, u32)]| {
            let mut replay = replay(steps).0;
            for (name, id) in known {
                replay.objects.insert((*name).to_owned(), channel(*id));
                replay.names.insert(channel(*id), (*name).to_owned());
            }
            replay.chosen("0", &channels)
        };
        let known = [("a", 1), ("b", 2)];
        assert_eq!(chosen("branch -, recv_empty a, recv b", &known), Some(1));
        assert_eq!(chosen("recv_closed a, send b", &known), Some(0));
        assert_eq!(chosen("load x, send b, recv a", &known), Some(2));
        // The one that is known is another.
        assert_eq!(chosen("recv b", &known[..1]), Some(1));
        assert_eq!(chosen("recv c", &known), None);
        assert_eq!(chosen("read x", &known), None);
    }
}
