//! Nodes are added to the end of a list by many.
//!
//! Each walks to the last node, and links its own behind it under the lock.
//!
//! Bugs: the walk is outside of the lock. It races with linking, and the node at which it ends may
//! not be the last by then: what was linked there is lost. In `linked_list_fixed` the lock is held
//! for both.
//!
//! Work: nodes of each thread.

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "linked_list",
    about: "the end of a list is looked for without the lock that nodes are added under",
    origin: Origin::ConTest,
    source: Source { file: file!(), text: include_str!("linked_list.rs") },
    run: |size| run(size, add),
    small: Size::new(2, 2),
    large: Size::new(4, 800),
    races: &[Race::new("walk", "link", Harm::LostUpdate, "what was linked there is lost")],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "linked_list_fixed",
    about: "as `linked_list`, with the walk under the lock as well",
    run: |size| run(size, add_fixed),
    races: &[],
    ..PROGRAM
};

/// The list starts at node 0, which holds nothing. No node comes after one whose next is 0.
struct List {
    lock: Mutex<()>,
    next: Vec<Shared<usize>>,
}

fn run(size: &Size, add: fn(&List, usize)) {
    let nodes = size.threads * size.work;
    let next = (0..=nodes).map(|_| Shared::new(0)).collect();
    let list = List { lock: Mutex::new(()), next };
    thread::scope(|scope| {
        for id in 0..size.threads {
            let list = &list;
            scope.spawn(move || {
                for node in 1..=size.work {
                    add(list, id * size.work + node);
                }
            });
        }
    });
    let (mut length, mut at) = (0, list.next[0].get());
    while at != 0 {
        length += 1;
        at = list.next[at].get();
    }
    racelog::check!(length == nodes, "no node is lost");
}

#[racelog::instrument]
fn add(list: &List, node: usize) {
    let last = last(list);
    let _guard = list.lock.lock().unwrap();
    list.next[last].set(node); // [link]
}

#[racelog::instrument]
fn add_fixed(list: &List, node: usize) {
    let _guard = list.lock.lock().unwrap();
    let last = last(list);
    list.next[last].set(node);
}

#[racelog::instrument]
fn last(list: &List) -> usize {
    let mut at = 0;
    loop {
        let next = list.next[at].get(); // [walk]
        if next == 0 {
            return at;
        }
        at = next;
    }
}
