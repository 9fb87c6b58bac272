//! Clients borrow connections from a pool that has fewer of them.
//!
//! A client looks for a free connection, marks it as taken under the pool's lock, uses it, and
//! marks it as free again. Who finds none tries again later, a few times.
//!
//! Bugs: looking is outside of the lock, so two may find the same connection: looking races with
//! marking, and the two race on what they do with it. In `connection_pool_fixed` they look under
//! the lock.
//!
//! Threads: clients, for half as many connections. Work: uses of each.

use racelog::cell::Shared;
use racelog::sync::Mutex;
use racelog::thread;

use crate::{Harm, Origin, Program, Race, Size, Source};

/// How often a client looks for a free connection.
const PATIENCE: usize = 2;

/// What is said of it.
pub static PROGRAM: Program = Program {
    name: "connection_pool",
    about: "a free connection is looked for without the lock that it is taken under",
    origin: Origin::Larger,
    source: Source { file: file!(), text: include_str!("connection_pool.rs") },
    run: |size| run(size, take),
    small: Size::new(2, 1),
    large: Size::new(8, 100_000),
    races: &[
        Race::new("look", "take", Harm::BrokenInvariant, "two clients take the same connection"),
        Race::new("look", "give-back", Harm::Benign, "it is free a moment later"),
        Race::new("use-read", "use-write", Harm::LostUpdate, "two clients use it at once"),
        Race::new("use-write", "use-write", Harm::LostUpdate, "two clients use it at once"),
    ],
    goals: &[],
    schedule: "random:10",
    hangs: None,
};

/// What is said of its right twin.
pub static FIXED: Program = Program {
    name: "connection_pool_fixed",
    about: "as `connection_pool`, with the search under the lock",
    run: |size| run(size, take_fixed),
    races: &[],
    ..PROGRAM
};

#[derive(Default)]
struct Connection {
    is_taken: Shared<bool>,
    queries: Shared<usize>,
}

struct Pool {
    lock: Mutex<()>,
    connections: Vec<Connection>,
}

/// Takes a free connection, if it finds one.
type Take = fn(&Pool) -> Option<usize>;

fn run(size: &Size, take: Take) {
    let connections = (0..size.threads.div_ceil(2)).map(|_| Connection::default()).collect();
    let pool = Pool { lock: Mutex::new(()), connections };
    let work = || work(&pool, size.work, take);
    let done: usize = thread::scope(|scope| {
        let clients: Vec<_> = (0..size.threads).map(|_| scope.spawn(work)).collect();
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    });
    let counted: usize = pool.connections.iter().map(|one| one.queries.get()).sum();
    racelog::check!(counted == done, "each query is counted");
}

/// Gives how many queries were made.
fn work(pool: &Pool, uses: usize, take: Take) -> usize {
    let mut done = 0;
    for _ in 0..uses {
        for _ in 0..PATIENCE {
            if let Some(connection) = take(pool) {
                query(&pool.connections[connection]);
                give_back(pool, connection);
                done += 1;
                break;
            }
            thread::yield_now();
        }
    }
    done
}

#[racelog::instrument]
fn take(pool: &Pool) -> Option<usize> {
    for (at, connection) in pool.connections.iter().enumerate() {
        let is_taken = connection.is_taken.get(); // [look]
        if !is_taken {
            let _guard = pool.lock.lock().unwrap();
            connection.is_taken.set(true); // [take]
            return Some(at);
        }
    }
    None
}

#[racelog::instrument]
fn take_fixed(pool: &Pool) -> Option<usize> {
    let _guard = pool.lock.lock().unwrap();
    for (at, connection) in pool.connections.iter().enumerate() {
        let is_taken = connection.is_taken.get();
        if !is_taken {
            connection.is_taken.set(true);
            return Some(at);
        }
    }
    None
}

#[racelog::instrument]
fn query(connection: &Connection) {
    let queries = connection.queries.get(); // [use-read]
    connection.queries.set(queries + 1); // [use-write]
}

#[racelog::instrument]
fn give_back(pool: &Pool, at: usize) {
    let _guard = pool.lock.lock().unwrap();
    pool.connections[at].is_taken.set(false); // [give-back]
}
