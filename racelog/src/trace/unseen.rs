//! What recorders say, as the text of an `assert` event, where memory goes out of their sight.

/// A raw pointer to the contents of a cell was given away.
pub const POINTER: &str = "raw pointer of a cell";

/// A reference was made from a raw pointer, to something that may have interior mutability or by a
/// method call: what is done through it is not recorded.
pub const REFERENCE: &str = "reference made from a raw pointer";

/// What the text starts with where unsafe code stands within a macro that is not instrumented; the
/// macro's name follows.
pub const MACRO: &str = "code within a macro:";
