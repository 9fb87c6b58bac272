//! What a scan of sources has found.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::finding::Place;

/// All that programs use which racelog does not record, as far as their sources say so.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Unrecorded {
    /// What the sources use, sorted by place.
    pub uses: Vec<Use>,
    /// Dependencies that synchronise by themselves, and that nobody reads file by file.
    pub crates: Vec<Dependency>,
    /// Files that could not be read, and why.
    pub unread: Vec<Unread>,
    /// Destructors. They order something only where their owners share them by an `Arc`.
    #[serde(skip)]
    pub drops: Vec<Use>,
    /// Where programs have allocators of their own, sorted.
    #[serde(skip)]
    pub allocators: Vec<Place>,
}

/// Something that is used and not recorded.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Use {
    /// Where: the import to change, or the path itself where nothing is imported.
    pub place: Place,
    /// Its full name, such as `std::sync::Mutex`.
    pub name: String,
    /// What it is.
    pub what: What,
    /// The programs that have this code in them.
    pub programs: Vec<String>,
}

/// What is used and not recorded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum What {
    /// A lock, an atomic, a channel or the like.
    Sync,
    /// What starts threads, or waits for them.
    Thread,
    /// std's `Arc` or `Weak`: they order nothing, unless code goes by their counts.
    Arc,
    /// What goes by the counts of an `Arc`: `get_mut` and the like, and code that the last owner
    /// runs.
    ArcOrder,
}

/// A dependency that synchronises by itself.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Dependency {
    /// The crate.
    pub name: String,
    /// The programs that it is linked into.
    pub programs: Vec<String>,
}

/// A file that could not be read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Unread {
    /// Which.
    pub file: String,
    /// Why.
    pub problem: String,
    /// The programs that have this code in them.
    #[serde(default)]
    pub programs: Vec<String>,
}

impl Unrecorded {
    /// Whether nothing is used that is not recorded, as far as the sources say.
    pub fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }

    /// Adds the destructors of programs that share something by an `Arc`: the last owner runs them,
    /// and what it does then comes after all that the other owners did.
    pub fn add_drops(&mut self) {
        let is_arc = |one: &&Use| matches!(one.what, What::Arc | What::ArcOrder);
        let arcs: BTreeSet<String> =
            self.uses.iter().filter(is_arc).flat_map(|one| one.programs.clone()).collect();
        let mut drops = std::mem::take(&mut self.drops);
        drops.retain(|one| one.programs.iter().any(|program| arcs.contains(program)));
        self.add(Self { uses: drops, ..Self::default() });
    }

    /// Adds what another scan has found. What both have is there once, in the programs of both.
    pub fn add(&mut self, other: Self) {
        self.uses.extend(other.uses);
        self.crates.extend(other.crates);
        self.unread.extend(other.unread);
        self.drops.extend(other.drops);
        self.allocators.extend(other.allocators);
        self.allocators.sort();
        self.allocators.dedup();
        self.uses.sort();
        self.uses.dedup_by(|next, first| {
            let same =
                (&first.place, &first.name, first.what) == (&next.place, &next.name, next.what);
            if same {
                join(&mut first.programs, &mut next.programs);
            }
            same
        });
        self.crates.sort();
        self.crates.dedup_by(|next, first| {
            let same = first.name == next.name;
            if same {
                join(&mut first.programs, &mut next.programs);
            }
            same
        });
        self.unread.sort();
        self.unread.dedup_by(|next, first| {
            let same = first.file == next.file;
            if same {
                join(&mut first.programs, &mut next.programs);
            }
            same
        });
    }
}

fn join(all: &mut Vec<String>, more: &mut Vec<String>) {
    all.append(more);
    all.sort();
    all.dedup();
}
