//! Programs under control: what `racelog::sched` promises.

mod attribute;
mod bugs;
mod confirmed;
mod figures;
mod fuzz;
mod process;
mod replay;
