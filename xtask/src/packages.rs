//! Checks the content of the published packages.

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::command::{captured, cargo};
use crate::workspace::{self, Package};

/// The files that every package has in addition to its sources.
const NEEDED: [&str; 4] = ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];
/// The files with the same text as in the workspace's root.
const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];
/// The settings for docs.rs in a manifest: all features, so that the documentation shows each backend.
const DOCS_RS: &str = "all-features = true\nrustdoc-args = [\"--cfg\", \"docsrs\"]";
/// The attributes of each library for its documentation: an item shows its feature, and no example compiles with a
/// warning.
const OF_DOCS: [&str; 2] = ["\n#![cfg_attr(docsrs, feature(doc_cfg))]\n", "\n#![doc(test(attr(deny(warnings))))]\n"];
/// The parts of paths that no published package may contain. Tests would not run there: they need servers and packages
/// that are not published.
const FOREIGN: [&str; 4] = ["tests/", "benches/", "snapshots/", ".snap"];

/// Checks every published package, and returns the number of packages.
pub(crate) fn run() -> Result<String> {
    let mut packages = workspace::packages()?;
    packages.retain(Package::is_published);
    for package in &packages {
        if let Some(why) = check(package)? {
            bail!("the package {} is not fit to be published: {why}", package.name);
        }
    }
    Ok(format!("{} packages", packages.len()))
}

fn check(package: &Package) -> Result<Option<String>> {
    let list = captured(cargo(["package", "--list", "--locked", "--allow-dirty", "-p", &package.name]))?;
    let read = |file| workspace::read(package.folder().join(file));
    for licence in LICENCES {
        if read(licence)? != workspace::read(licence)? {
            return Ok(Some(format!("its {licence} differs from the workspace's")));
        }
    }
    let library = list.lines().any(|line| line == "src/lib.rs").then(|| read("src/lib.rs")).transpose()?;
    let readme = read("README.md")?;
    let dead = dead_link(&readme).map(|link| format!("the link {link} of its README works only in the repository"));
    let anonymous = package.repository.is_none().then(|| "it names no repository".to_owned());
    let of_docs = || library.and_then(|library| undocumented(&package.metadata["docs"]["rs"], &library));
    Ok(fault(&list).or(anonymous).or(dead).or_else(of_docs))
}

/// Returns the reason why the list of files is wrong, or `None`.
fn fault(list: &str) -> Option<String> {
    let missing = NEEDED.into_iter().find(|file| !list.lines().any(|line| line == *file));
    let foreign = list.lines().find(|line| FOREIGN.iter().any(|part| line.contains(part)));
    missing.map(|file| format!("it lacks {file}")).or_else(|| foreign.map(|file| format!("it must not contain {file}")))
}

/// Returns what a library lacks for its documentation on docs.rs, or `None`.
fn undocumented(settings: &Value, library: &str) -> Option<String> {
    let missing = OF_DOCS.into_iter().find(|line| !library.contains(line));
    let has_settings = *settings == json!({ "all-features": true, "rustdoc-args": ["--cfg", "docsrs"] });
    let missing = missing.map(|line| format!("its src/lib.rs lacks {}", line.trim()));
    missing.or_else(|| (!has_settings).then(|| format!("its settings for docs.rs are not {DOCS_RS}")))
}

/// Returns a link of the README that works in the repository but not at the registry or on docs.rs.
fn dead_link(readme: &str) -> Option<&str> {
    let targets = readme.split("](").skip(1).map(|rest| rest.split([')', ' ']).next().unwrap_or_default());
    let defined = readme.lines().filter_map(|line| line.strip_prefix('[')?.split_once("]: ").map(|(_, target)| target));
    let is_dead = |target: &&str| !target.starts_with("https://") && !target.starts_with('#') && !target.contains("::");
    targets.chain(defined).find(is_dead)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIT: &str = "Cargo.toml\nLICENSE-APACHE\nLICENSE-MIT\nREADME.md\nsrc/lib.rs\n";

    #[test]
    fn every_published_package_passes_its_check() {
        assert_eq!(run().unwrap(), "10 packages");
    }

    #[test]
    fn a_missing_or_forbidden_file_is_reported() {
        assert_eq!(fault(FIT), None);
        for file in NEEDED {
            let list = FIT.replace(&format!("{file}\n"), "");
            assert_eq!(fault(&list), Some(format!("it lacks {file}")));
        }
        for file in ["tests/cli/snapshots/help.snap", "tests/processes/main.rs", "tests/schemas/1.sql"] {
            assert_eq!(fault(&format!("{FIT}{file}\n")), Some(format!("it must not contain {file}")));
        }
    }

    #[test]
    fn a_library_without_its_docs_rs_settings_is_reported() {
        let settings = &workspace::package("storagebox-core").unwrap().metadata["docs"]["rs"];
        let library = OF_DOCS.concat();
        assert_eq!(undocumented(settings, &library), None);
        assert!(undocumented(&Value::Null, &library).unwrap().contains("docs.rs"));
        for line in OF_DOCS {
            let why = undocumented(settings, &library.replace(line, "")).unwrap();
            assert_eq!(why, format!("its src/lib.rs lacks {}", line.trim()));
        }
    }

    #[test]
    fn a_link_that_works_only_in_the_repository_is_reported() {
        let alive = "[guide](https://docs.rs/a \"title\"), [below](#below), [`run()`]\n\n[a]: https://docs.rs\n";
        assert_eq!(dead_link(alive), None);
        assert_eq!(dead_link("see [the guide](../docs/GUIDE.md)"), Some("../docs/GUIDE.md"));
        assert_eq!(dead_link("see [its source](src/lib.rs)"), Some("src/lib.rs"));
        assert_eq!(dead_link("see [the guide][guide]\n\n[guide]: ../docs/GUIDE.md\n"), Some("../docs/GUIDE.md"));
    }
}
