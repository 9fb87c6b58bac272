//! What only channels have that may have several receivers: those of crossbeam.

use super::{Bound, Channel};
use crate::rt::CallSite;
use crate::sched::{self, Action};
use crate::trace;
use std::sync::PoisonError;

impl<T> Channel<T> {
    /// Keeps messages that were not received when the last receiver goes, until the senders go too.
    pub(crate) fn keeping(mut self) -> Self {
        self.state.get_mut().unwrap_or_else(PoisonError::into_inner).keeps = true;
        self
    }

    /// There is one more receiver.
    pub(crate) fn add_receiver(&self, here: Option<CallSite>) {
        sched::point(Action::Disconnect, self.key(), here);
        let mut state = self.lock();
        let further = state.receivers;
        state.receivers += 1;
        state.record.receiver_added(further, here);
    }

    /// How many messages are there. That there are none, or that there is no room for more, is
    /// recorded.
    pub(crate) fn len(&self, here: Option<CallSite>) -> usize {
        sched::point(Action::Look, self.key(), here);
        let mut state = self.lock();
        if state.bound == Bound::Rendezvous {
            return 0;
        }
        if state.used() == 0 {
            match state.senders {
                0 => state.record.saw_end(trace::Patience::Try, here),
                _ => state.record.found_nothing(here),
            }
        } else if state.is_full() && state.receivers > 0 {
            state.record.found_full(here);
        }
        state.used()
    }

    /// The most messages that may be there.
    pub(crate) fn capacity(&self) -> Option<usize> {
        match self.lock().bound {
            Bound::None => None,
            Bound::Messages(bound) => Some(bound),
            Bound::Rendezvous => Some(0),
        }
    }
}
