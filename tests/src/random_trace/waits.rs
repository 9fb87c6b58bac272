//! What random traces have besides when it matters who waits for what, and for how long.

use std::fmt::Write;

use super::{Family, Shape, Thread, World, loaded};

impl World<'_> {
    /// Says which channels are bounded, and which locks are fair; and starts most threads, for who
    /// is started late has others to wait for no more.
    pub(super) fn declare(&mut self) {
        for id in 0..self.channels.len() {
            if self.chance(0.5) {
                let capacity = 1 + self.below(2);
                writeln!(self.text, "channel ch{id} {capacity}").expect("memory");
                self.channels[id].capacity = Some(capacity);
            }
            self.channels[id].receivers = [0, 0, 1, 2][self.below(4)];
            if self.chance(0.3) {
                writeln!(self.text, "fair l{id}").expect("memory");
            }
        }
        self.threads[0].begun = true;
        for child in 1..self.threads.len() {
            if !self.threads[child].started && self.chance(0.8) {
                self.threads[child].started = true;
                self.emit(0, &format!("fork t{child}"));
            }
        }
    }

    /// How long somebody would have waited who did not have to, as it is said after an operation.
    pub(super) fn patience(&mut self) -> &'static str {
        match self.shape.waits {
            true => ["", "", "", "", "", "", " try", " timed"][self.below(8)],
            false => "",
        }
    }

    /// The same for an operation that is never only tried.
    pub(super) fn time_limit(&mut self) -> &'static str {
        if self.shape.waits && self.chance(0.2) { " timed" } else { "" }
    }

    /// Begins, ends or asks for an initialisation.
    pub(super) fn once(&mut self, t: usize) {
        if !self.threads[t].initialises.is_empty() && self.chance(0.5) {
            return self.initialised(t);
        }
        let id = self.below(self.onces.len());
        if self.onces[id].is_some() {
            return;
        }
        if self.chance(0.4) {
            self.onces[id] = Some(t);
            self.threads[t].initialises.push(id);
            self.emit(t, &format!("once_begin o{id}"));
        } else {
            self.emit(t, &format!("once_wait o{id}"));
        }
    }

    fn initialised(&mut self, t: usize) {
        if let Some(id) = self.threads[t].initialises.pop() {
            self.onces[id] = None;
            self.emit(t, &format!("once_end o{id}"));
        }
    }

    /// Comes to the end of what it does in a scope, or ends a scope that others have worked in.
    pub(super) fn scope(&mut self, t: usize) {
        let id = self.below(self.scopes.len());
        let ends = self.chance(0.4);
        let scope = &mut self.scopes[id];
        if scope.ended || scope.arrived.contains(&t) {
            return;
        }
        if !ends {
            scope.arrived.push(t);
            self.emit(t, &format!("arrive s{id} 0"));
        } else if !scope.arrived.is_empty() {
            scope.ended = true;
            self.emit(t, &format!("leave s{id} 0"));
        }
    }

    /// An operation on a channel that may be full or have lost its receivers.
    pub(super) fn bounded_channel(&mut self, t: usize, id: usize) {
        let patience = self.patience();
        let choice = self.below(16);
        let channel = &mut self.channels[id];
        let is_full = channel.capacity.is_some_and(|capacity| channel.queue.len() >= capacity);
        // What is sent between the first receiver that is dropped and the last is for nobody to say
        // before it is known which is the last.
        let all_there = channel.receivers_closed == 0;
        let all_gone = !all_there && channel.receivers_closed == channel.receivers;
        match choice {
            0..6 if all_there && !is_full => {
                let message = channel.sent;
                channel.sent += 1;
                channel.queue.push_back(message);
                self.emit(t, &format!("send ch{id} {message}{patience}"));
            }
            0..6 if all_gone => {
                let message = channel.sent;
                channel.sent += 1;
                self.emit(t, &format!("send_closed ch{id} {message}"));
            }
            6 => {
                channel.closed += 1;
                self.emit(t, &format!("close ch{id}"));
            }
            7 | 8 if channel.receivers_closed < channel.receivers => {
                channel.receivers_closed += 1;
                self.emit(t, &format!("rclose ch{id}"));
            }
            9.. => match channel.queue.pop_front() {
                Some(message) => self.emit(t, &format!("recv ch{id} {message}{patience}")),
                None if channel.closed > 1 => {
                    channel.finished = true;
                    self.emit(t, &format!("recv_closed ch{id}"));
                }
                None if choice == 15 => self.emit(t, &format!("recv_empty ch{id}")),
                None => {}
            },
            _ => {}
        }
    }

    /// Lets most threads finish what they have begun.
    pub(super) fn wind_down(&mut self) {
        if self.chance(0.1) {
            return;
        }
        for _ in 0..20 * self.threads.len() {
            let t = self.below(self.threads.len());
            let thread = self.threads[t].clone();
            if !thread.started || thread.ended {
                continue;
            }
            if let Some(waiting) = thread.waits {
                self.end_wait(t, waiting);
            } else if let Some((barrier, generation)) = thread.arrived {
                if self.barriers[barrier].generation > generation {
                    self.threads[t].arrived = None;
                    self.emit(t, &format!("leave b{barrier} {generation}"));
                }
            } else if !thread.initialises.is_empty() {
                self.initialised(t);
            } else if !thread.held.is_empty() {
                self.give_back(t);
            } else if let Some(waiter) = self.waiter() {
                let all = self.chance(0.5);
                self.notify(t, waiter, all);
            }
        }
        self.come_to_ends();
    }

    /// Where some thread has an `end`, a thread without one is not known to have ended. So that there
    /// are stalls in such traces, too, most of the others get one.
    fn come_to_ends(&mut self) {
        if !self.text.lines().any(|line| line.ends_with(" end")) || self.chance(0.3) {
            return;
        }
        for t in 0..self.threads.len() {
            let Thread { started, ended, waits, arrived, .. } = &self.threads[t];
            if *started && !ended && waits.is_none() && arrived.is_none() && self.chance(0.9) {
                self.threads[t].ended = true;
                self.emit(t, "end");
            }
        }
    }

    /// Somebody who waits and has not been notified.
    fn waiter(&self) -> Option<usize> {
        self.threads.iter().position(|thread| matches!(thread.waits, Some((.., false))))
    }

    fn notify(&mut self, t: usize, waiter: usize, all: bool) {
        let Some((condvar, ..)) = self.threads[waiter].waits else { return };
        for (other, thread) in self.threads.iter_mut().enumerate() {
            if let Some((c, _, notified)) = &mut thread.waits {
                *notified |= *c == condvar && (all || other == waiter);
            }
        }
        match all {
            true => self.emit(t, &format!("notify_all c{condvar}")),
            false => self.emit(t, &format!("notify_one c{condvar} t{waiter}")),
        }
    }
}

