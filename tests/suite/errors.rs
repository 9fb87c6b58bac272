//! Every error about an input says where, what is wrong, and what to do where that is not plain.

use predictor::trace::format::{Format, Source, SourceError};
use predictor::trace::{LoadError, Trace};
use racelog::trace::End;
use racelog_tests::fuzz::assert_has_place;

use crate::support::{convert, read};

fn error_of(bytes: &[u8], format: Format) -> String {
    let message = match read(bytes, format) {
        Err(error) => error.to_string(),
        Ok(contents) => contents.error.expect("an error").to_string(),
    };
    assert_has_place(&message);
    message
}

fn load_error(text: &str) -> String {
    let message = text.parse::<Trace>().expect_err("an error").to_string();
    assert_has_place(&message);
    message
}

#[test]
fn errors_in_text() {
    for (line, expected) in [
        ("t1 raed x 1", "column 4: `raed` is no operation: did you mean `read`?"),
        ("t1 juggle", "column 4: `juggle` is no operation"),
        ("t1", "column 3: `t1` needs an operation"),
        ("t1 read", "column 8: `read` needs a variable"),
        ("t1 read x", "column 10: `read` needs a value"),
        ("t1 read x @ a.rs:1", "column 11: `read` needs a value"),
        ("t1 fork", "column 8: `fork` needs a thread"),
        ("t1 acquire", "column 11: `acquire` needs a lock"),
        ("t1 wait c", "column 10: `wait` needs a lock"),
        ("t1 notify_all", "column 14: `notify_all` needs a condvar"),
        ("t1 send ch", "column 11: `send` needs a message"),
        ("t1 recv", "column 8: `recv` needs a channel"),
        ("t1 arrive b", "column 12: `arrive` needs a generation"),
        ("t1 leave", "column 9: `leave` needs a barrier"),
        ("t1 assert", "column 10: `assert` needs a text"),
        (
            "t1 branch now",
            "column 11: an expression needs a name that the thread has given a value before here",
        ),
        ("t1 read x 1 acquire", "column 13: `read` takes no `acquire`"),
        (
            "t1 load x 1 strong",
            "column 13: `strong` is no memory ordering (relaxed, acquire, release, acqrel, seqcst)",
        ),
        ("t1 arrive b soon", "column 13: `soon` is no generation number"),
        ("t1 send ch _", "column 12: `_` cannot be a message"),
        ("t1 fork -", "column 9: `-` cannot be the name of a thread"),
        (
            "t1 branch @ here",
            "column 13: `here` is no location: write `@ file:line` or `@ file:line:column`",
        ),
        (
            "t1 branch @ a.rs:99999999999",
            "column 13: `a.rs:99999999999` is no location: write `@ file:line` or `@ file:line:column`",
        ),
        ("t1 read x\u{a0}y 1", "column 9: `x\u{a0}y` cannot be a string of a trace"),
        ("init", "column 5: `init` needs a variable"),
        ("init x", "column 7: `init` needs a value"),
        ("init x 1 2", "column 10: `init` takes no `2`"),
        ("init first 1", "column 6: `first` has an initial value already"),
    ] {
        let text = format!("init first 0\n\n{line}\n");
        assert_eq!(error_of(text.as_bytes(), Format::Text), format!("line 3, {expected}"));
    }
    for (place, expected) in [
        ("foreign t1", "column 1: `t1` is said to be foreign after its first event: say so before"),
        (
            "unattributed here",
            "column 1: `here` is no location: write `@ file:line` or `@ file:line:column`",
        ),
    ] {
        let text = format!("t1 branch\n#racelog {place}\n");
        assert_eq!(error_of(text.as_bytes(), Format::Text), format!("line 2, {expected}"));
    }
    let not_text = error_of(b"t1 branch\nt1 read x\xff 1\n", Format::Text);
    assert_eq!(not_text, "line 2, column 10: not text in UTF-8: is this a text trace?");
    let endless = [b"t1 branch\n".as_slice(), &[b'x'; 2 << 20]].concat();
    let too_long = "line 2, column 1: the line is longer than a mebibyte: is this a text trace?";
    assert_eq!(error_of(&endless, Format::Text), too_long);
}

