//! Fetches crates: cargo downloads them for a scratch package that depends on them, and says where
//! their sources are.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Error, Package};

/// Fetches a crate and copies its sources to `NAME-VERSION` in the folder, as they were published,
/// but for what says how its authors build it: their versions of dependencies, of which those who
/// depend on the crate see nothing either, and their compiler. What was there before is replaced.
///
/// # Errors
/// If there is no such crate, or it cannot be had.
pub fn fetch(name: &str, version: &str, folder: &Path) -> Result<Package, Error> {
    let scratch = folder.join("fetch").join(format!("{name}-{version}"));
    fs::create_dir_all(scratch.join("src"))?;
    fs::write(scratch.join("src/lib.rs"), "")?;
    fs::write(
        scratch.join("Cargo.toml"),
        format!(
            "[package]\nname = \"scratch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [dependencies]\nfetched = {{ package = \"{name}\", version = \"={version}\" }}\n\n\
             [workspace]\n"
        ),
    )?;
    let published = sources(name, version, &scratch)?;
    let copy = folder.join(format!("{name}-{version}"));
    if copy.exists() {
        fs::remove_dir_all(&copy)?;
    }
    copy_folder(&published, &copy)?;
    Package::open(name, version, copy)
}

/// Where cargo has put the sources of the crate that the scratch package depends on.
fn sources(name: &str, version: &str, scratch: &Path) -> Result<PathBuf, Error> {
    let output = Command::new(cargo())
        .args(["metadata", "--quiet", "--format-version", "1", "--filter-platform", &host()?])
        .current_dir(scratch)
        .output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo cannot fetch `{name}` {version}:\n{said}").into());
    }
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let mut manifests = packages
        .filter(|package| package["name"] == name && package["version"] == version)
        .filter_map(|package| package["manifest_path"].as_str());
    let manifest = manifests.next().ok_or("cargo does not say where it has the sources")?;
    Ok(Path::new(manifest).parent().ok_or("a manifest is in a folder")?.to_owned())
}

/// The cargo that runs this program, or else the one that is found.
pub(super) fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// The platform: what only others need is not downloaded.
fn host() -> Result<String, Error> {
    let output = Command::new("rustc").arg("-vV").output()?;
    let said = String::from_utf8(output.stdout)?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.ok_or("rustc does not say what it compiles for")?.to_owned())
}

/// Copies a folder with all that is in it, but for what cargo has added and what says how it is to
/// be built.
fn copy_folder(from: &Path, to: &Path) -> Result<(), Error> {
    let left_out = [
        ".cargo-ok",
        ".cargo-checksum.json",
        ".cargo_vcs_info.json",
        "Cargo.lock",
        "rust-toolchain",
        "rust-toolchain.toml",
    ];
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, path) = (entry.file_name(), entry.path());
        if left_out.iter().any(|left_out| name == *OsStr::new(left_out)) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy_folder(&path, &to.join(name))?;
        } else {
            // Not by `fs::copy`: it keeps that a file cannot be written.
            fs::write(to.join(name), fs::read(path)?)?;
        }
    }
    Ok(())
}
