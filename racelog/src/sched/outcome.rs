//! What a process under control says of its run, for the command that has started it.

use super::strategy::{Guide, Progress, Replay, Stands};
use crate::contract::marker::failed_check;
use crate::contract::operation::Operation;
use crate::contract::outcome::{
    Aftermath, NamedThread, Reached, RunOutcome, Standing, ThreadPlace, ThreadState, Words,
};
use crate::contract::place::SourcePlace;
use crate::sched::engine::state::State;
use crate::sched::model::failure::{Failure, Lost, ThreadName, Wait};

/// The first panic of a run.
#[derive(Clone, Debug)]
pub(super) struct FirstPanic {
    pub(super) message: String,
    /// The thread's place in the tree of threads, if it is under control.
    pub(super) thread: Option<String>,
    pub(super) place: Option<SourcePlace>,
}

/// What is said when the run is over.
pub(super) fn whole(
    state: &State,
    panicked: Option<&FirstPanic>,
    strangers: &[String],
) -> RunOutcome {
    let failure = state.failure.as_ref();
    let waits = match failure {
        Some(
            Failure::Deadlock { waits } | Failure::Circle { waits } | Failure::Stuck { waits },
        ) => waits.as_slice(),
        Some(Failure::Livelock { threads, .. }) => threads.as_slice(),
        _ => &[],
    };
    let lost = |Lost { path, after, .. }: &Lost| ThreadPlace {
        thread: Some(path.clone()),
        place: after.clone(),
    };
    RunOutcome {
        strangers: strangers.to_vec(),
        then: aftermath(failure, panicked),
        panicked: panicked.map(|FirstPanic { thread, place, .. }| ThreadPlace {
            thread: thread.clone(),
            place: place.clone(),
        }),
        waits: waits.iter().map(|wait| standing(wait, false)).collect(),
        lost: state.lost.iter().map(lost).collect(),
        ..start(state, strangers.is_empty())
    }
}

/// What is said as soon as a race is confirmed, lest the program does not live to say more.
pub(super) fn so_far(state: &State) -> RunOutcome {
    RunOutcome { then: Aftermath::Unended, ..start(state, true) }
}

/// Of a run with `all` threads under control, or not.
fn start(state: &State, all: bool) -> RunOutcome {
    let mut outcome = match &state.guide {
        Guide::Replay(replay) => of_replay(replay, all),
        Guide::Race(race) | Guide::Watched(_, race) => RunOutcome {
            real_races: race.found().into_iter().map(|race| [race.first, race.second]).collect(),
            steps: state.steps,
            ..RunOutcome::new(Reached::Ran)
        },
        _ => RunOutcome { steps: state.steps, ..RunOutcome::new(Reached::Ran) },
    };
    outcome.program = std::env::current_exe().ok().map(|program| program.display().to_string());
    let named = state.slots.iter().filter_map(|slot| Some((slot, slot.name.clone()?)));
    outcome.threads =
        named.map(|(slot, name)| NamedThread { thread: slot.path.clone(), name }).collect();
    // The first of all is the one that the program starts with.
    let roots = state.slots.iter().skip(1).filter(|slot| !slot.path.contains('.'));
    outcome.foreign = roots.map(|slot| slot.path.clone()).collect();
    outcome
}

fn of_replay(replay: &Replay, all: bool) -> RunOutcome {
    let progress = if all { replay.progress() } else { replay.progress_beside_others() };
    let Progress { reached, values } = progress;
    RunOutcome {
        values,
        steps: replay.followed() as u64,
        ..RunOutcome::new(reached.said_by(&OfOutcome))
    }
}

/// Says of a thread that stands somewhere what an outcome says.
struct OfOutcome;

impl Words<SourcePlace, Stands> for OfOutcome {
    type Place = SourcePlace;
    type Standing = Standing;

    fn operation(&self, operation: Operation) -> Operation {
        operation
    }

    fn standing(&self, stands: Stands) -> Standing {
        standing(&stands.wait, stands.ended)
    }
}

/// Where a thread stands. One that has ended waits for no other.
fn standing(wait: &Wait, ended: bool) -> Standing {
    let state = match (ended, wait.outside) {
        (true, _) => ThreadState::Ended,
        (false, true) => ThreadState::Outside,
        (false, false) => ThreadState::Ready,
    };
    let joins = wait.joins.as_ref().filter(|_| !ended);
    let others = |threads: &[(ThreadName, Option<SourcePlace>)]| -> Vec<ThreadPlace> {
        let threads = threads.iter().filter(|_| !ended).cloned();
        let place =
            |(thread, place): (ThreadName, _)| ThreadPlace { thread: Some(thread.path), place };
        threads.map(place).collect()
    };
    Standing {
        thread: wait.thread.path.clone(),
        state,
        action: wait.action.words().to_owned(),
        place: wait.place.clone(),
        object: None,
        joins: joins.map(|joined| joined.path.clone()),
        holders: others(&wait.holders),
        writers: others(&wait.writers),
    }
}

fn aftermath(failure: Option<&Failure>, panicked: Option<&FirstPanic>) -> Aftermath {
    match (failure, panicked) {
        (_, Some(FirstPanic { message, .. })) => match failed_check(message) {
            Some(label) => Aftermath::Check(label.to_owned()),
            None => Aftermath::Panic(message.clone()),
        },
        (Some(Failure::Deadlock { .. } | Failure::Circle { .. }), None) => Aftermath::Deadlock,
        (Some(Failure::Livelock { .. }), None) => Aftermath::Livelock,
        (Some(Failure::Stuck { .. }), None) => Aftermath::Stuck,
        (Some(_) | None, None) => Aftermath::Nothing,
    }
}
