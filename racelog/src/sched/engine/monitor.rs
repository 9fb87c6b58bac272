//! Notices threads that have their turn and block where racelog cannot see it: in the system, or on
//! locks that are not ours. Another thread then goes on, and the run says that control was lost.

use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::run::Run;
use super::system::is_asleep;
use crate::sched::model::slot::Slot;

/// How often it looks.
const PERIOD: Duration = Duration::from_millis(20);

/// How often in a row it must find the same thread asleep at the same step.
const LOOKS: u32 = 2;

/// The same for fibers: who only sleeps comes back, and nothing is lost, for nobody else has gone
/// on meanwhile.
const LOOKS_AT_FIBERS: u32 = 50;

/// How long all may wait for threads that are outside.
const STUCK: Duration = Duration::from_secs(20);

/// What is called of a run of fibers that has lost its driver: with one of them it sleeps in the
/// system.
pub(in crate::sched) type TakeOver = fn(&Arc<Run>);

struct Watched {
    run: Weak<Run>,
    take_over: Option<TakeOver>,
    steps: u64,
    asleep: u32,
    /// When it was first seen at that step.
    since: Option<Instant>,
}

struct List {
    runs: Vec<Watched>,
    /// Whether the monitor sleeps until there is something to watch.
    idle: bool,
}

static WATCHED: Mutex<List> = Mutex::new(List { runs: Vec::new(), idle: false });
static MORE: Condvar = Condvar::new();

/// Watches a run until it is dropped. If its threads are fibers, `take_over` is called should one
/// of them block elsewhere.
pub(in crate::sched) fn watch(run: &Arc<Run>, take_over: Option<TakeOver>) {
    static STARTED: std::sync::Once = std::sync::Once::new();
    STARTED.call_once(|| {
        let builder = std::thread::Builder::new().name("racelog-monitor".to_owned());
        // Without it all works that does not block outside.
        let _ = builder.spawn(monitor);
    });
    let watched = Watched { run: Arc::downgrade(run), take_over, steps: 0, asleep: 0, since: None };
    let mut list = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    list.runs.retain(|watched| watched.run.strong_count() > 0);
    list.runs.push(watched);
    if std::mem::take(&mut list.idle) {
        MORE.notify_one();
    }
}

fn monitor() {
    let mut list = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        list.runs.retain_mut(|watched| match watched.run.upgrade() {
            Some(run) => {
                look(watched, &run);
                true
            }
            None => false,
        });
        list = if list.runs.is_empty() {
            list.idle = true;
            MORE.wait(list).unwrap_or_else(PoisonError::into_inner)
        } else {
            drop(list);
            std::thread::sleep(PERIOD);
            WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
        };
    }
}

fn look(watched: &mut Watched, run: &Arc<Run>) {
    let (current, system_id, steps) = {
        // Who is at work on it does not sleep, and is not to be waited for.
        let Some(state) = run.try_lock() else {
            watched.asleep = 0;
            return;
        };
        let slot = state.current.map(|current| &state.slots[current]);
        // Who was given its turn and does not know yet has every right to sleep.
        let slot = slot.filter(|slot| slot.turn.is_taken());
        let system_id = |slot: &Slot| match run.has_fibers() {
            true => run.driver_id(),
            false => slot.system_id,
        };
        (state.current, slot.map_or(0, system_id), state.steps)
    };
    if steps != watched.steps || watched.since.is_none() {
        (watched.steps, watched.asleep, watched.since) = (steps, 0, Some(Instant::now()));
        return;
    }
    let since = watched.since.unwrap_or_else(Instant::now);
    match current {
        Some(_) if !is_asleep(system_id, since) => watched.asleep = 0,
        Some(current) => {
            watched.asleep += 1;
            let looks = if run.has_fibers() { LOOKS_AT_FIBERS } else { LOOKS };
            if watched.asleep >= looks {
                watched.asleep = 0;
                if run.lose(current, steps) {
                    if let Some(take_over) = watched.take_over {
                        take_over(run);
                    }
                }
            }
        }
        None if steps > 0 && since.elapsed() > STUCK => run.give_up_on_outsiders(),
        None => {}
    }
}
