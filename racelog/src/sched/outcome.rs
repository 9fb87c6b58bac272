//! What a process under control says of its run, as text for whoever has started it.
//!
//! ```text
//! racelog-outcome 3
//! program /home/me/p/target/debug/p   # the file that runs
//! thread 0.1 worker                   # a thread that has a name: its place in the tree of threads, and the name
//! foreign 1                           # a thread that nobody under control has started
//! result diverged                     # or confirmed, unreached, ran
//! at 4                                # the step of the schedule, from 1
//! why blocked                         # or other, ended, absent, apart
//! expected 0.1 acquire l @ src/a.rs:3:5
//! stands 0.1 ready lock @ src/a.rs:3:5
//! holds 0.2 @ src/a.rs:9:5            # about the thread that `stands` names
//! early 7 0.2 release l @ src/a.rs:9:5
//! differs 2 0.2 write x @ src/a.rs:7:5
//! predicted wrote 7
//! instead wrote 8
//! steps 3
//! then nothing                        # or panic, check, deadlock, livelock, stuck, unended
//! ```
//!
//! | line | |
//! | --- | --- |
//! | `stranger` | the name of a thread that is not under control at all, since one test is |
//! | `found` | what the thread did instead, if that is why: as in schedules |
//! | `stands` | where the thread of the step stands, or the one that should have started it: `ready`, `outside` of racelog or `ended`; then what it waits to do, or did last |
//! | `holds`, `joins` | who holds what it waits for, and since where; whose end it waits for |
//! | `early` | a step that came before its time, with the rest of its operation |
//! | `differs` | the first access whose value differs, with what the schedule says and what it did |
//! | `value` | what a racing access read and wrote |
//! | `real` | two places at which a race was seen |
//! | `panicked` | which thread did, and where |
//! | `wait` | as `stands`, of all threads at the end that cannot go on |
//! | `lost` | a thread that blocked outside of racelog, and what it did last |

use std::fmt::{Display, Write as _};

use super::strategy::{Guide, Replay, Stands, Verdict, Why};
use crate::sched::engine::state::State;
use crate::sched::model::failure::{Failure, Place, Wait};

/// The first panic of a run.
#[derive(Clone, Debug)]
pub(super) struct FirstPanic {
    pub(super) message: String,
    /// The thread's place in the tree of threads, if it is under control.
    pub(super) thread: Option<String>,
    pub(super) place: Option<Place>,
}

/// What is said when the run is over.
pub(super) fn whole(state: &State, panicked: Option<&FirstPanic>, strangers: &[String]) -> String {
    let mut text = start(state);
    for stranger in strangers {
        let _ = writeln!(text, "stranger {}", line(stranger));
    }
    let failure = state.failure.as_ref();
    let _ = writeln!(text, "then {}", aftermath(failure, panicked));
    if let Some(FirstPanic { thread, place, .. }) = panicked {
        let thread = thread.as_deref().unwrap_or("-");
        let _ = writeln!(text, "panicked {thread}{}", at(place.as_ref()));
    }
    if let Some(Failure::Deadlock { waits } | Failure::Stuck { waits }) = failure {
        waits.iter().for_each(|wait| stands(&mut text, "wait", wait, false));
    }
    if let Some(Failure::Livelock { threads, .. }) = failure {
        threads.iter().for_each(|wait| stands(&mut text, "wait", wait, false));
    }
    for lost in &state.lost {
        let _ = writeln!(text, "lost {}{}", lost.path, at(lost.after.as_ref()));
    }
    text
}

/// What is said as soon as a race is confirmed, lest the program does not live to say more.
pub(super) fn so_far(state: &State) -> String {
    format!("{}then unended\n", start(state))
}

