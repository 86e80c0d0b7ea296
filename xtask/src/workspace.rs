//! The paths of the workspace and of its builds.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::failure::Failure;

pub(crate) fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

pub(crate) fn read(path: impl AsRef<Path>) -> Result<String, Failure> {
    let path = root().join(path);
    fs::read_to_string(&path).map_err(|error| Failure::File { path, error })
}

/// Returns a program of the release build, which is next to the debug build of this task, wherever that is.
pub(crate) fn released(program: &str) -> Result<PathBuf, Failure> {
    Ok(builds()?.join("release").join(program))
}

/// Returns an example of the debug build.
pub(crate) fn example(name: &str) -> Result<PathBuf, Failure> {
    Ok(builds()?.join("debug/examples").join(name))
}

/// Returns the folder in which cargo builds.
pub(crate) fn builds() -> Result<PathBuf, Failure> {
    let task = env::current_exe().map_err(|error| Failure::File { path: "xtask".into(), error })?;
    Ok(task.ancestors().nth(2).unwrap_or(root()).to_owned())
}

/// Returns the folders of the members, as the workspace's manifest lists them.
pub(crate) fn members(manifest: &str) -> impl Iterator<Item = &str> {
    let list = manifest.split_once("members = [").map_or("", |(_, rest)| rest);
    let list = list.split_once(']').map_or("", |(list, _)| list);
    list.split(',').map(|member| member.trim().trim_matches('"')).filter(|member| !member.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_read() {
        let manifest = "[workspace]\nmembers = [\n    \"benches\",\n    \"xtask\",\n]\n[workspace.package]\n";
        assert_eq!(members(manifest).collect::<Vec<_>>(), ["benches", "xtask"]);
        assert_eq!(members("").count(), 0);
    }

    /// Tests that are not built are not run either.
    #[test]
    fn a_library_that_is_not_tested_holds_no_tests() {
        let manifest = read("Cargo.toml").unwrap();
        let untested = |member: &&str| {
            read(format!("{member}/Cargo.toml"))
                .unwrap()
                .contains("\n[lib]\n# Its tests stand in `tests`.\ntest = false\n")
        };
        let untested: Vec<_> = members(&manifest).filter(untested).collect();
        assert!(untested.contains(&"storagebox"), "{untested:?}");
        for member in untested {
            assert_eq!(with_tests(&root().join(member).join("src")), Vec::<PathBuf>::new());
        }
    }

    fn with_tests(folder: &Path) -> Vec<PathBuf> {
        let holds_tests = |path: &PathBuf| {
            let text = fs::read_to_string(path).unwrap();
            ["#[cfg(test)]", "#[test]", "::test]"].iter().any(|mark| text.contains(mark))
        };
        let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let of_path = |path: PathBuf| {
            if path.is_dir() { with_tests(&path) } else { Some(path).filter(holds_tests).into_iter().collect() }
        };
        paths.flat_map(of_path).collect()
    }

    #[test]
    fn this_package_is_a_member() {
        let manifest = read("Cargo.toml").unwrap();
        assert!(members(&manifest).any(|member| member == "xtask"));
    }
}
