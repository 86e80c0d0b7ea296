//! The packages and files of the workspace, and the paths of its builds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

use crate::command::{captured, cargo};

pub(crate) fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// Reads a file; a relative path begins at the root of the workspace.
pub(crate) fn read(path: impl AsRef<Path>) -> Result<String> {
    let path = root().join(path);
    fs::read_to_string(&path).with_context(|| path.display().to_string())
}

/// Writes a file and creates its folder; a relative path begins at the root of the workspace.
pub(crate) fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> Result<()> {
    let path = root().join(path);
    let write = || {
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        fs::write(&path, bytes)
    };
    write().with_context(|| path.display().to_string())
}

/// Returns the files and folders in a folder, sorted by name.
pub(crate) fn entries(folder: impl AsRef<Path>) -> Result<Vec<PathBuf>> {
    let folder = root().join(folder);
    let list = || fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>();
    let mut paths = list().with_context(|| folder.display().to_string())?;
    paths.sort();
    Ok(paths)
}

/// Returns the last part of a path.
pub(crate) fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The names of files and folders that [`synchronize`] does not copy.
const LEFT_OUT: [&str; 2] = ["target", ".git"];

/// Makes the folder `to` equal to `from`, without writing unchanged files.
pub(crate) fn synchronize(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    let (wanted, found) = (copied(from)?, copied(to)?);
    for gone in found.iter().filter(|path| !wanted.iter().any(|wanted| name(wanted) == name(path))) {
        let removed = if gone.is_dir() { fs::remove_dir_all(gone) } else { fs::remove_file(gone) };
        removed.with_context(|| gone.display().to_string())?;
    }
    for from in wanted {
        let to = to.join(name(&from));
        if from.is_dir() { synchronize(&from, &to)? } else { copy(&from, &to)? }
    }
    Ok(())
}

fn copied(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = entries(folder)?;
    paths.retain(|path| !LEFT_OUT.contains(&name(path).as_str()));
    Ok(paths)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let bytes = fs::read(from).with_context(|| from.display().to_string())?;
    // An unchanged file keeps its modification time, so that cargo does not build it again.
    if fs::read(to).is_ok_and(|found| found == bytes) { Ok(()) } else { write(to, bytes) }
}

/// Returns the path of a program of the release build, which is in the same build folder as this task.
pub(crate) fn released(program: &str) -> Result<PathBuf> {
    Ok(builds()?.join("release").join(program))
}

/// Returns the path at which a debug build puts the program of an example.
pub(crate) fn example(name: &str) -> Result<PathBuf> {
    Ok(builds()?.join("debug/examples").join(name))
}

/// Returns the target folder in which cargo builds this task.
pub(crate) fn builds() -> Result<PathBuf> {
    let task = env::current_exe().context("the path of xtask is unknown")?;
    Ok(task.ancestors().nth(2).unwrap_or(root()).to_owned())
}

/// A package of the workspace, as `cargo metadata` describes it.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    manifest_path: PathBuf,
    /// The registries to which the package may be published, or `None` for all registries. Empty if the package is not
    /// published.
    publish: Option<Vec<String>>,
    pub(crate) repository: Option<String>,
    pub(crate) metadata: Value,
    features: BTreeMap<String, Vec<String>>,
    targets: Vec<Target>,
}

/// A library, program, example or test of a package.
#[derive(Debug, Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

impl Package {
    pub(crate) fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }

    pub(crate) fn is_published(&self) -> bool {
        self.publish.as_ref().is_none_or(|registries| !registries.is_empty())
    }

    /// Returns the features without `default`.
    pub(crate) fn features(&self) -> impl Iterator<Item = &str> {
        self.features.keys().map(String::as_str).filter(|feature| *feature != "default")
    }

    pub(crate) fn examples(&self) -> impl Iterator<Item = &str> {
        let is_example = |target: &&Target| target.kind.iter().any(|kind| kind == "example");
        self.targets.iter().filter(is_example).map(|target| target.name.as_str())
    }
}

pub(crate) fn packages() -> Result<Vec<Package>> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    let metadata = captured(cargo(["metadata", "--locked", "--no-deps", "--format-version", "1"]))?;
    Ok(serde_json::from_str::<Metadata>(&metadata).context("the output of `cargo metadata` cannot be parsed")?.packages)
}

pub(crate) fn package(name: &str) -> Result<Package> {
    packages()?.into_iter().find(|package| package.name == name).with_context(|| format!("there is no package {name}"))
}

/// Returns all files in a folder and its subfolders.
#[cfg(test)]
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = entries(folder).unwrap().into_iter();
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[cfg(test)]
mod tests {
    use storagebox_testkit::Folder;

    use super::*;

    #[test]
    fn a_copy_is_equal_and_keeps_the_times_of_unchanged_files() {
        let (from, to) = (Folder::new("xtask-from").unwrap(), Folder::new("xtask-to").unwrap());
        let text = |folder: &Folder, name: &str| read(folder.path().join(name)).ok();
        for name in ["src/same", "src/other", "target/build"] {
            write(from.path().join(name), "text").unwrap();
        }
        synchronize(from.path(), to.path()).unwrap();
        assert_eq!((text(&to, "src/same"), text(&to, "target/build")), (Some("text".to_owned()), None));
        let time = |name: &str| fs::metadata(to.path().join(name)).unwrap().modified().unwrap();
        let before = time("src/same");
        write(from.path().join("src/other"), "changed").unwrap();
        write(to.path().join("src/more"), "text").unwrap();
        synchronize(from.path(), to.path()).unwrap();
        assert_eq!((text(&to, "src/other"), text(&to, "src/more")), (Some("changed".to_owned()), None));
        assert_eq!(time("src/same"), before);
    }

    #[test]
    fn a_package_has_its_features_and_examples() {
        let facade = package("storagebox").unwrap();
        assert!(facade.is_published() && facade.features().any(|feature| feature == "memory"));
        assert!(facade.features().all(|feature| feature != "default"));
        let examples = package("storagebox-examples").unwrap();
        assert!(!examples.is_published());
        for example in ["stock", "http-requests"] {
            assert!(examples.examples().any(|name| name == example), "{example}");
        }
    }

    #[test]
    fn a_library_with_unit_tests_off_contains_no_unit_test() {
        let off = |package: &Package| {
            let manifest = read(&package.manifest_path).unwrap();
            manifest.contains("\n[lib]\n# Its tests stand in `tests`.\ntest = false\n")
        };
        let off: Vec<_> = packages().unwrap().into_iter().filter(off).collect();
        assert!(off.iter().any(|package| package.name == "storagebox"));
        for path in off.iter().flat_map(|package| files(&package.folder().join("src"))) {
            let text = read(&path).unwrap();
            let test = ["#[cfg(test)]", "#[test]", "::test]"].into_iter().find(|mark| text.contains(mark));
            assert_eq!(test, None, "{}", path.display());
        }
    }
}
