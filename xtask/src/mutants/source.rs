//! The copy of the workspace that mutants patch.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::catalogue::{Mutant, Patch};
use crate::failure::Failure;
use crate::workspace;

/// The entries that a copy does not need.
const LEFT_OUT: [&str; 2] = ["target", ".git"];

/// A copy of the workspace. An unchanged file keeps its modification time, so that it is not rebuilt.
#[derive(Debug)]
pub(super) struct Source {
    folder: PathBuf,
}

impl Source {
    pub(super) fn copied(folder: PathBuf) -> Result<Self, Failure> {
        synchronize(workspace::root(), &folder)?;
        Ok(Self { folder })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Patches the copy, does the work, and restores the copy.
    pub(super) fn patched<T>(&self, mutant: &Mutant, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        let patched = mutant.patch.iter().try_for_each(|patch| self.patch(mutant, patch));
        let outcome = patched.and_then(|()| work());
        let restored = mutant.patch.iter().try_for_each(|patch| self.restore(patch));
        outcome.and_then(|found| restored.map(|()| found))
    }

    fn patch(&self, mutant: &Mutant, patch: &Patch) -> Result<(), Failure> {
        let path = self.folder.join(&patch.file);
        let text = fs::read_to_string(&path).map_err(|error| Failure::File { path: path.clone(), error })?;
        let fault = |why| Failure::Catalogue { faults: vec![format!("{}: {why}", mutant.name)] };
        write(&path, patch.applied(&text).map_err(fault)?.as_bytes())
    }

    fn restore(&self, patch: &Patch) -> Result<(), Failure> {
        write(&self.folder.join(&patch.file), workspace::read(&patch.file)?.as_bytes())
    }
}

/// Makes one folder equal to another.
fn synchronize(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::create_dir_all(to).map_err(|error| Failure::File { path: to.to_owned(), error })?;
    let (wanted, found) = (names(from)?, names(to)?);
    for name in found.iter().filter(|name| !wanted.contains(name)) {
        remove(&to.join(name))?;
    }
    for name in wanted {
        let (from, to) = (from.join(&name), to.join(&name));
        if from.is_dir() { synchronize(&from, &to)? } else { copy(&from, &to)? }
    }
    Ok(())
}

fn names(folder: &Path) -> Result<Vec<std::ffi::OsString>, Failure> {
    let failed = |error| Failure::File { path: folder.to_owned(), error };
    let names = fs::read_dir(folder).map_err(failed)?.map(|entry| entry.map(|entry| entry.file_name()));
    let is_kept = |name: &std::ffi::OsString| !LEFT_OUT.iter().any(|left_out| name.as_os_str() == OsStr::new(left_out));
    let names: Vec<_> = names.collect::<Result<_, _>>().map_err(failed)?;
    Ok(names.into_iter().filter(is_kept).collect())
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let wanted = fs::read(from).map_err(|error| Failure::File { path: from.to_owned(), error })?;
    match fs::read(to) {
        Ok(found) if found == wanted => Ok(()),
        _ => write(to, &wanted),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    fs::write(path, bytes).map_err(|error| Failure::File { path: path.to_owned(), error })
}

fn remove(path: &Path) -> Result<(), Failure> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.map_err(|error| Failure::File { path: path.to_owned(), error })
}

#[cfg(test)]
mod tests {
    use storagebox_testkit::Folder;

    use super::*;

    #[test]
    fn a_copy_is_as_the_folder_is_and_keeps_the_time_of_what_did_not_change() {
        let (from, to) = (Folder::new("xtask-from").unwrap(), Folder::new("xtask-to").unwrap());
        let text = |folder: &Folder, name: &str| fs::read_to_string(folder.path().join(name)).ok();
        fs::create_dir_all(from.path().join("src")).unwrap();
        fs::create_dir_all(from.path().join("target")).unwrap();
        for name in ["src/same", "src/other", "target/build"] {
            fs::write(from.path().join(name), "text").unwrap();
        }
        synchronize(from.path(), to.path()).unwrap();
        assert_eq!((text(&to, "src/same"), text(&to, "target/build")), (Some("text".to_owned()), None));
        let time = |name: &str| fs::metadata(to.path().join(name)).unwrap().modified().unwrap();
        let before = time("src/same");
        fs::write(from.path().join("src/other"), "changed").unwrap();
        fs::write(to.path().join("src/more"), "text").unwrap();
        synchronize(from.path(), to.path()).unwrap();
        assert_eq!((text(&to, "src/other"), text(&to, "src/more")), (Some("changed".to_owned()), None));
        assert_eq!(time("src/same"), before);
    }
}
