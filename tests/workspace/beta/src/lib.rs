//! Two halves of a program that guard the same data by different locks.

mod sync;

#[cfg(all(test, racelog))]
mod tests {
    use racelog::cell::Shared;

    use crate::sync::{Mutex, test, thread};

    #[derive(Default)]
    struct Account {
        deposits: Mutex<()>,
        withdrawals: Mutex<()>,
        balance: Shared<i64>,
    }

    impl Account {
        fn deposit(&self, amount: i64) {
            let _guard = self.deposits.lock().unwrap();
            self.balance.set(amount);
        }

        fn withdraw(&self, amount: i64) {
            let _guard = self.withdrawals.lock().unwrap();
            self.balance.set(-amount);
        }
    }

    #[test]
    fn both() {
        let account = Account::default();
        thread::scope(|scope| {
            scope.spawn(|| account.deposit(1));
            scope.spawn(|| account.withdraw(2));
        });
    }

    macro_rules! alone {
        ($($name:ident $amount:literal)*) => {$(
            #[test]
            fn $name() {
                let account = Account::default();
                thread::scope(|scope| {
                    scope.spawn(|| account.deposit($amount));
                    scope.spawn(|| account.deposit($amount));
                });
                assert_eq!(account.balance.get(), $amount);
            }
        )*};
    }

    // `one` to `three` are names that `alpha` has as well.
    alone! { one 1 two 2 three 3 eleven 11 twelve 12 thirteen 13 fourteen 14 fifteen 15 }

    #[test]
    #[should_panic]
    fn panics() {
        thread::spawn(|| panic!("in the thread")).join().unwrap();
    }
}
