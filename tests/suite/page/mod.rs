//! The page about a project, in a real browser.

mod browser;
mod pages;

use predictor::trace::Trace;
use tempfile::TempDir;

use self::browser::Page;
use self::pages::{
    EVIL, EVIL_END, deadlock_project, deadlock_trace, large_project, large_trace, small_project,
    small_trace, write,
};

/// What is marked as selected in the list.
const SELECTED: &str = "#list [aria-selected=true]";

/// How many events, regions and arrows the chart at this index has drawn.
fn drawn(page: &mut Page, chart: usize) -> [u64; 3] {
    ["events", "regions", "arrows"].map(|what| {
        page.number(&format!("Number(document.querySelectorAll('canvas')[{chart}].dataset.{what})"))
    })
}

#[test]
fn findings_are_listed_searched_and_filtered() {
    let folder = TempDir::new().unwrap();
    let mut page = Page::open(&write(folder.path(), &small_project(), small_trace));
    assert_eq!(page.text("#headline"), "2 open findings and 1 other in 2 traces");
    assert_eq!(page.text("#count"), "2 of 3 findings");
    assert_eq!(page.number("document.querySelectorAll('[role=option]').length"), 2);
    page.choose("#filter-open", "all");
    assert_eq!(page.text("#count"), "3 findings");
    page.choose("#filter-open", "suppressed");
    assert_eq!(page.text("#count"), "1 of 3 findings");
    assert!(page.text("#detail").contains(&format!("Suppressed by racelog.toml: {EVIL}")));
    page.choose("#filter-open", "all");
    page.choose("#filter-status", "=confirmed-harmful");
    assert_eq!(page.text("#count"), "1 of 3 findings");
    assert!(page.text(".outcome").contains("`t2` first: then panic: sold out"));
    page.choose("#filter-status", "");
    page.choose("#filter-code", "=RL001");
    page.choose("#filter-test", &format!("={EVIL}"));
    assert_eq!(page.text("#count"), "3 findings");
    // By keyboard: to the search, a word of one finding, and back.
    page.key("/");
    assert_eq!(page.get("document.activeElement.id"), "search");
    for letter in ["l", "a", "s", "t"] {
        page.key(letter);
    }
    assert_eq!(page.text("#count"), "1 of 3 findings");
    assert_eq!(page.text("#detail h2"), "Data race on line (last)");
    page.key("Escape");
    assert_eq!(page.text("#count"), "3 findings");
    assert_eq!(page.get("document.activeElement.id"), "list");
    page.key("/");
    for letter in ["?", "j", "z"] {
        page.key(letter);
    }
    assert_eq!(page.text("#count"), "0 of 3 findings");
    assert!(page.text("#detail").contains("No finding fits"));
    assert_eq!(page.get("window.evil"), serde_json::Value::Null);
    assert!(page.errors.is_empty(), "{:?}", page.errors);
}

#[test]
fn a_circle_of_waiting_threads_is_drawn() {
    let folder = TempDir::new().unwrap();
    let mut page = Page::open(&write(folder.path(), &deadlock_project(), deadlock_trace));
    assert_eq!(page.text("#detail h2"), "Deadlock");
    let texts = |of: &str| {
        format!("[...document.querySelectorAll('.ring {of} text')].map((e) => e.textContent)")
    };
    let threads = serde_json::json!(["t1", "src/shop.rs:4:9", "t2", "src/shop.rs:8:9"]);
    assert_eq!(page.get(&texts(".ring-thread")), threads);
    assert_eq!(page.get(&texts(".ring-object")), serde_json::json!([EVIL_END, "line (l1)"]));
    let arrows = ["waits for", "is held by", "waits for", "is held by"];
    assert_eq!(page.get(&texts(".ring-arrow")), serde_json::json!(arrows));
    // What is drawn is also said.
    let label = page.get("document.querySelector('.ring').getAttribute('aria-label')");
    assert!(
        label.as_str().is_some_and(|label| label.starts_with("`t1` holds `line (l1)`")),
        "{label}"
    );
    // In both themes the names can be read on their ground.
    for theme in ["light", "dark"] {
        page.get(&format!("document.documentElement.dataset.theme = '{theme}'"));
        let colour =
            |of: &str| format!("getComputedStyle(document.querySelector('.ring {of}')).fill");
        let (text, ground) = (page.get(&colour("text")), page.get(&colour("rect")));
        assert_ne!(text, ground, "{theme}");
    }
    let cards = "document.querySelectorAll('.card').length";
    assert_eq!(page.number(cards), 5, "two wait, two locks were taken, and one waits, too");
    assert_eq!(page.get("window.evil"), serde_json::Value::Null);
    assert!(page.errors.is_empty(), "{:?}", page.errors);
    // A race has none.
    let mut page = Page::open(&write(folder.path(), &small_project(), small_trace));
    assert_eq!(page.number("document.querySelectorAll('.ring').length"), 0);
}

