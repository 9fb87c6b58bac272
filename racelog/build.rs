//! Says whether the program has an allocator of its own, `cfg(own_allocator)`, as the variable
//! `RACELOG_ALLOCATOR` has it (`racelog::contract::environment`); whether there are fibers,
//! `cfg(fibers)`; and which std there is: `cfg(std_since = "1.N")` for every N of [`STEPS`] that it
//! is not older than. What std does not have, its mirror does not have either.

use std::env;
use std::process::Command;

/// The oldest compiler that this crate is built with, as `rust-version` in its `Cargo.toml` says.
const OLDEST: u32 = 85;

/// The versions, 1.N, that brought something which is mirrored:
///
/// - 86: `Once::wait`, `Once::wait_force`, `OnceLock::wait`
/// - 88: `hint::select_unpredictable`
/// - 89: `LazyLock` is `DerefMut`
/// - 91: operations of `AtomicPtr` on the address
/// - 92: `RwLockWriteGuard::downgrade`, `Arc::new_zeroed`
/// - 94: `LazyLock::get`, `get_mut` and `force_mut`
/// - 95: `update` and `try_update` of atomics, `hint::cold_path`
const STEPS: [u32; 7] = [86, 88, 89, 91, 92, 94, 95];

/// The N of 1.N, of what a compiler says of itself.
fn minor(said: &str) -> Option<u32> {
    let version = said.strip_prefix("rustc 1.")?;
    version.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// The N of 1.N whose std can be relied on. A nightly compiler calls itself by the version that it
/// will become: of that, it may lack something.
fn std_minor(said: &str) -> Option<u32> {
    let is_stable = !said.contains("-nightly") && !said.contains("-dev");
    minor(said).map(|minor| if is_stable { minor } else { minor - 1 })
}

/// The lines for cargo.
fn lines(said: &str) -> Vec<String> {
    // Who cannot be asked is taken for the oldest: its std has the least.
    let there = std_minor(said).unwrap_or(OLDEST);
    let values: Vec<String> = STEPS.iter().map(|step| format!("\"1.{step}\"")).collect();
    let check = format!("cargo::rustc-check-cfg=cfg(std_since, values({}))", values.join(", "));
    let steps = STEPS.iter().filter(|step| **step <= there);
    let known = steps.map(|step| format!("cargo::rustc-cfg=std_since=\"1.{step}\""));
    [check].into_iter().chain(known).collect()
}

/// Whether threads under control can be fibers. Their stacks are switched by assembly, and should
/// one of them block, what another holds is given back by another thread, which std's locks allow
/// where they are made of futexes. `Cargo.toml` has the same list, for the dependency.
fn has_fibers(os: &str, arch: &str) -> bool {
    os == "linux" && ["x86_64", "aarch64"].contains(&arch)
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RACELOG_ALLOCATOR");
    println!("cargo::rustc-check-cfg=cfg(own_allocator)");
    println!("cargo::rustc-check-cfg=cfg(fibers)");
    let target = |key: &str| env::var(key).unwrap_or_default();
    // Miri knows no assembly.
    if env::var_os("CARGO_FEATURE_RECORD").is_some()
        && env::var_os("CARGO_CFG_MIRI").is_none()
        && has_fibers(&target("CARGO_CFG_TARGET_OS"), &target("CARGO_CFG_TARGET_ARCH"))
    {
        println!("cargo::rustc-cfg=fibers");
    }
    if env::var_os("RACELOG_ALLOCATOR").is_some_and(|whose| whose == "own") {
        println!("cargo::rustc-cfg=own_allocator");
    }
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let answer = Command::new(rustc).arg("--version").output();
    let said = answer.map(|answer| String::from_utf8_lossy(&answer.stdout).into_owned());
    for line in lines(&said.unwrap_or_default()) {
        println!("{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_told_apart() {
        let std = |said| std_minor(said);
        assert_eq!(std("rustc 1.85.0 (4d91de4e4 2025-02-17)"), Some(85));
        assert_eq!(std("rustc 1.95.0 (59807616e 2026-04-14)"), Some(95));
        assert_eq!(std("rustc 1.96.0-beta.2 (0a1b2c3d4 2026-04-20)"), Some(96));
        assert_eq!(std("rustc 1.97.0-nightly (0a1b2c3d4 2026-05-01)"), Some(96));
        assert_eq!(std("rustc 1.97.0-dev"), Some(96));
        assert_eq!(std("rustc 2.0.0"), None);
        assert_eq!(std(""), None);
    }

    #[test]
    fn a_std_has_what_it_is_not_too_old_for() {
        let steps = |said| lines(said).len() - 1;
        assert_eq!(steps("rustc 1.85.0 (4d91de4e4 2025-02-17)"), 0);
        assert_eq!(steps("rustc 1.90.0 (1159e78c4 2025-09-14)"), 3);
        assert_eq!(steps("rustc 1.95.0 (59807616e 2026-04-14)"), STEPS.len());
        assert_eq!(steps("an unknown compiler"), 0);
    }

    #[test]
    fn the_oldest_is_the_one_that_the_manifest_names() {
        assert_eq!(env!("CARGO_PKG_RUST_VERSION"), format!("1.{OLDEST}"));
    }
}
