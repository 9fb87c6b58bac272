//! Unsafe code.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;

/// A struct behind a pointer.
#[derive(Debug, Default, Clone)]
pub struct Node {
    /// A word.
    pub value: u32,
    /// No word.
    pub name: String,
    /// An array.
    pub items: [u16; 4],
}

/// Everything that can be done through a raw pointer.
///
/// # Safety
///
/// It points to a node.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
#[must_use]
pub unsafe fn through(node: *mut Node, index: usize) -> u32 {
    unsafe {
        (*node).value = 3;
        (*node).value += 1;
        (*node).items[index] = 7;
        (*node).items[1] += 2;
        (*node).name.push('x');
        let items = (*node).items;
        let reference = &mut *node;
        reference.value += 1;
        let name = &(*node).name;
        let length = name.len();
        let part = &raw mut (*node).value;
        *part += u32::from((*node).items[index]);
        if *part == 12 || *part > (*node).value {
            (*node).value <<= 1;
        }
        match *part {
            0 => return 0,
            n => *part = n + 1,
        }
        match (*node).name.as_str() {
            "x" => *part + length as u32 + u32::from(items[0]),
            _ => 99,
        }
    }
}

/// The functions and the methods.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
#[must_use]
pub fn functions(values: &mut [u64; 4]) -> u64 {
    let start = values.as_mut_ptr();
    let mut spare = MaybeUninit::<u64>::uninit();
    // SAFETY: all is within the array.
    unsafe {
        ptr::write(start, 5);
        start.add(1).write(6);
        let first = ptr::read(start);
        let second = start.add(1).read();
        let third = start.wrapping_add(2);
        third.write(first + second);
        *start.add(3) = third.read() + 1;
        *start.add(3) += 1;
        spare.as_mut_ptr().write(third.read_volatile());
        first + second + *third + *start.add(3) + spare.assume_init()
    }
}

/// Cells, references and boxes in unsafe code.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
#[must_use]
pub fn cells(cell: &UnsafeCell<u32>, boxed: Box<Node>, slot: &mut String) -> u32 {
    // SAFETY: nobody else has the cell.
    unsafe {
        *cell.get() = 1;
        *cell.get() += 1;
        let before = *cell.get();
        let node = *boxed;
        *slot = node.name;
        slot.push('y');
        let name = slot.clone();
        let again = *Box::new(name);
        before + node.value + again.len() as u32 + (*cell.get()).count_ones()
    }
}

static mut TOTAL: u32 = 0;
static mut NAMES: Vec<String> = Vec::new();

/// A `static mut`.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
#[must_use]
pub fn total(add: u32) -> u32 {
    // SAFETY: the tests call it from one thread.
    unsafe {
        TOTAL += add;
        TOTAL = TOTAL * 2 + 1;
        NAMES = vec![String::from("name")];
        let total = TOTAL;
        if total == u32::MAX { 0 } else { TOTAL }
    }
}

/// A list, with pointers in shared memory.
///
/// # Safety
///
/// The list is one.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
#[must_use]
pub unsafe fn list(mut head: *const Link) -> u32 {
    let mut sum = 0;
    // SAFETY: it is a list.
    unsafe {
        while let Some(link) = head.as_ref() {
            sum += link.value;
            head = link.next;
        }
    }
    sum
}

/// A link of a list.
#[derive(Debug)]
pub struct Link {
    /// What is in it.
    pub value: u32,
    /// The next one, or null.
    pub next: *const Self,
}
