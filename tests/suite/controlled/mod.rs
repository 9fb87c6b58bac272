//! Programs under control: what `racelog::sched` promises.

mod attribute;
mod bugs;
mod figures;
mod process;
mod replay;
