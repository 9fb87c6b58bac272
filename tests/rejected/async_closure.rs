#[racelog::instrument]
fn makes_one() {
    let _later = async || 1;
}

fn main() {
    makes_one();
}
