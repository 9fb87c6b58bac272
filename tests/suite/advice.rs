//! What is advised about orderings is followed, and then the finding is gone.

use predictor::analysis::{Detector, analyze};
use predictor::finding::{Finding, WeakAccess};
use predictor::predict::Options;
use predictor::trace::Trace;
use predictor::trace::format::{Format, Source};

/// What happens-before finds in a trace.
fn findings(text: &str) -> Vec<Finding> {
    let mut source = Source::of_bytes(text.as_bytes().to_vec(), Some(Format::Text)).unwrap();
    let trace = Trace::load(&mut source, |_| {}).unwrap();
    let options = Options::default();
    analyze(&trace, "t", &[Detector::Hb], &options, |_, _| {}).unwrap().findings
}

/// The trace with the orderings that are advised: events are lines.
fn follow(text: &str, advice: &[WeakAccess]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for weak in advice {
        let line = &mut lines[weak.event as usize - 1];
        let needs = weak.needs.as_ref().unwrap_or_else(|| panic!("{weak:?} in\n{text}"));
        let (what, has) = line.rsplit_once(' ').unwrap();
        assert_eq!(has, weak.ordering.to_lowercase(), "{line}");
        *line = format!("{what} {}", needs.to_lowercase());
    }
    lines.join("\n") + "\n"
}

/// The only finding of a trace is due to orderings: these are advised, and it goes by them; and
/// each is needed.
fn check(text: &str, expected: &[&str]) {
    let found = findings(text);
    let [finding] = &found[..] else { panic!("{found:?} in\n{text}") };
    let advice = finding.occurrences[0].reason.too_weak();
    let shown: Vec<String> = advice
        .iter()
        .map(|weak| {
            let (kind, needs) = (weak.operation.as_deref(), weak.needs.as_deref());
            format!("{} {} {}", weak.event, kind.unwrap_or("?"), needs.unwrap_or("?"))
        })
        .collect();
    assert_eq!(shown, expected, "{text}");
    let cured = follow(text, advice);
    assert_eq!(findings(&cured).len(), 0, "{cured}");
    for left_out in 0..advice.len() {
        let mut rest = advice.to_vec();
        rest.remove(left_out);
        assert_eq!(findings(&follow(text, &rest)).len(), 1, "{left_out} is not needed in\n{text}");
    }
}

const FORKS: &str = "main fork a\nmain fork b\n";

#[test]
fn a_flag_needs_release_and_acquire() {
    let text = "a write x 1\na store f 1 relaxed\nb load f 1 relaxed\nb read x 1\n";
    check(&format!("{FORKS}{text}"), &["4 store Release", "5 load Acquire"]);
}

#[test]
fn one_side_is_enough_if_the_other_is_strong() {
    let store = "a write x 1\na store f 1 relaxed\nb load f 1 acquire\nb read x 1\n";
    check(&format!("{FORKS}{store}"), &["4 store Release"]);
    let load = "a write x 1\na store f 1 release\nb load f 1 relaxed\nb read x 1\n";
    check(&format!("{FORKS}{load}"), &["5 load Acquire"]);
    let strong = store.replace("relaxed", "release");
    assert_eq!(findings(&format!("{FORKS}{strong}")).len(), 0);
}

#[test]
fn an_update_needs_only_what_it_is_for() {
    let counter = "a write x 1\na rmw n 0 1 release\nb rmw n 1 2 relaxed\nb read x 1\n";
    let counter = format!("{FORKS}{counter}");
    check(&counter, &["5 rmw Acquire"]);
    let counter =
        counter.replace("0 1 release", "0 1 relaxed").replace("1 2 relaxed", "1 2 acquire");
    check(&counter, &["4 rmw Release"]);
    check(&counter.replace("1 2 acquire", "1 2 relaxed"), &["4 rmw Release", "5 rmw Acquire"]);
}

#[test]
fn an_update_in_the_middle_may_need_both() {
    let text = "main fork a\nmain fork b\nmain fork c\na write x 1\na store f 1 release\n\
                b load f 1 relaxed\nb store g 1 relaxed\nc load g 1 acquire\nc read x 1\n";
    check(text, &["6 load Acquire", "7 store Release"]);
    // A store would end what the first has released; an update goes on with it.
    let text = "main fork a\nmain fork b\nmain fork c\na write x 1\na store f 1 relaxed\n\
                b rmw f 1 2 relaxed\nc load f 2 acquire\nc read x 1\n";
    check(text, &["5 store Release"]);
}

#[test]
fn a_failed_exchange_needs_its_second_ordering() {
    let text = "a write x 1\na cas f 0 1 release\nb cas_fail f 1 relaxed\nb read x 1\n";
    check(&format!("{FORKS}{text}"), &["5 cas_fail Acquire"]);
}
