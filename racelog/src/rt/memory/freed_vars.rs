//! The variables whose memory was freed: a trace says so before it uses the memory for others.

use super::freeing::quiet;
use crate::rt::base::spin::Spin;
use crate::trace::VarId;

/// The variables whose memory was freed, in that order.
static FREED: Spin<Vec<VarId>> = Spin::new(Vec::new());

/// The memory that a variable stood for was freed.
pub(in crate::rt) fn add(var: VarId) {
    let _quiet = quiet();
    FREED.lock().push(var);
}

/// How many such variables there are.
pub(in crate::rt) fn count() -> u32 {
    FREED.lock().len() as u32
}

/// Calls `f` with those whose memory was freed after the first so many, each with how many
/// there were then, itself included. Returns how many there are.
pub(in crate::rt) fn since(mut seen: u32, mut f: impl FnMut(VarId, u32)) -> u32 {
    loop {
        // What `f` does must not be done under the lock.
        let mut some = [None; 64];
        let all = FREED.lock();
        let new = all.get(seen as usize..).unwrap_or_default();
        if new.is_empty() {
            return seen;
        }
        for (place, var) in some.iter_mut().zip(new) {
            *place = Some(*var);
        }
        drop(all);
        for var in some.into_iter().flatten() {
            seen += 1;
            f(var, seen);
        }
    }
}
