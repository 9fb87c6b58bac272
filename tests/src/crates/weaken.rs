//! Makes one ordering of a crate weaker, to see whether that is found.

use std::fs;

use serde::{Deserialize, Serialize};

use super::catalogue::{CRATES, Entry};
use super::trial::{Analysed, Change, Laboratory, Ran};
use crate::registry::{Error, Package};

/// An ordering of an atomic operation of a crate, which becomes relaxed.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The crate.
    pub name: &'static str,
    /// The file, from the crate's folder.
    pub file: &'static str,
    /// The line, as published.
    pub line: usize,
    /// The ordering that is there.
    pub ordering: &'static str,
    /// What is no longer ordered.
    pub orders: &'static str,
}

const fn place(
    name: &'static str,
    file: &'static str,
    line: usize,
    ordering: &'static str,
    orders: &'static str,
) -> Place {
    Place { name, file, line, ordering, orders }
}

/// The places.
pub const PLACES: [Place; 12] = [
    place("rtrb", "src/lib.rs", 351, "Release", "a value that is pushed, before it is popped"),
    place("rtrb", "src/lib.rs", 784, "Acquire", "a value that is popped, after it was pushed"),
    place("concurrent-queue", "src/bounded.rs", 122, "Release", "a value that is pushed"),
    place("concurrent-queue", "src/bounded.rs", 232, "Acquire", "a value that is popped"),
    place("crossbeam-queue", "src/array_queue.rs", 186, "Release", "a value that is pushed"),
    place("crossbeam-queue", "src/seg_queue.rs", 290, "Release", "a value that is pushed"),
    place("spin", "src/once.rs", 303, "Release", "what an initialiser has written"),
    place("spin", "src/rwlock.rs", 779, "Release", "what a writer has written"),
    place("boxcar", "src/vec/raw.rs", 216, "Release", "an entry that is pushed"),
    place("thread_local", "src/lib.rs", 301, "Release", "an entry that is made"),
    place("once_cell", "src/imp_std.rs", 54, "Acquire", "what an initialiser has written"),
    place("triomphe", "src/arc.rs", 797, "Release", "uses of what an `Arc` holds, before its free"),
];

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Weakened {
    /// The tests, recorded and instrumented.
    pub ran: Ran,
    /// What was found.
    pub found: Analysed,
}

impl Place {
    /// The crate that it is in.
    pub fn entry(&self) -> &'static Entry {
        let found = CRATES.iter().find(|entry| entry.name == self.name);
        found.expect("a place is in a crate of the catalogue")
    }

    /// Makes it weaker.
    ///
    /// # Errors
    /// If the ordering does not stand there.
    fn weaken(&self, package: &Package) -> Result<(), Error> {
        let path = package.folder().join(self.file);
        let source = fs::read_to_string(&path)?;
        fs::write(path, weakened(&source, self.line, self.ordering)?)?;
        Ok(())
    }
}

/// The source with the ordering in this line made relaxed.
fn weakened(source: &str, line: usize, ordering: &str) -> Result<String, Error> {
    let mut lines: Vec<String> = source.split_inclusive('\n').map(str::to_owned).collect();
    let text = lines.get_mut(line - 1).ok_or_else(|| format!("there is no line {line}"))?;
    let problem = || format!("line {line} has no `{ordering}`: {}", text.trim());
    let at = text.rfind(ordering).ok_or_else(problem)?;
    text.replace_range(at..at + ordering.len(), "Relaxed");
    Ok(lines.concat())
}

impl Laboratory {
    /// Tries a crate with an ordering that is too weak.
    ///
    /// # Errors
    /// If it cannot be had, or is not as it was.
    pub fn try_weakened(&self, place: &Place) -> Result<Weakened, Error> {
        let entry = place.entry();
        let package =
            self.prepare(entry, Change::Instrumented, &|package| place.weaken(package))?;
        let (ran, found) = self.record(&package, entry)?;
        Ok(Weakened { ran, found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ordering_of_a_line_becomes_relaxed() {
        let source = "a(Acquire);\nb(AcqRel, Acquire);\n";
        assert_eq!(weakened(source, 2, "Acquire").unwrap(), "a(Acquire);\nb(AcqRel, Relaxed);\n");
        assert!(weakened(source, 1, "Release").unwrap_err().to_string().contains("line 1"));
        assert!(weakened(source, 9, "Release").is_err());
    }

    #[test]
    fn every_place_is_in_a_crate_that_is_tried() {
        for place in PLACES {
            assert_eq!(place.entry().name, place.name);
        }
    }
}
