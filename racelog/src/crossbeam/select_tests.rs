//! The same tests for crossbeam's selections and, where recording is compiled in, for their mirror.

macro_rules! same_for {
    ($($name:ident: $($channel:tt)::+;)*) => {$(
        mod $name {
            use std::panic::{AssertUnwindSafe, catch_unwind};
            use std::thread;
            use std::time::{Duration, Instant};

            use $($channel)::+::*;

            /// Longer than any test takes.
            const LONG: Duration = Duration::from_secs(3600);
            const SHORT: Duration = Duration::from_millis(2);

            #[test]
            fn arms_are_written_in_many_ways() {
                let ((sender, receiver), (_other, nothing)) = (unbounded(), unbounded::<u8>());
                sender.send(1).unwrap();
                let by_reference = &receiver;
                let got = select! {
                    recv(nothing) -> _ => unreachable!(),
                    recv(by_reference) -> message => { message.unwrap() }
                    default => 0
                };
                assert_eq!(got, 1);
                let missing = None;
                let got = select! {
                    recv(missing.as_ref().unwrap_or(&never::<u8>()),) -> message => message.is_ok(),
                    default(SHORT,) => { false },
                };
                assert!(!got);
                let sent = select_biased! {
                    send({ &sender }, 5) -> sent => if sent.is_ok() { 5 } else { 6 },
                    recv(nothing) -> _message => 7,
                };
                assert_eq!((sent, receiver.recv()), (5, Ok(5)));
                assert_eq!(select! { default => 3 }, 3);
                assert_eq!(select! { default() => 3, }, 3);
                let start = Instant::now();
                select! { default(SHORT) => {} }
                assert!(start.elapsed() >= SHORT);
            }

            #[test]
            fn bodies_leave_loops_and_functions() {
                fn next(receiver: &Receiver<i32>) -> Result<i32, RecvError> {
                    let message = select! { recv(receiver) -> message => message? };
                    if message == 1 {
                        select! { default => return Ok(10) }
                    }
                    Ok(message)
                }
                let (sender, receiver) = unbounded();
                (1..=5).for_each(|number| sender.send(number).unwrap());
                drop(sender);
                assert_eq!((next(&receiver), next(&receiver)), (Ok(10), Ok(2)));
                let mut seen = Vec::new();
                let left = 'all: loop {
                    loop {
                        select! {
                            recv(receiver) -> message => match message {
                                Ok(3) => continue,
                                Ok(4) => break,
                                Ok(message) => seen.push(message),
                                Err(error) => break 'all error,
                            },
                            default => unreachable!(),
                        }
                    }
                    seen.push(0);
                };
                assert_eq!((seen, left, next(&receiver)), (vec![0, 5], RecvError, Err(RecvError)));
                // A body may move what it selects from, and what it gets.
                let (sender, receiver) = bounded(1);
                select! {
                    recv(receiver) -> _ => unreachable!(),
                    default => drop(receiver),
                }
                select! { send(sender, "late".to_owned()) -> sent => {
                    drop(sender);
                    assert_eq!(sent.unwrap_err().0, "late");
                } }
            }

            #[test]
            fn messages_are_made_only_when_they_are_sent() {
                let (sender, receiver) = bounded(1);
                let mut made = 0;
                let mut message = || { made += 1; made };
                for _ in 0..3 {
                    select! {
                        send(sender, message()) -> sent => sent.unwrap(),
                        default => {}
                    }
                }
                select! {
                    send(sender, message()) -> sent => sent.unwrap(),
                    default(SHORT) => {}
                }
                assert_eq!((made, receiver.recv()), (1, Ok(1)));
            }

            #[test]
            fn what_has_ended_is_ready() {
                let (sender, receiver) = unbounded::<u8>();
                drop(sender);
                select! { recv(receiver) -> message => assert_eq!(message, Err(RecvError)) }
                for bound in [0, 1] {
                    let (sender, receiver) = bounded(bound);
                    thread::scope(|scope| {
                        scope.spawn(|| {
                            thread::sleep(SHORT);
                            drop(receiver);
                        });
                        let mut sent = 0;
                        while select! { send(sender, 7) -> sent => sent.is_ok() } {
                            sent += 1;
                        }
                        assert_eq!(sent, bound);
                    });
                    let (sender, receiver) = bounded::<u8>(bound);
                    thread::scope(|scope| {
                        scope.spawn(|| {
                            thread::sleep(SHORT);
                            drop(sender);
                        });
                        let ended = select! {
                            recv(receiver) -> message => message.is_err(),
                            recv(never::<u8>()) -> _ => false,
                            default(LONG) => false,
                        };
                        assert!(ended);
                    });
                }
            }

            #[test]
            fn one_of_those_that_are_ready_is_chosen() {
                let pairs = [unbounded(), unbounded(), bounded(9)];
                pairs.iter().for_each(|(sender, _)| sender.send(0).unwrap());
                let [(_, a), (_, b), (full, _)] = &pairs;
                let mut seen = [0u32; 3];
                for _ in 0..300 {
                    let chosen = select! {
                        recv(a) -> message => { pairs[0].0.send(message.unwrap()).unwrap(); 0 }
                        recv(b) -> message => { pairs[1].0.send(message.unwrap()).unwrap(); 1 }
                        send(full, 0) -> sent => { sent.unwrap(); pairs[2].1.recv().unwrap(); 2 }
                    };
                    seen[chosen] += 1;
                }
                assert!(seen.iter().all(|times| *times > 20), "{seen:?}");
                for _ in 0..50 {
                    select_biased! {
                        recv(never::<u8>()) -> _ => unreachable!(),
                        recv(b) -> message => pairs[1].0.send(message.unwrap()).unwrap(),
                        recv(a) -> _ => unreachable!(),
                        send(full, 0) -> _ => unreachable!(),
                        default => unreachable!(),
                    }
                }
            }

            #[test]
            fn arms_come_and_go() {
                let ((to_a, a), (to_b, b)) = (unbounded::<i32>(), bounded::<i32>(1));
                let mut select = Select::new();
                let (first, second) = (select.recv(&a), select.send(&to_b));
                assert_eq!((first, second), (0, 1));
                let selected = select.select();
                assert_eq!(selected.index(), second);
                assert_eq!(selected.send(&to_b, 4), Ok(()));
                assert!(matches!(select.try_select(), Err(TrySelectError)));
                assert!(matches!(select.select_timeout(SHORT), Err(SelectTimeoutError)));
                let late = select.select_deadline(Instant::now());
                assert!(matches!(late, Err(SelectTimeoutError)));
                assert_eq!(select.try_ready(), Err(TryReadyError));
                assert_eq!(select.ready_timeout(SHORT), Err(ReadyTimeoutError));
                assert_eq!(select.ready_deadline(Instant::now()), Err(ReadyTimeoutError));
                select.remove(second);
                let third = select.recv(&b);
                assert_eq!((third, select.ready(), select.try_ready()), (2, 2, Ok(2)));
                let mut other = select.clone();
                assert_eq!(other.try_select().map(|selected| selected.recv(&b)), Ok(Ok(4)));
                to_a.send(3).unwrap();
                assert_eq!(select.ready_timeout(LONG), Ok(first));
                let selected = select.select_timeout(LONG).unwrap();
                assert_eq!((selected.index(), selected.recv(&a)), (first, Ok(3)));
                assert_eq!(Select::default().try_ready(), Err(TryReadyError));
                assert_eq!(format!("{:?}", Select::new_biased()), "Select { .. }");
            }

            #[test]
            fn misuse_panics() {
                fn text(use_it: impl FnOnce()) -> String {
                    let payload = catch_unwind(AssertUnwindSafe(use_it)).expect_err("it panics");
                    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
                    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap()
                }
                fn check<T: Send + Sync>() {}
                check::<Select<'_>>();
                let (sender, receiver) = bounded::<u8>(1);
                let text_of = |message: &str, text: String| {
                    assert!(text.contains(message), "{text}");
                };
                text_of("no operations have been added", text(|| _ = Select::new().ready()));
                text_of("no operations have been added", text(|| {
                    let _ = Select::new().select().index();
                }));
                text_of("no operation with this index", text(|| {
                    let mut select = Select::new();
                    let index = select.recv(&receiver);
                    select.remove(index);
                    select.remove(index);
                }));
                text_of("without completing the operation", text(|| {
                    let mut select = Select::new();
                    select.send(&sender);
                    drop(select.select());
                }));
            }

            #[test]
            fn hands_meet_whoever_selects() {
                let (sender, receiver) = bounded(0);
                let idle = never::<u8>();
                // Nobody meets itself.
                select! {
                    send(sender, 0) -> _ => unreachable!(),
                    recv(receiver) -> _ => unreachable!(),
                    default(SHORT) => {}
                }
                thread::scope(|scope| {
                    let receives = || select! {
                        recv(idle) -> _ => unreachable!(),
                        recv(receiver) -> message => message.unwrap(),
                    };
                    let sends = |message| select! {
                        recv(idle) -> _ => unreachable!(),
                        send(sender, message) -> sent => sent.unwrap(),
                    };
                    let thread = scope.spawn(receives);
                    sender.send(1).unwrap();
                    assert_eq!(thread.join().unwrap(), 1);
                    let thread = scope.spawn(receives);
                    while sender.try_send(2).is_err() {
                        thread::yield_now();
                    }
                    assert_eq!(thread.join().unwrap(), 2);
                    let thread = scope.spawn(receives);
                    while sender.send_timeout(3, Duration::ZERO).is_err() {
                        thread::yield_now();
                    }
                    assert_eq!(thread.join().unwrap(), 3);
                    let thread = scope.spawn(move || sends(4));
                    assert_eq!(receiver.recv(), Ok(4));
                    thread.join().unwrap();
                    let thread = scope.spawn(move || sends(5));
                    while receiver.try_recv() != Ok(5) {
                        thread::yield_now();
                    }
                    thread.join().unwrap();
                    for message in 6..50 {
                        let thread = scope.spawn(move || sends(message));
                        assert_eq!(receives(), message);
                        thread.join().unwrap();
                    }
                    let thread = scope.spawn(move || sends(50));
                    loop {
                        select! {
                            recv(receiver) -> message => break assert_eq!(message, Ok(50)),
                            default => thread::yield_now(),
                        }
                    }
                    thread.join().unwrap();
                    let thread = scope.spawn(receives);
                    loop {
                        select! {
                            send(sender, 51) -> sent => break sent.unwrap(),
                            default => thread::yield_now(),
                        }
                    }
                    assert_eq!(thread.join().unwrap(), 51);
                });
            }

            #[test]
            fn ready_hands_are_seen() {
                let (sender, receiver) = bounded(0);
                thread::scope(|scope| {
                    scope.spawn(|| select! { send(sender, 1) -> sent => sent.unwrap() });
                    let mut select = Select::new();
                    let index = select.recv(&receiver);
                    assert_eq!(select.ready(), index);
                    assert_eq!(receiver.recv(), Ok(1));
                    scope.spawn(|| select! { recv(receiver) -> got => assert_eq!(got, Ok(2)) });
                    let mut select = Select::new();
                    let index = select.send(&sender);
                    assert_eq!(select.ready(), index);
                    sender.send(2).unwrap();
                });
            }

            /// Threads of all kinds send and receive on two channels.
            #[test]
            fn every_message_comes_once() {
                const EACH: u64 = 150;
                for bounds in [
                    [None, None],
                    [None, Some(1)],
                    [Some(1), Some(3)],
                    [Some(0), Some(1)],
                    [Some(0), Some(0)],
                ] {
                    let [(to_a, a), (to_b, b)] =
                        bounds.map(|bound| bound.map_or_else(unbounded, bounded));
                    let mut got: Vec<u64> = thread::scope(|scope| {
                        for number in 0..4 {
                            let (to_a, to_b) = (to_a.clone(), to_b.clone());
                            scope.spawn(move || for message in number * EACH..(number + 1) * EACH {
                                match number {
                                    0 => to_a.send(message).unwrap(),
                                    1 => select_biased! {
                                        send(to_b, message) -> sent => sent.unwrap(),
                                        send(to_a, message) -> sent => sent.unwrap(),
                                    },
                                    _ => loop {
                                        select! {
                                            send(to_a, message) -> sent => break sent.unwrap(),
                                            send(to_b, message) -> sent => break sent.unwrap(),
                                            default(Duration::from_micros(50)) => {}
                                        }
                                    },
                                }
                            });
                        }
                        drop((to_a, to_b));
                        let threads: Vec<_> = (0..4).map(|number| {
                            let (a, b) = (a.clone(), b.clone());
                            scope.spawn(move || {
                                let mut got = Vec::new();
                                let mut open = [true; 2];
                                while open != [false; 2] {
                                    let (from, message) = match (number, open) {
                                        (0, [true, _]) | (_, [true, false]) => (0, a.recv()),
                                        (_, [false, _]) => (1, b.recv()),
                                        (1, _) => select_biased! {
                                            recv(a) -> message => (0, message),
                                            recv(b) -> message => (1, message),
                                        },
                                        _ => select! {
                                            recv(a) -> message => (0, message),
                                            recv(b) -> message => (1, message),
                                            default(Duration::from_micros(50)) => continue,
                                        },
                                    };
                                    match message {
                                        Ok(message) => got.push(message),
                                        Err(RecvError) => open[from] = false,
                                    }
                                }
                                got
                            })
                        }).collect();
                        drop((a, b));
                        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
                    });
                    got.sort_unstable();
                    assert!(got.iter().copied().eq(0..4 * EACH), "{bounds:?}: {got:?}");
                }
            }

            /// Both sides only select, and may be each other's on either channel.
            #[test]
            fn selections_meet_each_other() {
                let [(to_a, a), (to_b, b)] = [bounded::<u32>(0), bounded::<u32>(0)];
                thread::scope(|scope| {
                    let threads: Vec<_> = (0..2).map(|number| {
                        let (to_a, to_b, a, b) = (&to_a, &to_b, &a, &b);
                        scope.spawn(move || {
                            let (mut sent, mut got) = (0u64, 0u64);
                            while sent < 300 || got < 300 {
                                let (sender, receiver) =
                                    if number == 0 { (to_a, b) } else { (to_b, a) };
                                let mut select = Select::new();
                                let sends = (sent < 300).then(|| select.send(sender));
                                let receives = (got < 300).then(|| select.recv(receiver));
                                let selected = select.select();
                                match Some(selected.index()) {
                                    index if index == sends => {
                                        selected.send(sender, 1).unwrap();
                                        sent += 1;
                                    }
                                    index if index == receives => {
                                        got += u64::from(selected.recv(receiver).unwrap());
                                    }
                                    _ => unreachable!(),
                                }
                            }
                            (sent, got)
                        })
                    }).collect();
                    for thread in threads {
                        assert_eq!(thread.join().unwrap(), (300, 300));
                    }
                });
            }
        }
    )*};
}

