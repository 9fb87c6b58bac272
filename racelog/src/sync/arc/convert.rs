//! Conversions to and from [`Arc`].

use std::borrow::Cow;
use std::mem::MaybeUninit;

use super::Arc;

impl<T> From<T> for Arc<T> {
    fn from(data: T) -> Self {
        Self::new(data)
    }
}

impl<T> From<Box<T>> for Arc<T> {
    fn from(data: Box<T>) -> Self {
        Self::new(*data)
    }
}

impl<T> From<Vec<T>> for Arc<[T]> {
    fn from(mut data: Vec<T>) -> Self {
        let slice = Self::new_uninit_slice(data.len());
        // SAFETY: the slice is new and has room for them all; the vector loses what is moved.
        unsafe {
            let start = slice.share.value().cast::<MaybeUninit<T>>().cast::<T>();
            start.copy_from_nonoverlapping(data.as_ptr(), data.len());
            data.set_len(0);
            slice.assume_init()
        }
    }
}

impl<T> From<Box<[T]>> for Arc<[T]> {
    fn from(data: Box<[T]>) -> Self {
        data.into_vec().into()
    }
}

impl<T: Clone> From<&[T]> for Arc<[T]> {
    fn from(data: &[T]) -> Self {
        data.to_vec().into()
    }
}

impl<T: Clone> From<&mut [T]> for Arc<[T]> {
    fn from(data: &mut [T]) -> Self {
        data.to_vec().into()
    }
}

impl<T, const N: usize> From<[T; N]> for Arc<[T]> {
    fn from(data: [T; N]) -> Self {
        let array: *const [T; N] = Arc::into_raw(Arc::new(data));
        // SAFETY: the pointer is from `into_raw`; the slice is the same memory.
        unsafe { Self::from_raw(array as *const [T]) }
    }
}

impl<T, const N: usize> TryFrom<Arc<[T]>> for Arc<[T; N]> {
    type Error = Arc<[T]>;

    fn try_from(slice: Arc<[T]>) -> Result<Self, Arc<[T]>> {
        if slice.len() == N {
            // SAFETY: the pointer is from `into_raw`; the array is the same memory.
            Ok(unsafe { Self::from_raw(Arc::into_raw(slice).cast::<[T; N]>()) })
        } else {
            Err(slice)
        }
    }
}

impl<T> FromIterator<T> for Arc<[T]> {
    fn from_iter<I: IntoIterator<Item = T>>(iter: I) -> Self {
        iter.into_iter().collect::<Vec<T>>().into()
    }
}

impl From<&str> for Arc<str> {
    fn from(data: &str) -> Self {
        let bytes = Arc::<[u8]>::from(data.as_bytes());
        // SAFETY: the pointer is from `into_raw`; the bytes are those of a `str`.
        unsafe { Self::from_raw(Arc::into_raw(bytes) as *const str) }
    }
}

impl From<&mut str> for Arc<str> {
    fn from(data: &mut str) -> Self {
        Self::from(&*data)
    }
}

impl From<String> for Arc<str> {
    fn from(data: String) -> Self {
        Self::from(&*data)
    }
}

impl From<Box<str>> for Arc<str> {
    fn from(data: Box<str>) -> Self {
        Self::from(&*data)
    }
}

impl From<Arc<str>> for Arc<[u8]> {
    fn from(data: Arc<str>) -> Self {
        // SAFETY: the pointer is from `into_raw`; a `str` is bytes.
        unsafe { Self::from_raw(Arc::into_raw(data) as *const [u8]) }
    }
}

impl<'a, B> From<Cow<'a, B>> for Arc<B>
where
    B: ?Sized + ToOwned,
    Arc<B>: From<&'a B> + From<B::Owned>,
{
    fn from(data: Cow<'a, B>) -> Self {
        match data {
            Cow::Borrowed(data) => Self::from(data),
            Cow::Owned(data) => Self::from(data),
        }
    }
}

impl<T: Default> Default for Arc<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl Default for Arc<str> {
    fn default() -> Self {
        Self::from("")
    }
}

impl<T> Default for Arc<[T]> {
    fn default() -> Self {
        Self::from([])
    }
}
