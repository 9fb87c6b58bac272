//! Fuzz targets for every reader, and a driver that runs on stable Rust.
//!
//! Each target takes any bytes and panics if a promise is broken. The driver mutates inputs of the
//! corpus with a seeded generator: the seed and the number of a run reproduce it.

use std::fmt::Display;
use std::fs;
use std::io;
use std::path::Path;
use std::str::FromStr;

use predictor::trace::format::{Format, Sink, Source};
use predictor::trace::{LoadError, Trace};
use racelog::contract::marker::Marker;
use racelog::contract::outcome::RunOutcome;
use racelog::contract::place::PlacePair;
use racelog::contract::schedule::Schedule;
use racelog::contract::seed::Seed;
use racelog::trace::{Dictionary, End, Item, Metadata};
use rand::{Rng, RngExt};

use crate::random_trace::rng;

/// A fuzz target.
pub type Target = fn(&[u8]);

/// All targets, by name.
pub const TARGETS: [(&str, Target); 6] = [
    ("text", text),
    ("std", std),
    ("binary", binary),
    ("schedule", schedule),
    ("outcome", outcome),
    ("words", words),
];

/// Any bytes as text.
pub fn text(input: &[u8]) {
    read_and_write_again(input, Format::Text);
}

/// Any bytes as STD.
pub fn std(input: &[u8]) {
    read_and_write_again(input, Format::Std);
}

/// Any bytes as binary.
pub fn binary(input: &[u8]) {
    read_and_write_again(input, Format::Binary);
}

/// Any bytes as a schedule.
pub fn schedule(input: &[u8]) {
    if let Err(error) = parse_and_write_again::<Schedule>(&String::from_utf8_lossy(input)) {
        assert_has_place(&error.to_string());
    }
}

/// Any bytes as an outcome.
pub fn outcome(input: &[u8]) {
    if let Err(error) = parse_and_write_again::<RunOutcome>(&String::from_utf8_lossy(input)) {
        assert_has_place(&error.to_string());
    }
}

/// Each line of any bytes as what is a single line of the contract: a seed, a pair of places, and
/// the text of an `assert` event.
pub fn words(input: &[u8]) {
    for line in String::from_utf8_lossy(input).lines() {
        if let Err(error) = parse_and_write_again::<Seed>(line) {
            assert!(error.to_string().contains(line), "no seed in: {error}");
        }
        if let Err(error) = parse_and_write_again::<PlacePair>(line) {
            assert!(error.to_string().contains(line), "no places in: {error}");
        }
        let marker = Marker::parse(line);
        assert_eq!(Marker::parse(&marker.text()), marker, "another marker");
    }
}

/// Parsing must not panic, and a text that was written of something parsed is parsed as the same.
fn parse_and_write_again<T: FromStr + Display>(input: &str) -> Result<(), T::Err> {
    let written = input.parse::<T>()?.to_string();
    let again = written.parse::<T>().ok().expect("what was written can be parsed");
    assert_eq!(written, again.to_string(), "changed");
    Ok(())
}

/// Reading must not panic. What was read, written in its own format and read again, must be the
/// same; and loading it must end in a trace or in an error that says where.
fn read_and_write_again(input: &[u8], format: Format) {
    let Some((dictionary, items)) = read(input, format) else { return };
    let written = write(&dictionary, &items, format);
    let (_, again) = read(&written, format).expect("what was written can be read");
    assert_eq!(items.len(), again.len(), "items lost");
    assert!(written == write(&read(&written, format).expect("read").0, &again, format), "changed");
    let source = Source::of_bytes(written, Some(format));
    match Trace::load(&mut source.expect("it was read before"), |_| {}) {
        Ok(_) => {}
        Err(LoadError::Source(error)) => panic!("it was read before: {error}"),
        Err(error) => assert!(error.to_string().contains("event "), "no place: {error}"),
    }
}

/// All items before the first error.
fn read(input: &[u8], format: Format) -> Option<(Dictionary, Vec<Item>)> {
    let mut source = match Source::of_bytes(input.to_vec(), Some(format)) {
        Ok(source) => source,
        Err(error) => {
            assert_has_place(&error.to_string());
            return None;
        }
    };
    let mut items = Vec::new();
    loop {
        match source.next_item() {
            Ok(Some(item)) => items.push(item),
            Ok(None) => break,
            Err(error) => assert_has_place(&error.to_string()),
        }
    }
    Some((source.dictionary().clone(), items))
}

