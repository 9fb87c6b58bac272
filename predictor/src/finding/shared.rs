//! What would stand in a report many times is written once.
//!
//! Thousands of findings of a trace have few threads, places and events in common. So a report has
//! tables, and its findings refer to their rows by numbers. In memory a finding has all that
//! belongs to it; what is shared is found when a report is written and put back when it is read.
//!
//! | fields | table | |
//! | --- | --- | --- |
//! | `trace`, `thread` | `names` | names of traces and threads |
//! | `place`, `spawned`, `taken`, `first_use` | `places` | places |
//! | `kind` of a finding | `kinds` | kinds |
//! | `subject` | `subjects` | what findings are about |
//! | `reason` | `reasons` | reasons |
//! | items of `doubts` | `doubts` | doubts |
//! | second items of `steps` | `events` | what events do |
//! | items of `parts` | `parts` | the events that make up findings |
//!
//! The rows of a table refer to the tables before it.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// The tables, each before those that refer to it.
const TABLES: [&str; 8] =
    ["names", "places", "kinds", "subjects", "reasons", "doubts", "events", "parts"];

/// How many bytes all rows may have that findings refer to, each as often as they do: what a report
/// of a few bytes says must not fill the memory.
const MOST_BYTES: usize = 1 << 29;

/// How a field refers to its table.
enum Shape {
    /// It is a row, if it is a text.
    Text,
    /// It is a row, if it is an object.
    Object,
    /// Its items are rows.
    Items,
    /// The second items of its items are rows.
    Seconds,
}

/// The table of a field.
fn table_of(field: &str) -> Option<(usize, Shape)> {
    let (table, shape) = match field {
        "trace" | "thread" => ("names", Shape::Text),
        "place" | "spawned" | "taken" | "first_use" => ("places", Shape::Object),
        "kind" => ("kinds", Shape::Object),
        "subject" => ("subjects", Shape::Object),
        "reason" => ("reasons", Shape::Object),
        "doubts" => ("doubts", Shape::Items),
        "steps" => ("events", Shape::Seconds),
        "parts" => ("parts", Shape::Items),
        _ => return None,
    };
    let at = TABLES.iter().position(|name| *name == table)?;
    Some((at, shape))
}

/// Calls `each` with what is a row of a field's table, or refers to one.
fn for_each_row(
    value: &mut Value,
    shape: &Shape,
    mut each: impl FnMut(&mut Value) -> Result<(), String>,
) -> Result<(), String> {
    match (shape, value) {
        (Shape::Text, value @ (Value::String(_) | Value::Number(_))) => each(value),
        (Shape::Object, value @ (Value::Object(_) | Value::Number(_))) => each(value),
        (Shape::Items, Value::Array(items)) => items.iter_mut().try_for_each(each),
        (Shape::Seconds, Value::Array(items)) => {
            let seconds = items.iter_mut().filter_map(|item| item.get_mut(1));
            seconds.into_iter().try_for_each(each)
        }
        _ => Ok(()),
    }
}

/// Walks over all fields, the inner ones first.
fn walk(
    value: &mut Value,
    each: &mut impl FnMut(usize, &mut Value) -> Result<(), String>,
) -> Result<(), String> {
    match value {
        Value::Array(items) => items.iter_mut().try_for_each(|item| walk(item, each)),
        Value::Object(fields) => fields.iter_mut().try_for_each(|(name, value)| {
            walk(value, each)?;
            match table_of(name) {
                Some((table, shape)) => for_each_row(value, &shape, |row| each(table, row)),
                None => Ok(()),
            }
        }),
        _ => Ok(()),
    }
}

/// Takes what is shared out of the findings of a report, and returns the tables.
pub fn share(findings: &mut Value) -> Value {
    let mut tables: [Vec<Value>; TABLES.len()] = Default::default();
    let mut known: HashMap<(usize, String), usize> = HashMap::new();
    let shared = walk(findings, &mut |table, row| {
        if !row.is_number() {
            let rows = &mut tables[table];
            let number = *known.entry((table, row.to_string())).or_insert_with(|| {
                rows.push(row.clone());
                rows.len() - 1
            });
            *row = number.into();
        }
        Ok(())
    });
    debug_assert!(shared.is_ok(), "nothing refuses a row");
    let named = TABLES.iter().zip(tables).map(|(name, rows)| ((*name).to_owned(), rows.into()));
    Value::Object(named.collect::<Map<_, _>>())
}

/// Puts what is shared back into the findings of a report.
pub fn put_back(findings: &mut Value, tables: Value) -> Result<(), String> {
    put_back_within(findings, tables, MOST_BYTES)
}

fn put_back_within(findings: &mut Value, tables: Value, mut left: usize) -> Result<(), String> {
    let mut tables = match tables {
        Value::Object(tables) => tables,
        Value::Null => Map::new(),
        _ => return Err("the tables of the report are no object".to_owned()),
    };
    let mut whole: Vec<Vec<(Value, usize)>> = Vec::new();
    for name in TABLES {
        let rows = match tables.remove(name) {
            Some(Value::Array(rows)) => rows,
            None => Vec::new(),
            Some(_) => return Err(format!("the table `{name}` of the report is no list")),
        };
        let mut done = Vec::with_capacity(rows.len());
        for mut row in rows {
            walk(&mut row, &mut |table, value| resolve(&whole, table, value, &mut left))?;
            let bytes = row.to_string().len();
            done.push((row, bytes));
        }
        whole.push(done);
    }
    walk(findings, &mut |table, value| resolve(&whole, table, value, &mut left))
}

