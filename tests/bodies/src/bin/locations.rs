//! Accesses in all forms, one a line: the test looks whether each event says its own line.

use std::ptr;

use racelog::sync::{Mutex, RwLock};

struct Words {
    pointer: *mut u32,
}

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
            ptr::write(self.pointer, 1); // access
            std::ptr::write_volatile(self.pointer, 2); // access
            let read = ptr::read(self.pointer); // access
            let turbofish = ptr::read::<u32>(self.pointer); // access
            let argument = same(ptr::read(self.pointer)); // access
            let computed = ptr::read(same(self.pointer).add(0)); // access
            let closure = || ptr::read(self.pointer); // access
            let mut sum = read + turbofish + argument + computed + closure();
            if ptr::read(self.pointer) == 7 { // access
                return None;
            }
            match ptr::read(self.pointer) { // access
                0 => return None,
                _ => sum += 1,
            }
            self.pointer.write(3); // access
            sum += self.pointer.read(); // access
            *self.pointer = 4; // access
            *self.pointer += 5; // access
            sum += *self.pointer; // access
            ptr::replace(self.pointer, 6); // access
            Some(sum + ptr::read(self.pointer)) // access
        }
    }

    fn by_guard(lock: &Mutex<u32>, list: &RwLock<Vec<u32>>) -> u32 {
        *lock.lock().unwrap() = 1; // access
        *lock.lock().unwrap() += 1; // access
        let mut sum = *lock.lock().unwrap(); // access
        sum += same(*lock.lock().unwrap()); // access
        list.write().unwrap().push(1); // access
        list.write().unwrap()[0] = 2; // access
        sum += list.read().unwrap()[0]; // access
        sum += list.read().unwrap().iter().sum::<u32>(); // access
        let closure = || *lock.lock().unwrap(); // access
        sum += closure();
        assert_eq!(*lock.lock().unwrap(), 2); // access
        if *lock.lock().unwrap() == 7 { // access
            return sum;
        }
        match *lock.lock().unwrap() { // access
            0 => return sum,
            _ => sum += 1,
        }
        let guard = lock.lock().unwrap();
        sum += *guard; // access
        drop(guard);
        sum + *lock.lock().unwrap() // access
    }
}

mod in_one_macro {
    racelog::instrument_items! {
        use std::ptr::read;

        use racelog::sync::Mutex;

        pub fn by_guard(lock: &Mutex<u32>) -> u32 {
            *lock.lock().unwrap() += 1; // access
            *lock.lock().unwrap() // access
        }

        pub unsafe fn by_import(pointer: *const u32) -> u32 {
            // SAFETY: the caller promises that it points to a word.
            unsafe { read(pointer) } // access
        }
    }
}

fn main() {
    let mut word = 0;
    let words = Words { pointer: &raw mut word };
    // SAFETY: the word is this thread's.
    assert_eq!(unsafe { words.by_pointer() }, Some(2 * 5 + 1 + 3 + 9 + 6));
    assert_eq!(Words::by_guard(&Mutex::new(0), &RwLock::new(Vec::new())), 15);
    assert_eq!(in_one_macro::by_guard(&Mutex::new(3)), 4);
    // SAFETY: it points to a word.
    assert_eq!(unsafe { in_one_macro::by_import(&raw const word) }, 6);
}
