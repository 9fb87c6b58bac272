//! The thread in which Z3 runs, and the way to it.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use super::session::Session;
use super::terms;
use crate::solve::Answer;
use crate::solve::formula::{Claim, Lit, Meaning};
use crate::trace::EventId;

/// What the formula has got, and what is asked of all of it.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) meanings: Vec<Meaning>,
    pub(super) edges: Vec<(EventId, EventId)>,
    pub(super) clauses: Vec<Vec<Lit>>,
    /// What clauses rest on that was computed.
    pub(super) claims: Vec<Claim>,
    pub(super) assumptions: Vec<Lit>,
    pub(super) limit: Option<Duration>,
}

/// What a worker says.
#[derive(Debug)]
pub(super) enum Reply {
    /// The answer to a question.
    Answer(Answer),
    /// That something is wrong which was computed.
    Refuted(Box<Claim>),
}

/// A thread that answers questions until nobody can ask any more.
#[derive(Debug)]
pub(super) struct Worker {
    questions: Sender<Question>,
    answers: Receiver<Reply>,
}

/// A worker with a session of its own.
pub(super) fn start() -> Worker {
    let (worker, questions, answers) = channels();
    thread::spawn(move || {
        // Z3's objects belong to the thread that made them.
        let mut session = Session::new();
        for question in questions {
            let refuted = question.claims.iter().find(|claim| terms::refutes(claim));
            let reply = match refuted {
                Some(claim) => Reply::Refuted(Box::new(claim.clone())),
                None => Reply::Answer(session.answer(&question)),
            };
            if answers.send(reply).is_err() {
                break;
            }
        }
    });
    worker
}

fn channels() -> (Worker, Receiver<Question>, Sender<Reply>) {
    let (ask, questions) = mpsc::channel();
    let (answer, answers) = mpsc::channel();
    (Worker { questions: ask, answers }, questions, answer)
}

impl Worker {
    /// The answer, if it comes in time.
    pub(super) fn ask(
        &self,
        question: Question,
        patience: Option<Duration>,
    ) -> Result<Reply, RecvTimeoutError> {
        self.questions.send(question).map_err(|_| RecvTimeoutError::Disconnected)?;
        match patience {
            Some(patience) => self.answers.recv_timeout(patience),
            None => Ok(self.answers.recv()?),
        }
    }
}

/// A worker that takes questions and never answers.
#[cfg(test)]
pub(super) fn silent() -> Worker {
    let (worker, questions, answers) = channels();
    // Kept open for ever, as by a thread that never comes back.
    std::mem::forget((questions, answers));
    worker
}

/// A worker whose thread has ended.
#[cfg(test)]
pub(super) fn dead() -> Worker {
    channels().0
}