/// Replaces the number of a row by the row.
fn resolve(
    tables: &[Vec<(Value, usize)>],
    table: usize,
    value: &mut Value,
    left: &mut usize,
) -> Result<(), String> {
    let name = TABLES[table];
    let missing = |value: &Value| format!("the table `{name}` of the report has no row {value}");
    // What is written where it belongs needs no table.
    if !value.is_number() {
        return Ok(());
    }
    let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
    let row = number.and_then(|number| tables.get(table)?.get(number));
    let (row, bytes) = row.ok_or_else(|| missing(value))?;
    let rest = left.checked_sub(*bytes);
    *left = rest.ok_or("the findings of the report are too large to be read")?;
    *value = row.clone();
    Ok(())
}

/// A report as JSON: what stands at its top has a line each, and so have its traces, its findings
/// and the rows of its tables. `first` are the fields that come first.
pub fn to_lines(report: &Value, first: &[&str]) -> String {
    let Value::Object(fields) = report else { return format!("{report}\n") };
    let mut ordered: Vec<(&String, &Value)> = fields.iter().collect();
    let rank = |name: &str| first.iter().position(|it| *it == name).unwrap_or(first.len());
    ordered.sort_by_key(|(name, _)| (rank(name), name.as_str()));
    let lines = ordered.iter().map(|(name, value)| match (name.as_str(), value) {
        ("tables", Value::Object(tables)) => {
            let tables: Vec<String> = tables.iter().map(|(name, rows)| field(name, rows)).collect();
            format!("\"tables\": {{\n{}\n}}", tables.join(",\n"))
        }
        (name, value) => field(name, value),
    });
    format!("{{\n{}\n}}\n", lines.collect::<Vec<_>>().join(",\n"))
}

/// A field, with a line for each item of a list of objects.
fn field(name: &str, value: &Value) -> String {
    let name = Value::from(name);
    match value {
        Value::Array(items) if items.iter().any(Value::is_object) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            format!("{name}: [\n{}\n]", items.join(",\n"))
        }
        _ => format!("{name}: {value}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn findings() -> Value {
        let place = json!({ "file": "a.rs", "line": 1, "column": 2 });
        let part = json!({ "event": 3, "thread": "t1", "place": place, "spawned": null });
        let event = json!({ "event": 3, "thread": "t1", "operation": "read", "place": place });
        let occurrence = json!({
            "trace": "a.rlog", "parts": [part, part], "reason": { "kind": "unordered" },
            "steps": [[0, event], [4, event]],
        });
        let kind = json!({ "code": "RL001" });
        json!([{ "kind": kind, "doubts": [{ "kind": "unsound" }], "occurrences": [occurrence, occurrence] }])
    }

    #[test]
    fn what_is_shared_is_there_once_and_comes_back() {
        let mut written = findings();
        let tables = share(&mut written);
        let rows = |name: &str| tables[name].as_array().unwrap().len();
        assert_eq!(TABLES.map(rows), [2, 1, 1, 0, 1, 1, 1, 1]);
        assert_eq!(written[0]["occurrences"][0]["steps"], json!([[0, 0], [4, 0]]));
        assert_eq!(tables["reasons"][0]["kind"], "unordered", "only objects are kinds");
        put_back(&mut written, tables).unwrap();
        assert_eq!(written, findings());
    }

    #[test]
    fn rows_that_are_not_there_are_named() {
        let mut written = findings();
        let mut tables = share(&mut written);
        tables["places"] = json!([]);
        let error = put_back(&mut written.clone(), tables.clone()).unwrap_err();
        assert_eq!(error, "the table `places` of the report has no row 0");
        tables["places"] = json!(7);
        let error = put_back(&mut written, tables).unwrap_err();
        assert_eq!(error, "the table `places` of the report is no list");
    }

    #[test]
    fn a_row_that_refers_to_its_own_table_is_refused() {
        let mut findings = json!([{ "parts": [0] }]);
        let tables = json!({ "parts": [{ "parts": [0] }] });
        let error = put_back(&mut findings, tables).unwrap_err();
        assert_eq!(error, "the table `parts` of the report has no row 0");
    }

    #[test]
    fn few_bytes_do_not_become_many() {
        let tables = json!({ "parts": [{ "value": "x".repeat(100) }] });
        let mut findings = json!([{ "parts": [0, 0, 0] }]);
        assert_eq!(put_back_within(&mut findings.clone(), tables.clone(), 1000), Ok(()));
        let error = put_back_within(&mut findings, tables, 300).unwrap_err();
        assert_eq!(error, "the findings of the report are too large to be read");
    }

    #[test]
    fn findings_have_a_line_each() {
        let report = json!({ "findings": [{ "number": 1 }, { "number": 2 }], "version": 2 });
        let text = to_lines(&report, &["version"]);
        assert_eq!(
            text,
            "{\n\"version\": 2,\n\"findings\": [\n{\"number\":1},\n{\"number\":2}\n]\n}\n"
        );
    }
}
