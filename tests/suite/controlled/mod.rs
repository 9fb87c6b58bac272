//! Programs under control: what `racelog::sched` promises.

mod attribute;
mod bugs;
mod case;
mod confirmed;
mod diverged;
mod figures;
mod fuzz;
mod hangs;
mod process;
mod replay;
