//! The programs, with an allocator that tells the recorder what is freed.

use racelog::alloc::Recorded;
use reuse::Reusing;

#[global_allocator]
static ALLOCATOR: Recorded<Reusing> = Recorded(Reusing);

fn main() {
    reuse::main();
}
