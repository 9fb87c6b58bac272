#[racelog::instrument(deeply)]
fn one() -> u32 {
    1
}

fn main() {
    one();
}
