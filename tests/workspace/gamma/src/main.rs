//! A program that has a race, or hangs if it is asked to.

#[cfg(racelog)]
fn main() {
    if std::env::args().nth(1).is_some_and(|word| word == "hang") {
        hang();
    }
    use racelog::cell::Shared;
    let value = Shared::new(0);
    racelog::thread::scope(|scope| {
        scope.spawn(|| value.set(1));
        value.set(2);
    });
    println!("{:?}", std::env::args().skip(1).collect::<Vec<_>>());
}

/// Two threads that hold a lock each, and wait for each other.
#[cfg(racelog)]
fn hang() {
    use racelog::sync::{Mutex, mpsc};
    static FIRST: Mutex<()> = Mutex::new(());
    static SECOND: Mutex<()> = Mutex::new(());
    let first = FIRST.lock().unwrap();
    let (ready, is_ready) = mpsc::channel();
    let other = racelog::thread::Builder::new().name("other".to_owned()).spawn(move || {
        let _second = SECOND.lock().unwrap();
        ready.send(()).unwrap();
        drop(FIRST.lock());
    });
    is_ready.recv().unwrap();
    println!("it hangs");
    other.unwrap().join().unwrap();
    drop(first);
}

#[cfg(not(racelog))]
fn main() {}

#[cfg(all(test, racelog))]
mod tests {
    // The program and the library of this package are crates of one name, and this is a test that both have.
    #[racelog::test]
    fn sum_of_1() {
        racelog::thread::spawn(|| ()).join().unwrap();
    }
}
