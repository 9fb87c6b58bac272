//! An arena: slots that are handed out and taken back by way of a list of free ones, and a log that
//! says which slot was last in use.
//!
//! Bug: a slot is put on the list before it is wiped, so that its next owner may be there already.
//! In the run the log's lock tends to put the two in order, by chance. In `arena_fixed` a slot is
//! wiped first.
//!
//! Work: how many slots each thread uses, one after the other.

use racelog::cell::{Shared, UnsafeCell};
use racelog::sync::Mutex;
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

const SOURCE: Source = Source { file: file!(), text: include_str!("arena.rs") };

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "arena",
    about: "slots of an arena are free before they are wiped",
    origin: Origin::Shapes,
    source: SOURCE,
    run: |size| use_slots(size, give_back_early),
    small: Size::new(2, 1),
    large: Size::new(4, 5_000),
    races: &[
        Race::new("wipe-late", "fill", Harm::LostUpdate, "what the next owner writes is wiped"),
        Race::new("wipe-late", "look", Harm::BrokenInvariant, "the next owner finds it wiped"),
        Race::new("wipe-late", "wipe-late", Harm::Benign, "both wipe"),
    ],
    goals: &[],
    schedule: "pct:3:60:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "arena_fixed",
    about: "as `arena`, but slots are wiped before they are free",
    run: |size| use_slots(size, give_back),
    races: &[],
    ..PROGRAM
};

/// What is in a slot that nobody owns.
const EMPTY: usize = 0;

struct Arena {
    slots: Box<[UnsafeCell<usize>]>,
    free: Mutex<Vec<usize>>,
    log: Mutex<()>,
    /// The last slot in use, guarded by `log`.
    last: Shared<usize>,
}

// SAFETY: a slot is used only by whoever has taken it off the list. `give_back_early` is not held
// to that.
unsafe impl Sync for Arena {}

#[racelog::instrument]
fn note(arena: &Arena, slot: usize) {
    let _guard = arena.log.lock().unwrap();
    arena.last.set(slot);
}

#[racelog::instrument]
fn give_back(arena: &Arena, slot: usize) {
    // SAFETY: the slot is not on the list yet.
    unsafe { *arena.slots[slot].get() = EMPTY };
    arena.free.lock().unwrap().push(slot);
}

#[racelog::instrument]
fn give_back_early(arena: &Arena, slot: usize) {
    arena.free.lock().unwrap().push(slot);
    // SAFETY: none, somebody may have taken it off the list.
    unsafe { *arena.slots[slot].get() = EMPTY }; // [wipe-late]
}

#[racelog::instrument]
fn fill(arena: &Arena, slot: usize, value: usize) -> usize {
    // SAFETY: the slot was taken off the list.
    unsafe { *arena.slots[slot].get() = value }; // [fill]
    // SAFETY: as above.
    unsafe { *arena.slots[slot].get() } // [look]
}

fn use_slots(size: &Size, give_back: fn(&Arena, usize)) {
    let arena = Arena {
        slots: (0..size.threads).map(|_| UnsafeCell::new(EMPTY)).collect(),
        free: Mutex::new((0..size.threads).collect()),
        log: Mutex::new(()),
        last: Shared::new(0),
    };
    let (arena, work) = (&arena, size.work);
    thread::scope(|scope| {
        for me in 1..=size.threads {
            scope.spawn(move || {
                for _ in 0..work {
                    note(arena, me);
                    let slot = arena.free.lock().unwrap().pop().expect("nobody has two");
                    let found = fill(arena, slot, me);
                    racelog::check!(found == me, "who owns a slot finds what it wrote");
                    give_back(arena, slot);
                    note(arena, me);
                }
            });
        }
    });
}
