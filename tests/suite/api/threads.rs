//! `thread` and `thread_local!`.

use crate::both::for_both;

for_both! {
    use std::cell::{Cell, RefCell};
    use std::io;
    use std::num::NonZero;
    use std::time::Duration;

    use root::thread::{
        self, AccessError, Builder, JoinHandle, LocalKey, Scope, ScopedJoinHandle, Thread, ThreadId,
    };

    #[test]
    fn functions() {
        let _: fn(fn() -> u32) -> JoinHandle<u32> = thread::spawn;
        let _: fn() = thread::park;
        let _: fn(Duration) = thread::park_timeout;
        let _: fn(Duration) = thread::sleep;
        let _: fn() = thread::yield_now;
        let _: fn() -> Thread = thread::current;
        let _: fn() -> bool = thread::panicking;
        let _: fn() -> io::Result<NonZero<usize>> = thread::available_parallelism;
        let _: thread::Result<u32> = Ok(1);
        #[expect(deprecated)]
        let _: [fn(u32); 2] = [thread::sleep_ms, thread::park_timeout_ms];
    }

    #[test]
    fn builder() {
        let _: fn() -> Builder = Builder::new;
        let _: fn(Builder, String) -> Builder = Builder::name;
        let _: fn(Builder, usize) -> Builder = Builder::stack_size;
        let _: fn(Builder, fn() -> u32) -> io::Result<JoinHandle<u32>> = Builder::spawn;
        let _: unsafe fn(Builder, fn() -> u32) -> io::Result<JoinHandle<u32>> =
            Builder::spawn_unchecked;
        let _: fn(
            Builder,
            &'static Scope<'static, 'static>,
            fn() -> u32,
        ) -> io::Result<ScopedJoinHandle<'static, u32>> = Builder::spawn_scoped;
    }

    #[test]
    fn handles() {
        let _: fn(&JoinHandle<u32>) -> &Thread = JoinHandle::thread;
        let _: fn(JoinHandle<u32>) -> thread::Result<u32> = JoinHandle::join;
        let _: fn(&JoinHandle<u32>) -> bool = JoinHandle::is_finished;
        let _: for<'a> fn(&'a ScopedJoinHandle<'static, u32>) -> &'a Thread =
            ScopedJoinHandle::thread;
        let _: fn(ScopedJoinHandle<'static, u32>) -> thread::Result<u32> = ScopedJoinHandle::join;
        let _: fn(&ScopedJoinHandle<'static, u32>) -> bool = ScopedJoinHandle::is_finished;
        let _: fn(&Thread) = Thread::unpark;
        let _: fn(&Thread) -> ThreadId = Thread::id;
        let _: fn(&Thread) -> Option<&str> = Thread::name;
        let _: fn(&ThreadId, &ThreadId) -> bool = PartialEq::eq;
        let _: fn(ThreadId) -> std::thread::ThreadId = |id| id;
    }

    #[cfg(unix)]
    #[test]
    fn unix_handles() {
        use std::os::unix::thread::{JoinHandleExt, RawPthread};
        let _: fn(&JoinHandle<u32>) -> RawPthread = JoinHandleExt::as_pthread_t;
        let _: fn(JoinHandle<u32>) -> RawPthread = JoinHandleExt::into_pthread_t;
    }

    #[test]
    fn scope() {
        let _: fn(
            &'static Scope<'static, 'static>,
            fn() -> u32,
        ) -> ScopedJoinHandle<'static, u32> = Scope::spawn;
        let _: fn(for<'scope> fn(&'scope Scope<'scope, 'static>) -> u32) -> u32 = thread::scope;
        // The scope can be handed on, and lives as long as what is borrowed in it.
        fn hand_on<'scope>(scope: &'scope Scope<'scope, '_>, value: &'scope u32) -> u32 {
            scope.spawn(move || *value).join().unwrap()
        }
        let value = 5;
        assert_eq!(thread::scope(|scope| hand_on(scope, &value)), 5);
    }

    root::thread_local! {
        static CELL: Cell<u32> = const { Cell::new(1) };
        pub(super) static REF_CELL: RefCell<Vec<u32>> = RefCell::new(vec![1]);
        static PLAIN: String = "text".to_owned()
    }

    #[test]
    fn locals() {
        type Key<T> = LocalKey<T>;
        let _: fn(&'static Key<String>, fn(&String) -> u32) -> u32 = LocalKey::with;
        let _: fn(&'static Key<String>, fn(&String) -> u32) -> Result<u32, AccessError> =
            LocalKey::try_with;
        let _: fn(&'static Key<Cell<u32>>, u32) = LocalKey::<Cell<u32>>::set;
        let _: fn(&'static Key<Cell<u32>>) -> u32 = LocalKey::<Cell<u32>>::get;
        let _: fn(&'static Key<Cell<u32>>) -> u32 = LocalKey::<Cell<u32>>::take;
        let _: fn(&'static Key<Cell<u32>>, u32) -> u32 = LocalKey::<Cell<u32>>::replace;
        type Numbers = Key<RefCell<Vec<u32>>>;
        let _: fn(&'static Numbers, fn(&Vec<u32>) -> u32) -> u32 = LocalKey::with_borrow;
        let _: fn(&'static Numbers, fn(&mut Vec<u32>) -> u32) -> u32 = LocalKey::with_borrow_mut;
        let _: fn(&'static Numbers, Vec<u32>) = Numbers::set;
        let _: fn(&'static Numbers) -> Vec<u32> = Numbers::take;
        let _: fn(&'static Numbers, Vec<u32>) -> Vec<u32> = Numbers::replace;
        CELL.set(CELL.get() + 1);
        REF_CELL.with_borrow_mut(|numbers| numbers.push(CELL.replace(7)));
        assert_eq!((CELL.take(), REF_CELL.take()), (7, vec![1, 2]));
        assert_eq!(PLAIN.with(String::len), 4);
    }
}
