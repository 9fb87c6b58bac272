//! What all atomics can do, whatever word they hold.

/// The methods that all atomics have: `$Atomic` is std's type and `$word` what it holds. The
/// attributes are those of `new`.
macro_rules! methods {
    ($(#[$new:meta])* $Atomic:ident holds $word:ty) => {
        #[doc = concat!("As [`std::sync::atomic::", stringify!($Atomic), "::new`].")]
        #[inline]
        $(#[$new])*
        pub const fn new(value: $word) -> Self {
            Self { mark: Mark, inner: std::sync::atomic::$Atomic::new(value) }
        }

        #[doc = concat!("As [`std::sync::atomic::", stringify!($Atomic), "::from_ptr`].")]
        ///
        /// # Safety
        ///
        #[doc = concat!("That of [`std::sync::atomic::", stringify!($Atomic), "::from_ptr`].")]
        #[inline]
        pub const unsafe fn from_ptr<'a>(ptr: *mut $word) -> &'a Self {
            // SAFETY: the layout is that of std's atomic, whose conditions the caller keeps.
            unsafe { &*ptr.cast() }
        }

        #[doc = concat!("As [`std::sync::atomic::", stringify!($Atomic), "::as_ptr`].")]
        #[inline]
        pub const fn as_ptr(&self) -> *mut $word {
            self.inner.as_ptr()
        }

        #[doc = concat!("As [`std::sync::atomic::", stringify!($Atomic), "::get_mut`].")]
        ///
        /// What is written through the reference is noticed at the next recorded access.
        #[track_caller]
        #[inline]
        pub fn get_mut(&mut self) -> &mut $word {
            let word = self.inner.get_mut();
            self.mark.exclusive(*word);
            word
        }

        #[doc = concat!("As [`std::sync::atomic::", stringify!($Atomic), "::into_inner`].")]
        #[inline]
        pub const fn into_inner(self) -> $word {
            // SAFETY: no other thread has the atomic any more.
            let word = unsafe { self.inner.as_ptr().read() };
            // A const function can drop nothing that records. What the recorder knows of the place
            // that the atomic was moved from stays in its table, as with every move.
            std::mem::forget(self);
            word
        }

        #[doc = concat!("As [`std::sync::atomic::", stringify!($Atomic), "::load`].")]
        #[track_caller]
        #[inline]
        pub fn load(&self, order: Ordering) -> $word {
            self.mark.load(order, || self.inner.load(order))
        }

        #[doc = concat!("As [`std::sync::atomic::", stringify!($Atomic), "::store`].")]
        #[track_caller]
        #[inline]
        pub fn store(&self, value: $word, order: Ordering) {
            let current = || self.inner.load(Ordering::Relaxed);
            self.mark.store(value, order, current, || self.inner.store(value, order));
        }

        #[doc = concat!("As [`std::sync::atomic::", stringify!($Atomic), "::swap`].")]
        #[track_caller]
        #[inline]
        pub fn swap(&self, value: $word, order: Ordering) -> $word {
            self.mark.modify(order, || self.inner.swap(value, order), |_| value)
        }

        #[doc = concat!("As [`std::sync::atomic::", stringify!($Atomic), "::compare_and_swap`].")]
        #[deprecated(
            since = "0.1.0",
            note = "Use `compare_exchange` or `compare_exchange_weak` instead"
        )]
        #[track_caller]
        #[inline]
        pub fn compare_and_swap(&self, current: $word, new: $word, order: Ordering) -> $word {
            match self.compare_exchange(current, new, order, on_failure(order)) {
                Ok(found) | Err(found) => found,
            }
        }

        #[doc = concat!("As [`std::sync::atomic::", stringify!($Atomic), "::compare_exchange`].")]
        #[track_caller]
        #[inline]
        pub fn compare_exchange(
            &self,
            current: $word,
            new: $word,
            success: Ordering,
            failure: Ordering,
        ) -> Result<$word, $word> {
            let strong = || self.inner.compare_exchange(current, new, success, failure);
            self.mark.compare_exchange(new, success, failure, strong, strong)
        }

        #[doc = concat!(
            "As [`std::sync::atomic::", stringify!($Atomic), "::compare_exchange_weak`]."
        )]
        ///
        /// Where it is recorded it does not fail spuriously.
        #[track_caller]
        #[inline]
        pub fn compare_exchange_weak(
            &self,
            current: $word,
            new: $word,
            success: Ordering,
            failure: Ordering,
        ) -> Result<$word, $word> {
            let strong = || self.inner.compare_exchange(current, new, success, failure);
            let weak = || self.inner.compare_exchange_weak(current, new, success, failure);
            self.mark.compare_exchange(new, success, failure, strong, weak)
        }

        #[doc = concat!("As [`std::sync::atomic::", stringify!($Atomic), "::fetch_update`].")]
        ///
        /// It is recorded as the load and the compare-exchanges that it is made of.
        #[track_caller]
        #[inline]
        pub fn fetch_update<F>(
            &self,
            set_order: Ordering,
            fetch_order: Ordering,
            mut f: F,
        ) -> Result<$word, $word>
        where
            F: FnMut($word) -> Option<$word>,
        {
            let mut found = self.load(fetch_order);
            while let Some(new) = f(found) {
                match self.compare_exchange_weak(found, new, set_order, fetch_order) {
                    Ok(old) => return Ok(old),
                    Err(seen) => found = seen,
                }
            }
            Err(found)
        }

        #[doc = concat!("As [`std::sync::atomic::", stringify!($Atomic), "::try_update`].")]
        ///
        /// It is recorded as the load and the compare-exchanges that it is made of.
        #[cfg(std_since = "1.95")]
        #[track_caller]
        #[inline]
        pub fn try_update(
            &self,
            set_order: Ordering,
            fetch_order: Ordering,
            f: impl FnMut($word) -> Option<$word>,
        ) -> Result<$word, $word> {
            self.fetch_update(set_order, fetch_order, f)
        }

        #[doc = concat!("As [`std::sync::atomic::", stringify!($Atomic), "::update`].")]
        ///
        /// It is recorded as the load and the compare-exchanges that it is made of.
        #[cfg(std_since = "1.95")]
        #[track_caller]
        #[inline]
        pub fn update(
            &self,
            set_order: Ordering,
            fetch_order: Ordering,
            mut f: impl FnMut($word) -> $word,
        ) -> $word {
            let mut found = self.load(fetch_order);
            loop {
                match self.compare_exchange_weak(found, f(found), set_order, fetch_order) {
                    Ok(old) => return old,
                    Err(seen) => found = seen,
                }
            }
        }
    };
}

/// Methods that change the word to a function of what it was and an operand:
/// `name(operand: type) |old| new`.
macro_rules! fetches {
    ($Atomic:ident holds $word:ty;
        $($fetch:ident($($operand:ident: $type:ty)?) |$old:ident| $new:expr;)*) => {$(
        #[doc = concat!("As [`std::sync::atomic::", stringify!($Atomic), "::", stringify!($fetch), "`].")]
        #[track_caller]
        #[inline]
        pub fn $fetch(&self, $($operand: $type,)? order: Ordering) -> $word {
            let fetch = || self.inner.$fetch($($operand,)? order);
            self.mark.modify(order, fetch, |$old: $word| $new)
        }
    )*};
}

pub(super) use {fetches, methods};
