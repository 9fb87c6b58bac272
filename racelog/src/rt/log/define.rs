//! What a thread has to say of objects before it uses them.

use super::thread_log::ThreadLog;
use crate::trace::{ChannelId, Definition, LockId, VarId};

impl ThreadLog {
    /// Says which memory a variable stands for, before its first use in this session.
    #[cold]
    pub(in crate::rt) fn define_memory(&self, var: VarId, address: usize, size: u32) {
        match self.session.memory(var, address as u64, size) {
            Ok(offset) => {
                // The chunk of the event must come after that of the definition.
                self.go_behind(offset);
            }
            Err(full) => self.lose(self.after(0), false, Some(&full)),
        }
    }

    /// Says which variable a lock's poison flag is, before its first use in this session.
    pub(in crate::rt) fn define_poison_flag(&self, lock: LockId, flag: VarId) {
        match self.session.poison_flag(lock, flag) {
            // The chunk of the event must come after that of the definition.
            Ok(offset) => self.go_behind(offset),
            Err(full) => self.lose(self.after(0), false, Some(&full)),
        }
    }

    /// Says that the next access of a variable, which is its last, gives its memory back.
    #[cold]
    pub(in crate::rt) fn define_freed(&self, var: VarId) {
        self.define(Definition::Freed { var });
    }

    /// Says how many messages a channel has room for, before its first use in this session.
    #[cold]
    pub(crate) fn define_capacity(&self, channel: ChannelId, messages: u32) {
        self.define(Definition::Capacity { channel, messages });
    }

    /// Says that threads that wait to take a lock exclusively keep out those that want to share it.
    #[cold]
    pub(crate) fn define_fair(&self, lock: LockId) {
        self.define(Definition::Fair { lock });
    }

    fn define(&self, definition: Definition) {
        match self.session.define(definition) {
            // The chunk of the event must come after that of the definition.
            Ok(offset) => self.go_behind(offset),
            Err(full) => self.lose(self.after(0), false, Some(&full)),
        }
    }
}
