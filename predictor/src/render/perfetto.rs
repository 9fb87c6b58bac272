//! Orders of events for ui.perfetto.dev and chrome://tracing.
//!
//! The observed order and the witness are two processes, with a track a thread. Time is the
//! position in the order. Locks that are held are slices; where they do not lie one within the
//! other they get a track of their own, because the viewers drop slices that overlap otherwise.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::timeline::{Course, Hold, Region, Timeline};

/// How long a step takes, in microseconds that are none.
const STEP: u64 = 10;

/// How long an event is to be seen. Shorter than a step, so that slices lie within the locks.
const SEEN: u64 = 6;

/// Writes the observed order and the witness of a finding of a timeline: the one at this index of
/// those that it was made for.
pub fn perfetto(out: &mut impl Write, timeline: &Timeline, index: usize) -> io::Result<()> {
    let rows = timeline.events_of.get(index).and_then(Option::as_deref).unwrap_or_default();
    let mut events = Vec::new();
    let mut arrows = 0;
    let witness = timeline.witnesses.get(index).and_then(Option::as_ref);
    for (process, name, course) in
        [(1, "observed", Some(&timeline.observed)), (2, "witness", witness)]
    {
        if let Some(course) = course {
            let mut process =
                Process { number: process, timeline, course, rows, events: &mut events };
            process.add(name, &mut arrows);
        }
    }
    let cut = timeline.is_cut().then_some("only events around the race are here");
    let all = json!({
        "displayTimeUnit": "ms",
        "otherData": { "note": cut, "time": "the position of an event in its order" },
        "traceEvents": events,
    });
    serde_json::to_writer(&mut *out, &all).map_err(io::Error::from)?;
    writeln!(out)
}

/// One order.
struct Process<'a> {
    number: u32,
    timeline: &'a Timeline,
    course: &'a Course,
    /// The rows of the finding's events.
    rows: &'a [u32],
    events: &'a mut Vec<Value>,
}

impl Process<'_> {
    fn add(&mut self, name: &str, arrows: &mut u64) {
        let number = self.number;
        self.events.push(json!({
            "ph": "M", "pid": number, "name": "process_name", "args": { "name": name },
        }));
        for (thread, name) in self.timeline.threads.iter().enumerate() {
            self.name_track(self.track(thread as u32, 0), name);
        }
        self.add_regions();
        let mut linked = vec![false; self.course.rows.len()];
        for arrow in &self.course.arrows {
            linked[arrow.from as usize] = true;
            linked[arrow.to as usize] = true;
        }
        for (position, linked) in linked.into_iter().enumerate() {
            self.add_event(position as u32, linked);
        }
        for arrow in &self.course.arrows {
            *arrows += 1;
            for (phase, position) in [("s", arrow.from), ("f", arrow.to)] {
                let mut event = json!({
                    "ph": phase, "pid": number, "tid": self.track_of(position), "id": *arrows,
                    "ts": u64::from(position) * STEP + 1, "cat": "order", "name": arrow.kind.name(),
                });
                if phase == "f" {
                    event["bp"] = "e".into();
                }
                self.events.push(event);
            }
        }
    }

    /// The track of a thread; the ones below it are for locks that overlap.
    fn track(&self, thread: u32, below: u64) -> u64 {
        u64::from(thread) + 1 + below * (self.timeline.threads.len() as u64 + 1)
    }

    fn track_of(&self, position: u32) -> u64 {
        let row = self.course.rows[position as usize] as usize;
        self.track(self.timeline.events.thread[row], 0)
    }

    fn name_track(&mut self, track: u64, name: &str) {
        self.events.push(json!({
            "ph": "M", "pid": self.number, "tid": track, "name": "thread_name", "args": { "name": name },
        }));
        self.events.push(json!({
            "ph": "M", "pid": self.number, "tid": track, "name": "thread_sort_index",
            "args": { "sort_index": track },
        }));
    }

    fn add_regions(&mut self) {
        // For each thread and track: where the regions end that are open there.
        let mut open: Vec<Vec<Vec<u32>>> = vec![vec![Vec::new()]; self.timeline.threads.len()];
        for region in &self.course.regions {
            let tracks = &mut open[region.thread as usize];
            tracks.iter_mut().for_each(|ends| ends.retain(|end| *end > region.from));
            let fits = |ends: &Vec<u32>| ends.last().is_none_or(|end| region.to < *end);
            let below = tracks.iter().position(fits).unwrap_or(tracks.len());
            if below == tracks.len() {
                tracks.push(Vec::new());
                let name = format!("{} (locks)", self.timeline.threads[region.thread as usize]);
                self.name_track(self.track(region.thread, below as u64), &name);
            }
            open[region.thread as usize][below].push(region.to);
            let track = self.track(region.thread, below as u64);
            let (from, to) = (u64::from(region.from) * STEP, u64::from(region.to) * STEP);
            // A region begins with the event that begins it, and ends after the event that ends it.
            let end = if region.open { to + STEP } else { to + SEEN };
            self.events.push(json!({
                "ph": "X", "pid": self.number, "tid": track, "ts": from, "dur": end - from,
                "cat": "lock", "name": what(region),
            }));
        }
    }

    fn add_event(&mut self, position: u32, linked: bool) {
        let row = self.course.rows[position as usize];
        let events = &self.timeline.events;
        let side = self.rows.iter().position(|part| *part == row);
        let text = events.text(row);
        let name = match side {
            Some(side) => format!("RACE {}: {text}", side + 1),
            None => text,
        };
        let place = events.place_of(row).map(ToString::to_string);
        let mut event = json!({
            "pid": self.number, "tid": self.track_of(position), "name": name,
            "ts": u64::from(position) * STEP,
            "cat": if side.is_some() { "race" } else { "event" },
            "args": { "event": events.ids[row as usize].number(), "place": place },
        });
        // Arrows go from slice to slice.
        if linked || side.is_some() {
            event["ph"] = "X".into();
            event["dur"] = SEEN.into();
        } else {
            event["ph"] = "i".into();
            event["s"] = "t".into();
        }
        self.events.push(event);
    }
}

