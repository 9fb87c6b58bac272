//! Mirror of [`std::sync::Barrier`].

use std::fmt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::rt::{CallSite, NumberedId, counters, with};
use crate::sched::{self, Action};
use crate::trace::{BarrierId, Op, Patience};

/// Lets threads wait for each other, as [`std::sync::Barrier`].
///
/// Each thread records that it arrives and that it leaves, both with the number of the generation.
/// A generation is complete in the trace when all its recorded arrivals have happened: threads that
/// are not recorded, or that another session records, are not waited for there.
pub struct Barrier {
    id: NumberedId,
    threads: usize,
    state: Mutex<State>,
    /// Waits for the generation to change.
    complete: Condvar,
}

/// What a thread learns when it leaves a barrier, as [`std::sync::BarrierWaitResult`].
pub struct BarrierWaitResult(bool);

struct State {
    /// How many threads have arrived in this generation.
    arrived: usize,
    generation: u64,
    clock: u64,
}

impl Barrier {
    /// As [`std::sync::Barrier::new`].
    #[must_use]
    pub const fn new(n: usize) -> Self {
        Self {
            id: NumberedId::new(),
            threads: n,
            state: Mutex::new(State { arrived: 0, generation: 0, clock: 0 }),
            complete: Condvar::new(),
        }
    }

    /// As [`std::sync::Barrier::wait`].
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let here = Some(CallSite::caller());
        sched::point(Action::Arrive, self.key(), here);
        let mut state = self.lock();
        let generation = state.generation;
        state.arrived += 1;
        self.record(&mut state, |barrier| Op::Arrive { barrier, generation }, here);
        // Every thread passes a barrier for no thread, as one for a single thread.
        let leads = state.arrived >= self.threads;
        if !leads {
            with(|log| {
                let barrier = self.id();
                log.request(Op::Leave { barrier, generation }, Patience::Forever, here);
            });
        }
        if leads {
            state.arrived = 0;
            state.generation += 1;
            self.complete.notify_all();
        } else if sched::is_controlled() {
            drop(state);
            let departure = Departure { barrier: self, generation };
            sched::block_on(Action::Leave, self.key(), here, || {
                self.lock().generation != generation
            });
            std::mem::forget(departure);
            state = self.lock();
        } else {
            state = self
                .complete
                .wait_while(state, |state| state.generation == generation)
                .unwrap_or_else(PoisonError::into_inner);
        }
        self.record(&mut state, |barrier| Op::Leave { barrier, generation }, here);
        BarrierWaitResult(leads)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn key(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn id(&self) -> BarrierId {
        BarrierId::new(self.id.get(&counters::BARRIERS))
    }

    fn record(&self, state: &mut State, op: impl FnOnce(BarrierId) -> Op, here: Option<CallSite>) {
        with(|log| {
            let stamp = log.tick(state.clock);
            log.emit(stamp, op(self.id()), here);
            state.clock = stamp;
        });
    }
}

/// Takes the arrival of a thread back that is sent away while it waits.
struct Departure<'a> {
    barrier: &'a Barrier,
    generation: u64,
}

impl Drop for Departure<'_> {
    fn drop(&mut self) {
        let mut state = self.barrier.lock();
        if state.generation == self.generation {
            state.arrived -= 1;
        }
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

impl BarrierWaitResult {
    /// As [`std::sync::BarrierWaitResult::is_leader`].
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult").field("is_leader", &self.is_leader()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{RefUnwindSafe, UnwindSafe};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;
    use crate::child_trace::{events, in_child};

    #[test]
    fn each_generation_waits_for_all_and_has_one_leader() {
        const THREADS: usize = 4;
        const ROUNDS: usize = 50;
        static BARRIER: Barrier = Barrier::new(THREADS);
        let (arrived, leaders) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for round in 1..=ROUNDS {
                        arrived.fetch_add(1, Ordering::SeqCst);
                        let result = BARRIER.wait();
                        assert!(arrived.load(Ordering::SeqCst) >= round * THREADS);
                        leaders.fetch_add(result.is_leader().into(), Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(leaders.into_inner(), ROUNDS);
    }

    #[test]
    fn nobody_waits_at_a_barrier_for_none_or_one() {
        for threads in [0, 1] {
            let barrier = Barrier::new(threads);
            assert!(barrier.wait().is_leader());
            assert!(barrier.wait().is_leader());
        }
    }

    #[test]
    fn it_looks_and_behaves_like_std() {
        fn traits<T: Send + Sync + UnwindSafe + RefUnwindSafe + Unpin>() {}
        traits::<Barrier>();
        traits::<BarrierWaitResult>();
        let (ours, theirs) = (Barrier::new(1), std::sync::Barrier::new(1));
        assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
        assert_eq!(format!("{:?}", ours.wait()), format!("{:?}", theirs.wait()));
    }

    #[test]
    fn arrivals_and_departures_are_recorded_by_generation() {
        if in_child() {
            let barrier = Barrier::new(2);
            let twice = || {
                barrier.wait();
                barrier.wait();
            };
            thread::scope(|scope| {
                let other = scope.spawn(twice);
                twice();
                // The scope alone would not wait until the thread has written its end.
                other.join().expect("it does not panic");
            });
            return;
        }
        let trace =
            events("sync::barrier::tests::arrivals_and_departures_are_recorded_by_generation");
        let mut arrived = [0, 0];
        let mut left = [0, 0];
        for event in &trace {
            match event.op {
                Op::Arrive { generation: 1, .. } => {
                    assert_eq!(arrived[0], 2);
                    arrived[1] += 1;
                }
                Op::Arrive { generation, .. } => arrived[generation as usize] += 1,
                Op::Leave { generation, .. } => {
                    assert_eq!(arrived[generation as usize], 2);
                    left[generation as usize] += 1;
                }
                _ => continue,
            }
            assert!(event.location.is_some());
        }
        assert_eq!((arrived, left), ([2, 2], [2, 2]));
    }
}
