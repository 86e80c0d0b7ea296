//! Checks the content of the published packages.

use std::fs;

use crate::command::{captured, cargo};
use crate::failure::Failure;
use crate::workspace;

/// The files that every package has in addition to its sources.
const NEEDED: [&str; 4] = ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];
/// The files with the same text as in the workspace's root.
const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];
/// The settings for docs.rs: all features, so that the documentation shows each backend.
const DOCS_RS: &str = "[package.metadata.docs.rs]\nall-features = true\nrustdoc-args = [\"--cfg\", \"docsrs\"]\n";
/// The attributes of each library for its documentation: an item shows its feature, and no example compiles with a
/// warning.
const OF_DOCS: [&str; 2] = ["\n#![cfg_attr(docsrs, feature(doc_cfg))]\n", "\n#![doc(test(attr(deny(warnings))))]\n"];
/// The files that no package has, because tests need servers and packages that are not published.
const FOREIGN: [&str; 4] = ["tests/", "benches/", "snapshots/", ".snap"];

/// Checks every published package. Returns their number.
pub(crate) fn run() -> Result<String, Failure> {
    let mut count = 0;
    for folder in workspace::members(&workspace::read("Cargo.toml")?) {
        let manifest = workspace::read(format!("{folder}/Cargo.toml"))?;
        if let Some(name) = published(&manifest) {
            check(name, folder, &manifest)?;
            count += 1;
        }
    }
    Ok(format!("{count} packages"))
}

/// Returns the name of a package, if it is published.
fn published(manifest: &str) -> Option<&str> {
    let is_kept = manifest.lines().any(|line| line.trim() == "publish = false");
    let name = manifest.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    name.filter(|_| !is_kept)
}

fn check(name: &str, folder: &str, manifest: &str) -> Result<(), Failure> {
    let unfit = |why| Failure::Package { package: name.to_owned(), why };
    let list = captured(cargo(["package", "--list", "--locked", "--allow-dirty", "-p", name]))?;
    fault(&list, manifest).map_or(Ok(()), |why| Err(unfit(why)))?;
    let readme = workspace::read(format!("{folder}/README.md"))?;
    dead_link(&readme).map_or(Ok(()), |link| Err(unfit(format!("the link {link} of its README is dead elsewhere"))))?;
    if list.lines().any(|line| line == "src/lib.rs") {
        let library = workspace::read(format!("{folder}/src/lib.rs"))?;
        undocumented(manifest, &library).map_or(Ok(()), |why| Err(unfit(why)))?;
    }
    for licence in LICENCES {
        let path = workspace::root().join(folder).join(licence);
        let text = fs::read_to_string(&path).map_err(|error| Failure::File { path, error })?;
        if text != workspace::read(licence)? {
            return Err(unfit(format!("its {licence} is not that of the workspace")));
        }
    }
    Ok(())
}

/// Returns what is wrong with a package of these files and this manifest, or `None`.
fn fault(list: &str, manifest: &str) -> Option<String> {
    let missing = NEEDED.into_iter().find(|file| !list.lines().any(|line| line == *file));
    let foreign = list.lines().find(|line| FOREIGN.iter().any(|part| line.contains(part)));
    let has_repository = manifest.lines().any(|line| line.trim().starts_with("repository"));
    missing
        .map(|file| format!("it lacks {file}"))
        .or_else(|| foreign.map(|file| format!("it holds {file}")))
        .or_else(|| (!has_repository).then(|| "it names no repository".to_owned()))
}

/// Returns what a library's documentation lacks, or `None`.
fn undocumented(manifest: &str, library: &str) -> Option<String> {
    let missing = OF_DOCS.into_iter().find(|line| !library.contains(line));
    missing
        .map(|line| format!("its src/lib.rs lacks {}", line.trim()))
        .or_else(|| (!manifest.contains(DOCS_RS)).then(|| format!("its Cargo.toml lacks {DOCS_RS}")))
}

/// Returns a link of a README that works only in the repository. The README is also the page of the package at the
/// registry, and the first page of its documentation.
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
    const MANIFEST: &str = "[package]\nname = \"a\"\nrepository.workspace = true\n";

    #[test]
    fn every_published_package_is_fit() {
        assert_eq!(run().map_err(|failure| failure.to_string()), Ok("10 packages".to_owned()));
    }

    #[test]
    fn what_is_missing_or_foreign_is_named() {
        assert_eq!(fault(FIT, MANIFEST), None);
        for file in NEEDED {
            let list = FIT.replace(&format!("{file}\n"), "");
            assert_eq!(fault(&list, MANIFEST), Some(format!("it lacks {file}")));
        }
        for file in ["tests/cli/snapshots/help.snap", "tests/processes/main.rs", "tests/schemas/1.sql"] {
            assert_eq!(fault(&format!("{FIT}{file}\n"), MANIFEST), Some(format!("it holds {file}")));
        }
        assert_eq!(fault(FIT, "[package]\n"), Some("it names no repository".to_owned()));
    }

    #[test]
    fn a_library_of_which_docs_rs_would_show_a_part_is_named() {
        let (manifest, library) = (format!("{MANIFEST}\n{DOCS_RS}"), OF_DOCS.concat());
        assert_eq!(undocumented(&manifest, &library), None);
        assert_eq!(undocumented(MANIFEST, &library), Some(format!("its Cargo.toml lacks {DOCS_RS}")));
        for line in OF_DOCS {
            let why = undocumented(&manifest, &library.replace(line, "")).unwrap();
            assert_eq!(why, format!("its src/lib.rs lacks {}", line.trim()));
        }
    }

    #[test]
    fn a_link_that_works_in_the_repository_alone_is_dead() {
        let alive = "[guide](https://docs.rs/a \"title\"), [below](#below), [`run()`]\n\n[a]: https://docs.rs\n";
        assert_eq!(dead_link(alive), None);
        assert_eq!(dead_link("see [the guide](../docs/GUIDE.md)"), Some("../docs/GUIDE.md"));
        assert_eq!(dead_link("see [its source](src/lib.rs)"), Some("src/lib.rs"));
        assert_eq!(dead_link("see [the guide][guide]\n\n[guide]: ../docs/GUIDE.md\n"), Some("../docs/GUIDE.md"));
    }

    #[test]
    fn what_is_not_published_is_left_out() {
        assert_eq!(published(MANIFEST), Some("a"));
        assert_eq!(published("[package]\nname = \"a\"\npublish = false\n"), None);
    }
}
