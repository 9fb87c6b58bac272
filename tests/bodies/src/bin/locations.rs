//! Accesses in all forms: the test looks whether each event says its own line and column. Comments
//! at the ends of lines say where, by the text that stands there.

use std::ptr;

use racelog::cell::{Shared, UnsafeCell};
use racelog::sync::atomic::{AtomicU32, Ordering::SeqCst};
use racelog::sync::{Mutex, RwLock};

struct Words {
    pointer: *mut u32,
}

struct Point {
    x: u32,
    y: [u32; 2],
}

static mut COUNT: u32 = 0;

fn same<T>(value: T) -> T {
    value
}

#[racelog::instrument]
impl Words {
    /// # Safety
    ///
    /// The pointer points to a word that is this thread's.
    unsafe fn by_pointer(&self) -> Option<u32> {
        // SAFETY: the caller promises it.
        unsafe {
            ptr::write(self.pointer, 1); // at: ptr::write
            std::ptr::write_volatile(self.pointer, 2); // at: std::ptr
            let read = ptr::read(self.pointer); // at: ptr::read
            let turbofish = ptr::read::<u32>(self.pointer); // at: ptr::read
            let argument = same(ptr::read(self.pointer)); // at: ptr::read
            let computed = ptr::read(same(self.pointer).add(0)); // at: ptr::read
            let closure = || ptr::read(self.pointer); // at: ptr::read
            let mut sum = read + turbofish + argument + computed + closure();
            if ptr::read(self.pointer) == 7 { // at: ptr::read
                return None;
            }
            match ptr::read(self.pointer) { // at: ptr::read
                0 => return None,
                _ => sum += 1,
            }
            self.pointer.write(3); // at: write
            sum += self.pointer.read(); // at: read
            *self.pointer = 4; // at: *self
            *self.pointer += 5; // at: *self
            sum += *self.pointer; // at: *self
            ptr::replace(self.pointer, 6); // at: ptr::replace
            let other = same(self.pointer).read(); // at: read
            sum += *same(self.pointer) + other; // at: *same
            *same(self.pointer) = 6; // at: *same
            Some(sum + ptr::read(self.pointer)) // at: ptr::read
        }
    }

    fn by_guard(lock: &Mutex<u32>, list: &RwLock<Vec<u32>>) -> u32 {
        *lock.lock().unwrap() = 1; // at: *lock
        *lock.lock().unwrap() += 1; // at: *lock
        let mut sum = *lock.lock().unwrap(); // at: *lock
        sum += same(*lock.lock().unwrap()); // at: *lock
        list.write().unwrap().push(1); // at: write()
        list.write().unwrap()[0] = 2; // at: write()
        sum += list.read().unwrap()[0]; // at: read()
        sum += list.read().unwrap().iter().sum::<u32>(); // at: iter()
        let closure = || *lock.lock().unwrap(); // at: *lock
        sum += closure();
        assert_eq!(*lock.lock().unwrap(), 2); // at: *lock
        if *lock.lock().unwrap() == 7 { // at: *lock
            return sum;
        }
        match *lock.lock().unwrap() { // at: *lock
            0 => return sum,
            _ => sum += 1,
        }
        let mut guard = lock.lock().unwrap();
        sum += *guard; // at: *guard
        *guard *= 1; // at: *guard
        *guard = same(*guard); // at: *guard, *guard)
        let both = (*guard, 2 + *guard); // at: *guard, *guard)
        sum += both.0 + both.1;
        drop(guard);
        sum + *lock.lock().unwrap() // at: *lock
    }

    /// # Safety
    ///
    /// The point is this thread's.
    unsafe fn by_place(point: *mut Point, list: *mut Vec<u32>) -> u32 {
        // SAFETY: the caller promises it.
        unsafe {
            (*point).x = 1; // at: (*point
            (*point).x += 1; // at: (*point
            let mut sum = (*point).x; // at: (*point
            (*point).y[1] = 3; // at: (*point
            sum += (*point).y[1]; // at: (*point
            let reference = &mut (*point).x; // at: (*point
            *reference += 1;
            let shared = &(*point).y; // at: (*point
            sum += shared[0];
            (*list).push(4); // at: (*list
            sum += (*list).len() as u32; // at: (*list
            COUNT = 1; // at: COUNT
            COUNT += 1; // at: COUNT
            sum + COUNT // at: COUNT
        }
    }

    /// # Safety
    ///
    /// The words are this thread's.
    unsafe fn by_many(words: *mut u32, option: *mut Option<u32>) -> u32 {
        // SAFETY: the caller promises it.
        unsafe {
            ptr::copy(words, words.add(1), 1); // at: ptr::copy
            ptr::swap(words, words.add(1)); // at: ptr::swap
            words.write_bytes(0, 1); // at: write_bytes
            words.copy_to(words.add(1), 1); // at: copy_to
            let slice = std::slice::from_raw_parts(words, 1); // at: std::slice
            let mut sum = slice[0];
            if let Some(word) = *option { // at: *option
                sum += word;
            }
            match *option { // at: *option
                Some(ref word) => sum += word,
                None => return 0,
            }
            let Some(word) = *option else { return 0 }; // at: *option
            assert_eq!(*words, 0, "{}", *words.add(1)); // at: *words
            let text = format!("{} {word}", *words); // at: *words
            let all = vec![*words, 2]; // at: *words
            same(option);
            while *words == 0 { // at: *words
                *words = 1; // at: *words
            }
            sum + all[1] + text.len() as u32
        }
    }

    fn by_operation(shared: &Shared<u32>, atomic: &AtomicU32, cell: &UnsafeCell<u32>) -> u32 {
        shared.set(1); // at: set
        let both = shared.get() + shared.get(); // at: get() +, get();
        atomic.store(2, SeqCst); // at: store
        let sum = both + atomic.fetch_add(shared.get(), SeqCst); // at: fetch_add, get()
        // SAFETY: the cell is this thread's.
        unsafe {
            *cell.get() = 5; // at: *cell
            *cell.get() += 1; // at: *cell
            sum + *cell.get() // at: *cell
        }
    }
}

mod in_one_macro {
    racelog::instrument_items! {
        use std::ptr::read;

        use racelog::sync::Mutex;

        pub fn by_guard(lock: &Mutex<u32>) -> u32 {
            *lock.lock().unwrap() += 1; // at: *lock
            *lock.lock().unwrap() // at: *lock
        }

        pub unsafe fn by_import(pointer: *const u32) -> u32 {
            // SAFETY: the caller promises that it points to a word.
            unsafe { read(pointer) } // at: read
        }
    }
}

fn main() {
    let mut word = 0;
    let words = Words { pointer: &raw mut word };
    let (mut point, mut list) = (Point { x: 0, y: [0; 2] }, Vec::new());
    let (mut many, mut option) = ([7u32, 8], Some(1));
    // SAFETY: all of it is this thread's.
    unsafe {
        words.by_pointer();
        Words::by_place(&raw mut point, &raw mut list);
        Words::by_many((&raw mut many).cast(), &raw mut option);
        in_one_macro::by_import(&raw const word);
    }
    Words::by_guard(&Mutex::new(0), &RwLock::new(Vec::new()));
    Words::by_operation(&Shared::new(0), &AtomicU32::new(0), &UnsafeCell::new(0));
    in_one_macro::by_guard(&Mutex::new(3));
}
