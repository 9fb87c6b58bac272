//! Crates of the registry, as the scripts that build them beside racelog get them.

use racelog_tests::expected::repository;
use racelog_tests::registry::bodies::{BODIES, try_crate};
use racelog_tests::registry::fetch;
use tempfile::TempDir;

#[test]
fn a_fetched_crate_is_a_package_of_its_own_with_all_that_was_published() {
    let folder = TempDir::new().unwrap();
    // One that our own dependencies need, so that it is there already.
    let mut package = fetch("scopeguard", "1.2.0", folder.path()).unwrap();
    assert_eq!((package.name(), package.version()), ("scopeguard", "1.2.0"));
    assert_eq!(package.edition(), "2015");
    assert!(package.folder().join("LICENSE-MIT").is_file());
    let sources = package.sources("src").unwrap();
    assert_eq!(sources, [package.folder().join("src/lib.rs")]);
    assert!(package.sources("nothing").unwrap().is_empty());
    package.depend_on_racelog(&["record"]);
    package.save().unwrap();
    let manifest = std::fs::read_to_string(package.folder().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    assert!(manifest["workspace"].is_table());
    let racelog = &manifest["target"]["cfg(racelog)"]["dependencies"]["racelog"];
    assert_eq!(racelog["features"][0].as_str(), Some("record"));
    let said = package.cargo("metadata").args(["--no-deps", "--format-version", "1"]).output();
    assert!(said.unwrap().status.success());
}

#[test]
fn a_version_that_was_never_published_is_an_error_that_says_so() {
    let folder = TempDir::new().unwrap();
    let error = fetch("scopeguard", "0.0.77", folder.path()).unwrap_err().to_string();
    assert!(error.starts_with("cargo cannot fetch `scopeguard` 0.0.77:"), "{error}");
}

/// The short version of what `bodies_of_crates` does with all of them.
#[test]
fn crates_with_the_attribute_on_everything_do_what_they_did() {
    let folder = repository().join("target/registry");
    for name in ["either", "scopeguard"] {
        let body = BODIES.iter().find(|body| body.published.0 == name).expect("it is one of them");
        let tried = try_crate(body, &folder).unwrap();
        assert!(tried.is_green() && tried.functions >= 20, "{name}: {tried:?}");
    }
}
