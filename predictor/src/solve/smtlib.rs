//! A solver that decides nothing and writes everything down, as an SMT-LIB script in integer
//! difference logic: for debugging, for tests, and for feeding other solvers.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Instant;

use super::formula::{Formula, Lit, Meaning};
use super::{Answer, Solver};
use crate::trace::EventId;

/// Writes each question down.
#[derive(Debug, Default)]
pub struct SmtLib {
    scripts: Vec<String>,
}

impl SmtLib {
    /// What was asked so far, a script a question.
    pub fn scripts(&self) -> &[String] {
        &self.scripts
    }
}

impl Solver for SmtLib {
    fn name(&self) -> &'static str {
        "smtlib"
    }

    fn solve(&mut self, formula: &Formula, assumptions: &[Lit], _: Option<Instant>) -> Answer {
        self.scripts.push(script(formula, assumptions));
        Answer::Unknown
    }
}

/// A question as a script.
pub fn script(formula: &Formula, assumptions: &[Lit]) -> String {
    let mut out = String::from("(set-logic QF_IDL)\n");
    let mut events: BTreeSet<EventId> =
        formula.edges().iter().flat_map(|(a, b)| [*a, *b]).collect();
    for proposition in 0..formula.proposition_count() {
        if let Meaning::Before(a, b) = formula.meaning(proposition) {
            events.extend([a, b]);
        }
    }
    for event in events {
        line(&mut out, format_args!("(declare-const e{event} Int)"));
    }
    for proposition in 0..formula.proposition_count() {
        match formula.meaning(proposition) {
            Meaning::Free | Meaning::Unsaid | Meaning::Source(..) => {
                line(&mut out, format_args!("(declare-const p{proposition} Bool)"));
            }
            // The negation is the reverse order, not the absence of an order.
            Meaning::Before(a, b) => {
                line(&mut out, format_args!("(define-fun p{proposition} () Bool (< e{a} e{b}))"));
                line(&mut out, format_args!("(assert (distinct e{a} e{b}))"));
            }
        }
    }
    for (a, b) in formula.edges() {
        line(&mut out, format_args!("(assert (< e{a} e{b}))"));
    }
    for index in 0..formula.clause_count() {
        let literals: Vec<String> =
            formula.get_clause(index).iter().map(|lit| term(*lit)).collect();
        match &literals[..] {
            [] => line(&mut out, format_args!("(assert false)")),
            [one] => line(&mut out, format_args!("(assert {one})")),
            more => line(&mut out, format_args!("(assert (or {}))", more.join(" "))),
        }
    }
    for lit in assumptions {
        line(&mut out, format_args!("(assert {})", term(*lit)));
    }
    out.push_str("(check-sat)\n");
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

fn term(lit: Lit) -> String {
    let proposition = lit.proposition();
    if lit.is_positive() { format!("p{proposition}") } else { format!("(not p{proposition})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_question() {
        let event = EventId::from_index;
        let mut formula = Formula::new();
        formula.order(event(0), event(1));
        let before = formula.before(event(2), event(0));
        let free = formula.proposition(false);
        formula.clause(&[before, free]);
        let mut solver = SmtLib::default();
        assert!(matches!(solver.solve(&formula, &[!free], None), Answer::Unknown));
        let expected = "(set-logic QF_IDL)\n\
            (declare-const e1 Int)\n\
            (declare-const e2 Int)\n\
            (declare-const e3 Int)\n\
            (declare-const p0 Bool)\n\
            (define-fun p1 () Bool (< e1 e3))\n\
            (assert (distinct e1 e3))\n\
            (declare-const p2 Bool)\n\
            (assert (< e1 e2))\n\
            (assert p0)\n\
            (assert (or (not p1) p2))\n\
            (assert (not p2))\n\
            (check-sat)\n";
        assert_eq!(solver.scripts(), [expected]);
    }
}
