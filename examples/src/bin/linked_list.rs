//! The end of a list is looked for without the lock that nodes are added under.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::linked_list::PROGRAM)
}
