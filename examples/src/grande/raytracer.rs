//! Spheres are drawn line by line; every thread draws each so many'th line.
//!
//! Each thread makes a scene of its own. When it is done, it adds the brightness of what it has
//! drawn to a sum that all share, under the lock of its scene.
//!
//! Bugs: the scenes are different, and so are their locks: the sum is not guarded, and parts of it
//! get lost. In `raytracer_fixed` the lock belongs to the sum. The lines of the picture are
//! disjoint: no races there.
//!
//! Work: width and height of the picture.

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "raytracer",
    about: "a sum is guarded by locks that each thread has for itself",
    origin: Origin::JavaGrande,
    source: Source { file: file!(), text: include_str!("raytracer.rs") },
    run: |size| run(size, false),
    small: Size::new(2, 2),
    large: Size::new(4, 1_000),
    races: &[
        Race::new("sum-read", "sum-write", Harm::LostUpdate, "another thread's part is lost"),
        Race::new("sum-write", "sum-write", Harm::LostUpdate, "another thread's part is lost"),
    ],
    goals: &[],
    schedule: "random:16",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "raytracer_fixed",
    about: "as `raytracer`, with one lock for all",
    run: |size| run(size, true),
    races: &[],
    ..PROGRAM
};

struct Picture {
    width: usize,
    pixels: Vec<Shared<u8>>,
    sum: Shared<usize>,
    lock: Mutex<()>,
}

/// What there is to see: spheres, each by its place and its radius, in units of the picture.
struct Scene {
    spheres: [(f64, f64, f64); 3],
    lock: Mutex<()>,
}

impl Scene {
    fn new() -> Self {
        let spheres = [(0.2, 0.3, 0.3), (0.6, 0.7, 0.4), (0.9, 0.2, 0.1)];
        Self { spheres, lock: Mutex::new(()) }
    }

    /// How bright the scene is at a place.
    fn trace(&self, x: f64, y: f64) -> u8 {
        let heights = self.spheres.iter().map(|(a, b, radius)| {
            let behind = radius * radius - (x - a).powi(2) - (y - b).powi(2);
            behind.max(0.0).sqrt()
        });
        (heights.fold(0.1, f64::max) * 255.0) as u8
    }
}

fn run(size: &Size, is_common: bool) {
    let picture = Picture {
        width: size.work,
        pixels: (0..size.work * size.work).map(|_| Shared::new(0)).collect(),
        sum: Shared::new(0),
        lock: Mutex::new(()),
    };
    thread::scope(|scope| {
        for me in 0..size.threads {
            let picture = &picture;
            scope.spawn(move || {
                let scene = Scene::new();
                let lines = (me..size.work).step_by(size.threads);
                let sum = lines.map(|y| draw(&scene, picture, y)).sum();
                // The mistake: nobody else has this scene's lock.
                let lock = if is_common { &picture.lock } else { &scene.lock };
                add(picture, lock, sum);
            });
        }
    });
    let sum: usize = picture.pixels.iter().map(|pixel| usize::from(pixel.get())).sum();
    racelog::check!(picture.sum.get() == sum, "all brightness is counted");
}

/// Draws a line; gives how bright it is.
#[racelog::instrument]
fn draw(scene: &Scene, picture: &Picture, y: usize) -> usize {
    let mut sum = 0;
    let unit = 1.0 / picture.width as f64;
    for x in 0..picture.width {
        let brightness = scene.trace(x as f64 * unit, y as f64 * unit);
        picture.pixels[y * picture.width + x].set(brightness);
        sum += usize::from(brightness);
    }
    sum
}

#[racelog::instrument]
fn add(picture: &Picture, lock: &Mutex<()>, part: usize) {
    let _guard = lock.lock().unwrap();
    let sum = picture.sum.get(); // [sum-read]
    picture.sum.set(sum + part); // [sum-write]
}
