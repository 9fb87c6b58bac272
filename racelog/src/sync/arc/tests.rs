//! What holds for std's `Arc` holds for ours.

use std::any::Any;
use std::fmt::{Debug, Display};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Arc, Weak};

/// Counts how often it was dropped.
#[derive(Clone)]
struct Dropped<'a>(&'a AtomicUsize);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// The same tests for two pairs of types.
macro_rules! behaves {
    ($module:ident: $($path:tt)*) => {
        mod $module {
            use std::collections::HashSet;
            use std::panic::{AssertUnwindSafe, catch_unwind};
            use std::pin::Pin;
            use std::sync::atomic::{AtomicUsize, Ordering};
            use std::thread;

            use super::Dropped;
            use $($path)*::{Arc, Weak};

            #[test]
            fn counts_go_up_and_down() {
                let a = Arc::new(5);
                let b = a.clone();
                let w = Arc::downgrade(&a);
                let v = w.clone();
                assert_eq!((Arc::strong_count(&a), Arc::weak_count(&b)), (2, 2));
                assert_eq!((w.strong_count(), v.weak_count()), (2, 2));
                assert!(Arc::ptr_eq(&a, &b) && w.ptr_eq(&v) && !Arc::ptr_eq(&a, &Arc::new(5)));
                drop((a, v));
                assert_eq!((w.strong_count(), w.weak_count()), (1, 1));
                let c = w.upgrade().expect("there is an Arc");
                assert_eq!((*b, *c, Arc::strong_count(&c)), (5, 5, 2));
                drop((b, c));
                assert!(w.upgrade().is_none());
                assert_eq!((w.strong_count(), w.weak_count()), (0, 0));
            }

            #[test]
            fn the_last_owner_drops_the_contents_once() {
                let count = AtomicUsize::new(0);
                let a = Arc::new(Dropped(&count));
                let (b, w) = (a.clone(), Arc::downgrade(&a));
                drop(a);
                assert_eq!(count.load(Ordering::SeqCst), 0);
                drop(b);
                assert_eq!(count.load(Ordering::SeqCst), 1);
                drop(w);
                assert_eq!(count.load(Ordering::SeqCst), 1);
            }

            #[test]
            fn contents_are_handed_out_to_the_only_owner() {
                let count = AtomicUsize::new(0);
                let a = Arc::new(Dropped(&count));
                let b = a.clone();
                let a = Arc::try_unwrap(a).err().expect("there is another");
                assert!(Arc::into_inner(a).is_none());
                let w = Arc::downgrade(&b);
                let data = Arc::try_unwrap(b).ok().expect("there is no other");
                assert!(w.upgrade().is_none());
                assert_eq!(count.load(Ordering::SeqCst), 0);
                let last = Arc::into_inner(Arc::new(data)).expect("there is no other");
                let shared = Arc::new(last);
                let clone = Arc::unwrap_or_clone(shared.clone());
                drop((Arc::unwrap_or_clone(shared), clone));
                assert_eq!(count.load(Ordering::SeqCst), 2);
            }

            #[test]
            fn only_who_is_alone_may_change_the_contents() {
                let mut a = Arc::new(1);
                *Arc::get_mut(&mut a).expect("alone") = 2;
                let b = a.clone();
                assert!(Arc::get_mut(&mut a).is_none());
                drop(b);
                let w = Arc::downgrade(&a);
                assert!(Arc::get_mut(&mut a).is_none());
                drop(w);
                assert_eq!(Arc::get_mut(&mut a), Some(&mut 2));
                assert_eq!((Arc::strong_count(&a), Arc::weak_count(&a)), (1, 0));
            }

            #[test]
            fn make_mut_clones_or_leaves_the_weak_behind() {
                let count = AtomicUsize::new(0);
                let mut a = Arc::new((1, Dropped(&count)));
                let place = Arc::as_ptr(&a);
                Arc::make_mut(&mut a).0 = 2;
                assert_eq!(Arc::as_ptr(&a), place);
                let b = a.clone();
                Arc::make_mut(&mut a).0 = 3;
                assert_eq!((a.0, b.0), (3, 2));
                let w = Arc::downgrade(&a);
                Arc::make_mut(&mut a).0 = 4;
                assert!(w.upgrade().is_none());
                assert_eq!((a.0, Arc::strong_count(&a), Arc::weak_count(&a)), (4, 1, 0));
                assert_eq!(count.load(Ordering::SeqCst), 0);
                drop((a, b, w));
                assert_eq!(count.load(Ordering::SeqCst), 2);
            }

            #[test]
            fn raw_pointers_come_back() {
                #[derive(Clone, Copy, PartialEq, Debug)]
                #[repr(align(64))]
                struct Wide(u8);
                let a = Arc::new(Wide(7));
                let w = Arc::downgrade(&a);
                let raw = Arc::into_raw(a);
                assert!(raw.is_aligned());
                assert_eq!((raw, w.as_ptr()), (w.as_ptr(), w.clone().into_raw()));
                // SAFETY: the pointers are from `into_raw`, and each is taken back once.
                unsafe {
                    assert_eq!(*raw, Wide(7));
                    Arc::increment_strong_count(raw);
                    assert_eq!(w.strong_count(), 2);
                    Arc::decrement_strong_count(raw);
                    drop(Weak::from_raw(w.as_ptr()));
                    drop(Arc::from_raw(raw));
                    let again = Weak::from_raw(w.into_raw());
                    assert!(again.upgrade().is_none());
                    let nowhere = Weak::from_raw(Weak::<Wide>::new().into_raw());
                    assert!(nowhere.ptr_eq(&Weak::new()) && !nowhere.ptr_eq(&again));
                }
            }

            #[test]
            fn a_weak_of_nothing_is_a_constant() {
                static NOTHING: Weak<u8> = Weak::new();
                let other = NOTHING.clone();
                assert!(other.upgrade().is_none() && Weak::<u8>::default().ptr_eq(&other));
                assert_eq!((other.strong_count(), other.weak_count()), (0, 0));
                assert_eq!(format!("{other:?}"), "(Weak)");
            }

            #[test]
            fn contents_may_refer_to_themselves() {
                struct Node(Weak<Node>, u8);
                let node = Arc::new_cyclic(|me| {
                    assert!(me.upgrade().is_none());
                    assert_eq!((me.strong_count(), me.weak_count()), (0, 0));
                    Node(me.clone(), 3)
                });
                assert_eq!((Arc::strong_count(&node), Arc::weak_count(&node)), (1, 1));
                assert_eq!(node.0.upgrade().expect("it lives").1, 3);
                let mut kept = None;
                let panicked = catch_unwind(AssertUnwindSafe(|| {
                    Arc::<u8>::new_cyclic(|me| {
                        kept = Some(me.clone());
                        std::panic::resume_unwind(Box::new(()))
                    })
                }));
                assert!(panicked.is_err() && kept.expect("it was set").upgrade().is_none());
            }

            #[test]
            fn contents_that_panic_are_gone() {
                struct Panics;
                impl Drop for Panics {
                    fn drop(&mut self) {
                        std::panic::resume_unwind(Box::new(()));
                    }
                }
                let a = Arc::new(Panics);
                let w = Arc::downgrade(&a);
                catch_unwind(AssertUnwindSafe(|| drop(a))).expect_err("it panics");
                assert!(w.upgrade().is_none());
            }

            #[test]
            fn slices_and_strings() {
                let count = AtomicUsize::new(0);
                let slice: Arc<[_]> = (0..3).map(|_| Dropped(&count)).collect();
                assert_eq!((slice.len(), count.load(Ordering::SeqCst)), (3, 0));
                let array = Arc::<[_; 3]>::try_from(slice).ok().expect("there are 3");
                drop(array);
                assert_eq!(count.load(Ordering::SeqCst), 3);
                assert!(Arc::<[u8; 2]>::try_from(Arc::<[u8]>::from([1])).is_err());
                let text = Arc::<str>::from(String::from("text"));
                assert_eq!((&*text, &*Arc::<[u8]>::from(text.clone())), ("text", &b"text"[..]));
                assert_eq!(*Arc::<[u16]>::default(), []);
                assert_eq!(Arc::<[u16]>::from(&[1, 2][..]), vec![1, 2].into());
                let mut room = Arc::<[u64]>::new_uninit_slice(2);
                for place in Arc::get_mut(&mut room).expect("it is new") {
                    place.write(9);
                }
                // SAFETY: all is written.
                assert_eq!(&*unsafe { room.assume_init() }, [9, 9]);
            }

            #[cfg(std_since = "1.92")]
            #[test]
            fn it_can_be_made_of_zeros() {
                // SAFETY: 0 is a number.
                let zeros = unsafe { Arc::<[u64]>::new_zeroed_slice(2).assume_init() };
                assert_eq!(&*zeros, [0, 0]);
                // SAFETY: 0 is a number.
                assert_eq!(*unsafe { Arc::<u32>::new_zeroed().assume_init() }, 0);
            }

            #[test]
            fn it_can_what_its_contents_can() {
                let (a, b) = (Arc::new(1), Arc::from(Box::new(2)));
                assert!(a < b && a == a.clone() && a.max(b.clone()) == b);
                assert_eq!(format!("{b} {b:?} {:p}", b), format!("2 2 {:p}", Arc::as_ptr(&b)));
                assert!(HashSet::from([b]).contains(&2));
                let pinned: Pin<Arc<u8>> = Arc::pin(4);
                assert_eq!((*pinned, Arc::<u8>::default().as_ref()), (4, &0));
            }

            #[test]
            fn threads_clone_upgrade_and_drop() {
                let count = AtomicUsize::new(0);
                for round in 1..=200 {
                    let a = Arc::new(Dropped(&count));
                    thread::scope(|scope| {
                        for _ in 0..3 {
                            let (a, w) = (a.clone(), Arc::downgrade(&a));
                            scope.spawn(move || drop(a));
                            scope.spawn(move || {
                                let before = w.upgrade().map(|a| a.0.load(Ordering::SeqCst));
                                assert!(before.is_none_or(|before| before == round - 1));
                                drop(w.clone());
                            });
                        }
                        drop(a);
                    });
                    assert_eq!(count.load(Ordering::SeqCst), round);
                }
            }

            #[test]
            fn one_of_many_gets_the_contents() {
                for _ in 0..200 {
                    let a = Arc::new(1);
                    let got = thread::scope(|scope| {
                        let others = [a.clone(), a.clone(), a].map(|a| {
                            scope.spawn(move || Arc::into_inner(a).unwrap_or(0))
                        });
                        others.map(|other| other.join().expect("it does not panic"))
                    });
                    assert_eq!(got.iter().sum::<i32>(), 1);
                }
            }
        }
    };
}

