//! Schedules that are being run: should the process end meanwhile, their seeds are printed.

use std::sync::{Mutex, Once, PoisonError};

use crate::contract::environment::Variable;
use crate::contract::seed::Seed;
use crate::rt;

/// A schedule that is being run. Should the process end meanwhile, its seed is printed.
pub(in crate::sched) struct Running(u64);

/// The schedules that are being run, each with a number.
static RUNNING: Mutex<(u64, Vec<(u64, Seed)>)> = Mutex::new((0, Vec::new()));

impl Running {
    pub(in crate::sched) fn new(seed: Seed) -> Self {
        static LISTENING: Once = Once::new();
        LISTENING.call_once(|| rt::at_exit(at_exit));
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.0 += 1;
        let number = running.0;
        running.1.push((number, seed));
        Self(number)
    }
}

impl Running {
    /// The next schedule, by this seed.
    pub(in crate::sched) fn next(&self, seed: &Seed) {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, now)) = running.1.iter_mut().find(|(number, _)| *number == self.0) {
            now.clone_from(seed);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.1.retain(|(number, _)| *number != self.0);
    }
}

extern "C" fn at_exit() {
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    for (_, seed) in &running.1 {
        eprintln!("racelog: the process ends within a schedule: {}={seed}", Variable::Seed);
    }
}
