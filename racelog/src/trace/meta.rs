//! What a trace says of itself.

/// Where a trace comes from. All of it is optional: a trace written by hand has none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Metadata {
    /// The program that was recorded.
    pub program: Option<String>,
    /// The program's arguments.
    pub arguments: Vec<String>,
    /// The test that was recorded.
    pub test: Option<String>,
    /// When recording started, in milliseconds since the start of 1970, UTC.
    pub started: Option<u64>,
}

/// How a trace ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Recording was closed: the trace is whole.
    Clean,
    /// Recording stopped before the program did, or the end of the trace is lost.
    CutOff,
    /// Recording stopped because the trace had reached its greatest size, or the disk was full.
    Full,
}
