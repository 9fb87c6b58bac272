//! Control flow.

use racelog::cell::Shared;

/// Every alternative says where it is.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
#[must_use]
pub fn if_else(x: &Shared<u32>, y: &Shared<u32>) -> u32 {
    if x.get() == 1 {
        y.set(1);
        10
    } else if x.get() == 2 && y.get() == 3 {
        20
    } else if let Some(third) = x.get().checked_sub(3) {
        third
    } else {
        y.set(4);
        40
    }
}

/// `if let` without `else`, and chains.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
pub fn chains(x: &Shared<u32>, seen: &mut Vec<u32>) {
    if let Some(one) = x.get().checked_sub(1) {
        seen.push(one);
    }
    if let Some(one) = x.get().checked_sub(1)
        && one > 2
        && let Some(two) = one.checked_sub(2)
    {
        seen.push(two);
    } else {
        seen.push(99);
    }
    if x.get() > 3 || seen.is_empty() {
        seen.clear();
    }
}

/// All loops.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
#[must_use]
pub fn loops(x: &Shared<u32>, items: &[u32]) -> u32 {
    let mut sum = 0;
    while x.get() < 3 {
        x.set(x.get() + 1);
    }
    'outer: for item in items {
        for inner in 0..*item {
            if inner == x.get() {
                continue 'outer;
            }
            if inner > 100 {
                break 'outer;
            }
            sum += inner;
        }
    }
    let mut stack = items.to_vec();
    while let Some(top) = stack.pop() {
        sum += top;
    }
    let found = loop {
        if x.get() > 5 {
            break x.get();
        }
        x.set(x.get() + 1);
    };
    sum + found
}

/// A label on a block.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
#[must_use]
pub fn labelled(x: &Shared<u32>) -> u32 {
    'block: {
        if x.get() == 0 {
            break 'block 1;
        }
        if x.get() == 1 {
            break 'block 2;
        }
        3
    }
}

/// Matches with guards and bindings.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
#[must_use]
pub fn matches(x: &Shared<u32>, text: &Option<String>) -> usize {
    let word = match x.get() {
        0 => 1,
        n if n == 2 || n == 3 => n as usize,
        4..=6 => 5,
        _ => 7,
    };
    match text {
        Some(text) if text.len() > word => text.len(),
        Some(text) => {
            let short = text.clone();
            short.len() + word
        }
        None => word,
    }
}

/// An error.
#[derive(Debug, PartialEq, Eq)]
pub struct Negative;

/// `?`, early returns and let-else.
///
/// # Errors
///
/// If it is.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
pub fn exits(x: &Shared<i32>) -> Result<i32, Negative> {
    let Some(value) = x.get().checked_add(1) else {
        return Err(Negative);
    };
    if value == 3 {
        return Ok(33);
    }
    let checked = check(value)?;
    Ok(checked + check(x.get())?)
}

#[cfg_attr(feature = "instrumented", racelog::instrument)]
fn check(value: i32) -> Result<i32, Negative> {
    if value < 0 { Err(Negative) } else { Ok(value) }
}

/// Closures, which are called by other code.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
#[must_use]
pub fn closures(x: &Shared<u32>, items: &[u32]) -> u32 {
    let add = |n: u32| n + x.get();
    let more = move |n: u32| -> u32 {
        if n > 2 {
            return 0;
        }
        add(n)
    };
    items.iter().map(|item| more(*item)).filter(|n| *n != 1).sum()
}

/// Never returns a value from some arms.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
#[must_use]
pub fn diverges(x: &Shared<u32>) -> u32 {
    let value: u32 = match x.get() {
        0 => return 5,
        1 => 6,
        9 => unreachable!("nobody writes it"),
        10 => std::process::exit(3),
        n => n,
    };
    let Ok(small) = u8::try_from(value) else { panic!("too large") };
    u32::from(small)
}