#[test]
fn a_finding_says_all_that_is_known() {
    let folder = TempDir::new().unwrap();
    let project = small_project();
    let mut page = Page::open(&write(folder.path(), &project, small_trace));
    page.choose("#filter-open", "all");
    let evil = project.findings.iter().find(|f| f.occurrences[0].subject_name() == EVIL).unwrap();
    page.click(&format!("#row-{}", evil.number));
    assert_eq!(
        page.get("document.querySelector('#detail h2').textContent"),
        format!("data race on line ({EVIL})")
    );
    assert_eq!(page.get("location.hash"), format!("#{}", evil.fingerprint));
    let marked = "[...document.querySelectorAll('.card.side-1 .line.side-1')].map((e) => e.textContent.trim())";
    assert_eq!(page.get(marked), serde_json::json!(["9let line = 9; // <b>&amp;</b>"]));
    assert_eq!(page.number("document.querySelectorAll('.card .line.marked').length"), 4);
    let rows = "document.querySelectorAll('[aria-labelledby=occurrences-title] tbody tr').length";
    assert_eq!(page.number(rows), 2, "a trace each");
    let schedule = page.text("[aria-labelledby=schedule-title]");
    assert!(schedule.contains("write") && schedule.contains("src/shop.rs:13:9"), "{schedule}");
    page.click("#tab-summary");
    assert!(page.get("document.querySelector('#findings').hidden").as_bool().unwrap());
    let summary = page.text("#summary");
    for word in ["mcm", "hb", "first.rlog", EVIL, "Conflicting pairs"] {
        assert!(summary.contains(word), "{word}");
    }
    page.key("ArrowLeft");
    assert_eq!(page.get("document.activeElement.id"), "tab-findings");
    assert!(!page.get("document.querySelector('#findings').hidden").as_bool().unwrap());
    assert_eq!(page.get("window.evil"), serde_json::Value::Null);
    assert!(page.errors.is_empty(), "{:?}", page.errors);
}

#[test]
fn everything_goes_by_key() {
    let folder = TempDir::new().unwrap();
    let mut page = Page::open(&write(folder.path(), &small_project(), small_trace));
    page.choose("#filter-open", "all");
    assert_eq!(page.get(&format!("document.querySelector('{SELECTED}').id")), "row-1");
    page.key("j");
    page.key("j");
    page.key("k");
    assert_eq!(page.get(&format!("document.querySelector('{SELECTED}').id")), "row-2");
    let active = "document.querySelector('#list').getAttribute('aria-activedescendant')";
    assert_eq!(page.get(active), "row-2");
    page.key("Escape");
    page.key("End");
    assert_eq!(page.get(active), "row-3");
    page.key("ArrowUp");
    page.key("ArrowUp");
    assert_eq!(page.get(active), "row-1");
    page.key("Enter");
    assert_eq!(page.get("document.activeElement.id"), "detail");
    page.key("?");
    assert!(page.get("document.querySelector('#keys').open").as_bool().unwrap());
    page.key("Escape");
    assert!(!page.get("document.querySelector('#keys').open").as_bool().unwrap());
    // What has the focus can be seen.
    page.key("Escape");
    page.key("Tab");
    let outline = "getComputedStyle(document.activeElement).outlineStyle";
    assert_eq!(page.get(outline), "solid");
    // To the chart, and along its events.
    page.get("document.querySelector('canvas').focus()");
    page.key("ArrowLeft");
    let event = page.text("#event");
    assert!(event.contains("event"), "{event}");
    page.key("ArrowDown");
    assert_ne!(page.text("#event"), event);
    assert!(page.errors.is_empty(), "{:?}", page.errors);
}

#[test]
fn orders_and_colours_can_be_chosen() {
    let folder = TempDir::new().unwrap();
    let mut page = Page::open(&write(folder.path(), &small_project(), small_trace));
    let shown = "[...document.querySelectorAll('canvas')].map((c) => c.getBoundingClientRect().height > 40)";
    assert_eq!(page.get(shown), serde_json::json!([true, true]));
    assert_eq!(drawn(&mut page, 0), [14, 2, 4], "all events, those of the variable twice");
    page.key("o");
    assert_eq!(page.get(shown), serde_json::json!([true, false]));
    page.key("w");
    assert_eq!(page.get(shown), serde_json::json!([false, true]));
    // It stays so for the next finding, and the buttons say so.
    page.key("j");
    assert_eq!(page.get(shown), serde_json::json!([false, true]));
    assert_eq!(page.get("document.querySelector('[name=orders]:checked').value"), "witness");
    page.click(".choice label:first-of-type");
    assert_eq!(page.get(shown), serde_json::json!([true, true]));
    let colour = "getComputedStyle(document.body).backgroundColor";
    let light = page.get(colour);
    page.prefer("dark");
    let dark = page.get(colour);
    assert_ne!(light, dark);
    page.click("#theme");
    assert_eq!(page.get(colour), light, "what is chosen goes before what is preferred");
    page.key("t");
    assert_eq!(page.get(colour), dark);
    // Zoom: fewer events are seen, and by `f` all of them again.
    for _ in 0..4 {
        page.key("+");
    }
    assert!(drawn(&mut page, 0)[0] < 14);
    page.key("f");
    assert_eq!(drawn(&mut page, 0)[0], 14);
    assert!(page.errors.is_empty(), "{:?}", page.errors);
}

