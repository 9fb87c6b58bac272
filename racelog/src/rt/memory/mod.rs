//! The recorder's knowledge of the program's memory, by address.

pub(in crate::rt) mod allocator;
pub(in crate::rt) mod cell_record;
pub(in crate::rt) mod constants;
pub(in crate::rt) mod forget;
pub(in crate::rt) mod freed_vars;
pub(in crate::rt) mod freeing;
pub(in crate::rt) mod modules;
pub(in crate::rt) mod plain_words;
pub(in crate::rt) mod stack;
pub(in crate::rt) mod statics;
pub(in crate::rt) mod table;
pub(in crate::rt) mod watched;
pub(in crate::rt) mod word_kinds;
pub(in crate::rt) mod words;
