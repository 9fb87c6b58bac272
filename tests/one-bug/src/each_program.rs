//! The names of the programs.

/// Calls a macro with some tokens and the names of all programs.
macro_rules! each_program {
    ($with:ident, $($tokens:tt)*) => {
        $with! {
            $($tokens)*
            sum_behind_a_mutex
            sum_that_is_atomic
            level_behind_a_rwlock
            counts_of_words
            numbers_of_tickets
            last_one_in_stock
            page_that_is_made_twice
            service_that_starts_twice
            accounts_in_both_orders
            philosophers
            settings_and_log
            parent_and_child
            wait_for_nothing
            flag_outside_of_the_lock
            two_tokens_are_one
            reader_that_says_so_too_late
            list_that_is_cleared
            settings_before_they_are_made
            receiver_that_does_not_wait
            stop_before_all_is_done
        }
    };
}
