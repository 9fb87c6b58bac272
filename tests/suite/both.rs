//! The same code for std and for racelog.

/// The items twice, in the modules `theirs` and `ours`: `root` is std in one and racelog in the
/// other. What holds for both is known to be right for std, too.
macro_rules! for_both {
    ($($items:tt)*) => {
        mod theirs {
            use ::std as root;
            $($items)*
        }

        mod ours {
            use ::racelog as root;
            $($items)*
        }
    };
}

pub(crate) use for_both;
