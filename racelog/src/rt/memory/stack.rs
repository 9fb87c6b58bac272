//! The stacks of threads, which others get when they end.

use super::forget::forget_memory;

/// What is known of the calling thread's stack, and of its thread-locals, is forgotten: the thread
/// is at its end.
pub(in crate::rt) fn forget_stack() {
    if let Some((start, size)) = stack() {
        forget_memory(start, size);
    }
}

/// Where the stack of the calling thread is, and how large.
#[cfg(all(target_os = "linux", not(miri)))]
fn stack() -> Option<(usize, usize)> {
    use std::mem::MaybeUninit;

    let mut attributes = MaybeUninit::uninit();
    let mut start = std::ptr::null_mut();
    let mut size = 0;
    // SAFETY: the attributes are used and destroyed only if they were filled, and the rest are
    // places to write to.
    let found = unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let found = libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut start, &raw mut size);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        found
    };
    (found == 0).then(|| (start.addr(), size))
}

#[cfg(any(not(target_os = "linux"), miri))]
fn stack() -> Option<(usize, usize)> {
    None
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn locals_and_thread_locals_are_on_the_stack() {
        use std::cell::Cell;

        thread_local! {
            static HERE: Cell<u64> = const { Cell::new(0) };
        }
        let check = || {
            let (start, size) = stack().unwrap();
            let local = 0;
            let within = |address: usize| (start..start + size).contains(&address);
            (within((&raw const local).addr()), HERE.with(|here| within((&raw const *here).addr())))
        };
        assert_eq!(std::thread::spawn(check).join().unwrap(), (true, true));
    }
}