same_for! {
    ours: crate::crossbeam::channel;
    theirs: crossbeam_channel;
}

/// Crossbeam's would wait for who has the place.
#[cfg(feature = "record")]
#[test]
fn a_place_that_is_promised_is_taken() {
    use super::channel::{Select, TryRecvError, TrySendError, bounded};

    let (sender, receiver) = bounded(1);
    let mut select = Select::new();
    select.send(&sender);
    let selected = select.select();
    assert!(sender.is_full());
    assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(selected.send(&sender, 2), Ok(()));
    assert_eq!(receiver.recv(), Ok(2));
    let selected = select.select();
    let unused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(selected)));
    unused.expect_err("it is not completed");
    assert_eq!(sender.try_send(3), Ok(()));
}

#[cfg(feature = "record")]
mod recorded {
    use std::time::Duration;

    use crate::child_trace::{events, in_child, last_requests, replay};
    use crate::crossbeam::channel::{bounded, select, select_biased, unbounded};
    use crate::thread;

    const HERE: &str = "crossbeam::select_tests::recorded";

    #[test]
    fn what_a_selection_goes_by_is_recorded() {
        if in_child() {
            let ((to_a, a), (to_b, b)) = (unbounded(), bounded(1));
            to_a.send(1).unwrap();
            // Only what it does.
            select! {
                recv(b) -> _ => unreachable!(),
                recv(a) -> message => assert_eq!(message, Ok(1)),
            }
            // That there was nothing.
            select! {
                recv(a) -> _ => unreachable!(),
                default => {}
            }
            to_b.send(1).unwrap();
            // What it likes better had nothing.
            select_biased! {
                send(to_b, 3) -> _ => unreachable!(),
                recv(a) -> _ => unreachable!(),
                recv(b) -> message => assert_eq!(message, Ok(1)),
            }
            select! { send(to_b, 4) -> sent => sent.unwrap() }
            drop(to_a);
            select! {
                recv(a) -> message => message.unwrap_err(),
                default(Duration::from_secs(3600)) => unreachable!(),
            };
            drop(b);
            select! { send(to_b, 4) -> sent => _ = sent.unwrap_err() }
            return;
        }
        let trace = events(&format!("{HERE}::what_a_selection_goes_by_is_recorded"));
        replay(&trace);
        let words: Vec<_> = trace.iter().map(|event| event.op.keyword()).collect();
        let first = ["send", "recv", "recv_empty", "send", "send_full", "recv_empty", "recv"];
        let then = ["send", "close", "recv_closed", "rclose", "send_closed"];
        assert_eq!(words[..12], [&first[..], &then].concat());
    }

