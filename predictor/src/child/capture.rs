//! What a program prints, up to a bound.
//!
//! A thread reads each stream to its end, so that the program is never held up; what is above the
//! bound is counted and forgotten.

use std::io::{self, Read};
use std::process::Child;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How much of the output of a program is kept, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// So much from the beginning of its standard output.
    pub first_of_stdout: usize,
    /// So much from the end of its standard error.
    pub last_of_stderr: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { first_of_stdout: 16 << 20, last_of_stderr: 1 << 20 }
    }
}

/// What was kept of a stream.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Captured {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// How many there were besides.
    pub dropped: u64,
}

impl Captured {
    /// The bytes; if some are missing, their number follows in a line of its own.
    pub fn into_bytes(self) -> Vec<u8> {
        let Self { mut bytes, dropped } = self;
        if dropped > 0 {
            bytes.extend_from_slice(format!("\n[{dropped} more bytes]\n").as_bytes());
        }
        bytes
    }
}

/// Which part of a stream is kept.
#[derive(Clone, Copy, Debug)]
enum Part {
    First(usize),
    Last(usize),
}

/// A stream that is being read.
struct Stream {
    part: Part,
    captured: Captured,
}

impl Stream {
    fn add(&mut self, read: &[u8]) {
        let Captured { bytes, dropped } = &mut self.captured;
        match self.part {
            Part::First(bound) => {
                let (kept, rest) = read.split_at(read.len().min(bound - bytes.len()));
                bytes.extend_from_slice(kept);
                *dropped += rest.len() as u64;
            }
            Part::Last(bound) => {
                bytes.extend_from_slice(read);
                // Twice as much, so that bytes are seldom moved.
                if bytes.len() > bound.saturating_mul(2) {
                    self.cut();
                }
            }
        }
    }

    /// Drops what is before the last part.
    fn cut(&mut self) {
        if let Part::Last(bound) = self.part {
            let Captured { bytes, dropped } = &mut self.captured;
            let early = bytes.len().saturating_sub(bound);
            bytes.drain(..early);
            *dropped += early as u64;
        }
    }
}

/// The two streams of a program.
pub(super) struct Pipes {
    streams: [Arc<Mutex<Stream>>; 2],
    /// Disconnected when both streams have come to their end.
    ends: Receiver<()>,
}

impl Pipes {
    /// Reads the streams of a child from now on.
    pub(super) fn new(child: &mut Child, bounds: Bounds) -> io::Result<Self> {
        let new = |part| Arc::new(Mutex::new(Stream { part, captured: Captured::default() }));
        let streams =
            [new(Part::First(bounds.first_of_stdout)), new(Part::Last(bounds.last_of_stderr))];
        let (sender, ends) = channel();
        if let Some(stdout) = child.stdout.take() {
            read(stdout, &streams[0], sender.clone())?;
        }
        if let Some(stderr) = child.stderr.take() {
            read(stderr, &streams[1], sender)?;
        }
        Ok(Self { streams, ends })
    }

    /// What was read when both streams have come to their end, or after this time: a process that
    /// has left the program's group may keep them open.
    pub(super) fn finish(self, patience: Duration) -> (Captured, Captured) {
        let until = Instant::now() + patience;
        while self.ends.recv_timeout(until.saturating_duration_since(Instant::now())).is_ok() {}
        let [stdout, stderr] = self.streams.map(|stream| {
            let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
            stream.cut();
            std::mem::take(&mut stream.captured)
        });
        (stdout, stderr)
    }
}

fn read(
    mut pipe: impl Read + Send + 'static,
    stream: &Arc<Mutex<Stream>>,
    end: Sender<()>,
) -> io::Result<()> {
    let stream = Arc::clone(stream);
    let reader = move || {
        let mut buffer = vec![0; 64 << 10];
        loop {
            match pipe.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
                    stream.add(&buffer[..count]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        drop(end);
    };
    thread::Builder::new().name("racelog-output".to_owned()).spawn(reader).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(part: Part, writes: &[&str]) -> (String, u64) {
        let mut stream = Stream { part, captured: Captured::default() };
        writes.iter().for_each(|text| stream.add(text.as_bytes()));
        stream.cut();
        (String::from_utf8(stream.captured.bytes).unwrap(), stream.captured.dropped)
    }

    #[test]
    fn the_first_or_the_last_bytes_are_kept() {
        let writes = ["abc", "defg", "h"];
        assert_eq!(captured(Part::First(5), &writes), ("abcde".to_owned(), 3));
        assert_eq!(captured(Part::Last(2), &writes), ("gh".to_owned(), 6));
        assert_eq!(captured(Part::First(8), &writes), ("abcdefgh".to_owned(), 0));
        assert_eq!(captured(Part::Last(8), &writes), ("abcdefgh".to_owned(), 0));
    }

    #[test]
    fn missing_bytes_are_noted() {
        let captured = Captured { bytes: b"ab".to_vec(), dropped: 3 };
        assert_eq!(captured.into_bytes(), b"ab\n[3 more bytes]\n");
        assert_eq!(Captured::default().into_bytes(), b"");
    }
}
