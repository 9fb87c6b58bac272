//! The property that the attribute accepts whatever compiles: other people's crates, with the
//! attribute on everything, compile and pass their suites as they do without it.

use std::path::Path;

use super::suites::{How, Outcome, run_suite};
use super::{Error, attribute, fetch};

/// A crate to put the attribute on.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    /// Its name and its version.
    pub published: (&'static str, &'static str),
    /// What cargo is told besides, such as features.
    pub arguments: &'static [&'static str],
    /// Dependencies of its tests that are left out: those that only its benches need.
    pub without: &'static [&'static str],
}

/// What came of a crate.
#[derive(Debug)]
pub struct Tried {
    /// How many functions have the attribute.
    pub functions: usize,
    /// Its suite as it is, with the attribute, and with the attribute and recorded.
    pub outcomes: [Outcome; 3],
    /// How large the traces are.
    pub traced: u64,
}

impl Tried {
    /// Whether it compiles, and does what it did.
    pub fn is_green(&self) -> bool {
        let [plain, ..] = &self.outcomes;
        plain.success && plain.passed > 0 && self.outcomes.iter().all(|outcome| outcome == plain)
    }
}

/// Fetches a crate into a folder, puts the attribute on everything, and runs its suite.
///
/// # Errors
/// If it cannot be fetched, or is not such that the attribute can be put there.
pub fn try_crate(body: &Body, folder: &Path) -> Result<Tried, Error> {
    let (name, version) = body.published;
    let mut package = fetch(name, version, folder)?;
    for left_out in body.without {
        package.leave_out(left_out);
    }
    package.depend_on_racelog(&["record"]);
    package.save()?;
    let functions = attribute::instrument_all(&package)?;
    let traces = package.folder().join("traces");
    std::fs::create_dir_all(&traces)?;
    let plain = run_suite(&package, How::Plain, body.arguments)?;
    let built = run_suite(&package, How::Built, body.arguments)?;
    let recorded = run_suite(&package, How::Recorded(&traces), body.arguments)?;
    let mut traced = 0;
    for entry in std::fs::read_dir(&traces)? {
        traced += entry?.metadata()?.len();
    }
    std::fs::remove_dir_all(&traces)?;
    Ok(Tried { functions, outcomes: [plain, built, recorded], traced })
}

const fn body(
    name: &'static str,
    version: &'static str,
    arguments: &'static [&'static str],
    without: &'static [&'static str],
) -> Body {
    Body { published: (name, version), arguments, without }
}

/// The crates, the quick ones first.
pub const BODIES: &[Body] = &[
    body("either", "1.19.0", &[], &[]),
    body("scopeguard", "1.2.0", &[], &[]),
    body("itoa", "1.0.18", &[], &[]),
    body("semver", "1.0.28", &[], &[]),
    body("slab", "0.4.12", &[], &[]),
    body("ryu", "1.0.23", &[], &[]),
    body("arrayvec", "0.7.8", &[], &["bencher"]),
    body("fixedbitset", "0.5.7", &[], &[]),
    body("lazy_static", "1.5.1", &[], &["trybuild"]),
    body("once_cell", "1.21.4", &[], &[]),
    body("smallvec", "1.16.4", &["--features", "union,write,const_generics"], &[]),
    body("bytes", "1.12.1", &[], &[]),
    body("crossbeam-queue", "0.3.14", &[], &[]),
    body("memchr", "2.8.3", &[], &[]),
    body("indexmap", "2.14.2", &[], &[]),
    body("hashbrown", "0.17.1", &[], &["criterion", "rayon"]),
    body("tinyvec", "1.13.3", &["--features", "alloc"], &["criterion"]),
    body("itertools", "0.14.0", &[], &["criterion"]),
    body("petgraph", "0.7.1", &[], &[]),
    body("regex-syntax", "0.8.11", &[], &[]),
];

impl Tried {
    /// What the rows of the table say.
    pub const HEADING: &str = "\
| crate | functions | tests | with the attribute | recorded | traces | green |
| --- | --- | --- | --- | --- | --- | --- |";

    /// The crate's row.
    pub fn row(&self, body: &Body) -> String {
        let (name, version) = body.published;
        let said = self.outcomes.map(|outcome| match (outcome.success, outcome.passed) {
            (true, passed) => format!("{passed} passed"),
            (false, 0) => "do not build".to_owned(),
            (false, passed) => format!("{passed} passed, {} failed", outcome.failed),
        });
        format!(
            "| {name} {version} | {} | {} | {} KiB | {} |",
            self.functions,
            said.join(" | "),
            self.traced.div_ceil(1024),
            if self.is_green() { "yes" } else { "no" }
        )
    }
}