#[test]
fn charts_answer_to_the_pointer() {
    let folder = TempDir::new().unwrap();
    let mut page = Page::open(&write(folder.path(), &small_project(), small_trace));
    page.get("document.querySelector('canvas').scrollIntoView({ block: 'center' })");
    let corner = "(() => { const r = document.querySelector('canvas').getBoundingClientRect(); return [r.x, r.y]; })()";
    let corner = page.get(corner);
    let (x, y) = (corner[0].as_f64().unwrap(), corner[1].as_f64().unwrap());
    // Along the first lane, until there is something to tell.
    let tip = "document.querySelector('.tip:not([hidden])')?.innerText ?? ''";
    let found = (0..60).map(|step| x + 120.0 + f64::from(step) * 8.0).find(|x| {
        page.point("mouseMoved", *x, y + 39.0);
        page.get(tip).as_str().unwrap().contains("fork t1")
    });
    let found = found.expect("the first event of the first lane is a fork");
    page.click_at(found, y + 39.0);
    assert!(page.text("#event").contains("event 1, thread t0"), "{}", page.text("#event"));
    // The wheel zooms with Ctrl.
    let before = drawn(&mut page, 0)[0];
    page.wheel(found, y + 39.0);
    assert!(drawn(&mut page, 0)[0] < before);
    // Dragging to the left brings later events.
    let first = page.text("#event");
    page.point("mousePressed", found + 300.0, y + 39.0);
    page.point("mouseMoved", found, y + 39.0);
    page.point("mouseReleased", found, y + 39.0);
    assert_eq!(page.text("#event"), first, "dragging selects nothing");
    page.point("mouseMoved", found, y + 39.0);
    assert!(!page.get(tip).as_str().unwrap().contains("fork t1"));
    assert!(page.errors.is_empty(), "{:?}", page.errors);
}

#[test]
fn a_trace_that_is_too_long_is_drawn_around_its_races() {
    fn trace() -> Trace {
        large_trace(120_000)
    }
    let folder = TempDir::new().unwrap();
    let project = large_project(&trace(), 3);
    let mut page = Page::open(&write(folder.path(), &project, trace));
    let shown = page.text("#detail");
    assert!(shown.contains("of 120,000 events: around what was found in this trace"), "{shown}");
    page.key("j");
    page.key("f");
    let all = drawn(&mut page, 0);
    assert!(all[0] > 1_000 && all[0] < 12_000, "{all:?}");
    assert!(page.errors.is_empty(), "{:?}", page.errors);
}

/// A hundred thousand events and a thousand findings are data; what is drawn is what is seen.
#[test]
fn a_large_report_draws_only_what_is_seen() {
    fn trace() -> Trace {
        large_trace(100_000)
    }
    let folder = TempDir::new().unwrap();
    let project = large_project(&trace(), 1_000);
    let mut page = Page::open(&write(folder.path(), &project, trace));
    assert_eq!(page.text("#count"), "1,000 findings");
    let rows = "document.querySelectorAll('[role=option]').length";
    let elements = "document.querySelectorAll('main *').length";
    assert!((5..30).contains(&page.number(rows)));
    assert!(page.number(elements) < 1_000);
    page.key("End");
    page.get("document.querySelector('#list').focus()");
    page.key("End");
    assert_eq!(page.get(&format!("document.querySelector('{SELECTED}').id")), "row-1000");
    assert!((5..30).contains(&page.number(rows)));
    assert!(page.number(elements) < 1_000);
    // Around the pair some dozens, and of all events no more than there are pixels.
    assert!(page.text("#detail").contains("100,000 events"));
    let near = drawn(&mut page, 0);
    assert!(near[0] > 5 && near.iter().sum::<u64>() < 300, "{near:?}");
    page.key("f");
    let all = drawn(&mut page, 0);
    assert!(all[0] > 1_000 && all[0] < 12_000, "{all:?}");
    assert!(all[1] < 12_000 && all[2] <= 250, "{all:?}");
    // Of so many findings the witnesses of the later ones are not drawn, and the page says so.
    assert!(page.text("#detail").contains("The order of the witness is not drawn"));
    assert!(page.errors.is_empty(), "{:?}", page.errors);
}
