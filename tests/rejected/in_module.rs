#[racelog::instrument]
mod counting {
    pub fn one() -> u32 {
        1
    }

    pub mod deeper {
        pub const fn two() -> u32 {
            2
        }
    }
}

fn main() {
    counting::one();
    counting::deeper::two();
}
