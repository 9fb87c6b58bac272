#[racelog::instrument]
pub async fn later() -> u32 {
    1
}

fn main() {}