behaves!(ours: crate::sync::arc);
behaves!(theirs: std::sync);

#[test]
fn auto_traits_variance_and_size_are_as_of_std() {
    fn traits<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe>() {}
    fn unpin<T: Unpin>() {}
    fn shorter<'a>(long: (Arc<&'static str>, Weak<&'static str>)) -> (Arc<&'a str>, Weak<&'a str>) {
        long
    }
    traits::<(Arc<u8>, Weak<u8>)>();
    unpin::<(Arc<std::marker::PhantomPinned>, Weak<std::marker::PhantomPinned>)>();
    assert_eq!(size_of::<Option<Arc<u8>>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<Weak<str>>>(), 2 * size_of::<usize>());
    assert_eq!(*shorter((Arc::new("a"), Weak::new())).0, "a");
}

#[test]
fn unsized_types_are_reached_through_raw_pointers() {
    let count = AtomicUsize::new(0);
    let shown = Arc::into_raw(Arc::new(5u8)) as *const (dyn Any + Send + Sync);
    let weak = Weak::<u8>::new().into_raw() as *const dyn Display;
    // SAFETY: the pointers are from `into_raw`, coerced to unsized types.
    let (any, weak) = unsafe { (Arc::from_raw(shown), Weak::from_raw(weak)) };
    let any = any.downcast::<u16>().expect_err("it is another type");
    assert_eq!(*any.downcast::<u8>().expect("it is this type"), 5);
    assert!(weak.upgrade().is_none());

    trait Nothing {}
    impl Nothing for Dropped<'_> {}
    let raw = Arc::into_raw(Arc::new(Dropped(&count))) as *const dyn Nothing;
    // SAFETY: as above.
    let object = unsafe { Arc::from_raw(raw) };
    let weak = Arc::downgrade(&object);
    drop(object);
    assert_eq!(count.load(Ordering::SeqCst), 1);
    // SAFETY: the pointer is from `into_raw`.
    assert!(unsafe { Weak::from_raw(weak.into_raw()) }.upgrade().is_none());
}

#[test]
fn errors_pass_through() {
    fn source(error: &dyn std::error::Error) -> impl Debug {
        error.source().map(ToString::to_string)
    }
    let inner = "x".parse::<u8>().expect_err("it is no number");
    let outer = std::io::Error::other(inner);
    assert_eq!(format!("{:?}", source(&outer)), format!("{:?}", source(&Arc::new(outer))));
}
