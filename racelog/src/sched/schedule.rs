//! What a replay follows of a schedule: not every event of a witness is a step that others can see.

use crate::contract::operation::Operation;
use crate::contract::schedule::{Aim, Schedule};

/// A schedule without the steps that are no turns of their own.
pub(super) fn steps_to_follow(mut schedule: Schedule) -> Schedule {
    // Where no other thread can be there is no order to keep.
    let no_turns = ["exclusive", "assert", "check", "check_panic", "atomic_begin", "atomic_end"];
    schedule.steps.retain(|step| !no_turns.contains(&step.operation.op.as_str()));
    join_operations(&mut schedule);
    schedule
}

/// A read that belongs to the same operation as the racing write after it is not done before;
/// nor is the branch between them, where an operator of the program could panic by the value read.
fn join_operations(schedule: &mut Schedule) {
    if !matches!(schedule.aim, Aim::Race { .. }) {
        return;
    }
    let steps = &mut schedule.steps;
    for access in schedule.next.iter().map(|access| &access.operation) {
        if access.op != "write" {
            continue;
        }
        let of_thread = |operation: &Operation| operation.thread == access.thread;
        let Some(mut at) = steps.iter().rposition(|step| of_thread(&step.operation)) else {
            continue;
        };
        let branch = Operation { op: "branch".to_owned(), object: None, ..access.clone() };
        let between = (steps[at].operation == branch).then_some(at);
        if between.is_some() {
            let read = steps[..at].iter().rposition(|step| of_thread(&step.operation));
            let Some(read) = read else { continue };
            at = read;
        }
        if steps[at].operation == (Operation { op: "read".to_owned(), ..access.clone() }) {
            if let Some(between) = between {
                steps.remove(between);
            }
            steps.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "racelog-schedule 4\n\
        step 0 fork 0.1 @ src/main.rs:5:9\n\
        step 0.1 begin\n\
        step 0.1 exclusive y\n\
        step 0.2 read x @ src/main.rs:20\n\
        race 0.1 read x @ src/main.rs:10:5\n\
        race 0.2 write x @ src/main.rs:20\n";

    fn steps(text: &str) -> Vec<String> {
        let schedule = steps_to_follow(text.parse().unwrap());
        schedule.steps.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_read_is_part_of_its_racing_write() {
        let expected = ["0 fork 0.1 @ src/main.rs:5:9", "0.1 begin -"];
        assert_eq!(steps(TEXT), expected);
        // Whatever its value.
        assert_eq!(steps(&TEXT.replace("0.2 read x @", "0.2 read x = read 7 @")), expected);
    }

    #[test]
    fn an_update_is_one_operation() {
        let text = TEXT.replace("race 0.1", "step 0.2 branch - @ src/main.rs:20\nrace 0.1");
        assert_eq!(steps(&text), steps(TEXT));
        // A branch elsewhere is the program's own.
        let text = text.replace("branch - @ src/main.rs:20", "branch - @ src/main.rs:21");
        assert_eq!(steps(&text).len(), 4);
    }
}
