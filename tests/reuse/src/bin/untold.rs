//! The programs, with an allocator that tells the recorder nothing.

use reuse::Reusing;

#[global_allocator]
static ALLOCATOR: Reusing = Reusing;

fn main() {
    reuse::main();
}
