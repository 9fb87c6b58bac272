//! A flag that is raised without synchronisation: every test that does has the same race.

mod sync;

#[cfg(all(test, racelog))]
mod tests {
    use racelog::cell::Shared;

    use crate::sync::{Arc, test, thread};

    fn raise(flag: &Shared<u32>) {
        flag.set(1);
    }

    fn look(flag: &Shared<u32>) -> u32 {
        flag.get()
    }

    macro_rules! raised {
        ($($name:ident)*) => {$(
            #[test]
            fn $name() {
                let flag = Arc::new(Shared::new(0));
                let other = flag.clone();
                let raiser = thread::spawn(move || raise(&other));
                assert!(look(&flag) < 2);
                raiser.join().unwrap();
            }
        )*};
    }

    raised! { one two three four five six seven eight nine ten }

    #[test]
    fn joined() {
        let flag = Arc::new(Shared::new(0));
        let other = flag.clone();
        thread::spawn(move || raise(&other)).join().unwrap();
        assert_eq!(look(&flag), 1);
    }

    #[test]
    #[should_panic(expected = "as it should")]
    fn panics() {
        thread::spawn(|| ()).join().unwrap();
        panic!("as it should");
    }

    #[test]
    fn fails() {
        thread::spawn(|| ()).join().unwrap();
        assert_eq!(1 + 1, 3, "this test fails on purpose");
    }

    #[test]
    fn gives_an_error() -> Result<(), String> {
        thread::spawn(|| ()).join().unwrap();
        Err("this test fails on purpose".to_owned())
    }
}
