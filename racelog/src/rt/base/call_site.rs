//! Where in the program an operation was called.

use std::fmt;
use std::panic::Location;
use std::ptr::{self, NonNull};

/// Where in the program an operation was called: a place in its source, or an address of its code.
///
/// It is one word, as a reference is, and so is an `Option` of it: it stands in every call on the
/// way of an event. The lowest bit, which is 0 in the address of a `Location`, tells the two apart.
#[derive(Clone, Copy)]
pub(crate) struct CallSite(NonNull<()>);

/// What a call site is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// A place in the source, as the compiler passes it to functions that track their callers.
    Source(&'static Location<'static>),
    /// The address of an instruction, as compiled-in instrumentation knows it.
    Code(usize),
}

const CODE: usize = 1;

const _: () = assert!(align_of::<Location<'static>>() > CODE);

// SAFETY: it points to a `Location`, which all threads may read, or to nothing.
unsafe impl Send for CallSite {}
// SAFETY: as above.
unsafe impl Sync for CallSite {}

impl CallSite {
    /// Where the function was called that calls this, if it tracks its callers.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn caller() -> Self {
        Self::source(Location::caller())
    }

    /// A place in the source.
    #[inline(always)]
    pub(crate) const fn source(location: &'static Location<'static>) -> Self {
        // SAFETY: a reference is not null.
        Self(unsafe { NonNull::new_unchecked(ptr::from_ref(location).cast_mut().cast()) })
    }

    /// The instruction at an address. The highest bit of the address is not kept: no system has
    /// code of programs there that has addresses of 64 bits.
    #[inline(always)]
    #[cfg_attr(not(test), expect(dead_code, reason = "for fronts that are compiled in"))]
    pub(crate) fn code(address: usize) -> Self {
        let word: *mut () = ptr::without_provenance_mut(address << 1 | CODE);
        Self(NonNull::new(word).expect("it has a bit that is set"))
    }

    /// What it is.
    #[inline]
    pub(crate) fn origin(self) -> Origin {
        let word = self.key();
        if word & CODE == 0 {
            // SAFETY: it was made from a reference that lives for ever.
            Origin::Source(unsafe { self.0.cast().as_ref() })
        } else {
            Origin::Code(word >> 1)
        }
    }

    /// The place in the source, if it is one.
    #[inline]
    pub(crate) fn location(self) -> Option<&'static Location<'static>> {
        match self.origin() {
            Origin::Source(location) => Some(location),
            Origin::Code(_) => None,
        }
    }

    /// A number that no other call site has; but one place in the source may have several.
    #[inline(always)]
    pub(crate) fn key(self) -> usize {
        self.0.addr().get()
    }
}

impl PartialEq for CallSite {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        // The compiler may make several `Location`s of one place.
        self.0 == other.0 || self.origin() == other.origin()
    }
}

impl Eq for CallSite {}

impl fmt::Debug for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.origin() {
            Origin::Source(location) => write!(f, "{location}"),
            Origin::Code(address) => write!(f, "{address:#x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_addresses_are_told_apart() {
        let location = Location::caller();
        let source = CallSite::source(location);
        assert_eq!(source.origin(), Origin::Source(location));
        assert_eq!(source.location(), Some(location));
        for address in [0, 1, 0x5555_0000_1234, usize::MAX >> 1] {
            let code = CallSite::code(address);
            assert_eq!(code.origin(), Origin::Code(address));
            assert_eq!(code.location(), None);
            assert!(code != source && code == CallSite::code(address));
        }
        assert_eq!(size_of::<Option<CallSite>>(), size_of::<usize>());
    }

    #[test]
    fn a_place_is_the_same_wherever_the_compiler_keeps_it() {
        let location = Location::caller();
        let copy: &'static Location<'static> = Box::leak(Box::new(*location));
        assert_eq!(CallSite::source(location), CallSite::source(copy));
        assert_ne!(CallSite::caller(), CallSite::caller());
    }
}
