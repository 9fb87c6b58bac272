//! The exercises of IBM's ConTest project: small programs with one mistake each, as people make
//! them.

pub mod account;
pub mod airline;
pub mod bounded_buffer;
pub mod bubble_sort;
pub mod buf_writer;
pub mod critical;
pub mod linked_list;
pub mod merge_sort;
pub mod pingpong;
pub mod producer_consumer;
pub mod readers_writers;
pub mod two_stage;
pub mod wrong_lock;

use crate::Program;

/// The programs of this group.
pub const PROGRAMS: &[&Program] = &[
    &account::PROGRAM,
    &account::DEADLOCK,
    &account::ORDERED,
    &airline::PROGRAM,
    &airline::FIXED,
    &bounded_buffer::PROGRAM,
    &bounded_buffer::FIXED,
    &bubble_sort::PROGRAM,
    &bubble_sort::FIXED,
    &buf_writer::PROGRAM,
    &buf_writer::FIXED,
    &critical::PROGRAM,
    &linked_list::PROGRAM,
    &linked_list::FIXED,
    &merge_sort::PROGRAM,
    &merge_sort::FIXED,
    &pingpong::PROGRAM,
    &producer_consumer::PROGRAM,
    &producer_consumer::FIXED,
    &readers_writers::PROGRAM,
    &readers_writers::FIXED,
    &two_stage::PROGRAM,
    &two_stage::FIXED,
    &wrong_lock::PROGRAM,
    &wrong_lock::FIXED,
];
