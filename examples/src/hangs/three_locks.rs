//! Three locks in a circle: no two threads are in each other's way, but all three are.
//!
//! A shop has a lock for its stock, its orders and its till. Selling goes from the stock to the
//! till, ordering from the orders to the stock, paying from the till to the orders. In
//! `three_locks_fixed` paying takes the orders first.

use racelog::sync::Mutex;
use racelog::thread;

use crate::turns::Turns;
use crate::{Goal, GoalKind, Origin, Program, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "three_locks",
    about: "three threads take two of three locks each, around in a circle",
    origin: Origin::Hangs,
    source: Source { file: file!(), text: include_str!("three_locks.rs") },
    run: |_| run(Shop::pay),
    small: Size::new(3, 1),
    large: Size::new(3, 1),
    races: &[],
    goals: &[Goal::new(
        GoalKind::Deadlock,
        &["sell-till", "order-stock", "pay-orders"],
        "each has the lock that the one before it wants",
    )],
    schedule: "random:1",
    hangs: Some("each has the lock that the one before it wants"),
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "three_locks_fixed",
    about: "as `three_locks`, with one order of all locks",
    run: |_| run(Shop::pay_in_order),
    goals: &[],
    hangs: None,
    ..PROGRAM
};

#[derive(Default)]
struct Shop {
    stock: Mutex<()>,
    orders: Mutex<()>,
    till: Mutex<()>,
}

impl Shop {
    fn sell(&self) {
        let _stock = self.stock.lock().unwrap();
        let _till = self.till.lock().unwrap(); // [sell-till]
    }

    fn order(&self) {
        let _orders = self.orders.lock().unwrap();
        let _stock = self.stock.lock().unwrap(); // [order-stock]
    }

    fn pay(&self) {
        let _till = self.till.lock().unwrap();
        let _orders = self.orders.lock().unwrap(); // [pay-orders]
    }

    fn pay_in_order(&self) {
        let _orders = self.orders.lock().unwrap();
        let _till = self.till.lock().unwrap();
    }
}

fn run(pay: fn(&Shop)) {
    let (shop, turns) = (Shop::default(), Turns::new());
    thread::scope(|scope| {
        for (turn, act) in [Shop::sell, Shop::order, pay].into_iter().enumerate() {
            let (shop, turns) = (&shop, &turns);
            scope.spawn(move || {
                turns.after(turn);
                act(shop);
                turns.over();
            });
        }
    });
}
