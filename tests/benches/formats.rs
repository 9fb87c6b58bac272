//! How fast, how small and in how much memory traces are converted:
//! `cargo bench -p racelog-tests --bench formats -- [EVENTS]`, ten million by default.
//!
//! Conversion runs in this process, one core, from file to file. The peer is a plain copy of the
//! text file, line by line, in the same run: the ratio to it depends little on the machine.

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use predictor::trace::Trace;
use predictor::trace::format::{Format, Sink, Source};
use racelog_tests::random_trace::rng;
use rand::RngExt;

fn main() -> Result<(), Box<dyn Error>> {
    let events = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(10_000_000);
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name);
    let (text, binary, again) = (path("trace.rtxt"), path("trace.rlog"), path("again.rtxt"));
    write_realistic(&text, events)?;

    let copy = time(|| copy_lines(&text, &path("copy.rtxt")))?;
    let to_binary = time(|| convert(&text, &binary, Format::Binary))?;
    let to_text = time(|| convert(&binary, &again, Format::Text))?;
    let peak_streaming = peak_memory()?;
    assert!(same(&text, &again)?, "the text did not come back");
    let load = time(|| {
        Trace::load(&mut Source::open(&binary, None)?, |_| {})?;
        Ok(())
    })?;

    let million = events as f64 / 1e6;
    println!(
        "{events} events, {:.2} bytes an event in binary, {:.2} in text",
        fs::metadata(&binary)?.len() as f64 / events as f64,
        fs::metadata(&text)?.len() as f64 / events as f64
    );
    for (what, seconds) in [
        ("copy text line by line", copy),
        ("text to binary", to_binary),
        ("binary to text", to_text),
        ("load and validate binary", load),
    ] {
        println!(
            "{what:26} {:6.2} million events/s  {:5.2} × copy",
            million / seconds,
            seconds / copy
        );
    }
    println!("peak memory of the streaming conversions {:.1} MB", peak_streaming as f64 / 1e6);
    println!("peak memory with the trace loaded {:.1} MB", peak_memory()? as f64 / 1e6);
    Ok(())
}

/// Eight threads, twenty locks, a thousand variables, mostly guarded accesses, locations.
fn write_realistic(path: &Path, events: u64) -> Result<(), Box<dyn Error>> {
    const THREADS: usize = 8;
    const LOCKS: usize = 20;
    const VARS: usize = 1000;
    let mut rng = rng(1);
    let mut out = BufWriter::new(File::create(path)?);
    let mut values = [0u32; VARS];
    let mut held = [None; THREADS];
    let mut free = [true; LOCKS];
    let mut written = 0;
    for thread in 1..THREADS {
        writeln!(out, "t0 fork t{thread} @ src/main.rs:{}:9", 20 + thread)?;
        written += 1;
    }
    while written < events {
        let t = rng.random_range(0..THREADS);
        let chance = rng.random_range(0..100);
        let var = rng.random_range(0..VARS);
        let line = var % 60;
        match held[t] {
            None if chance < 15 => {
                let lock = rng.random_range(0..LOCKS);
                if !std::mem::take(&mut free[lock]) {
                    continue;
                }
                held[t] = Some(lock);
                writeln!(out, "t{t} acquire l{lock} @ src/lib.rs:{}:9", 100 + lock)?;
            }
            Some(lock) if chance < 15 => {
                held[t] = None;
                free[lock] = true;
                writeln!(out, "t{t} release l{lock} @ src/lib.rs:{}:5", 120 + lock)?;
            }
            _ if chance < 45 => {
                writeln!(out, "t{t} read x{var} {} @ src/lib.rs:{}:13", values[var], 200 + line)?;
            }
            _ if chance < 70 => {
                values[var] = rng.random_range(0..10_000);
                writeln!(out, "t{t} write x{var} {} @ src/lib.rs:{}:13", values[var], 300 + line)?;
            }
            _ if chance < 80 => {
                let old = values[var];
                values[var] += 1;
                let new = values[var];
                writeln!(
                    out,
                    "t{t} rmw x{var} {old} {new} relaxed @ src/lib.rs:{}:20",
                    400 + line
                )?;
            }
            _ => writeln!(out, "t{t} branch @ src/lib.rs:{}:8", 500 + line)?,
        }
        written += 1;
    }
    Ok(out.flush()?)
}

fn time(work: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64())
}

fn copy_lines(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    let mut input = BufReader::with_capacity(1 << 16, File::open(from)?);
    let mut output = BufWriter::with_capacity(1 << 16, File::create(to)?);
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        output.write_all(&line)?;
        line.clear();
    }
    Ok(output.flush()?)
}

fn convert(from: &Path, to: &Path, format: Format) -> Result<(), Box<dyn Error>> {
    let mut source = Source::open(from, None)?;
    let output = BufWriter::with_capacity(1 << 16, File::create(to)?);
    let mut sink = Sink::new(output, format, &source.metadata(), false)?;
    while let Some(item) = source.next_item()? {
        sink.write(source.dictionary(), &item)?;
    }
    sink.finish(source.dictionary(), source.end())?;
    Ok(())
}

/// Compares two files without holding either in memory.
fn same(a: &Path, b: &Path) -> Result<bool, Box<dyn Error>> {
    let (mut a, mut b) = (BufReader::new(File::open(a)?), BufReader::new(File::open(b)?));
    loop {
        let (left, right) = (a.fill_buf()?, b.fill_buf()?);
        let len = left.len().min(right.len());
        if left[..len] != right[..len] {
            return Ok(false);
        }
        if len == 0 {
            return Ok(left.len() == right.len());
        }
        a.consume(len);
        b.consume(len);
    }
}

/// The largest resident size of this process so far, in bytes.
fn peak_memory() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).ok_or("no VmHWM")?;
    let kilobytes: u64 = line.split_whitespace().nth(1).ok_or("no size")?.parse()?;
    Ok(kilobytes * 1024)
}