fn what(region: &Region) -> String {
    match region.hold {
        Hold::Exclusive => format!("holds {}", region.object),
        Hold::Shared => format!("shares {}", region.object),
        Hold::Waiting => format!("waits on {}", region.object),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::timeline::{Limits, Shown};
    use crate::trace::{EventId, Trace};

    /// The second lock is given back after the first: the two regions of `t0` overlap.
    const TRACE: &str = "\
t0 fork t1
t0 acquire l
t0 acquire m
t0 release l
t0 write x 1 @ src/a.rs:3:5
t0 release m
t1 read x 1
t1 write y \"</script>\"
";

    fn traced() -> Vec<Value> {
        let trace: Trace = TRACE.parse().unwrap();
        let events = |numbers: &[u64]| -> Vec<EventId> {
            numbers.iter().map(|number| EventId::from_number(*number).unwrap()).collect()
        };
        let pair = [EventId::from_index(4), EventId::from_index(6)];
        let witness = Some(events(&[1, 2, 3, 4, 5, 7]));
        let shown = Some(Shown { parts: pair.to_vec(), witness, others: Vec::new() });
        let timeline = Timeline::draw(&trace, &[shown], &Limits::default(), &[]);
        let mut out = Vec::new();
        perfetto(&mut out, &timeline, 0).unwrap();
        let all: Value = serde_json::from_slice(&out).unwrap();
        all["traceEvents"].as_array().unwrap().clone()
    }

    fn of<'a>(events: &'a [Value], phase: &'a str) -> impl Iterator<Item = &'a Value> {
        events.iter().filter(move |event| event["ph"] == phase)
    }

    #[test]
    fn both_orders_are_processes_with_named_tracks() {
        let events = traced();
        let names: Vec<&Value> = of(&events, "M")
            .filter(|event| event["name"] == "process_name")
            .map(|event| &event["args"]["name"])
            .collect();
        assert_eq!(names, ["observed", "witness"]);
        let races: Vec<(&Value, &Value)> = of(&events, "X")
            .filter(|event| event["cat"] == "race")
            .map(|event| (&event["pid"], &event["name"]))
            .collect();
        let expected = [1, 1, 2, 2].map(Value::from);
        assert_eq!(races.iter().map(|race| race.0.clone()).collect::<Vec<_>>(), expected);
        assert_eq!(races[0].1, "RACE 1: write x 1");
        assert_eq!(races[3].1, "RACE 2: read x 1");
        assert_eq!(of(&events, "i").filter(|event| event["pid"] == 2).count(), 3);
    }

    #[test]
    fn slices_of_a_track_lie_within_each_other_or_apart() {
        let events = traced();
        let number = |event: &Value, field: &str| event[field].as_u64().unwrap();
        let slices: Vec<[u64; 4]> = of(&events, "X")
            .map(|event| {
                let from = number(event, "ts");
                [number(event, "pid"), number(event, "tid"), from, from + number(event, "dur")]
            })
            .collect();
        assert!(slices.len() > 8);
        for a in &slices {
            for b in slices.iter().filter(|b| a[..2] == b[..2]) {
                let overlap = a[2] < b[2] && b[2] < a[3] && a[3] < b[3];
                assert!(!overlap, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn arrows_start_and_end_within_slices() {
        let events = traced();
        let ids = |phase| of(&events, phase).map(|event| event["id"].clone()).collect::<Vec<_>>();
        assert_eq!(ids("s"), ids("f"));
        assert_eq!(
            ids("s").len(),
            3,
            "the fork in both orders, and what is read in the observed one"
        );
        for event in of(&events, "s").chain(of(&events, "f")) {
            let at = event["ts"].as_u64().unwrap();
            let covers = |slice: &Value| {
                let from = slice["ts"].as_u64().unwrap();
                slice["pid"] == event["pid"]
                    && slice["tid"] == event["tid"]
                    && (from..from + slice["dur"].as_u64().unwrap()).contains(&at)
            };
            assert!(of(&events, "X").any(covers), "{event}");
        }
    }
}
