#[racelog::instrument]
fn makes_one() -> impl Future<Output = u32> {
    let offset = 1;
    async move { offset + 1 }
}

fn main() {
    drop(makes_one());
}