/// A trace that is small enough to be explored exhaustively, of threads that wait for each other in
/// ways that depend on the seed.
///
/// # Panics
/// If the trace does not load, which is a bug.
pub fn small_waiting_trace(seed: u64) -> (String, predictor::trace::Trace) {
    use Family::{
        Atomic, Barrier, Branch, Channel, Condvar, Lock, Once, Park, Plain, Scope, TryLock,
    };
    let operations = match seed % 9 {
        0 => vec![Lock, Lock, Condvar, Condvar, Condvar, Plain],
        1 => vec![Lock, Lock, Lock, TryLock, Once],
        2 => vec![Channel, Channel, Channel, Lock, Plain],
        3 => vec![Park, Park, Lock, Plain, Branch],
        4 => vec![Condvar, Lock, Park, Channel, Plain, Branch],
        5 => vec![Barrier, Lock, Channel, Park],
        6 => vec![Lock, Lock, Once, Condvar, Channel, Atomic, Branch],
        7 => vec![Scope, Scope, Lock, Lock, Park, Plain, Branch],
        _ => vec![
            Plain, Atomic, Branch, Lock, Lock, TryLock, Condvar, Condvar, Park, Channel, Channel,
            Barrier, Once, Scope,
        ],
    };
    let foreign = usize::from(seed / 7 % 9 == 3);
    let shape = Shape {
        events: 10 + (seed % 17) as usize,
        threads: 2 + foreign + (seed / 3 % 3) as usize,
        vars: 1 + (seed / 5 % 2) as usize,
        objects: 1 + (seed / 2 % 3) as usize,
        operations,
        locations: seed.is_multiple_of(3),
        unrecorded: seed.is_multiple_of(5),
        foreign,
        waits: true,
    };
    loaded(seed, &shape)
}
