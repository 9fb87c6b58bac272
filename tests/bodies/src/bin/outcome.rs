//! Calls every body from several states and prints what comes of it.

use std::cell::{Cell, UnsafeCell};
use std::mem::ManuallyDrop;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bodies::accepted::{
    Mixed, closure_in_block, conditional, inferred_pointees, promoted, through_deref,
    unsized_pointees,
};
use bodies::control::{chains, closures, diverges, exits, if_else, labelled, loops, matches};
use bodies::forms::{Counter, attributes, coerced, drops, generic, nested, patterns, temporaries};
use bodies::memory::{Link, Node, cells, functions, list, through, total};
use racelog::cell::Shared;
use racelog::sync::RwLock;

fn main() {
    accepted();
    control();
    forms();
    memory();
}

fn accepted() {
    println!("unsized {}", unsized_pointees(&mut [1, 2, 3, 4]));
    println!("inferred {}", inferred_pointees(&mut 5));
    let text = ManuallyDrop::new("text".to_owned());
    // SAFETY: it points to text.
    println!("deref {}", unsafe { through_deref(&raw const text) });
    drop(ManuallyDrop::into_inner(text));
    println!("promoted {} {}", promoted(None).count(), promoted(Some(&vec![1, 2])).count());
    println!("closure {}", closure_in_block(&Cell::new(2)));
    println!("conditional {}", conditional(&mut vec![4]));
    let mixed = Mixed::new(6);
    println!("mixed {} {}", ready(mixed.later()), ready(mixed.future()));
    println!("mixed {} {}", ready(mixed.futures()(2)), mixed.now());
}

/// What a future yields that need not wait.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits for nothing"),
    }
}

fn control() {
    for start in 0..8u32 {
        let (x, y) = (Shared::new(start), Shared::new(3));
        println!("if_else {} {}", if_else(&x, &y), y.get());
        let mut seen = vec![0];
        chains(&x, &mut seen);
        println!("chains {seen:?}");
        println!("labelled {}", labelled(&x));
        println!("matches {}", matches(&x, &None));
        println!("matches {}", matches(&x, &Some("word".to_owned())));
        println!("closures {}", closures(&x, &[1, 2, 3]));
        println!("diverges {}", diverges(&x));
        println!("loops {} {}", loops(&x, &[1, 9, 4]), x.get());
        println!("exits {:?}", exits(&Shared::new(start.cast_signed() - 3)));
    }
}

fn forms() {
    let mut counter = Counter::default();
    counter.add("one").add("two");
    println!("{} {} {}", counter.get(), counter.locked(), Counter::constant());
    println!("{:?}", counter.into_names());
    println!("{:?}", generic(&[1, 2], "other").collect::<Vec<_>>());
    println!("{}", temporaries(&RwLock::new(vec!["text".to_owned()])));
    println!("{} {}", coerced(true)(1), coerced(false)(1));
    println!("{} {} {}", nested(3), nested(200), attributes(4));
    println!("{}", patterns(("text".to_owned(), Some(4))));
    let x = Shared::new(0);
    println!("drops {} {}", drops(&x), x.get());
}

fn memory() {
    let mut node = Node::default();
    // SAFETY: it is a node.
    println!("through {} {node:?}", unsafe { through(&raw mut node, 2) });
    let mut values = [0; 4];
    println!("functions {} {values:?}", functions(&mut values));
    let (cell, mut slot) = (UnsafeCell::new(0), String::new());
    println!("cells {} {slot}", cells(&cell, Box::new(node), &mut slot));
    println!("total {} {}", total(3), total(4));
    let last = Link { value: 3, next: std::ptr::null() };
    let first = Link { value: 4, next: &raw const last };
    // SAFETY: it is a list.
    println!("list {}", unsafe { list(&raw const first) });
}
