//! What `#[racelog::instrument]` refuses: the message, and the place that it points at.

#[test]
fn what_cannot_be_instrumented_is_refused_where_it_stands() {
    trybuild::TestCases::new().compile_fail("rejected/*.rs");
}
