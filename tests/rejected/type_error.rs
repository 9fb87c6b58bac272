//! What is wrong in the program is shown where it is.

#[racelog::instrument]
fn one(values: &[u32]) -> u32 {
    if values.is_empty() {
        return "none";
    }
    missing(values[0])
}

fn main() {
    one(&[]);
}
