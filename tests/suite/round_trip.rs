//! Conversion loses nothing.

use predictor::trace::Trace;
use predictor::trace::format::Format;
use racelog::trace::{Item, MemoryOrdering, Op};
use racelog_tests::random_trace::{Shape, random_trace};

use crate::support::{convert, predictor, read, run_raw};

#[test]
fn random_traces_come_back_from_binary_to_the_byte() {
    for seed in 0..500 {
        let shape = Shape {
            events: 300,
            threads: 6,
            foreign: seed as usize % 3,
            vars: 20,
            objects: 4,
            ..Shape::default()
        };
        let text = random_trace(seed, &shape);
        let binary = convert(text.as_bytes(), Format::Text, Format::Binary);
        let again = convert(&binary, Format::Binary, Format::Text);
        assert!(text.as_bytes() == again, "seed {seed}");
    }
}

#[test]
fn binary_traces_come_back_from_text_to_the_byte() {
    let text = random_trace(7, &Shape { events: 5000, threads: 8, ..Shape::default() });
    let binary = convert(text.as_bytes(), Format::Text, Format::Binary);
    let text = convert(&binary, Format::Binary, Format::Text);
    assert!(convert(&text, Format::Text, Format::Binary) == binary);
}

#[test]
fn random_traces_are_valid_in_every_format() {
    for seed in 0..300 {
        let text = random_trace(seed, &Shape { events: 200, ..Shape::default() });
        let trace: Trace = text.parse().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(trace.len(), text.lines().filter(|line| line.starts_with('t')).count());
    }
}

#[test]
fn std_traces_come_back_to_the_byte() {
    let text = "T0|r(V123)|345\nT1|w(V234.23[0])|456\nT0|fork(T2)|123\nT2|acq(L34)|120\n\
                T2|rel(L34)|99999999999\nT0|join(T2)|0\n";
    for format in [Format::Text, Format::Binary] {
        let there = convert(text.as_bytes(), Format::Std, format);
        let back = convert(&there, format, Format::Std);
        assert_eq!(String::from_utf8(back).unwrap(), text);
    }
}

#[test]
fn std_is_read_as_opaque_values_in_unrecorded_code() {
    let text = convert(b"T0|w(x)|7\nT1|r(x)|8\n", Format::Std, Format::Text);
    let expected = "#racelog unrecorded T0\nT0 write x _ @ std:7\n\
                    #racelog unrecorded T1\nT1 read x _ @ std:8\n";
    assert_eq!(String::from_utf8(text).unwrap(), expected);
}

#[test]
fn the_grammar_is_read_as_documented() {
    let text = "\
        init x 0                              # initial value of x\n\
        t1 fork t2            @ main.rs:3\r\n\
        \t t1 acquire l          @ main.rs:5:9   # a comment\n\
        \n\
        # a line of comment\n\
        t1 write x 1\n\
        t2 load x 1 acquire\n\
        t2 load x 1\n\
        t2 assert x is   1 @ main.rs:9";
    let contents = read(text.as_bytes(), Format::Text).unwrap();
    assert!(contents.error.is_none());
    assert_eq!(contents.items.len(), 7);
    let orderings: Vec<_> = contents
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Event(event) => match event.op {
                Op::Load { ordering, .. } => Some(ordering),
                _ => None,
            },
            Item::Init { .. } | Item::Request(_) | Item::Said { .. } => None,
        })
        .collect();
    assert_eq!(orderings, [Some(MemoryOrdering::Acquire), None]);
    let canonical = convert(text.as_bytes(), Format::Text, Format::Text);
    let expected = "init x 0\nt1 fork t2 @ main.rs:3\nt1 acquire l @ main.rs:5:9\nt1 write x 1\n\
                    t2 load x 1 acquire\nt2 load x 1\nt2 assert x is 1 @ main.rs:9\n";
    assert_eq!(String::from_utf8(canonical).unwrap(), expected);
}

/// Not in bounded time, which depends on the machine, but in bounded memory: a limit on the address
/// space that a trace held in memory would break many times over.
#[test]
#[cfg(target_os = "linux")]
fn conversion_streams_in_bounded_memory() {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    let line = "t1 write some_variable 12345678 @ src/a/rather/long/path/to/a/file.rs:123:45\n";
    let text = line.repeat(1_000_000);
    let limited = |from: &str, to: &str| {
        let binary = predictor();
        let mut command = Command::new("sh");
        command.arg0("sh").arg("-c").arg("ulimit -v 60000; exec \"$0\" \"$@\"");
        command.arg(binary.get_program());
        command.args(["convert", "--from", from, "--to", to, "-", "-"]);
        command
    };
    let binary = run_raw(&mut limited("text", "binary"), text.as_bytes());
    assert_eq!(String::from_utf8_lossy(&binary.stderr), "");
    let again = run_raw(&mut limited("binary", "text"), &binary.stdout);
    assert_eq!(String::from_utf8_lossy(&again.stderr), "");
    assert!(again.stdout == text.as_bytes());
}
