//! The report for people.

use std::io::{self, Write};

use super::{Counts, Finding, Report};

/// Writes a report for people.
pub fn write_text(out: &mut impl Write, report: &Report) -> io::Result<()> {
    for finding in &report.findings {
        write_finding(out, finding)?;
    }
    let races = match report.findings.len() {
        0 => "no race".to_owned(),
        1 => "1 race".to_owned(),
        count => format!("{count} races"),
    };
    let names: Vec<&str> = report.detectors.iter().map(|detector| detector.name).collect();
    writeln!(out, "{races} in {} events, by {}", report.events, names.join(" and "))?;
    for detector in report.detectors.iter().filter(|detector| detector.unsound) {
        writeln!(
            out,
            "note: `{}` is unsound by design: it may report what is no race",
            detector.name
        )?;
    }
    if let Some(counts) = &report.counts {
        write_counts(out, counts)?;
    }
    for phrase in report.unseen.phrases() {
        writeln!(out, "not seen: {phrase}")?;
    }
    Ok(())
}

fn write_finding(out: &mut impl Write, finding: &Finding) -> io::Result<()> {
    let [first, second] = finding.events;
    writeln!(out, "race ({first}, {second}) on {}", finding.variable)?;
    for access in &finding.accesses {
        let value = match &access.new_value {
            Some(new) => format!("{} {new}", access.value),
            None => access.value.clone(),
        };
        write!(out, "{:>10}  {} {} {value}", access.event, access.thread, access.kind)?;
        if let Some(location) = &access.location {
            write!(out, "  @ {location}")?;
        }
        if !access.locks.is_empty() {
            write!(out, "  holding {}", access.locks.join(", "))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{:>10}  {}", "why", finding.reason.text)?;
    writeln!(out, "{:>10}  {}", "found by", finding.detectors.join(", "))?;
    if let Some(witness) = &finding.witness {
        writeln!(out, "{:>10}  {}", "witness", numbers(witness))?;
    }
    writeln!(out)
}

/// How many stretches of a witness are shown.
const SHOWN: usize = 60;

/// Event numbers; stretches without a gap as `a-b`, so that long ones stay readable.
fn numbers(witness: &[u64]) -> String {
    let stretches = witness.chunk_by(|a, b| a + 1 == *b).map(|stretch| match stretch {
        [one, _, .., last] => format!("{one}-{last}"),
        short => short.iter().map(u64::to_string).collect::<Vec<_>>().join(" "),
    });
    let mut words: Vec<String> = stretches.collect();
    if words.len() > SHOWN {
        let last = words.split_off(words.len() - 2);
        words.truncate(SHOWN - 3);
        words.push(format!("… ({} events in all; `predictor witness` prints them)", witness.len()));
        words.extend(last);
    }
    words.join(" ")
}

fn write_counts(out: &mut impl Write, counts: &Counts) -> io::Result<()> {
    let (proven, refuted, unknown) = (&counts.proven, &counts.refuted, &counts.unknown);
    let pairs = if counts.candidates == 1 { "pair" } else { "pairs" };
    write!(out, "{} conflicting {pairs}: ", counts.candidates)?;
    let by_proof = [
        (proven.hold_back, "by holding a thread back"),
        (proven.closure, "by what they force"),
        (proven.waiting, "by waiting for others"),
        (proven.solver, "by the solver"),
    ];
    write!(out, "{} proven{}", proven.total(), parts(&by_proof))?;
    let by_proof = [
        (refuted.common_lock, "by a common lock"),
        (refuted.lock_histories, "by the order in which locks were taken"),
        (refuted.must_order, "by an order that all executions share"),
        (refuted.forced_order, "by an order that values force"),
        (refuted.closure, "by what they would force"),
        (refuted.solver, "by the solver"),
    ];
    write!(out, ", {} ruled out{}", refuted.total(), parts(&by_proof))?;
    if counts.covered > 0 {
        write!(out, ", {} at the places of a proven race", counts.covered)?;
    }
    writeln!(out, ", {} unknown", unknown.total())?;
    let reasons = [
        (unknown.time, "the time was up (--pair-time, --total-time)"),
        (unknown.apart, "too far apart for the window (--window)"),
        (unknown.window, "no race within the window (--window)"),
        (unknown.limit, "too many pairs of the same places (--pairs-per-signature)"),
        (unknown.unconfirmed, "the witness was not confirmed: please report this bug"),
    ];
    for (count, reason) in reasons.iter().filter(|(count, _)| *count > 0) {
        writeln!(out, "{count:>10}  unknown: {reason}")?;
    }
    Ok(())
}

/// Which part of a number is due to what; nothing if there is nothing to say.
fn parts(parts: &[(u64, &str)]) -> String {
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = parts.map(|(count, what)| format!("{count} {what}")).collect();
    if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_short() {
        assert_eq!(numbers(&[1, 2, 3, 4, 9, 10, 6, 5]), "1-4 9 10 6 5");
        assert_eq!(numbers(&[]), "");
    }
}
