//! A program that has a race.

#[cfg(racelog)]
fn main() {
    use racelog::cell::Shared;
    let value = Shared::new(0);
    racelog::thread::scope(|scope| {
        scope.spawn(|| value.set(1));
        value.set(2);
    });
    println!("{:?}", std::env::args().skip(1).collect::<Vec<_>>());
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
