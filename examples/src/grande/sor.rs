//! Successive over-relaxation: a grid is smoothed in sweeps, each thread a block of rows.
//!
//! A row is computed from its neighbours, first all even rows, then all odd ones.
//!
//! - `sor`: a barrier stands after each half of a sweep. Race-free.
//! - `sor_counters`: each thread says in a plain counter how far it is, and looks at its
//!   neighbours' instead. The counters race. Through them every schedule orders the accesses of
//!   rows, but the memory model does not: rows at the border of two blocks race as well.
//!
//! Work: rows of each thread. Each has two cells.

use racelog::cell::Shared;
use racelog::sync::Barrier;
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

/// Cells of a row.
const WIDTH: usize = 2;

/// Sweeps over the grid.
const SWEEPS: usize = 1;

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "sor",
    about: "a grid is smoothed in half-sweeps that a barrier separates: race-free",
    origin: Origin::JavaGrande,
    source: Source { file: file!(), text: include_str!("sor.rs") },
    run: |size| {
        let barrier = Barrier::new(size.threads);
        run(size, &|_, _| _ = barrier.wait());
    },
    small: Size::new(2, 2),
    large: Size::new(4, 250_000),
    races: &[],
    goals: &[],
    schedule: "random:1",
    hangs: None,
};

/// What is said of the variant without a barrier.
pub static COUNTERS: Program = Program {
    name: "sor_counters",
    about: "as `sor`, but neighbours wait for each other by plain counters",
    run: |size| {
        let done: Vec<Shared<usize>> = (0..size.threads).map(|_| Shared::new(0)).collect();
        run(size, &|me, half| wait_for_neighbours(&done, me, half));
    },
    races: &[
        Race::new("done-write", "done-read", Harm::Benign, "the neighbour looks again"),
        Race::new("cell-write", "cell-read", Harm::StaleRead, "a counter may overtake it").weak(),
    ],
    ..PROGRAM
};

/// What a thread does after a half of a sweep: it is told which thread it is, and how many halves
/// are done.
type Wait<'a> = &'a (dyn Fn(usize, usize) + Sync);

type Grid = Vec<[Shared<f64>; WIDTH]>;

fn run(size: &Size, wait: Wait<'_>) {
    let rows = size.threads * size.work;
    let row = |at: usize| std::array::from_fn(|_| Shared::new(at as f64));
    let grid: Grid = (0..rows).map(row).collect();
    thread::scope(|scope| {
        for me in 0..size.threads {
            let grid = &grid;
            scope.spawn(move || {
                let block = me * size.work..(me + 1) * size.work;
                for half in 0..2 * SWEEPS {
                    for row in block.clone().filter(|row| row % 2 == half % 2) {
                        smooth(grid, row);
                    }
                    wait(me, half + 1);
                }
            });
        }
    });
    // The grid is a slope at first, and the mean of two neighbours is what stands between them.
    let is_slope = grid.iter().zip(0..rows).all(|(row, at)| row[0].get() == at as f64);
    racelog::check!(is_slope, "a slope stays as it is");
}

#[racelog::instrument]
fn smooth(grid: &Grid, row: usize) {
    if row == 0 || row + 1 == grid.len() {
        return;
    }
    for cell in 0..WIDTH {
        let neighbours = [row - 1, row + 1].map(|neighbour| {
            grid[neighbour][cell].get() // [cell-read]
        });
        grid[row][cell].set(f64::midpoint(neighbours[0], neighbours[1])); // [cell-write]
    }
}

/// Says that a half is done, and waits until the neighbours have done as much.
#[racelog::instrument]
fn wait_for_neighbours(done: &[Shared<usize>], me: usize, halves: usize) {
    done[me].set(halves); // [done-write]
    for neighbour in [me.wrapping_sub(1), me + 1] {
        if neighbour >= done.len() {
            continue;
        }
        loop {
            let there = done[neighbour].get(); // [done-read]
            if there >= halves {
                break;
            }
            thread::yield_now();
        }
    }
}
