//! The macros that select: they make a [`Select`](super::channel::Select) of their arms, and go on
//! with the body of the one that is chosen.
//!
//! The arms are read one after the other. Each brings two names of its own, for its channel and for
//! its number: names of different expansions differ, even if they are spelled alike. The channels
//! are bound by nested `match`es, so that what is only a value in an arm lives as long as the
//! whole.

/// Waits for any of several operations, as `crossbeam_channel::select!`.
///
/// ```
/// use std::time::Duration;
///
/// use racelog::crossbeam::channel::{bounded, select, unbounded};
///
/// let (numbers, receiver) = unbounded();
/// let (words, _words) = bounded(0);
/// numbers.send(7).unwrap();
/// let seen = select! {
///     recv(receiver) -> number => number.unwrap(),
///     send(words, "seven") -> sent => {
///         sent.unwrap();
///         0
///     }
///     default(Duration::from_secs(1)) => 1,
/// };
/// assert_eq!(seen, 7);
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! __crossbeam_select {
    ($($arms:tt)*) => {
        $crate::__crossbeam_select_arms!(@first new $($arms)*)
    };
}

/// As `select!`, but of several arms that can go on the first is chosen, as by
/// `crossbeam_channel::select_biased!`.
#[macro_export]
#[doc(hidden)]
macro_rules! __crossbeam_select_biased {
    ($($arms:tt)*) => {
        $crate::__crossbeam_select_arms!(@first new_biased $($arms)*)
    };
}