#[test]
fn errors_in_std() {
    let shape = "is no event: write `thread|operation(operand)|location`";
    for (line, expected) in [
        ("T0 r(x) 1", format!("`T0 r(x) 1` {shape}")),
        ("T0|r(x)", format!("`T0|r(x)` {shape}")),
        ("T0|r x|1", format!("`T0|r x|1` {shape}")),
        ("T0|begin(x)|1", "`begin` is no operation: r, w, acq, rel, fork and join are".into()),
        ("T0|r(x)|here", "`here` is no location: a number is".into()),
        ("T0|r()|1", "`` cannot be a string of a trace".into()),
    ] {
        let text = format!("T0|w(x)|1\n{line}\n");
        assert_eq!(error_of(text.as_bytes(), Format::Std), format!("line 2: {expected}"));
    }
}

#[test]
fn a_recording_that_came_to_nothing_is_an_empty_trace_with_a_note() {
    let good = convert(b"t1 write x 1\n", Format::Text, Format::Binary);
    for (bytes, expected) in [
        (&[][..], "byte 0: nothing was recorded: the file has no header"),
        (&[0; 5000], "byte 0: nothing was recorded: the file has no header"),
        (&good[..15], "byte 15: nothing was recorded: the file ends within its header"),
    ] {
        let mut source = Source::of_bytes(bytes.to_vec(), Some(Format::Binary)).unwrap();
        let trace = Trace::load(&mut source, |_| {}).unwrap();
        assert_eq!((trace.len(), trace.end()), (0, End::CutOff));
        let why = "the program ended before that, or there was no room for a trace";
        assert_eq!(source.note().unwrap(), format!("{expected}: {why}"));
    }
}

#[test]
fn errors_in_binary() {
    let good = convert(b"t1 write x 1\n", Format::Text, Format::Binary);
    assert_eq!(
        error_of(b"PK\x03\x04", Format::Binary),
        "byte 0: not a racelog trace: the file does not start as one"
    );
    let mut unlike = vec![0; 5000];
    unlike.push(1);
    assert_eq!(
        error_of(&unlike, Format::Binary),
        "byte 0: not a racelog trace: the file does not start as one"
    );
    let mut newer = good.clone();
    newer[8] = 7;
    assert_eq!(
        error_of(&newer, Format::Binary),
        "byte 8: the trace has format version 7, this build reads versions 1 to 6: use the racelog \
         that wrote it, or record anew"
    );
    let mut damaged = good.clone();
    damaged[21] ^= 4;
    assert_eq!(error_of(&damaged, Format::Binary), "byte 0: the file's header is damaged");
    let mut longer = good.clone();
    longer.push(1);
    let end = good.len();
    assert_eq!(
        error_of(&longer, Format::Binary),
        format!(
            "byte {end}: the file goes on after the end of the trace; 1 bytes from here on were \
             not used"
        )
    );
}

#[test]
fn errors_of_the_loader() {
    assert_eq!(
        load_error("t1 read x 0\ninit x 0\n"),
        "before event 2: the initial value of `x` comes after its first use"
    );
    assert_eq!(
        load_error("t1 acquire l @ src/main.rs:3:5\nt2 release l @ src/main.rs:9\n"),
        "event 2, `t2 release l @ src/main.rs:9`: `t2` does not hold `l`"
    );
}

#[test]
fn errors_of_the_export() {
    let text = b"t1 branch\nt1 load x 0\n";
    let mut source = Source::of_bytes(text.to_vec(), Some(Format::Text)).unwrap();
    let metadata = source.metadata();
    let mut sink =
        predictor::trace::format::Sink::new(Vec::new(), Format::Std, &metadata, false).unwrap();
    let mut error = None;
    while let Some(item) = source.next_item().unwrap() {
        error = sink.write(source.dictionary(), &item).err();
    }
    let message = error.unwrap().to_string();
    assert_has_place(&message);
    assert_eq!(
        message,
        "event 2: STD has no `load`, and without it the trace means something else: export with \
         --lossy to leave such events out"
    );
}

#[test]
fn a_damaged_trace_is_not_loaded_in_part() {
    let good = convert(b"t1 write x 1\nt2 write x 2\n", Format::Text, Format::Binary);
    let cut = good[..good.len() - 1].to_vec();
    let mut source = Source::of_bytes(cut, Some(Format::Binary)).unwrap();
    match Trace::load(&mut source, |_| {}) {
        Err(LoadError::Source(SourceError::Damage(damage))) => {
            assert_has_place(&damage.to_string());
        }
        other => panic!("{other:?}"),
    }
}
