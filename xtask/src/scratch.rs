//! A directory for one task.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use crate::failure::Failure;

/// A directory of its own, removed at the end.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// The name tells apart the directories of one process.
    pub(crate) fn new(name: &str) -> Result<Self, Failure> {
        let path = env::temp_dir().join(format!("storagebox-{name}-{}", process::id()));
        fs::create_dir(&path).map_err(|error| Failure::File { path: path.clone(), error })?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("{} is left behind: {error}", self.0.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_gone_afterwards() {
        let scratch = Scratch::new("scratch-test").unwrap();
        let path = scratch.path().to_owned();
        fs::write(path.join("file"), "text").unwrap();
        drop(scratch);
        assert!(!path.exists());
    }
}
