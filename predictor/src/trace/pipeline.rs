//! Reads a trace in one thread and loads it in another.
//!
//! What comes out, an error included, is what one thread would have got: of two errors the one that
//! is earlier in the trace counts, and that is the loader's, which has only seen what was read
//! before.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use racelog::trace::{Item, Shape};

use super::format::{Source, SourceError};
use super::load::{LoadError, Loader, Refused, new_shapes};

/// How many items go from one thread to the other at a time.
const BATCH: usize = 1 << 12;

/// How many batches may wait.
const WAITING: usize = 8;

/// Gives all that is left of a source to a loader.
pub(super) fn read_ahead(
    loader: Loader,
    source: &mut Source,
    progress: impl FnMut(&Source),
) -> Result<Loader, LoadError> {
    let (sender, receiver) = sync_channel(WAITING);
    let shapes = loader.shape_count();
    let (read, loaded) = thread::scope(|scope| {
        let loading = scope.spawn(move || load(loader, receiver));
        let read = read(source, &sender, shapes, progress);
        drop(sender);
        (read, loading.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    let loader = loaded.map_err(|refused| refused.explain(source.dictionary()))?;
    read?;
    Ok(loader)
}

/// Items, and the shapes of expressions that are new with them.
type Batch = (Vec<Item>, Vec<Shape>);

fn load(mut loader: Loader, batches: Receiver<Batch>) -> Result<Loader, Refused> {
    for (items, shapes) in batches {
        loader.learn(shapes);
        for item in &items {
            loader.take(item)?;
        }
    }
    Ok(loader)
}

/// Reads to the end, or until nobody wants more.
fn read(
    source: &mut Source,
    batches: &SyncSender<Batch>,
    mut shapes: usize,
    mut progress: impl FnMut(&Source),
) -> Result<(), SourceError> {
    loop {
        let mut batch = Vec::with_capacity(BATCH);
        let ended = loop {
            match source.advance() {
                Ok(true) => batch.push(*source.item()),
                Ok(false) => break Some(Ok(())),
                Err(error) => break Some(Err(error)),
            }
            progress(source);
            if batch.len() == BATCH {
                break None;
            }
        };
        // Who refuses an item says so when it is asked.
        let new: Vec<Shape> = new_shapes(source.dictionary(), shapes).collect();
        shapes += new.len();
        let refused = batches.send((batch, new)).is_err();
        match ended {
            Some(ended) => return ended,
            None if refused => return Ok(()),
            None => {}
        }
    }
}