    #[test]
    fn many_selections_leave_a_trace_that_can_be_replayed() {
        let name = format!("{HERE}::many_selections_leave_a_trace_that_can_be_replayed");
        if in_child() {
            for bounds in [[None, Some(1)], [Some(0), Some(2)], [Some(0), Some(0)]] {
                let [(to_a, a), (to_b, b)] =
                    bounds.map(|bound| bound.map_or_else(unbounded, bounded));
                thread::scope(|scope| {
                    for number in 0..3 {
                        let (to_a, to_b, a, b) = (to_a.clone(), to_b.clone(), a.clone(), b.clone());
                        scope.spawn(move || {
                            for message in 0..30 {
                                match number {
                                    0 => drop(to_a.send(message)),
                                    1 => select! {
                                        send(to_a, message) -> sent => _ = sent,
                                        send(to_b, message) -> sent => _ = sent,
                                    },
                                    _ => select_biased! {
                                        send(to_b, message) -> sent => _ = sent,
                                        send(to_a, message) -> sent => _ = sent,
                                        default => _ = to_b.try_send(message),
                                    },
                                }
                            }
                        });
                        scope.spawn(move || {
                            // The senders may find all receivers gone.
                            for _ in 0..40 {
                                match number {
                                    0 => drop(a.try_recv()),
                                    1 => select_biased! {
                                        recv(b) -> _ => {}
                                        recv(a) -> _ => {}
                                    },
                                    _ => select! {
                                        recv(a) -> _ => {}
                                        recv(b) -> _ => {}
                                        default(Duration::from_micros(20)) => {}
                                    },
                                }
                            }
                        });
                    }
                    drop((to_a, to_b, a, b));
                });
            }
            return;
        }
        let trace = events(&name);
        replay(&trace);
        let closes = trace.iter().filter(|event| event.op.keyword() == "close").count();
        assert_eq!(closes, 3 * 2 * 4);
        assert!(last_requests(&name).iter().all(|request| request.op.keyword() != "recv"));
    }
}
