//! Columns of small numbers, so short that a hundred thousand events are no burden to a page.
//!
//! A column is a string. Each number is written five bits at a time, the lowest first, a character
//! each, with the sixth bit set where more follow; the characters are those of base64.
//! `assets/data.js` reads it.

use serde::Serialize;

use crate::finding::{Place, Ranges};
use crate::render::timeline::{ArrowKind, Course, Hold, Timeline};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A column.
pub(super) fn pack(numbers: impl IntoIterator<Item = u32>) -> String {
    let mut out = String::new();
    for mut number in numbers {
        loop {
            let (low, rest) = (number & 31, number >> 5);
            let more = if rest > 0 { 32 } else { 0 };
            out.push(char::from(DIGITS[(low | more) as usize]));
            if rest == 0 {
                break;
            }
            number = rest;
        }
    }
    out
}

/// A column of numbers that never become smaller: how much each adds to the one before.
fn pack_growth(numbers: impl IntoIterator<Item = u32>) -> String {
    let mut last = 0;
    pack(numbers.into_iter().map(|number| number - std::mem::replace(&mut last, number)))
}

/// The events of a trace, and the order that was observed.
#[derive(Serialize)]
pub(super) struct PackedTimeline<'a> {
    total: u64,
    threads: &'a [String],
    numbers: Ranges,
    thread: String,
    kind: String,
    object: String,
    detail: String,
    place: String,
    kinds: &'a [String],
    objects: &'a [String],
    details: &'a [String],
    places: &'a [Place],
    observed: PackedCourse<'a>,
}

impl<'a> PackedTimeline<'a> {
    pub(super) fn new(timeline: &'a Timeline) -> Self {
        let events = &timeline.events;
        let column = |column: &[u32]| pack(column.iter().copied());
        Self {
            total: timeline.trace_events,
            threads: &timeline.threads,
            numbers: events.ids.iter().map(|event| event.number()).collect(),
            thread: column(&events.thread),
            kind: column(&events.kind),
            object: column(&events.object),
            detail: column(&events.detail),
            place: column(&events.place),
            kinds: &events.kinds,
            objects: &events.objects,
            details: &events.details,
            places: &events.places,
            observed: PackedCourse::new(&timeline.observed),
        }
    }
}

/// An order of events.
#[derive(Serialize)]
pub(super) struct PackedCourse<'a> {
    all: u64,
    before: u64,
    /// From 1.
    rows: Ranges,
    regions: PackedRegions<'a>,
    arrows: PackedArrows,
}

#[derive(Serialize)]
struct PackedRegions<'a> {
    names: Vec<&'a str>,
    thread: String,
    /// 0 exclusive, 1 shared, 2 waiting; 4 is added if it goes on when the order ends.
    hold: String,
    name: String,
    from: String,
    length: String,
}

#[derive(Serialize)]
struct PackedArrows {
    /// Indices into the report's kinds of arrows.
    kind: String,
    to: String,
    length: String,
}

impl<'a> PackedCourse<'a> {
    pub(super) fn new(course: &'a Course) -> Self {
        let regions = &course.regions;
        let mut names: Vec<&str> = regions.iter().map(|region| &*region.object).collect();
        names.sort_unstable();
        names.dedup();
        let name = |name: &str| names.binary_search(&name).map_or(0, |at| at as u32);
        let kind = |kind: ArrowKind| ArrowKind::ALL.iter().position(|k| *k == kind);
        Self {
            all: course.all,
            before: course.before,
            rows: course.rows.iter().map(|row| u64::from(*row) + 1).collect(),
            regions: PackedRegions {
                thread: pack(regions.iter().map(|region| region.thread)),
                hold: pack(regions.iter().map(|region| {
                    let hold = match region.hold {
                        Hold::Exclusive => 0,
                        Hold::Shared => 1,
                        Hold::Waiting => 2,
                    };
                    hold + if region.open { 4 } else { 0 }
                })),
                name: pack(regions.iter().map(|region| name(&region.object))),
                from: pack_growth(regions.iter().map(|region| region.from)),
                length: pack(regions.iter().map(|region| region.to - region.from)),
                names: names.clone(),
            },
            arrows: PackedArrows {
                kind: pack(course.arrows.iter().map(|arrow| kind(arrow.kind).unwrap_or(0) as u32)),
                to: pack_growth(course.arrows.iter().map(|arrow| arrow.to)),
                length: pack(course.arrows.iter().map(|arrow| arrow.to - arrow.from)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_take_one_character() {
        assert_eq!(pack([0, 31, 32, 1024]), "AfgBggB");
        assert_eq!(pack([u32::MAX]).len(), 7);
        assert_eq!(pack_growth([3, 3, 10]), "DAH");
    }
}
