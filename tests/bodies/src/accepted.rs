//! Forms that compile only if what stands around them stays as it is.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::slice::Iter;

/// A type without a size of its own.
#[repr(C)]
pub struct Packet {
    kind: u8,
    rest: [u8],
}

/// References to what has no size, the type of which is written, or left to the compiler.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
#[must_use]
pub fn unsized_pointees(bytes: &mut [u8]) -> usize {
    // SAFETY: a packet is laid out as its bytes are, and has at least one; the last element is left
    // out of the slice, for it is that of the first field.
    unsafe {
        let rest = bytes.len() - 1;
        let slice = std::ptr::slice_from_raw_parts_mut(bytes.as_mut_ptr(), rest);
        let written: &mut Packet = &mut *(slice as *mut Packet);
        written.kind += 1;
        let inferred: &mut Packet = &mut *(slice as *mut [_] as *mut _);
        inferred.kind += 1;
        let shared: &Packet = &*(slice as *const [u8] as *const _);
        shared.rest.len() + usize::from(shared.kind)
    }
}

/// Pointers of which only the use says what they point to.
#[allow(clippy::ptr_as_ptr)]
#[cfg_attr(feature = "instrumented", racelog::instrument)]
#[must_use]
pub fn inferred_pointees(word: &mut u64) -> u32 {
    let bytes = std::ptr::from_mut(word);
    // SAFETY: each access is of the word or of its first half, and no two references overlap.
    unsafe {
        let first: u32 = *bytes.cast();
        let again: u32 = *(bytes as *const _);
        *bytes.cast() = first + again + 1;
        *(bytes as *mut _) = first + again + 2;
        let by_reference: &mut u32 = &mut *bytes.cast();
        *by_reference += 1;
        let shared: &u32 = &*bytes.cast_const().cast();
        *shared
    }
}

/// A `Deref` of what a raw pointer points to.
///
/// # Safety
///
/// It points to text.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
#[must_use]
pub unsafe fn through_deref(text: *const ManuallyDrop<String>) -> usize {
    // SAFETY: the caller promises it.
    let text: &String = unsafe { &**text };
    text.len()
}

/// A reference to a constant, which lives for ever.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
pub fn promoted(list: Option<&Vec<u32>>) -> Iter<'_, u32> {
    match list {
        Some(list) => list.iter(),
        None => [].iter(),
    }
}

fn with_pair<R>(f: impl FnOnce((u32, u32)) -> R) -> R {
    f((3, 4))
}

/// A closure that is the value of a block, whose types come from the call.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
#[must_use]
pub fn closure_in_block(cell: &Cell<u32>) -> u32 {
    with_pair({
        let read = cell.get();
        move |(a, b)| a.pow(2) + b + read
    })
}

/// Statements that are not there.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
pub fn conditional(list: &mut Vec<u32>) -> u32 {
    #[cfg(any())]
    list.is_not_there();
    #[cfg(any())]
    list.is_not_there(1 + 2);
    #[cfg(any())]
    is_not_there(list);
    #[cfg(any())]
    return is_not_there(list);
    #[cfg(any())]
    {
        is_not_there(list);
    }
    #[cfg(any())]
    not_there.load(Relaxed);
    #[cfg(any())]
    not_there.lock().unwrap();
    #[cfg(all())]
    list.push(1);
    #[allow(clippy::len_zero)]
    if list.len() == 0 {
        return 0;
    }
    #[cfg(all())]
    list.iter().sum()
}

/// Functions that stay as they are, beside one that does not.
#[derive(Debug, Default)]
pub struct Mixed(pub Cell<u32>);

#[cfg_attr(feature = "instrumented", racelog::instrument)]
impl Mixed {
    /// Evaluated by the compiler.
    #[must_use]
    pub const fn new(value: u32) -> Self {
        Self(Cell::new(value))
    }

    /// Evaluated when it is polled.
    pub async fn later(&self) -> u32 {
        self.0.get()
    }

    /// Makes a future.
    pub fn future(&self) -> impl Future<Output = u32> + '_ {
        let offset = 1;
        async move { self.0.get() + offset }
    }

    /// Makes a closure that makes futures.
    pub fn futures(&self) -> impl AsyncFn(u32) -> u32 + '_ {
        let offset = 1;
        async move |more| self.0.get() + offset + more
    }

    /// As any other.
    pub fn now(&self) -> u32 {
        self.0.get()
    }
}
