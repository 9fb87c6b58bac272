//! Checks that are acted upon when they need not hold any more.

use std::collections::HashMap;

use super::sync::Mutex;
use super::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use super::{both, nap};

pub(crate) fn last_one_in_stock(right: bool) {
    let stock = Mutex::new(1);
    let buy = || {
        if right {
            let mut stock = stock.lock().unwrap();
            if *stock > 0 {
                *stock -= 1;
            }
            return;
        }
        let is_there = *stock.lock().unwrap() > 0;
        nap();
        if is_there {
            *stock.lock().unwrap() -= 1;
        }
    };
    both(buy, buy);
    assert!(*stock.lock().unwrap() >= 0, "more is sold than there is");
}

pub(crate) fn page_that_is_made_twice(right: bool) {
    let (pages, made) = (Mutex::new(HashMap::new()), AtomicU32::new(0));
    let make = || {
        made.fetch_add(1, Ordering::SeqCst);
        "a page"
    };
    let page = || {
        if right {
            pages.lock().unwrap().entry("index").or_insert_with(make);
            return;
        }
        let is_known = pages.lock().unwrap().contains_key("index");
        if !is_known {
            let page = make();
            nap();
            pages.lock().unwrap().insert("index", page);
        }
    };
    both(page, page);
    assert_eq!(made.load(Ordering::SeqCst), 1, "one is enough");
}

pub(crate) fn service_that_starts_twice(right: bool) {
    let (is_started, starts) = (AtomicBool::new(false), AtomicU32::new(0));
    let start = || {
        let is_first = if right {
            !is_started.swap(true, Ordering::SeqCst)
        } else {
            let found = is_started.load(Ordering::SeqCst);
            nap();
            is_started.store(true, Ordering::SeqCst);
            !found
        };
        if is_first {
            starts.fetch_add(1, Ordering::SeqCst);
        }
    };
    both(start, start);
    assert_eq!(starts.load(Ordering::SeqCst), 1, "it is started once");
}