/// What the two have in common.
#[macro_export]
#[doc(hidden)]
macro_rules! __crossbeam_select_arms {
    (@first $new:ident) => {
        compile_error!("empty `select!` block")
    };
    (@first $new:ident $($arms:tt)+) => {
        $crate::__crossbeam_select_arms!(@arm $new [] [] $($arms)+)
    };

    // What an arm begins with.
    (@arm $new:ident $arms:tt $default:tt) => {
        $crate::__crossbeam_select_arms!(@bind $new $default $arms $arms)
    };
    (@arm $new:ident $arms:tt $default:tt
        recv($channel:expr $(,)?) -> $result:pat => $($rest:tt)+
    ) => {
        $crate::__crossbeam_select_arms!(
            @body $new $arms $default (recv channel index ($channel) ($result)) $($rest)+
        )
    };
    (@arm $new:ident $arms:tt $default:tt
        send($channel:expr, $message:expr $(,)?) -> $result:pat => $($rest:tt)+
    ) => {
        $crate::__crossbeam_select_arms!(
            @body $new $arms $default (send channel index ($channel) ($result) ($message))
            $($rest)+
        )
    };
    (@arm $new:ident $arms:tt [] default $(())? => $($rest:tt)+) => {
        $crate::__crossbeam_select_arms!(@body $new $arms [] (default) $($rest)+)
    };
    (@arm $new:ident $arms:tt [] default($timeout:expr $(,)?) => $($rest:tt)+) => {
        $crate::__crossbeam_select_arms!(@body $new $arms [] (default ($timeout)) $($rest)+)
    };
    (@arm $new:ident $arms:tt [$($default:tt)+] default $($rest:tt)*) => {
        compile_error!("there can be only one `default` case in a `select!` block")
    };
    (@arm $new:ident $arms:tt $default:tt recv($($args:tt)*) => $($rest:tt)*) => {
        compile_error!("expected `->` after `recv` operation, found `=>`")
    };
    (@arm $new:ident $arms:tt $default:tt send($($args:tt)*) => $($rest:tt)*) => {
        compile_error!("expected `->` after `send` operation, found `=>`")
    };
    (@arm $new:ident $arms:tt $default:tt $($rest:tt)*) => {
        compile_error!(concat!(
            "expected `recv(receiver) -> result => body`, ",
            "`send(sender, message) -> result => body`, `default => body` or ",
            "`default(timeout) => body`, found `", stringify!($($rest)*), "`"
        ))
    };

    // What it ends with: an expression, and a comma unless it is a block or the last one.
    (@body $new:ident $arms:tt $default:tt $head:tt $body:expr, $($rest:tt)*) => {
        $crate::__crossbeam_select_arms!(@add $new $arms $default $head ($body) $($rest)*)
    };
    (@body $new:ident $arms:tt $default:tt $head:tt $body:expr) => {
        $crate::__crossbeam_select_arms!(@add $new $arms $default $head ($body))
    };
    (@body $new:ident $arms:tt $default:tt $head:tt $body:block $($rest:tt)*) => {
        $crate::__crossbeam_select_arms!(@add $new $arms $default $head ($body) $($rest)*)
    };
    (@body $new:ident $arms:tt $default:tt $head:tt $($rest:tt)*) => {
        compile_error!(concat!(
            "expected an expression followed by `,`, or a block, found `",
            stringify!($($rest)*), "`"
        ))
    };

    (@add $new:ident $arms:tt [] (default $($timeout:tt)?) $body:tt $($rest:tt)*) => {
        $crate::__crossbeam_select_arms!(@arm $new $arms [$($timeout)? => $body] $($rest)*)
    };
    (@add $new:ident [$($arms:tt)*] $default:tt ($($head:tt)*) $body:tt $($rest:tt)*) => {
        $crate::__crossbeam_select_arms!(
            @arm $new [$($arms)* ($($head)* $body)] $default $($rest)*
        )
    };

    // The channels, each once, in their order.
    (@bind $new:ident $default:tt $arms:tt
        [(recv $channel:ident $index:ident ($value:expr) $($of_arm:tt)*) $($rest:tt)*]
    ) => {
        match &$value {
            $channel => {
                let $channel: &$crate::crossbeam::channel::Receiver<_> = $channel;
                $crate::__crossbeam_select_arms!(@bind $new $default $arms [$($rest)*])
            }
        }
    };
    (@bind $new:ident $default:tt $arms:tt
        [(send $channel:ident $index:ident ($value:expr) $($of_arm:tt)*) $($rest:tt)*]
    ) => {
        match &$value {
            $channel => {
                let $channel: &$crate::crossbeam::channel::Sender<_> = $channel;
                $crate::__crossbeam_select_arms!(@bind $new $default $arms [$($rest)*])
            }
        }
    };
    (@bind $new:ident [] [$(($side:ident $channel:ident $index:ident $($of_arm:tt)*))*] []) => {{
        let ($($index,)* selected,) = {
            let mut select = $crate::crossbeam::channel::Select::$new();
            $(let $index = select.$side($channel);)*
            let selected = select.select();
            ($($index,)* selected,)
        };
        $crate::__crossbeam_select_arms!(
            @go_on selected [$(($side $channel $index $($of_arm)*))*]
        )
    }};
    (@bind $new:ident [=> ($body:expr)] $arms:tt []) => {
        $crate::__crossbeam_select_arms!(@or $new $arms ($body) try_select ())
    };
    (@bind $new:ident [($timeout:expr) => ($body:expr)] $arms:tt []) => {
        $crate::__crossbeam_select_arms!(@or $new $arms ($body) select_timeout ($timeout))
    };

    (@or $new:ident [$(($side:ident $channel:ident $index:ident $($of_arm:tt)*))*]
        ($body:expr) $how:ident $args:tt
    ) => {{
        let ($($index,)* selected,) = {
            #[allow(unused_mut, reason = "there may be no arm but `default`")]
            let mut select = $crate::crossbeam::channel::Select::$new();
            $(let $index = select.$side($channel);)*
            let selected = select.$how $args;
            ($($index,)* selected,)
        };
        match selected {
            Ok(selected) => $crate::__crossbeam_select_arms!(
                @go_on selected [$(($side $channel $index $($of_arm)*))*]
            ),
            // The body may move the channels.
            Err(_) => {
                drop(selected);
                $body
            }
        }
    }};

    // With the arm that was chosen.
    (@go_on $selected:ident []) => {
        unreachable!("one of the arms was selected, {:?}", $selected)
    };
    (@go_on $selected:ident
        [(recv $channel:ident $index:ident $value:tt ($result:pat) ($body:expr)) $($rest:tt)*]
    ) => {
        if $selected.index() == $index {
            let result = $selected.recv($channel);
            let $result = result;
            $body
        } else {
            $crate::__crossbeam_select_arms!(@go_on $selected [$($rest)*])
        }
    };
    (@go_on $selected:ident
        [(send $channel:ident $index:ident $value:tt ($result:pat) ($message:expr) ($body:expr))
         $($rest:tt)*]
    ) => {
        if $selected.index() == $index {
            let result = $selected.send($channel, $message);
            let $result = result;
            $body
        } else {
            $crate::__crossbeam_select_arms!(@go_on $selected [$($rest)*])
        }
    };
}
