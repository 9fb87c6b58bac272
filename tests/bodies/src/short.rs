//! Short bodies of many kinds, of both editions: `edition-2021` builds this file alone.

#![allow(
    dead_code,
    missing_docs,
    dangerous_implicit_autorefs,
    unsafe_op_in_unsafe_fn,
    clippy::missing_safety_doc,
    clippy::not_unsafe_ptr_arg_deref,
    clippy::unused_io_amount,
    reason = "they are there to be compiled"
)]

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::rc::Rc;
use std::sync::Arc;

/// All of them.
#[cfg_attr(feature = "instrumented", racelog::instrument)]
pub mod short {
    use super::*;

    fn fail() -> ! {
        panic!("x")
    }
    macro_rules! bail {
        ($e:expr) => {
            return Err($e)
        };
    }

    pub fn never(x: Option<u32>) -> u32 {
        let y = x.unwrap_or_else(|| fail());
        if y > 3 {
            fail()
        }
        match y {
            0 => fail(),
            n => n,
        }
    }
    pub fn bails(x: u32) -> Result<u32, String> {
        if x == 3 {
            bail!("no".to_string());
        }
        let y = match x {
            1 => bail!(String::new()),
            n => n,
        };
        Ok(y)
    }
    pub fn io(mut r: impl Read, w: &mut dyn Write) -> std::io::Result<usize> {
        let mut buf = [0u8; 16];
        let n = r.read(&mut buf)?;
        w.write(&buf[..n])?;
        w.write_all(b"x")?;
        let mut s = String::new();
        write!(s, "{}", n).unwrap();
        writeln!(w, "{s}")?;
        Ok(n)
    }
    pub fn entry<'a>(m: &'a mut HashMap<String, Vec<u32>>, k: &str) -> &'a mut Vec<u32> {
        if let Some(v) = m.get("a") {
            let _ = v.len();
        }
        m.entry(k.to_owned()).or_insert_with(Vec::new)
    }
    pub fn iters(v: &[u32]) -> Vec<String> {
        v.iter()
            .copied()
            .filter(|x| x % 2 == 0)
            .map(|x| x.to_string())
            .chain(std::iter::once("a".into()))
            .collect()
    }
    pub fn folds(v: Vec<(u32, String)>) -> BTreeMap<u32, String> {
        v.into_iter().fold(BTreeMap::new(), |mut m, (k, s)| {
            m.insert(k, s);
            m
        })
    }
    pub fn sort(v: &mut Vec<(u32, String)>) {
        v.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
        v.sort_by_key(|x| x.0);
        v.dedup_by(|a, b| a == b);
        v.retain(|(n, _)| *n > 1);
    }
    pub fn reborrow(x: &mut Vec<u32>) -> usize {
        fn take(v: &mut Vec<u32>) -> usize {
            v.push(1);
            v.len()
        }
        let a = take(x);
        let b = take(x);
        a + b
    }
    pub fn into_generic<T: Into<String>>(t: T) -> String {
        let s: String = t.into();
        s
    }
    pub fn parse(s: &str) -> Result<i64, std::num::ParseIntError> {
        s.trim().parse::<i64>().map(|x| x + 1)
    }
    pub fn turbofish() -> usize {
        std::mem::size_of::<u32>() + Vec::<u8>::with_capacity(3).capacity()
    }
    pub fn strings<'a>(a: &'a str, b: &'a str) -> &'a str {
        if a.len() > b.len() {
            a
        } else {
            b
        }
    }
    pub fn slices(v: &[u32]) -> u32 {
        match v {
            [] => 0,
            [one] => *one,
            [first, .., last] => first + last,
        }
    }
    pub fn nested(o: Option<Option<Box<u32>>>) -> Option<u32> {
        match o {
            Some(Some(b)) => Some(*b),
            _ => None,
        }
    }
    pub fn boxed(b: Box<(String, u32)>) -> String {
        let (s, _) = *b;
        s
    }
    pub fn moves(s: String) -> impl FnOnce() -> String {
        move || s
    }
    pub fn muts() -> impl FnMut() -> u32 {
        let mut n = 0;
        move || {
            n += 1;
            n
        }
    }
    pub fn calls(f: &mut dyn FnMut(u32) -> u32, g: fn(u32) -> u32, h: impl Fn() -> u32) -> u32 {
        let a = f(1);
        let b = g(2);
        a + b + h()
    }
    pub fn field_fn(s: &S) -> u32 {
        (s.f)(3) + (s.g)()
    }
    pub struct S {
        pub f: fn(u32) -> u32,
        pub g: Box<dyn Fn() -> u32>,
    }
    pub fn dynamic(x: &dyn std::any::Any) -> Option<&u32> {
        x.downcast_ref::<u32>()
    }
    pub fn rc(x: &Rc<Vec<u32>>) -> usize {
        let y = Rc::clone(x);
        y.len() + x.iter().count()
    }
    pub fn arcs(x: Arc<std::sync::Mutex<u32>>) -> u32 {
        let mut g = x.lock().unwrap();
        *g += 1;
        let v = *g;
        drop(g);
        v
    }
    pub fn ops(a: f64, b: f64) -> f64 {
        -a * b % 3.0 + (a - b).abs().sqrt().max(1.0)
    }
    pub fn shadow(x: u32) -> u32 {
        let x = x + 1;
        let x = {
            let x = x * 2;
            x - 1
        };
        x
    }
    pub fn ranges(v: &[u8]) -> usize {
        v[1..].len() + v[..=2].len() + v[..].len() + (0..10).rev().step_by(2).count()
    }
    pub fn labels() -> u32 {
        'a: loop {
            let mut i = 0;
            loop {
                i += 1;
                if i == 3 {
                    continue 'a;
                }
                if i > 5 {
                    break 'a i;
                }
                if i == 2 {
                    i = 10
                }
            }
        }
    }
    pub fn refs(v: &mut [u32]) {
        for x in v.iter_mut() {
            *x += 1;
        }
        let (a, b) = v.split_at_mut(1);
        a[0] = b[0];
        std::mem::swap(&mut a[0], &mut b[0]);
    }
    pub fn question(o: Option<&str>) -> Option<usize> {
        let n = o?.split(',').next()?.len();
        (n > 0).then_some(n)
    }
    pub fn statics() -> &'static str {
        static A: &str = "a";
        const B: &[&str] = &["b"];
        if A.len() > 1 {
            A
        } else {
            B[0]
        }
    }
    pub fn promoted() -> &'static Option<u32> {
        &Some(3)
    }
    pub fn promoted2() -> &'static [u32] {
        &[1, 2, 3 * 4]
    }
    pub fn unit() {
        let () = ();
        let _ = 3;
        _ = 4;
    }
    pub fn tuple_assign(mut a: u32, mut b: u32) -> u32 {
        (a, b) = (b, a);
        [a, _] = [1, 2];
        a + b
    }
    pub fn if_chain(x: u32) -> &'static str {
        if x < 1 {
            "a"
        } else if x < 2 {
            "b"
        } else {
            "c"
        }
    }
    pub fn while_let(mut it: impl Iterator<Item = u32>) -> u32 {
        let mut s = 0;
        while let Some(x) = it.next() {
            if x == 3 {
                continue;
            }
            s += x;
        }
        s
    }
    pub fn matches_(x: Option<u32>) -> bool {
        matches!(x, Some(n) if n > 3) && !matches!(x, None)
    }
    pub fn let_else(x: Option<(u32, u32)>) -> u32 {
        let Some((a, b)) = x else { return 0 };
        a * b
    }
    pub fn generic_const<const N: usize>(a: [u32; N]) -> usize {
        let b = [0u8; N];
        a.len() + b.len() + N
    }
    pub fn async_like() -> Box<dyn FnOnce(u32) -> Box<dyn Fn() -> u32>> {
        Box::new(|x| Box::new(move || x))
    }
    pub fn sum<T>(items: &[T]) -> T
    where
        T: Copy + std::ops::Add<Output = T> + Default,
    {
        let mut t = T::default();
        for i in items {
            t = t + *i;
        }
        t
    }
    pub fn closure_ref(v: &[String]) -> Option<&String> {
        v.iter().max_by_key(|s| s.len())
    }
    pub fn chars(s: &str) -> String {
        s.chars().map(|c| if c.is_ascii() { c.to_ascii_uppercase() } else { c }).collect::<String>()
    }
    pub fn struct_update(p: P) -> P {
        let x = 5;
        P { x, ..p }
    }
    #[derive(Clone, Default, Debug, PartialEq, PartialOrd)]
    pub struct P {
        pub x: u32,
        pub y: String,
    }
    impl P {
        pub fn with(mut self, y: &str) -> Self {
            self.y = y.to_owned();
            self
        }
        pub fn y(&self) -> &str {
            &self.y
        }
        pub fn y_mut(&mut self) -> &mut String {
            &mut self.y
        }
    }
    impl std::ops::Index<usize> for P {
        type Output = u32;
        fn index(&self, _: usize) -> &u32 {
            &self.x
        }
    }
    impl std::fmt::Display for P {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "{}", self.x)?;
            f.debug_struct("P").field("x", &self.x).finish()
        }
    }
    impl Iterator for P {
        type Item = u32;
        fn next(&mut self) -> Option<u32> {
            if self.x == 0 {
                None
            } else {
                self.x -= 1;
                Some(self.x)
            }
        }
    }
    impl Drop for Guard<'_> {
        fn drop(&mut self) {
            self.0.push(1);
        }
    }
    pub struct Guard<'a>(pub &'a mut Vec<u32>);
    pub trait T {
        fn a(&self) -> u32;
        fn b(&self) -> u32 {
            self.a() + 1
        }
        fn c() -> Self
        where
            Self: Sized;
    }
    impl T for u32 {
        fn a(&self) -> u32 {
            *self
        }
        fn c() -> Self {
            3
        }
    }
    pub fn assoc<X: T>() -> u32 {
        X::c().b() + <u32 as T>::c()
    }
    pub fn char_match(c: char) -> u8 {
        match c {
            'a'..='z' => 1,
            'A' | 'B' => 2,
            x if x.is_numeric() => 3,
            _ => 4,
        }
    }
    pub fn bind(x: Option<u32>) -> u32 {
        match x {
            Some(n @ 1..=5) => n,
            Some(n) if n > 100 || n == 50 => n / 2,
            Some(_) | None => 0,
        }
    }
    pub fn ref_mut(o: &mut Option<String>) -> usize {
        if let Some(s) = o.as_mut() {
            s.push('a');
        }
        match *o {
            Some(ref mut s) => {
                s.push('b');
                s.len()
            }
            None => 0,
        }
    }
    pub fn deref(s: &mut Box<Vec<u32>>) -> u32 {
        (**s).push(1);
        let r = &mut **s;
        r[0] = 2;
        s[0] += 3;
        (*s)[0]
    }
    pub unsafe fn raw(p: *mut P, q: *const [u32], r: *mut *mut u32) -> u32 {
        (*p).x = 1;
        (*p).y = String::new();
        let y = &(*p).y;
        let n = y.len();
        let m = (*q).len();
        let z = (&(*q))[0];
        **r = 5;
        *(*r).add(1) = 6;
        let k = **r;
        (*p).y.push('a');
        std::ptr::swap(*r, (*r).add(1));
        let w = std::ptr::addr_of!((*p).x);
        let v = *w;
        if !(*r).is_null() && *(*r) > 3 {
            (*p).x += 1
        }
        let P { x, .. } = &*p;
        let x = *x;
        match &mut *p {
            P { x, y } => {
                *x += 1;
                y.clear();
            }
        }
        if let Some(c) = (*p).y.chars().next() {
            drop(c)
        }
        while (*p).x > 3 {
            (*p).x -= 1;
        }
        for c in (*p).y.chars() {
            drop(c)
        }
        let b = Box::from_raw(p);
        let o = *b;
        o.x + n as u32 + m as u32 + z + k + v + x
    }
    pub fn cellular(c: &std::cell::UnsafeCell<Vec<u32>>, d: &std::cell::Cell<u32>) -> u32 {
        unsafe {
            (*c.get()).push(1);
            (*c.get())[0] = 2;
            (&mut *c.get()).clear();
            let v = &mut *c.get();
            v.push(3);
            d.set(d.get() + 1);
            let l = (*c.get()).len() as u32;
            l + (*c.get())[0] + d.get()
        }
    }
    pub fn transmutes(x: u32) -> f32 {
        unsafe { std::mem::transmute::<u32, f32>(x) }
    }
    pub fn slices_raw(p: *const u8, n: usize) -> u8 {
        let s = unsafe { std::slice::from_raw_parts(p, n) };
        s.iter().fold(0, |a, b| a ^ b)
    }
}
