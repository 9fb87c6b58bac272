//! Whether the program's allocator says what it frees.

use std::alloc::Layout;
use std::hint::black_box;
use std::sync::OnceLock;

use super::statics::is_static;
use super::table::{self, Kind};

/// Whether it is not known when bare memory at this address is freed.
pub(crate) fn keeps_order(address: usize) -> bool {
    !is_told() && !is_static(address)
}

/// Finds out what cannot be found out later, under locks.
pub(in crate::rt) fn find_out() {
    keeps_order(0);
}

/// Whether the program's allocator says what it frees. That is found out by trying, before anything
/// is recorded.
fn is_told() -> bool {
    static TOLD: OnceLock<bool> = OnceLock::new();
    *TOLD.get_or_init(|| {
        let layout = Layout::new::<[u64; 4]>();
        // SAFETY: the layout has a size, and what is allocated is freed with the same one.
        let address = unsafe {
            let place = black_box(std::alloc::alloc(layout));
            if place.is_null() {
                return false;
            }
            table::lock(place.addr()).entry(place.addr(), Kind::Probe);
            std::alloc::dealloc(place, layout);
            place.addr()
        };
        table::lock(address).remove(address, Kind::Probe).is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whether_anybody_says_what_is_freed_is_found_out() {
        static STATIC: u32 = 1;
        let on_heap = Box::new(2);
        assert_eq!(is_told(), cfg!(all(feature = "allocator", not(own_allocator))));
        assert_eq!(keeps_order((&raw const *on_heap).addr()), !is_told());
        assert!(!keeps_order((&raw const STATIC).addr()) || !cfg!(target_os = "linux"));
    }
}