fn write(dictionary: &Dictionary, items: &[Item], format: Format) -> Vec<u8> {
    let mut sink = Sink::new(Vec::new(), format, &Metadata::default(), false).expect("memory");
    for item in items {
        sink.write(dictionary, item).expect("what was read can be written");
    }
    sink.finish(dictionary, End::Clean).expect("memory").0
}

/// Every message about an input says where: a byte, a line or an event, by number.
pub fn assert_has_place(message: &str) {
    let number_after = |word: &str| {
        message
            .match_indices(word)
            .any(|(at, _)| message[at + word.len()..].starts_with(|c: char| c.is_ascii_digit()))
    };
    let places = ["byte ", "line ", "event ", "step "];
    assert!(places.into_iter().any(number_after), "no place in: {message}");
}

/// The inputs in the repository that a target starts from.
pub fn corpus(target: &str) -> io::Result<Vec<Vec<u8>>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut paths: Vec<_> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    // The same seed must mean the same inputs everywhere.
    paths.sort();
    paths.into_iter().map(fs::read).collect()
}

/// Runs a target on so many mutations of the corpus. `before` sees each input first, so that it can
/// be kept should the target panic.
pub fn run(
    target: Target,
    corpus: &[Vec<u8>],
    seed: u64,
    runs: u64,
    mut before: impl FnMut(u64, &[u8]),
) {
    for run in 0..runs {
        let mut rng = rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(run));
        let input = mutate(&mut rng, corpus);
        before(run, &input);
        target(&input);
    }
}

/// A random input: one of the corpus, changed in a few places.
fn mutate(rng: &mut impl Rng, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut input = corpus[rng.random_range(0..corpus.len())].clone();
    for _ in 0..rng.random_range(1..6) {
        let len = input.len();
        let at = rng.random_range(0..=len);
        let end = rng.random_range(at..=len.min(at + 40));
        match rng.random_range(0..8) {
            0 if at < len => input[at] ^= 1 << rng.random_range(0..8),
            1 if at < len => input[at] = rng.random(),
            2 => input.truncate(at),
            3 => drop(input.drain(at..end)),
            4 => input.insert(at, rng.random()),
            5 => {
                let copied = input[at..end].to_vec();
                let to = rng.random_range(0..=input.len());
                input.splice(to..to, copied);
            }
            6 => {
                let other = &corpus[rng.random_range(0..corpus.len())];
                let from = rng.random_range(0..=other.len());
                let to = rng.random_range(from..=other.len().min(from + 200));
                input.splice(at..at, other[from..to].iter().copied());
            }
            _ => {
                const WORDS: [&[u8]; 12] = [
                    b" ",
                    b"\n",
                    b"#",
                    b"@",
                    b"_",
                    b"-",
                    b"|",
                    b"init ",
                    b"99999999999999999999",
                    b"\xff",
                    b"\0",
                    b":",
                ];
                let word = WORDS[rng.random_range(0..WORDS.len())];
                input.splice(at..at, word.iter().copied());
            }
        }
    }
    // Half of the binary inputs get right checksums again: only so do the readers of what is
    // inside the chunks get to see anything wrong.
    if rng.random_bool(0.5) {
        mend_checksums(&mut input);
    }
    input
}

/// Where the bytes look like chunks of the binary format, gives them the right checksums.
fn mend_checksums(input: &mut [u8]) {
    const HEADER: usize = 40;
    let mut at = 0;
    while let Some(found) = input[at..].windows(4).position(|window| window == b"RLck") {
        let start = at + found;
        let Some(len) = input.get(start + 12..start + 16) else { return };
        let len = u32::from_le_bytes(len.try_into().expect("four bytes")) as usize;
        let end = start.saturating_add(HEADER).saturating_add(len);
        if end <= input.len() {
            let mut hasher = crc32fast::Hasher::new();
            hasher.update(&input[start..start + 36]);
            hasher.update(&input[start + HEADER..end]);
            let checksum = hasher.finalize().to_le_bytes();
            input[start + 36..start + HEADER].copy_from_slice(&checksum);
            at = end;
        } else {
            at = start + 4;
        }
    }
}
