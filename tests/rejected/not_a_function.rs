#[racelog::instrument]
struct Nothing;

#[racelog::instrument]
static ONE: u32 = 1;

fn main() {
    let Nothing = Nothing;
    let _ = ONE;
}
