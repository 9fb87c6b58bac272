//! `Arc`, `Weak` and `UnsafeCell`.

use crate::both::for_both;

for_both! {
    use std::any::Any;
    use std::mem::MaybeUninit;
    use std::pin::Pin;

    use root::cell::UnsafeCell;
    use root::sync::{Arc, Weak};

    const _: Weak<u32> = Weak::new();
    const _: UnsafeCell<u32> = UnsafeCell::new(0);

    type Uninit = MaybeUninit<u32>;

    #[test]
    fn arc() {
        let _: fn(u32) -> Arc<u32> = Arc::new;
        let _: fn(fn(&Weak<u32>) -> u32) -> Arc<u32> = Arc::new_cyclic;
        let _: fn() -> Arc<Uninit> = Arc::<u32>::new_uninit;
        let _: fn() -> Arc<Uninit> = Arc::<u32>::new_zeroed;
        let _: fn(u32) -> Pin<Arc<u32>> = Arc::pin;
        let _: fn(Arc<u32>) -> Result<u32, Arc<u32>> = Arc::try_unwrap;
        let _: fn(Arc<u32>) -> Option<u32> = Arc::into_inner;
        let _: fn(usize) -> Arc<[Uninit]> = Arc::<[u32]>::new_uninit_slice;
        let _: fn(usize) -> Arc<[Uninit]> = Arc::<[u32]>::new_zeroed_slice;
        let _: unsafe fn(Arc<Uninit>) -> Arc<u32> = Arc::<Uninit>::assume_init;
        let _: unsafe fn(Arc<[Uninit]>) -> Arc<[u32]> = Arc::<[Uninit]>::assume_init;
        let _: unsafe fn(*const u32) -> Arc<u32> = Arc::from_raw;
        let _: fn(Arc<u32>) -> *const u32 = Arc::into_raw;
        let _: unsafe fn(*const u32) = Arc::increment_strong_count;
        let _: unsafe fn(*const u32) = Arc::decrement_strong_count;
        let _: fn(&Arc<u32>) -> *const u32 = Arc::as_ptr;
        let _: fn(&Arc<u32>) -> Weak<u32> = Arc::downgrade;
        let _: fn(&Arc<u32>) -> usize = Arc::weak_count;
        let _: fn(&Arc<u32>) -> usize = Arc::strong_count;
        let _: fn(&Arc<u32>, &Arc<u32>) -> bool = Arc::ptr_eq;
        let _: fn(&mut Arc<u32>) -> &mut u32 = Arc::make_mut;
        let _: fn(Arc<u32>) -> u32 = Arc::unwrap_or_clone;
        let _: fn(&mut Arc<u32>) -> Option<&mut u32> = Arc::get_mut;
        type Anything = Arc<dyn Any + Send + Sync>;
        let _: fn(Anything) -> Result<Arc<u32>, Anything> = Arc::downcast;
        let slice: Arc<[u8]> = Arc::from(vec![1, 2]);
        let text: Arc<str> = "text".into();
        let call: Arc<dyn Fn() -> usize> = Arc::new(move || slice.len() + text.len());
        assert_eq!(call(), 6);
    }

    #[test]
    fn weak() {
        let _: fn() -> Weak<u32> = Weak::new;
        let _: unsafe fn(*const u32) -> Weak<u32> = Weak::from_raw;
        let _: fn(Weak<u32>) -> *const u32 = Weak::into_raw;
        let _: fn(&Weak<u32>) -> *const u32 = Weak::as_ptr;
        let _: fn(&Weak<u32>) -> Option<Arc<u32>> = Weak::upgrade;
        let _: fn(&Weak<u32>) -> usize = Weak::strong_count;
        let _: fn(&Weak<u32>) -> usize = Weak::weak_count;
        let _: fn(&Weak<u32>, &Weak<u32>) -> bool = Weak::ptr_eq;
    }

    /// In racelog `into_inner`, `get` and `get_mut` are not const, for they record.
    #[test]
    fn unsafe_cell() {
        const fn from_mut(value: &mut u32) -> &mut UnsafeCell<u32> {
            UnsafeCell::from_mut(value)
        }
        const fn raw_get(cell: *const UnsafeCell<u32>) -> *mut u32 {
            UnsafeCell::raw_get(cell)
        }
        let _: fn(u32) -> UnsafeCell<u32> = UnsafeCell::new;
        let _: fn(UnsafeCell<u32>) -> u32 = UnsafeCell::into_inner;
        let _: fn(&mut u32) -> &mut UnsafeCell<u32> = from_mut;
        let _: fn(&UnsafeCell<u32>) -> *mut u32 = UnsafeCell::get;
        let _: fn(&mut UnsafeCell<u32>) -> &mut u32 = UnsafeCell::get_mut;
        let _: fn(*const UnsafeCell<u32>) -> *mut u32 = raw_get;
        let _: fn() -> UnsafeCell<u32> = Default::default;
        let _: fn(u32) -> UnsafeCell<u32> = From::from;
        let _: fn(&UnsafeCell<[u8]>) -> *mut [u8] = UnsafeCell::get;
        let _: fn(&mut UnsafeCell<str>) -> &mut str = UnsafeCell::get_mut;
        let _: fn(&mut [u8]) -> &mut UnsafeCell<[u8]> = UnsafeCell::from_mut;
        assert_eq!(size_of::<Option<UnsafeCell<&u8>>>(), 2 * size_of::<&u8>());
        let slice: Box<UnsafeCell<[u8]>> = Box::new(UnsafeCell::new([1, 2]));
        assert_eq!(format!("{slice:?}"), "UnsafeCell { .. }");
        let raw = &raw const *slice;
        assert_eq!(UnsafeCell::raw_get(raw).addr(), raw.addr());
    }

    /// The other cells are std's.
    #[test]
    fn cells() {
        use root::cell::{
            BorrowError, BorrowMutError, Cell, LazyCell, OnceCell, Ref, RefCell, RefMut,
        };
        let _: fn(Cell<u32>) -> std::cell::Cell<u32> = |cell| cell;
        let _: fn(OnceCell<u32>) -> std::cell::OnceCell<u32> = |cell| cell;
        let _: fn(LazyCell<u32>) -> std::cell::LazyCell<u32> = |cell| cell;
        let _: fn(&RefCell<u32>) -> Result<Ref<'_, u32>, BorrowError> = RefCell::try_borrow;
        let _: fn(&RefCell<u32>) -> Result<RefMut<'_, u32>, BorrowMutError> =
            RefCell::try_borrow_mut;
    }
}
