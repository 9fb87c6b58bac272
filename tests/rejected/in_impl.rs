struct Counter(u32);

#[racelog::instrument]
impl Counter {
    const fn new() -> Self {
        Self(0)
    }

    async fn wait(&self) -> u32 {
        self.0
    }

    fn get(&self) -> u32 {
        self.0
    }
}

fn main() {
    let counter = Counter::new();
    drop(counter.wait());
    counter.get();
}
