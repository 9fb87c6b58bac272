//! Names that are keywords in later editions.

extern crate racelog;

/// A function called `try`.
#[racelog::instrument]
pub fn try(text: &str) -> Result<u32, std::num::ParseIntError> {
    text.parse()
}

/// A method and a variable called `try`, and the macro.
pub struct Retry(pub u32);

#[racelog::instrument]
impl Retry {
    /// Tries so often.
    #[allow(deprecated)]
    pub fn try(&self, text: &str) -> Result<u32, std::num::ParseIntError> {
        let mut try = 0;
        while try < self.0 {
            try += 1;
        }
        Ok(try + try!(::try(text)))
    }

    /// A variable of another such name.
    pub fn async(&self, await: u32) -> u32 {
        self.0 + await
    }
}

#[test]
fn what_is_called_try_is_called() {
    assert_eq!(Retry(2).try("3"), Ok(5));
    assert!(Retry(2).try("three").is_err());
    assert_eq!(Retry(2).async(1), 3);
}
