//! Nodes that point to one another.

use std::ptr::{self, NonNull};

use racelog::sync::atomic::{AtomicPtr, Ordering};

use crate::{Twin, in_turn, pair};

pub(crate) const TWINS: &[Twin] = &[
    ("list-push", |racy| pair(List::default(), racy, push_two, push_three)),
    ("free-list", |racy| pair(list(), racy, take_and_return, take)),
    ("published-node", |racy| {
        let publish = if racy { publish_early } else { publish };
        // SAFETY: this is what it is about.
        in_turn(
            Slot::default(),
            move |slot| unsafe { publish(slot) },
            |slot| unsafe { look(slot) },
        );
    }),
    ("non-null", |racy| pair(queue(), racy, append, first_of)),
];

struct Node {
    value: u64,
    next: *mut Node,
}

struct List {
    head: *mut Node,
    length: usize,
}

impl Default for List {
    fn default() -> Self {
        Self { head: ptr::null_mut(), length: 0 }
    }
}

fn list() -> List {
    let last = Box::into_raw(Box::new(Node { value: 2, next: ptr::null_mut() }));
    let head = Box::into_raw(Box::new(Node { value: 1, next: last }));
    List { head, length: 2 }
}

#[derive(Default)]
struct Slot {
    node: AtomicPtr<Node>,
}

struct Link {
    value: i32,
    next: Option<NonNull<Link>>,
}

struct Queue {
    head: Option<NonNull<Link>>,
    tail: Option<NonNull<Link>>,
}

fn queue() -> Queue {
    let link = NonNull::from(Box::leak(Box::new(Link { value: 1, next: None })));
    Queue { head: Some(link), tail: Some(link) }
}

#[racelog::instrument]
mod instrumented {
    use super::*;

    /// Puts a node in front.
    unsafe fn push(list: *mut List, value: u64) {
        let node = Box::into_raw(Box::new(Node { value, next: ptr::null_mut() }));
        unsafe {
            (*node).next = (*list).head;
            (*list).head = node;
            (*list).length += 1;
        }
    }

    pub(super) unsafe fn push_two(list: *mut List) {
        unsafe { push(list, 2) };
    }

    pub(super) unsafe fn push_three(list: *mut List) {
        unsafe { push(list, 3) };
    }

    /// Takes a node off, if there is one.
    unsafe fn pop(list: *mut List) -> *mut Node {
        unsafe {
            let node = (*list).head;
            if !node.is_null() {
                (*list).head = (*node).next;
                (*list).length -= 1;
            }
            node
        }
    }

    pub(super) unsafe fn take(list: *mut List) {
        let node = unsafe { pop(list) };
        std::hint::black_box(node);
    }

    pub(super) unsafe fn take_and_return(list: *mut List) {
        unsafe {
            let node = pop(list);
            (*node).next = (*list).head;
            (*list).head = node;
        }
    }

    pub(super) unsafe fn publish(slot: *mut Slot) {
        let node = Box::into_raw(Box::new(Node { value: 0, next: ptr::null_mut() }));
        unsafe {
            (*node).value = 7;
            (*slot).node.store(node, Ordering::Release);
        }
    }

    /// Says that it is there before it is filled in.
    pub(super) unsafe fn publish_early(slot: *mut Slot) {
        let node = Box::into_raw(Box::new(Node { value: 0, next: ptr::null_mut() }));
        unsafe {
            (*slot).node.store(node, Ordering::Release);
            (*node).value = 7;
        }
    }

    pub(super) unsafe fn look(slot: *mut Slot) {
        unsafe {
            let node = (*slot).node.load(Ordering::Acquire);
            if !node.is_null() {
                std::hint::black_box((*node).value);
            }
        }
    }

    pub(super) unsafe fn append(queue: *mut Queue) {
        let link = NonNull::from(Box::leak(Box::new(Link { value: 2, next: None })));
        unsafe {
            match (*queue).tail {
                Some(mut tail) => tail.as_mut().next = Some(link),
                None => (*queue).head = Some(link),
            }
            (*queue).tail = Some(link);
        }
    }

    pub(super) unsafe fn first_of(queue: *mut Queue) {
        unsafe {
            if let Some(head) = (*queue).head {
                let second = head.as_ref().next;
                let value = second.map(|link| link.as_ref().value);
                std::hint::black_box(value.unwrap_or(head.as_ref().value));
            }
        }
    }
}

use instrumented::*;
