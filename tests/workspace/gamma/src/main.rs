//! A program that has a race; if it is asked to, it hangs, or takes locks in opposite orders.

#[cfg(racelog)]
fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("hang") => hang(),
        Some("opposite") => return opposite(),
        _ => {}
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

/// Two threads that can come to wait for each other.
#[cfg(racelog)]
fn opposite() {
    use racelog::sync::Mutex;
    static FIRST: Mutex<()> = Mutex::new(());
    static SECOND: Mutex<()> = Mutex::new(());
    let other = racelog::thread::spawn(|| {
        let _second = SECOND.lock().unwrap();
        let _first = FIRST.lock().unwrap();
    });
    let first = FIRST.lock().unwrap();
    let second = SECOND.lock().unwrap();
    drop((first, second));
    other.join().unwrap();
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
