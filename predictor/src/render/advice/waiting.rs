//! What to do about threads that wait for each other, or for ever.

use crate::finding::{Part, Reason, Role, WaitKind};
use crate::render::list;
use crate::render::story::Story;

/// What to do about a finding whose threads wait; nothing if none does.
pub(super) fn advice(story: &Story<'_>) -> Option<String> {
    let (waiting, is_circle) = story.occurrence.waiting();
    if waiting.is_empty() {
        return None;
    }
    if is_circle {
        return Some(about_circle(story, &waiting));
    }
    let blamed = story.parts().iter().find_map(|part| about_notification(story, part));
    let blamed = blamed.or_else(|| waiting.iter().find_map(|part| about_held_lock(story, part)));
    blamed.or_else(|| waiting.iter().find_map(|part| about_stall(story, part)))
}

/// The object of a part, in backticks.
fn object(story: &Story<'_>, part: &Part) -> String {
    let object = part.object.as_deref();
    object.map_or_else(|| "it".to_owned(), |object| format!("`{}`", story.names.best(object)))
}

fn about_circle(story: &Story<'_>, circle: &[&Part]) -> String {
    let waits = |part: &Part| part.waits.as_ref().map(|waits| waits.what.clone());
    let held = |part: &Part| {
        let wanted = story.wanted_locks(part);
        wanted.first().map(|lock| format!("`{}`", story.names.best(&lock.name)))
    };
    let is_in = |what: &WaitKind| circle.iter().find(|part| waits(part).as_ref() == Some(what));
    if story.occurrence.reason == Reason::CircleOfWaitingWriters
        && let Some(reader) = is_in(&WaitKind::WaitingWriters)
    {
        let lock = object(story, reader);
        return format!(
            "share {lock} once and pass the guard on, or give it back before it is shared again"
        );
    }
    if let Some(part) = is_in(&WaitKind::ThreadEnd) {
        let lock = held(part).unwrap_or_else(|| "the lock".to_owned());
        return format!("give {lock} back before joining {}", object(story, part));
    }
    if let Some(part) = is_in(&WaitKind::EndOfScope) {
        let lock = held(part).unwrap_or_else(|| "the lock".to_owned());
        return format!("give {lock} back before the scope ends");
    }
    if let Some(part) = is_in(&WaitKind::Initialiser) {
        let lock = held(part).unwrap_or_else(|| "a lock".to_owned());
        let once = object(story, part);
        return format!("initialise {once} before {lock} is taken, or without taking {lock}");
    }
    let wakes = |part: &&&Part| part.source.operation.starts_with("wake");
    if let Some(waiter) = circle.iter().find(wakes) {
        let lock = held(waiter).unwrap_or_else(|| "other locks".to_owned());
        let own = object(story, waiter);
        return format!("give {lock} back before waiting on a condvar: {own} is not the only lock");
    }
    let Some(locks) = circle.iter().map(|part| held(part)).collect::<Option<Vec<String>>>() else {
        return "take the locks in the same order everywhere".to_owned();
    };
    let last = &circle[circle.len() - 1].thread;
    match locks.as_slice() {
        [own] => format!("thread `{last}` holds {own} already: give it back first, or pass it on"),
        [a, b] if a == b => {
            format!("give {a} back before it is taken exclusively, or take it so from the start")
        }
        [a, b] => format!(
            "take {a} before {b} everywhere: thread `{last}` takes them the other way round"
        ),
        _ => format!("take {} in this order everywhere: thread `{last}` does not", list(&locks)),
    }
}

/// What to do about a notification that was lost.
fn about_notification(story: &Story<'_>, part: &Part) -> Option<String> {
    let object = object(story, part);
    match part.role {
        Role::TooEarly => Some(format!(
            "wait on {object} in a loop that looks at a condition, and change the condition under \
             the lock that goes with it"
        )),
        Role::Elsewhere => Some(format!(
            "use `notify_all` where threads wait on {object} for different things, or a condvar for \
             each of them"
        )),
        Role::Merged => Some(format!(
            "let a value say how often {object} is to go on: several `unpark`s may be one"
        )),
        Role::Next
        | Role::Happened
        | Role::Taken
        | Role::WaitsToo
        | Role::Dropped
        | Role::Stuck
        | Role::Other(_) => None,
    }
}

/// What to do about a thread that holds a lock while it waits, and others wait for that lock, who
/// might have helped.
fn about_held_lock(story: &Story<'_>, part: &Part) -> Option<String> {
    let object = object(story, part);
    let before = match &part.waits.as_ref()?.what {
        WaitKind::Notification => format!("waiting on {object}"),
        WaitKind::Message => format!("receiving from {object}"),
        WaitKind::Room => format!("sending to {object}"),
        WaitKind::Arrivals => format!("waiting at {object}"),
        WaitKind::Unpark => "parking".to_owned(),
        WaitKind::Lock
        | WaitKind::WaitingWriters
        | WaitKind::Initialiser
        | WaitKind::ThreadEnd
        | WaitKind::EndOfScope
        | WaitKind::Other(_) => return None,
    };
    let lock = story.lock(story.wanted_locks(part).first()?);
    Some(format!("give {lock} back before {before}: who could help waits for that lock"))
}

/// What to do about a thread for which nobody is left.
fn about_stall(story: &Story<'_>, part: &Part) -> Option<String> {
    let object = object(story, part);
    let advice = match &part.waits.as_ref()?.what {
        WaitKind::Notification => format!(
            "look which thread is to notify {object} here, and whether it can be over already or \
             needs a lock that `{}` holds",
            part.thread
        ),
        WaitKind::Unpark => format!("look which thread is to unpark `{}` here", part.thread),
        WaitKind::Message => {
            format!("drop the senders of {object} that send no more, or send what is waited for")
        }
        WaitKind::Room => {
            format!("let a thread receive from {object} while others send, or give it more room")
        }
        WaitKind::Arrivals => format!("let as many threads come to {object} as it waits for"),
        WaitKind::Lock
        | WaitKind::WaitingWriters
        | WaitKind::Initialiser
        | WaitKind::ThreadEnd
        | WaitKind::EndOfScope
        | WaitKind::Other(_) => return None,
    };
    Some(advice)
}
