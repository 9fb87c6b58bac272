//! A lock-free stack of nodes that are used again: the thread that pops a node owns it until it
//! pushes it back.
//!
//! Bug: the head is only the number of a node. If it is popped and pushed back by others while one
//! pops, the compare-exchange succeeds (A, B, A), and what it makes the head is a node that another
//! thread owns. In `stack_fixed` the head also counts its changes.
//!
//! Work: how often each thread pops two nodes and pushes them back. There is a node more than
//! threads need.

use racelog::cell::UnsafeCell;
use racelog::sync::atomic::{AtomicUsize, Ordering};
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

const SOURCE: Source = Source { file: file!(), text: include_str!("stack.rs") };

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "stack",
    about: "a lock-free stack that takes a head for the same because its number is",
    origin: Origin::Shapes,
    source: SOURCE,
    run: |size| pop_and_push(size, 0),
    small: Size::new(2, 1),
    large: Size::new(4, 5_000),
    races: &[Race::new("own", "own", Harm::LostUpdate, "two threads own a node")],
    goals: &[],
    schedule: "pct:3:60:8",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "stack_fixed",
    about: "as `stack`, but the head counts its changes",
    run: |size| pop_and_push(size, CHANGE),
    races: &[],
    ..PROGRAM
};

/// No node.
const NONE: usize = CHANGE - 1;
/// In the head, what is below this is the number of a node, and what is above counts changes.
const CHANGE: usize = 1 << 16;

struct Node {
    next: AtomicUsize,
    value: UnsafeCell<usize>,
}

struct Stack {
    nodes: Box<[Node]>,
    head: AtomicUsize,
    /// What a change adds to the head.
    change: usize,
}

// SAFETY: a value is used only by whoever has popped its node. Without counted changes this is not
// held to.
unsafe impl Sync for Stack {}

#[racelog::instrument]
fn pop(stack: &Stack) -> Option<usize> {
    loop {
        let head = stack.head.load(Ordering::Acquire);
        let node = head % CHANGE;
        if node == NONE {
            return None;
        }
        let next = stack.nodes[node].next.load(Ordering::Relaxed);
        if replace_head(stack, head, next) {
            return Some(node);
        }
    }
}

#[racelog::instrument]
fn push(stack: &Stack, node: usize) {
    loop {
        let head = stack.head.load(Ordering::Relaxed);
        stack.nodes[node].next.store(head % CHANGE, Ordering::Relaxed);
        if replace_head(stack, head, node) {
            return;
        }
    }
}

#[racelog::instrument]
fn replace_head(stack: &Stack, head: usize, node: usize) -> bool {
    let new = (head - head % CHANGE).wrapping_add(stack.change) + node;
    stack.head.compare_exchange(head, new, Ordering::AcqRel, Ordering::Relaxed).is_ok()
}

#[racelog::instrument]
fn own(stack: &Stack, node: usize) {
    let value = &stack.nodes[node].value;
    // SAFETY: the node was popped; see above for what that is worth.
    unsafe { *value.get() += 1 }; // [own]
}

fn pop_and_push(size: &Size, change: usize) {
    let count = 2 * size.threads + 1;
    let next = |node| if node + 1 < count { node + 1 } else { NONE };
    let node = |at| Node { next: AtomicUsize::new(next(at)), value: UnsafeCell::new(0) };
    let nodes = (0..count).map(node).collect();
    let stack = Stack { nodes, head: AtomicUsize::new(0), change };
    thread::scope(|scope| {
        for _ in 0..size.threads {
            scope.spawn(|| {
                for _ in 0..size.work {
                    let (one, other) = (pop(&stack), pop(&stack));
                    if let Some(node) = one {
                        own(&stack, node);
                        push(&stack, node);
                    }
                    if let Some(node) = other {
                        own(&stack, node);
                        push(&stack, node);
                    }
                }
            });
        }
    });
}
