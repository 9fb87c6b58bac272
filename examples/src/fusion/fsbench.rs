//! A toy file system: each thread makes a file, which takes an inode and, if that is new, a block.
//! Inodes and blocks have a lock each.
//!
//! Bug: in `fsbench_a` a thread takes its own number for that of its inode. There are only so many,
//! and the thread after the last one fails. No data are raced on either way.
//!
//! Work: files of each thread, all with the same inode.

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::thread;

use crate::{Origin, Program, Size, Source};

const SOURCE: Source = Source { file: file!(), text: include_str!("fsbench.rs") };

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "fsbench",
    about: "files take inodes and blocks, each under its lock",
    origin: Origin::Fusion,
    source: SOURCE,
    run: |size| make_files(size, INODES),
    small: Size::new(3, 1),
    large: Size::new(26, 10),
    races: &[],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its wrong twin.
pub static WRONG: Program = Program {
    name: "fsbench_a",
    about: "as `fsbench`, with an inode for each thread, and too few of them",
    run: |size| make_files(size, usize::MAX),
    ..PROGRAM
};

const INODES: usize = 2;
const BLOCKS: usize = 26;
/// What an inode without a block has for one.
const NO_BLOCK: usize = usize::MAX;

struct Guarded<T: Copy> {
    lock: Mutex<()>,
    value: Shared<T>,
}

impl<T: Copy> Guarded<T> {
    fn all(count: usize, value: T) -> Vec<Self> {
        (0..count).map(|_| Self { lock: Mutex::new(()), value: Shared::new(value) }).collect()
    }
}

/// Whether nobody has had the block.
#[racelog::instrument]
fn take_block(block: &Guarded<bool>) -> bool {
    let _guard = block.lock.lock().unwrap();
    let is_taken = block.value.get();
    if !is_taken {
        block.value.set(true);
    }
    !is_taken
}

#[racelog::instrument]
fn make_file(inode: &Guarded<usize>, number: usize, blocks: &[Guarded<bool>]) {
    let _guard = inode.lock.lock().unwrap();
    let block = inode.value.get();
    if block == NO_BLOCK {
        let mut numbers = (2 * number..2 * number + BLOCKS).map(|at| at % BLOCKS);
        let free = numbers.find(|at| take_block(&blocks[*at]));
        inode.value.set(free.unwrap_or(NO_BLOCK));
    }
}

/// Makes files, with so many inodes, or so many as are taken for granted.
fn make_files(size: &Size, count: usize) {
    let inodes = Guarded::all(INODES, NO_BLOCK);
    let blocks = Guarded::all(BLOCKS, false);
    let (inodes, blocks, work) = (&inodes, &blocks, size.work);
    thread::scope(|scope| {
        for me in 0..size.threads {
            scope.spawn(move || {
                let number = me % count;
                for _ in 0..work {
                    make_file(&inodes[number], number, blocks);
                }
            });
        }
    });
}
