//! The report for people.

use std::io::{self, Write};

use super::{Counts, DetectorRun, Report};
use crate::finding::{Basis, Finding, Kind, Occurrence, Part, Ranges, write_range};
use crate::goal::GoalKinds;
use crate::trace::Trace;

/// Writes a report for people about a trace.
pub fn write_text(out: &mut impl Write, report: &Report, trace: &Trace) -> io::Result<()> {
    for finding in &report.findings {
        for occurrence in &finding.occurrences {
            write_finding(out, finding, occurrence, trace)?;
        }
    }
    let found = found(report);
    let names: Vec<&str> = report.detectors.iter().map(|run| run.name.as_str()).collect();
    writeln!(out, "{found} in {} events, by {}", report.events, names.join(" and "))?;
    let warning = report.model.warning();
    let by_design = |run: &&DetectorRun| run.unsound && (warning.is_none() || run.name != "mcm");
    for detector in report.detectors.iter().filter(by_design) {
        writeln!(
            out,
            "note: `{}` is unsound by design: it may report what is none",
            detector.name
        )?;
    }
    if let Some(warning) = &warning {
        writeln!(out, "note: {warning}")?;
    }
    if let Some(counts) = &report.counts {
        write_counts(out, counts, report.goals.kinds())?;
    }
    for phrase in report.unseen.phrases() {
        writeln!(out, "not seen: {phrase}")?;
    }
    Ok(())
}

/// How many findings there are of which kind: `2 races`.
fn found(report: &Report) -> String {
    let nouns = Kind::nouns(report.findings.iter().map(|finding| &finding.kind));
    let words: Vec<String> = nouns
        .iter()
        .map(|(noun, count)| format!("{count} {noun}{}", if *count == 1 { "" } else { "s" }))
        .collect();
    match words.is_empty() {
        true => report.goals.kinds().none_of_them(),
        false => words.join(" and "),
    }
}

fn write_finding(
    out: &mut impl Write,
    finding: &Finding,
    occurrence: &Occurrence,
    trace: &Trace,
) -> io::Result<()> {
    let events: Vec<String> =
        occurrence.primary_parts().map(|part| part.event.to_string()).collect();
    let what = match (finding.kind.basis(), &occurrence.subject) {
        (Basis::Suspicion, None) => finding.kind.title(),
        (_, _) => finding.kind.noun(),
    };
    write!(out, "{what} ({})", events.join(", "))?;
    match &occurrence.subject {
        Some(subject) => writeln!(out, " on {}", subject.name)?,
        None => writeln!(out)?,
    }
    occurrence.parts.iter().try_for_each(|part| write_part(out, part))?;
    if let Some(waits) = occurrence.who_waits(&str::to_owned) {
        let label = if occurrence.waiting().1 { "circle" } else { "waits" };
        writeln!(out, "{label:>10}  {waits}")?;
    }
    writeln!(out, "{:>10}  {}", "why", occurrence.reason.words(|name| name))?;
    writeln!(out, "{:>10}  {}", "found by", occurrence.detectors.join(", "))?;
    let witness = occurrence.witness.as_ref().and_then(|witness| witness.unpack(trace));
    if let Some(witness) = witness {
        let numbers: Vec<u64> = witness.iter().map(|event| event.number()).collect();
        writeln!(out, "{:>10}  {}", "witness", short(&numbers))?;
    }
    writeln!(out)
}

fn write_part(out: &mut impl Write, part: &Part) -> io::Result<()> {
    let value = match &part.new_value {
        Some(new) => format!("{} {new}", part.value),
        None => part.value.clone(),
    };
    write!(out, "{:>10}  {} ", part.event, part.thread)?;
    match (part.standing(&str::to_owned), &part.object) {
        (Some(standing), _) => write!(out, "{standing}")?,
        (None, Some(object)) => write!(out, "{} {object}", part.source.operation)?,
        (None, None) => write!(out, "{} {value}", part.source.operation)?,
    }
    if let Some(place) = &part.source.place {
        write!(out, "  @ {place}")?;
    }
    let locks = part.locks.iter().map(|lock| match lock.shared {
        true => format!("{} (shared)", lock.name),
        false => lock.name.clone(),
    });
    let locks: Vec<String> = locks.collect();
    if !locks.is_empty() {
        write!(out, "  holding {}", locks.join(", "))?;
    }
    writeln!(out)
}

/// How many ranges of a witness are shown.
const SHOWN: usize = 60;

/// Event numbers, with ranges so that long ones stay readable.
fn short(witness: &[u64]) -> String {
    let all: Ranges = witness.iter().copied().collect();
    let mut words: Vec<String> = all.ranges().iter().map(|range| write_range(*range)).collect();
    if words.len() > SHOWN {
        let last = words.split_off(words.len() - 2);
        words.truncate(SHOWN - 3);
        words.push(format!("… ({} events in all; `predictor witness` prints them)", witness.len()));
        words.extend(last);
    }
    words.join(" ")
}

fn write_counts(out: &mut impl Write, counts: &Counts, goals: GoalKinds) -> io::Result<()> {
    let (proven, refuted, unknown) = (&counts.proven, &counts.refuted, &counts.unknown);
    let s = if counts.candidates == 1 { "" } else { "s" };
    let candidate = if goals == GoalKinds::RACES { "conflicting pair" } else { "candidate" };
    write!(out, "{} {candidate}{s}: ", counts.candidates)?;
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
        (refuted.flags, "by a flag that is taken by compare-exchange"),
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
        (unknown.switches, "none with so few thread switches (--max-switches)"),
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
