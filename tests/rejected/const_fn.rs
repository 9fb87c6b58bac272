#[racelog::instrument]
pub const fn early() -> u32 {
    1
}

fn main() {}