fn start(state: &State) -> String {
    let mut text = "racelog-outcome 3\n".to_owned();
    if let Ok(program) = std::env::current_exe() {
        let _ = writeln!(text, "program {}", line(program.display()));
    }
    for slot in &state.slots {
        if let Some(name) = &slot.name {
            let _ = writeln!(text, "thread {} {}", slot.path, line(name));
        }
    }
    // The first of all is the one that the program starts with.
    let roots = state.slots.iter().skip(1).filter(|slot| !slot.path.contains('.'));
    for slot in roots {
        let _ = writeln!(text, "foreign {}", slot.path);
    }
    match &state.guide {
        Guide::Replay(replay) => describe(&mut text, replay),
        Guide::Race(race) | Guide::Watched(_, race) => {
            let _ = writeln!(text, "result ran");
            for race in race.found() {
                let _ = writeln!(text, "real {} {}", race.first, race.second);
            }
            let _ = writeln!(text, "steps {}", state.steps);
        }
        _ => {
            let _ = writeln!(text, "result ran\nsteps {}", state.steps);
        }
    }
    text
}

fn describe(text: &mut String, replay: &Replay) {
    match replay.verdict() {
        Verdict::Confirmed { values } => {
            let _ = writeln!(text, "result confirmed");
            for (thread, value) in values {
                let _ = writeln!(text, "value {thread} {value}");
            }
        }
        Verdict::Diverged(divergence) => {
            let (step, why) = (divergence.step, &divergence.why);
            let _ = writeln!(text, "result diverged\nat {step}\nwhy {}", why.word());
            let _ = writeln!(text, "expected {}", divergence.expected);
            match why {
                Why::Other(found) => {
                    let _ = writeln!(text, "found {found}");
                }
                Why::Absent(Some(Stands { wait, ended }))
                | Why::Blocked(Stands { wait, ended }) => {
                    stands(text, "stands", wait, *ended);
                }
                Why::Ended | Why::Absent(None) | Why::Apart => {}
            }
            if let Some((step, early)) = &divergence.early {
                let _ = writeln!(text, "early {step} {early}");
            }
            if let Some(value) = &divergence.value {
                let (step, access, found) = (value.step, &value.access, &value.found);
                let predicted = access.value.as_deref().unwrap_or_default();
                let _ = writeln!(text, "differs {step} {access}");
                let _ = writeln!(text, "predicted {predicted}\ninstead {found}");
            }
        }
        Verdict::NotReached { step, expected } => {
            let _ = writeln!(text, "result unreached\nat {step}\nexpected {expected}");
        }
    }
    let _ = writeln!(text, "steps {}", replay.followed());
}

/// Where a thread stands, and the lines that belong to it.
fn stands(text: &mut String, word: &str, wait: &Wait, ended: bool) {
    let state = match (ended, wait.outside) {
        (true, _) => "ended",
        (false, true) => "outside",
        (false, false) => "ready",
    };
    let (thread, action, place) = (&wait.thread.path, wait.action.words(), wait.place.as_ref());
    let _ = writeln!(text, "{word} {thread} {state} {action}{}", at(place));
    if ended {
        return;
    }
    if let Some(joined) = &wait.joins {
        let _ = writeln!(text, "joins {}", joined.path);
    }
    for (holder, since) in &wait.holders {
        let _ = writeln!(text, "holds {}{}", holder.path, at(since.as_ref()));
    }
}

fn at(place: Option<&Place>) -> String {
    place.map_or_else(String::new, |place| format!(" @ {place}"))
}

fn line(text: impl Display) -> String {
    text.to_string().replace(['\n', '\r'], " ")
}

/// What followed, in one line.
fn aftermath(failure: Option<&Failure>, panicked: Option<&FirstPanic>) -> String {
    match (failure, panicked) {
        (_, Some(FirstPanic { message, .. })) => match message.strip_prefix("check failed: ") {
            Some(check) => format!("check {}", line(check)),
            None => format!("panic {}", line(message)),
        },
        (Some(Failure::Deadlock { .. }), None) => "deadlock".to_owned(),
        (Some(Failure::Livelock { .. }), None) => "livelock".to_owned(),
        (Some(Failure::Stuck { .. }), None) => "stuck".to_owned(),
        (Some(_) | None, None) => "nothing".to_owned(),
    }
}
