//! `Once`, `OnceLock` and `LazyLock`.

use crate::both::for_both;

for_both! {
    use std::ops::{Deref, DerefMut};

    use root::sync::{LazyLock, Once, OnceLock, OnceState};

    const _: Once = Once::new();
    const _: OnceLock<u32> = OnceLock::new();
    const _: LazyLock<u32> = LazyLock::new(|| 1);

    static ONCE: Once = Once::new();
    static ONCE_LOCK: OnceLock<String> = OnceLock::new();
    static LAZY: LazyLock<String> = LazyLock::new(String::new);

    #[test]
    fn once() {
        let _: fn() -> Once = Once::new;
        let _: fn(&Once, fn()) = Once::call_once;
        let _: fn(&Once, fn(&OnceState)) = Once::call_once_force;
        let _: fn(&Once) -> bool = Once::is_completed;
        let _: fn(&Once) = Once::wait;
        let _: fn(&Once) = Once::wait_force;
        let _: fn(&OnceState) -> bool = OnceState::is_poisoned;
        #[expect(deprecated)]
        let old: Once = root::sync::ONCE_INIT;
        assert_eq!(old.is_completed(), ONCE.is_completed());
    }

    #[test]
    fn once_lock() {
        let _: fn() -> OnceLock<u32> = OnceLock::new;
        let _: fn() -> OnceLock<u32> = Default::default;
        let _: fn(u32) -> OnceLock<u32> = From::from;
        let _: fn(&OnceLock<u32>) -> Option<&u32> = OnceLock::get;
        let _: fn(&mut OnceLock<u32>) -> Option<&mut u32> = OnceLock::get_mut;
        let _: fn(&OnceLock<u32>) -> &u32 = OnceLock::wait;
        let _: fn(&OnceLock<u32>, u32) -> Result<(), u32> = OnceLock::set;
        let _: fn(&OnceLock<u32>, fn() -> u32) -> &u32 = OnceLock::get_or_init;
        let _: fn(OnceLock<u32>) -> Option<u32> = OnceLock::into_inner;
        let _: fn(&mut OnceLock<u32>) -> Option<u32> = OnceLock::take;
        let _: fn(&OnceLock<u32>) -> OnceLock<u32> = Clone::clone;
        let _: fn(&OnceLock<u32>, &OnceLock<u32>) -> bool = PartialEq::eq;
        assert_eq!(ONCE_LOCK.get(), None);
    }

    #[test]
    fn lazy_lock() {
        type Lazy = LazyLock<u32>;
        let _: fn(fn() -> u32) -> Lazy = LazyLock::new;
        let _: fn(&mut Lazy) -> &mut u32 = LazyLock::force_mut;
        let _: fn(&Lazy) -> &u32 = LazyLock::force;
        let _: fn(&mut Lazy) -> Option<&mut u32> = LazyLock::get_mut;
        let _: fn(&Lazy) -> Option<&u32> = LazyLock::get;
        let _: fn() -> Lazy = Default::default;
        let _: fn(&Lazy) -> &u32 = Deref::deref;
        let _: fn(&mut Lazy) -> &mut u32 = DerefMut::deref_mut;
        // Looking at it asks nothing of the closure.
        let _: fn(&LazyLock<u32, ()>) -> Option<&u32> = LazyLock::get;
        let _: fn(&mut LazyLock<u32, ()>) -> Option<&mut u32> = LazyLock::get_mut;
        assert!(LAZY.is_empty());
    }
}
