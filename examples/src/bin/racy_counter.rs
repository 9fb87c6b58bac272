//! A counter that two threads update, one of them without the lock.
//!
//! ```text
//! RACELOG=1 cargo run -p racelog-examples --bin racy_counter
//! cargo run -p predictor -- explore target/racelog/racy_counter-*.rlog
//! ```
//!
//! The run itself may well go right. The explorer finds the race all the same, and a schedule that
//! proves it.

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::thread;

static COUNTER: Shared<u32> = Shared::new(0);
static LOCK: Mutex<()> = Mutex::new(());

fn main() {
    thread::scope(|scope| {
        scope.spawn(|| {
            let _guard = LOCK.lock().unwrap();
            COUNTER.set(COUNTER.get() + 1);
        });
        // The lock is forgotten here.
        COUNTER.set(COUNTER.get() + 1);
    });
    println!("counted {}", COUNTER.get());
}
