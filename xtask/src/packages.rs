//! What the packages that are published hold, and what they do not.

use std::fs;

use crate::command::{captured, cargo};
use crate::failure::Failure;
use crate::workspace;

/// What every package has beside its sources.
const NEEDED: [&str; 4] = ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];
/// Files whose text is that of the workspace's own.
const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];
/// What no package has: tests need servers and packages that are not published.
const FOREIGN: [&str; 4] = ["tests/", "benches/", "snapshots/", ".snap"];

/// Looks at every package that is published. Says how many there are.
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

/// The name of a package, if it is published.
fn published(manifest: &str) -> Option<&str> {
    let is_kept = manifest.lines().any(|line| line.trim() == "publish = false");
    let name = manifest.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    name.filter(|_| !is_kept)
}

fn check(name: &str, folder: &str, manifest: &str) -> Result<(), Failure> {
    let unfit = |why| Failure::Package { package: name.to_owned(), why };
    let list = captured(cargo(["package", "--list", "--locked", "--allow-dirty", "-p", name]))?;
    fault(&list, manifest).map_or(Ok(()), |why| Err(unfit(why)))?;
    for licence in LICENCES {
        let path = workspace::root().join(folder).join(licence);
        let text = fs::read_to_string(&path).map_err(|error| Failure::File { path, error })?;
        if text != workspace::read(licence)? {
            return Err(unfit(format!("its {licence} is not that of the workspace")));
        }
    }
    Ok(())
}

/// What is wrong with a package of these files and this manifest, if anything is.
fn fault(list: &str, manifest: &str) -> Option<String> {
    let missing = NEEDED.into_iter().find(|file| !list.lines().any(|line| line == *file));
    let foreign = list.lines().find(|line| FOREIGN.iter().any(|part| line.contains(part)));
    let has_repository = manifest.lines().any(|line| line.trim().starts_with("repository"));
    missing
        .map(|file| format!("it lacks {file}"))
        .or_else(|| foreign.map(|file| format!("it holds {file}")))
        .or_else(|| (!has_repository).then(|| "it names no repository".to_owned()))
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
    fn what_is_not_published_is_left_out() {
        assert_eq!(published(MANIFEST), Some("a"));
        assert_eq!(published("[package]\nname = \"a\"\npublish = false\n"), None);
    }
}
