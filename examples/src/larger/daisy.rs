//! A toy file system: files take free blocks of a disk, as a map of bits says.
//!
//! Each block has a lock, which is made when it is first asked for. To take a block, its lock is
//! held while its bit is looked at and set.
//!
//! Bugs: eight blocks have their bits in one byte, which is read and written as a whole: who holds
//! the lock of one block undoes what the holder of another has set, and a block is given to two
//! files. And whether a lock has been made is looked at outside of the lock that it is made under.
//! In `daisy_fixed` one lock guards the map, and all locks are made beforehand.
//!
//! Threads: files, each of which has a thread. Work: blocks of each.

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "daisy",
    about: "blocks have locks of their own, but their bits are in common bytes",
    origin: Origin::Larger,
    source: Source { file: file!(), text: include_str!("daisy.rs") },
    run: |size| run(size, allocate),
    small: Size::new(2, 2),
    large: Size::new(4, 550),
    races: &[
        Race::new("made-look", "made-set", Harm::Benign, "the lock is there a moment later"),
        Race::new("byte-read", "byte-write", Harm::LostUpdate, "a block is taken twice"),
        Race::new("byte-write", "byte-write", Harm::LostUpdate, "a block is taken twice"),
    ],
    goals: &[],
    schedule: "random:20",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "daisy_fixed",
    about: "as `daisy`, with one lock for the whole map",
    run: |size| run(size, allocate_fixed),
    races: &[],
    ..PROGRAM
};

struct Disk {
    map_lock: Mutex<()>,
    /// The bits of the blocks, eight in a byte.
    map: Vec<Shared<u8>>,
    block_locks: Vec<Mutex<()>>,
    /// Which of the locks have been made.
    is_made: Vec<Shared<bool>>,
}

fn run(size: &Size, allocate: fn(&Disk, usize) -> Option<usize>) {
    let blocks = size.threads * size.work;
    let disk = Disk {
        map_lock: Mutex::new(()),
        map: (0..blocks.div_ceil(8)).map(|_| Shared::new(0)).collect(),
        block_locks: (0..blocks).map(|_| Mutex::new(())).collect(),
        is_made: (0..blocks).map(|_| Shared::new(false)).collect(),
    };
    let create = |file| (0..size.work).filter_map(|at| allocate(&disk, file + at)).collect();
    let mut taken: Vec<usize> = thread::scope(|scope| {
        let files: Vec<_> = (0..size.threads)
            .map(|file| scope.spawn(move || -> Vec<usize> { create(file) }))
            .collect();
        files.into_iter().flat_map(|file| file.join().unwrap()).collect()
    });
    taken.sort_unstable();
    racelog::check!(taken.windows(2).all(|two| two[0] < two[1]), "no block is taken twice");
}

/// Looks for a free block from a place on, and takes it.
#[racelog::instrument]
fn allocate(disk: &Disk, from: usize) -> Option<usize> {
    for at in 0..disk.block_locks.len() {
        let block = (from + at) % disk.block_locks.len();
        make_lock(disk, block);
        let _guard = disk.block_locks[block].lock().unwrap();
        if take(disk, block) {
            return Some(block);
        }
    }
    None
}

#[racelog::instrument]
fn make_lock(disk: &Disk, block: usize) {
    let is_made = disk.is_made[block].get(); // [made-look]
    if !is_made {
        let _guard = disk.map_lock.lock().unwrap();
        disk.is_made[block].set(true); // [made-set]
    }
}

/// Sets the bit of a block, if it is not set.
#[racelog::instrument]
fn take(disk: &Disk, block: usize) -> bool {
    let (byte, bit) = (block / 8, 1 << (block % 8));
    let bits = disk.map[byte].get(); // [byte-read]
    let is_free = bits & bit == 0;
    if is_free {
        disk.map[byte].set(bits | bit); // [byte-write]
    }
    is_free
}

#[racelog::instrument]
fn allocate_fixed(disk: &Disk, from: usize) -> Option<usize> {
    let _guard = disk.map_lock.lock().unwrap();
    (0..disk.block_locks.len())
        .map(|at| (from + at) % disk.block_locks.len())
        .find(|block| take(disk, *block))
}
