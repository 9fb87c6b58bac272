//! A transfer takes both locks in one order that all keep to.

fn main() -> std::process::ExitCode {
    racelog_examples::main(&racelog_examples::contest::account::ORDERED)
}
