//! The files that no output of a command may replace.

use std::fs;
use std::path::{Path, PathBuf};

use super::target::folder_of;
use crate::exit::Failure;
use crate::input::Source;

/// Files that no output may replace: the store's own files, and the inputs of the command.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reserved {
    store: Vec<PathBuf>,
    inputs: Vec<Source>,
}

impl Reserved {
    /// Reserves the files of a store, whether they exist or not. Fails if standard output or standard error leads to
    /// one of these files.
    pub(crate) fn of_store(store: Vec<PathBuf>) -> Result<Self, Failure> {
        let reserved = Self { store, inputs: vec![] };
        for output in ["/dev/stdout", "/dev/stderr"] {
            reserved.refuse_store(Path::new(output))?;
        }
        Ok(reserved)
    }

    /// Adds an input to the reserved files. Fails if the input is a file of the store.
    pub(crate) fn and_input(mut self, source: &Source) -> Result<Self, Failure> {
        // SQLite would lose its locks when the input is closed.
        self.refuse_store(source.path())?;
        self.inputs.push(source.clone());
        Ok(self)
    }

    /// Fails if this path leads to a reserved file.
    pub(super) fn refuse(&self, output: &Path) -> Result<(), Failure> {
        self.refuse_store(output)?;
        match self.inputs.iter().find(|input| is_same(input.path(), output)) {
            Some(input) => Err(Failure::OverwritesInput { output: output.to_owned(), input: input.to_string() }),
            None => Ok(()),
        }
    }

    fn refuse_store(&self, path: &Path) -> Result<(), Failure> {
        match self.store.iter().any(|file| is_same(file, path)) {
            true => Err(Failure::IsTheStores(path.to_owned())),
            false => Ok(()),
        }
    }
}

/// Returns whether both paths lead to the same file, which need not exist.
pub(super) fn is_same(path: &Path, other: &Path) -> bool {
    match [path, other].map(identity) {
        [None, None] => full_name(path).is_some_and(|name| full_name(other) == Some(name)),
        [own, other] => own == other,
    }
}

/// Returns how the system identifies an existing file: by its device, and its number on the device.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|about| (about.dev(), about.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

fn full_name(path: &Path) -> Option<PathBuf> {
    Some(fs::canonicalize(folder_of(path)).ok()?.join(path.file_name()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_recognised_by_every_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name| folder.path().join(name);
        fs::create_dir(path("under")).unwrap();
        fs::write(path("there"), "").unwrap();
        fs::write(path("other"), "").unwrap();
        fs::hard_link(path("there"), path("hard")).unwrap();
        for (one, other, is) in [
            ("there", "./there", true),
            ("there", "under/../there", true),
            ("there", "hard", true),
            ("there", "other", false),
            ("missing", "under/../missing", true),
            ("missing", "under/missing", false),
            ("missing", "there", false),
        ] {
            assert_eq!(is_same(&path(one), &path(other)), is, "{one} {other}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_recognised_through_symbolic_links() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let path = |name| folder.path().join(name);
        fs::write(path("there"), "").unwrap();
        for (link, to) in [("a", "there"), ("b", "a"), ("loop", "loop"), ("here", ".")] {
            symlink(to, path(link)).unwrap();
        }
        assert!(is_same(&path("b"), &path("there")));
        assert!(is_same(&path("here/missing"), &path("missing")));
        assert!(!is_same(&path("loop"), &path("there")));
    }
}
