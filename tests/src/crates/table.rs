//! The results, as Markdown.

use std::fmt::Write as _;

use super::trial::{Analysed, Outcome, Ran};
use super::weaken::{Place, Weakened};

/// The table of all crates.
pub fn crates(outcomes: &[Outcome]) -> String {
    let mut text = String::from(
        "| crate | compiles | tests | not recorded | recorded | instrumented | findings | doubtful \
         | undecided | events | bytes an event | slow-down |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for outcome in outcomes {
        let Outcome { name, version, plain, unrecorded, recorded, instrumented, .. } = outcome;
        let (found, more) = (&outcome.found, &outcome.found_instrumented);
        let runs = [unrecorded, recorded, instrumented];
        let compiles = runs.iter().all(|ran| !ran.problem.starts_with("does not compile"));
        let _ = writeln!(
            text,
            "| {name} {version} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            if compiles { "yes" } else { "no" },
            plain.passed,
            passed(unrecorded, plain),
            passed(recorded, plain),
            passed(instrumented, plain),
            both(found, more, |it| it.findings),
            both(found, more, |it| it.doubtful),
            both(found, more, |it| it.undecided),
            both(found, more, |it| it.events),
            bytes_an_event(found),
            slow_down(recorded, plain),
        );
    }
    let green = outcomes.iter().filter(|outcome| outcome.is_green()).count();
    let reported: u64 = outcomes
        .iter()
        .map(|outcome| outcome.found.findings + outcome.found_instrumented.findings)
        .sum();
    let _ = writeln!(
        text,
        "\n{green} of {} are green: all tests that pass as published pass in every way, and nothing \
         is reported but what is doubtful. {reported} findings.",
        outcomes.len()
    );
    text
}

/// What is not as it should be, crate by crate.
pub fn problems(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    for outcome in outcomes {
        let analyses =
            [("analysis", &outcome.found), ("instrumented", &outcome.found_instrumented)];
        let runs = [
            ("as published", &outcome.plain),
            ("not recorded", &outcome.unrecorded),
            ("recorded", &outcome.recorded),
            ("instrumented", &outcome.instrumented),
        ];
        let ran = runs.iter().map(|(what, ran)| (*what, &ran.problem));
        let analysed = analyses.iter().map(|(what, found)| (*what, &found.problem));
        for (what, problem) in ran.chain(analysed).filter(|(_, problem)| !problem.is_empty()) {
            let _ = writeln!(text, "- {}, {what}: {problem}", outcome.name);
        }
        for (what, found) in analyses {
            for line in &found.lines {
                let _ = writeln!(text, "- {}, {what}: {line}", outcome.name);
            }
        }
    }
    text
}

/// The table of the weakened orderings.
pub fn weakened(results: &[(Place, Weakened)]) -> String {
    let mut text = String::from(
        "| crate | place | ordering | what it orders | found | as |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    for (place, Weakened { ran, found }) in results {
        let Place { name, file, line, ordering, orders } = place;
        let number = found.findings + found.doubtful;
        let (is_found, how) = match (found.lines.first(), &*found.problem, &*ran.problem) {
            (Some(first), ..) if number > 1 => ("yes", format!("{first}, and {} more", number - 1)),
            (Some(first), ..) => ("yes", first.clone()),
            (None, "", "") => ("no", "-".to_owned()),
            (None, problem, other) => ("no", format!("{problem}{other}")),
        };
        let _ = writeln!(
            text,
            "| {name} | {file}:{line} | {ordering} | {orders} | {is_found} | {how} |"
        );
    }
    text
}

fn passed(ran: &Ran, plain: &Ran) -> String {
    match ran.passed {
        all if all == plain.passed && ran.is_green() => "all".to_owned(),
        some => format!("{some}"),
    }
}

/// A number of both runs: without and with the attribute.
fn both(found: &Analysed, more: &Analysed, number: impl Fn(&Analysed) -> u64) -> String {
    format!("{} / {}", number(found), number(more))
}

fn bytes_an_event(found: &Analysed) -> String {
    match found.events {
        0 => "-".to_owned(),
        events => format!("{:.1}", found.bytes as f64 / events as f64),
    }
}

fn slow_down(recorded: &Ran, plain: &Ran) -> String {
    // Tests say how long they took in hundredths of a second.
    if plain.seconds < 0.05 {
        "-".to_owned()
    } else {
        format!("{:.1}", recorded.seconds / plain.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_green_is_said() {
        let ran = |passed, problem: &str| Ran { passed, problem: problem.to_owned(), seconds: 2.0 };
        let found = Analysed { events: 10, bytes: 75, ..Analysed::default() };
        let green = Outcome {
            name: "a".to_owned(),
            version: "1.0.0".to_owned(),
            plain: ran(3, ""),
            unrecorded: ran(3, ""),
            recorded: ran(3, ""),
            instrumented: ran(3, ""),
            found: found.clone(),
            found_instrumented: found,
        };
        let red = Outcome { recorded: ran(2, "failed: x"), name: "b".to_owned(), ..green.clone() };
        let text = crates(&[green, red.clone()]);
        assert!(text.contains(
            "| a 1.0.0 | yes | 3 | all | all | all | 0 / 0 | 0 / 0 | 0 / 0 | 10 / 10 | 7.5 | 1.0 |"
        ));
        assert!(text.contains("| b 1.0.0 | yes | 3 | all | 2 | all |"));
        assert!(text.contains("1 of 2 are green"));
        assert_eq!(problems(&[red]), "- b, recorded: failed: x\n");
    }
}
