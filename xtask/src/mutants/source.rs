//! The copy of the workspace that mutants patch.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::catalogue::{Mutant, Patch};
use crate::workspace;

/// A copy of the workspace.
#[derive(Debug)]
pub(super) struct Source {
    folder: PathBuf,
}

impl Source {
    pub(super) fn copied(folder: PathBuf) -> Result<Self> {
        workspace::synchronize(workspace::root(), &folder)?;
        Ok(Self { folder })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Patches the copy, does the work, and removes the patch.
    pub(super) fn patched<T>(&self, mutant: &Mutant, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let patched = mutant.patch.iter().try_for_each(|patch| self.patch(patch));
        let outcome = patched.with_context(|| mutant.name.clone()).and_then(|()| work());
        let restored = mutant.patch.iter().try_for_each(|patch| self.restore(patch));
        outcome.and_then(|found| restored.map(|()| found))
    }

    fn patch(&self, patch: &Patch) -> Result<()> {
        let path = self.folder.join(&patch.file);
        let text = workspace::read(&path)?;
        workspace::write(path, patch.applied(&text).map_err(anyhow::Error::msg)?)
    }

    fn restore(&self, patch: &Patch) -> Result<()> {
        workspace::write(self.folder.join(&patch.file), workspace::read(&patch.file)?)
    }
}
