//! Goals as lists of event numbers, one list a kind.

use std::io::{self, Write};

use crate::goal::{Goal, GoalKind, GoalKinds};

/// Writes the members of a JSON object: for each kind that was asked for a list of its goals. Of those
/// that always have one event next, that is a list of event numbers; of others one of lists.
pub(super) fn write<'g>(
    out: &mut impl Write,
    kinds: GoalKinds,
    goals: impl Iterator<Item = &'g Goal> + Clone,
) -> io::Result<()> {
    for (at, kind) in kinds.iter().enumerate() {
        let lists: Vec<String> =
            goals.clone().filter(|goal| goal.kind() == kind).map(numbers).collect();
        let between = if at > 0 { ", " } else { "" };
        write!(out, "{between}\"{}\": [{}]", kind.list_name(), lists.join(", "))?;
    }
    Ok(())
}

fn numbers(goal: &Goal) -> String {
    let numbers: Vec<String> = goal.next().iter().map(ToString::to_string).collect();
    match goal.kind().next_events() {
        Some(1) => numbers.join(", "),
        _ => format!("[{}]", numbers.join(", ")),
    }
}

/// How many goals there are of each kind.
pub(super) fn counts<'g>(goals: impl Iterator<Item = &'g Goal> + Clone) -> String {
    let mut counts = Vec::new();
    for kind in GoalKind::ALL {
        let name = kind.name();
        match goals.clone().filter(|goal| goal.kind() == kind).count() {
            0 => {}
            1 => counts.push(format!("1 {name}")),
            count => counts.push(format!("{count} {}", kind.plural())),
        }
    }
    if counts.is_empty() { "nothing found".to_owned() } else { counts.join(", ") }
}
