//! The files that no output of a command may replace.

use std::path::{Path, PathBuf};

use super::place::{Identity, Place};
use crate::exit::Failure;
use crate::input::Source;

/// The store's own files, and what the command reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reserved {
    store: Vec<Place>,
    inputs: Vec<(PathBuf, Place)>,
    /// If it is a file.
    standard_input: Option<Identity>,
}

impl Reserved {
    /// The files of a store, whether they are there or not. One in a folder that is missing is nobody's output either.
    pub(crate) fn of_store(files: &[PathBuf]) -> Self {
        let store = files.iter().filter_map(|file| Place::of(file).ok()).collect();
        Self { store, ..Self::default() }
    }

    /// And this input, which must not be the store itself: SQLite would lose its locks when the file is closed.
    pub(crate) fn and_input(mut self, source: &Source) -> Result<Self, Failure> {
        match source {
            Source::StandardInput => {
                self.standard_input = standard_input();
                let own = self.standard_input.as_ref();
                if own.is_some() && self.store.iter().any(|file| file.identity() == own) {
                    return Err(Failure::IsTheStores("standard input".into()));
                }
            }
            // One that cannot be found cannot be read either, which is said then.
            Source::File(path) => {
                if let Ok(place) = Place::of(path) {
                    self.refuse_the_stores(path, &place)?;
                    self.inputs.push((path.clone(), place));
                }
            }
        }
        Ok(self)
    }

    /// Refuses an output that would be written in the place of one of them.
    pub(super) fn keep(&self, output: &Path, place: &Place) -> Result<(), Failure> {
        self.refuse_the_stores(output, place)?;
        let overwrites =
            |input: &Path| Failure::OverwritesInput { output: output.to_owned(), input: input.to_owned() };
        if let Some((input, _)) = self.inputs.iter().find(|(_, input)| input.now().is(place)) {
            return Err(overwrites(input));
        }
        match place.identity() {
            Some(own) if self.standard_input.as_ref() == Some(own) => {
                Err(overwrites(Path::new("standard input")))
            }
            _ => Ok(()),
        }
    }

    fn refuse_the_stores(&self, path: &Path, place: &Place) -> Result<(), Failure> {
        match self.store.iter().any(|file| file.now().is(place)) {
            true => Err(Failure::IsTheStores(path.to_owned())),
            false => Ok(()),
        }
    }
}

#[cfg(unix)]
fn standard_input() -> Option<Identity> {
    use std::os::fd::AsFd;
    let input = std::fs::File::from(std::io::stdin().as_fd().try_clone_to_owned().ok()?);
    input.metadata().ok()?.is_file().then(|| super::place::of_file(&input))?
}

#[cfg(not(unix))]
fn standard_input() -> Option<Identity> {
    None
}
