//! The files that no output of a command may replace.

use std::iter::once;
use std::path::{Path, PathBuf};

use super::place::{Identity, Place};
use super::sqlite;
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

    /// Refuses standard outputs that are the store.
    pub(crate) fn and_standard_outputs(self) -> Result<Self, Failure> {
        let is_the_stores = |own: &Identity| self.store.iter().any(|file| file.identity() == Some(own));
        let [output, error] = standard_outputs().map(|own| own.as_ref().is_some_and(is_the_stores));
        match (output, error) {
            (_, true) => Err(Failure::CannotBeTold),
            (true, false) => Err(Failure::IsTheStores("standard output".into())),
            (false, false) => Ok(self),
        }
    }

    /// Refuses an output that would be written in the place of one of them.
    pub(super) fn keep(&self, output: &Path, place: &Place) -> Result<(), Failure> {
        self.refuse_the_stores(output, place)?;
        let overwrites = |input: &Path| Failure::OverwritesInput { output: output.to_owned(), input: input.to_owned() };
        if let Some((input, _)) = self.inputs.iter().find(|(_, input)| is_or_was(input, place)) {
            return Err(overwrites(input));
        }
        match place.identity() {
            Some(own) if self.standard_input.as_ref() == Some(own) => Err(overwrites(Path::new("standard input"))),
            _ => self.refuse_databases(output, place),
        }
    }

    fn refuse_the_stores(&self, path: &Path, place: &Place) -> Result<(), Failure> {
        match self.store.iter().any(|file| is_or_was(file, place)) {
            true => Err(Failure::IsTheStores(path.to_owned())),
            false => Ok(()),
        }
    }

    /// Another store of SQLite's stays too: perhaps it is the one that was meant. The store itself by another name is
    /// not opened to find out, because SQLite would lose its locks.
    fn refuse_databases(&self, output: &Path, place: &Place) -> Result<(), Failure> {
        let database = sqlite::database_of(place.real());
        if let Some(database) = database.as_deref().and_then(|path| Place::of(path).ok()) {
            self.refuse_the_stores(output, &database)?;
        }
        for file in once(place.real()).chain(database.as_deref()) {
            match sqlite::is_at(file) {
                Ok(false) => {}
                Ok(true) => return Err(Failure::IsADatabase(output.to_owned())),
                Err(source) => return Err(Failure::Read { path: file.display().to_string(), source }),
            }
        }
        Ok(())
    }
}

/// Whether a file is at this place now, or the one that it was at first: it may have been renamed since.
fn is_or_was(file: &Place, place: &Place) -> bool {
    file.is(place) || file.now().is(place)
}

#[cfg(unix)]
fn standard_input() -> Option<Identity> {
    use std::os::fd::AsFd;
    of_open_file(std::io::stdin().as_fd())
}

/// Those that are regular files.
#[cfg(unix)]
fn standard_outputs() -> [Option<Identity>; 2] {
    use std::os::fd::AsFd;
    [of_open_file(std::io::stdout().as_fd()), of_open_file(std::io::stderr().as_fd())]
}

#[cfg(unix)]
fn of_open_file(open: std::os::fd::BorrowedFd<'_>) -> Option<Identity> {
    let file = std::fs::File::from(open.try_clone_to_owned().ok()?);
    file.metadata().ok()?.is_file().then(|| super::place::of_file(&file))?
}

#[cfg(not(unix))]
fn standard_outputs() -> [Option<Identity>; 2] {
    [None, None]
}

#[cfg(not(unix))]
fn standard_input() -> Option<Identity> {
    None
}
