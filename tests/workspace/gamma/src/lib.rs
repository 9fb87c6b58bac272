//! Nothing wrong here.

mod sync;

#[cfg(all(test, racelog))]
mod tests {
    use crate::sync::atomic::{AtomicU32, Ordering};
    use crate::sync::{mpsc, test, thread};

    macro_rules! sums {
        ($($name:ident $count:literal)*) => {$(
            #[test]
            fn $name() {
                let (sender, receiver) = mpsc::channel();
                let sum = AtomicU32::new(0);
                let total = &sum;
                thread::scope(|scope| {
                    scope.spawn(move || receiver.iter().for_each(|n: u32| {
                        total.fetch_add(n, Ordering::Relaxed);
                    }));
                    (0..$count).for_each(|n| sender.send(n).unwrap());
                    drop(sender);
                });
                assert_eq!(sum.into_inner(), (0..$count).sum());
            }
        )*};
    }

    sums! {
        sum_of_1 1 sum_of_2 2 sum_of_3 3 sum_of_4 4 sum_of_5 5 sum_of_6 6 sum_of_7 7 sum_of_8 8
        sum_of_9 9 sum_of_10 10 sum_of_11 11 sum_of_12 12 sum_of_13 13
    }
}
