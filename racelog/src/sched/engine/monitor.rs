//! Notices threads that have their turn and block where racelog cannot see it: in the system, or on
//! locks that are not ours. Another thread then goes on, and the run says that control was lost.

use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::run::Run;
use super::system::is_asleep;

/// How often it looks.
const PERIOD: Duration = Duration::from_millis(20);

/// How often in a row it must find the same thread asleep at the same step.
const LOOKS: u32 = 2;

/// The same for fibers, where nothing can be done but to give up.
const LOOKS_AT_FIBERS: u32 = 500;

/// How long all may wait for threads that are outside.
const STUCK: Duration = Duration::from_secs(20);

struct Watched {
    run: Weak<Run>,
    steps: u64,
    asleep: u32,
    since: Instant,
}

struct List {
    runs: Vec<Watched>,
    /// Whether the monitor sleeps until there is something to watch.
    idle: bool,
}

static WATCHED: Mutex<List> = Mutex::new(List { runs: Vec::new(), idle: false });
static MORE: Condvar = Condvar::new();

/// Watches a run until it is dropped.
pub(in crate::sched) fn watch(run: &Arc<Run>) {
    static STARTED: std::sync::Once = std::sync::Once::new();
    STARTED.call_once(|| {
        let builder = std::thread::Builder::new().name("racelog-monitor".to_owned());
        // Without it all works that does not block outside.
        let _ = builder.spawn(monitor);
    });
    let watched = Watched { run: Arc::downgrade(run), steps: 0, asleep: 0, since: Instant::now() };
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

fn look(watched: &mut Watched, run: &Run) {
    let (current, system_id, steps) = {
        let state = run.lock();
        let slot = state.current.map(|current| &state.slots[current]);
        // Who was given its turn and does not know yet has every right to sleep.
        let slot = slot.filter(|slot| slot.turn.is_taken());
        (state.current, slot.map_or(0, |slot| slot.system_id), state.steps)
    };
    if steps != watched.steps {
        (watched.steps, watched.asleep, watched.since) = (steps, 0, Instant::now());
        return;
    }
    match current {
        Some(_) if !is_asleep(system_id, watched.since) => watched.asleep = 0,
        Some(current) => {
            watched.asleep += 1;
            let looks = if run.has_fibers() { LOOKS_AT_FIBERS } else { LOOKS };
            if watched.asleep >= looks {
                watched.asleep = 0;
                run.lose(current, steps);
            }
        }
        None if steps > 0 && watched.since.elapsed() > STUCK => run.give_up_on_outsiders(),
        None => {}
    }
}
