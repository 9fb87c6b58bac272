//! Two sellers and a bookkeeper, who share more than they protect.
//!
//! ```text
//! RACELOG=1 cargo run -p racelog-examples --bin ticket_office
//! cargo run -p predictor -- analyze target/racelog/ticket_office-*.rlog
//! ```
//!
//! Tickets are handed out under a lock, and yet the books can be wrong: how many are sold is counted
//! outside of it, and what was taken is read as soon as a flag is up that promises nothing.

use racelog::cell::Shared;
use racelog::sync::atomic::{AtomicBool, Ordering};
use racelog::sync::{Condvar, Mutex};
use racelog::thread;

struct Office {
    tickets: Mutex<u32>,
    open: Mutex<bool>,
    opened: Condvar,
    sold: Shared<u32>,
    takings: Shared<u32>,
    closed: AtomicBool,
}

static OFFICE: Office = Office {
    tickets: Mutex::new(4),
    open: Mutex::new(false),
    opened: Condvar::new(),
    sold: Shared::new(0),
    takings: Shared::new(0),
    closed: AtomicBool::new(false),
};

impl Office {
    fn wait_until_open(&self) {
        let mut open = self.open.lock().unwrap();
        while !*open {
            open = self.opened.wait(open).unwrap();
        }
    }

    fn sell(&self) {
        let mut tickets = self.tickets.lock().unwrap();
        if *tickets > 0 {
            *tickets -= 1;
            drop(tickets);
            // The ticket is safe, the count is not.
            let sold = self.sold.get();
            self.sold.set(sold + 1);
        }
    }

    fn close(&self) {
        self.takings.set(self.sold.get() * 20);
        // Relaxed: whoever sees the flag need not see the takings.
        self.closed.store(true, Ordering::Relaxed);
    }

    fn audit(&self) -> u32 {
        while !self.closed.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        self.takings.get()
    }
}

fn main() {
    let takings = thread::scope(|scope| {
        let sellers = [(); 2].map(|()| {
            scope.spawn(|| {
                OFFICE.wait_until_open();
                OFFICE.sell();
                OFFICE.sell();
            })
        });
        *OFFICE.open.lock().unwrap() = true;
        OFFICE.opened.notify_all();
        for seller in sellers {
            seller.join().unwrap();
        }
        let bookkeeper = scope.spawn(|| OFFICE.audit());
        OFFICE.close();
        bookkeeper.join().unwrap()
    });
    println!("sold {}, took {takings}", OFFICE.sold.get());
    assert_eq!(OFFICE.sold.get(), 4, "every ticket is counted");
}
