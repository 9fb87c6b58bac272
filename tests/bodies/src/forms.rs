//! Forms of functions and of expressions.

use std::collections::HashMap;
use std::fmt::{Debug, Display};

use racelog::cell::Shared;
use racelog::sync::atomic::{AtomicU32, Ordering};
use racelog::sync::{Mutex, RwLock};

/// A struct with methods of all kinds.
#[derive(Debug, Default)]
pub struct Counter {
    count: Shared<u32>,
    names: Vec<String>,
    table: HashMap<u32, u32>,
    lock: Mutex<u32>,
}

#[cfg_attr(feature = "instrumented", racelog::instrument)]
impl Counter {
    /// Left alone.
    #[must_use]
    #[cfg_attr(feature = "instrumented", racelog::instrument(skip))]
    pub const fn constant() -> u32 {
        7
    }

    /// By reference.
    #[must_use]
    pub fn get(&self) -> u32 {
        self.count.get()
    }

    /// By exclusive reference.
    pub fn add(&mut self, name: &str) -> &mut Self {
        self.names.push(name.to_owned());
        *self.table.entry(1).or_default() += 1;
        self.count.set(self.count.get() + 1);
        self
    }

    /// By value.
    #[must_use]
    pub fn into_names(self) -> Vec<String> {
        let Self { names, .. } = self;
        names
    }

    /// A lock, for a block, a statement and an expression.
    #[must_use]
    pub fn locked(&self) -> u32 {
        let first = {
            let guard = self.lock.lock().unwrap();
            *guard
        };
        *self.lock.lock().unwrap() += 1;
        let second = *self.lock.lock().expect("nobody panics");
        let mut guard = self.lock.lock().unwrap();
        *guard += second;
        drop(guard);
        first + second
    }
}

/// Generic, with bounds, unsized types and `impl Trait`.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
pub fn generic<'a, T, U: ?Sized + Debug>(
    items: &'a [T],
    other: &U,
) -> impl Iterator<Item = String> + 'a
where
    T: Display + Clone,
{
    let _ = format!("{other:?}");
    let first = items.first().cloned();
    items.iter().map(move |item| match &first {
        Some(first) => format!("{first}{item}"),
        None => item.to_string(),
    })
}

/// Temporaries live as long as they did.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
#[must_use]
pub fn temporaries(lock: &RwLock<Vec<String>>) -> usize {
    let name = &String::from("name");
    let pair = (&String::from("left"), &vec![1, 2, 3]);
    let numbers: &'static [i32] = &[1, 2 + 3, -4];
    let length = lock.read().unwrap().iter().map(String::len).max().unwrap_or_default();
    let text = lock.read().unwrap().first().map_or("none", |first| first.as_str()).len();
    length + text + name.len() + pair.0.len() + pair.1.len() + numbers.len()
}

/// Coercions.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
#[must_use]
pub fn coerced(flag: bool) -> Box<dyn Fn(u32) -> u32> {
    let boxed: Box<dyn Debug> = Box::new(5);
    let slice: &[u8] = &[1, 2];
    let size = format!("{boxed:?}").len() + slice.len();
    if flag { Box::new(move |n| n + size as u32) } else { Box::new(|n| n) }
}

/// Items, constants and statics within.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
#[must_use]
pub fn nested(x: u32) -> u32 {
    const SIZE: usize = 2 + 1;
    static TOTAL: AtomicU32 = AtomicU32::new(0);
    struct Pair<T>(T, T);
    impl<T: Copy> Pair<T> {
        fn first(&self) -> T {
            self.0
        }
    }
    fn twice(n: u32) -> u32 {
        if n > 100 { n } else { n * 2 }
    }
    let array = [0u32; SIZE];
    let pair = Pair(x, twice(x));
    TOTAL.fetch_add(1, Ordering::Relaxed);
    let index = (x as usize) % SIZE;
    array[index] + pair.first() + pair.1 + const { SIZE as u32 }
}

/// Attributes on statements and expressions.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
#[must_use]
pub fn attributes(x: u32) -> u32 {
    #[cfg(any())]
    let y = missing();
    #[cfg(not(any()))]
    let y = x + 1;
    #[allow(clippy::identity_op)]
    let z = y + 0;
    #[cfg(any())]
    missing();
    z
}

/// Patterns that borrow, and assignments that take apart.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
#[must_use]
pub fn patterns(mut pair: (String, Option<u32>)) -> usize {
    let (ref mut text, number) = pair;
    text.push('x');
    let (mut a, mut b) = (1, 2);
    (a, b) = (b, a + 1);
    [a, b] = [b, a];
    _ = a;
    if let Some(ref mut inner) = pair.1 {
        *inner += 1;
    }
    let [first, .., last] = [a, b, 3];
    let all @ (_, _) = (first, last);
    pair.0.len() + number.unwrap_or_default() as usize + all.0 as usize + b as usize
}

/// A destructor that other code wrote.
#[derive(Debug)]
pub struct Loud<'a>(pub &'a Shared<u32>);

impl Drop for Loud<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

/// Drops in the order of the plain body.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
#[must_use]
pub fn drops(x: &Shared<u32>) -> u32 {
    let first = Loud(x);
    let inner = {
        let _second = Loud(x);
        x.get()
    };
    let mut third = Some(Loud(x));
    third = third.filter(|_| x.get() > 100);
    let after = x.get();
    match third {
        Some(loud) => loud.0.get(),
        None => {
            drop(first);
            inner * 100 + after * 10 + x.get()
        }
    }
}
