//! Spiders that load a site: pages lead to further pages.
//!
//! Pages to load are in a queue under its lock, as is the number of those that are being loaded. A
//! spider that finds the queue empty goes home when nobody loads a page, for no more will come. The
//! site is a stub: page n leads to 2n + 1 and 2n + 2.
//!
//! Bugs: whether a spider is loading is looked at without the lock, so the look races with the
//! changes, and a spider goes home though there is more to come; the flag that tells all to stop is
//! plain memory. In `weblech_fixed` it looks under the lock, and the flag is atomic.
//!
//! Threads: spiders. Work: pages.

use std::collections::VecDeque;

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::sync::atomic::{AtomicBool, Ordering};
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

/// How often a spider looks for work before it goes home.
const PATIENCE: usize = 3;

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "weblech",
    about: "whether others are still loading is looked at without the lock",
    origin: Origin::Larger,
    source: Source { file: file!(), text: include_str!("weblech.rs") },
    run: |size| run(size, false),
    small: Size::new(2, 2),
    large: Size::new(4, 1_000_000),
    races: &[
        Race::new("look", "start", Harm::StaleRead, "a spider goes home too early"),
        Race::new("look", "finish", Harm::Benign, "a spider looks once more"),
        Race::new("poll", "quit", Harm::Benign, "a spider loads one page more"),
        Race::new("quit", "quit", Harm::Benign, "both say that it is over"),
    ],
    goals: &[],
    schedule: "random:8",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "weblech_fixed",
    about: "as `weblech`, with the look under the lock and an atomic flag",
    run: |size| run(size, true),
    races: &[],
    ..PROGRAM
};

struct Site {
    pages: usize,
    queue: Mutex<VecDeque<usize>>,
    /// How many pages are being loaded.
    loading: Shared<usize>,
    quit: Shared<bool>,
    /// The flag of the right twin.
    is_over: AtomicBool,
    is_fixed: bool,
}

fn run(size: &Size, is_fixed: bool) {
    let site = Site {
        pages: size.work,
        queue: Mutex::new(VecDeque::from([0])),
        loading: Shared::new(0),
        quit: Shared::new(false),
        is_over: AtomicBool::new(false),
        is_fixed,
    };
    thread::scope(|scope| {
        for _ in 0..size.threads {
            scope.spawn(|| crawl(&site));
        }
    });
}

#[racelog::instrument]
fn crawl(site: &Site) {
    let mut patience = PATIENCE;
    while patience > 0 && !is_over(site) {
        match start(site) {
            Some(page) => {
                load(site, page);
                patience = PATIENCE;
            }
            None if is_idle(site) => {
                stop(site);
                break;
            }
            None => {
                patience -= 1;
                thread::yield_now();
            }
        }
    }
}

/// Takes a page from the queue.
#[racelog::instrument]
fn start(site: &Site) -> Option<usize> {
    let mut queue = site.queue.lock().unwrap();
    let page = queue.pop_front();
    if page.is_some() {
        site.loading.set(site.loading.get() + 1); // [start]
    }
    page
}

/// Loads a page, and adds those that it leads to.
#[racelog::instrument]
fn load(site: &Site, page: usize) {
    let mut queue = site.queue.lock().unwrap();
    queue.extend([2 * page + 1, 2 * page + 2].into_iter().filter(|next| *next < site.pages));
    site.loading.set(site.loading.get() - 1); // [finish]
}

/// Whether nobody loads a page.
#[racelog::instrument]
fn is_idle(site: &Site) -> bool {
    if site.is_fixed {
        let queue = site.queue.lock().unwrap();
        return queue.is_empty() && site.loading.get() == 0;
    }
    let loading = site.loading.get(); // [look]
    loading == 0
}

#[racelog::instrument]
fn is_over(site: &Site) -> bool {
    if site.is_fixed {
        return site.is_over.load(Ordering::Relaxed);
    }
    site.quit.get() // [poll]
}

#[racelog::instrument]
fn stop(site: &Site) {
    if site.is_fixed {
        site.is_over.store(true, Ordering::Relaxed);
    } else {
        site.quit.set(true); // [quit]
    }
}
