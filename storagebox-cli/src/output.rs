//! Files that appear whole or not at all.

use std::fs::{self, Permissions};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::exit::Failure;

/// A file that does not exist yet, or a regular one, in a directory that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// As the person named it.
    shown: PathBuf,
    /// Without links, so that a link is written through and not replaced.
    real: PathBuf,
}

impl Target {
    pub(crate) fn at(path: &Path) -> Result<Self, Failure> {
        let real = match fs::canonicalize(path) {
            Ok(real) if !real.is_file() => return Err(Failure::NotAFile(path.to_owned())),
            Ok(real) => real,
            Err(_) => not_yet_there(path)?,
        };
        Ok(Self { shown: path.to_owned(), real })
    }

    /// Refuses to be the file that is read.
    pub(crate) fn keep_apart(&self, input: &Path) -> Result<(), Failure> {
        match fs::canonicalize(input) {
            Ok(real) if real == self.real => {
                Err(Failure::OverwritesInput { output: self.shown.clone(), input: input.to_owned() })
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn is_also(&self, other: &Self) -> bool {
        self.real == other.real
    }

    pub(crate) fn remove(&self) -> Result<(), Failure> {
        match fs::remove_file(&self.real) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.unwritable(error)),
            _ => Ok(()),
        }
    }

    fn directory(&self) -> &Path {
        self.real.parent().unwrap_or(&self.real)
    }

    fn unwritable(&self, source: io::Error) -> Failure {
        Failure::Write { path: self.shown.clone(), source }
    }
}

fn not_yet_there(path: &Path) -> Result<PathBuf, Failure> {
    let name = path.file_name().ok_or_else(|| Failure::NotAFile(path.to_owned()))?;
    let directory = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    match fs::canonicalize(directory) {
        Ok(real) if real.is_dir() => Ok(real.join(name)),
        _ => Err(Failure::NoDirectory(directory.to_owned())),
    }
}

/// Puts the bytes in the file's place, in one step, once they are surely on disk.
pub(crate) fn replace(target: &Target, bytes: &[u8]) -> Result<(), Failure> {
    let written = temporary(target).and_then(|mut file| {
        file.write_all(bytes)?;
        persist(file, target)
    });
    written.map_err(|error| target.unwritable(error))
}

/// A CSV file under a passing name beside its target, or anywhere if it is for standard output; dropping it removes it.
#[derive(Debug)]
pub(crate) struct PendingCsv {
    target: Option<Target>,
    writer: csv::Writer<NamedTempFile>,
}

impl PendingCsv {
    pub(crate) fn create(target: Target, header: [&str; 3]) -> Result<Self, Failure> {
        let file = temporary(&target).map_err(|error| target.unwritable(error))?;
        Self::begin(Some(target), file, header)
    }

    /// For standard output, which is written when all of it is there.
    pub(crate) fn for_standard_output(header: [&str; 3]) -> Result<Self, Failure> {
        Self::begin(None, NamedTempFile::new().map_err(Failure::Print)?, header)
    }

    fn begin(target: Option<Target>, file: NamedTempFile, header: [&str; 3]) -> Result<Self, Failure> {
        let writer = csv::Writer::from_writer(file);
        let mut pending = Self { target, writer };
        pending.write(header)?;
        Ok(pending)
    }

    pub(crate) fn write(&mut self, fields: [&str; 3]) -> Result<(), Failure> {
        let written = self.writer.write_record(fields);
        written.map_err(|error| unwritable(self.target.as_ref(), error.into()))
    }

    /// Puts the file in its place, in one step, once it is surely on disk.
    pub(crate) fn publish(self) -> Result<(), Failure> {
        let Self { target, writer } = self;
        let file = writer.into_inner().map_err(|error| unwritable(target.as_ref(), error.into_error()))?;
        match &target {
            Some(target) => persist(file, target).map_err(|error| target.unwritable(error)),
            None => print(file),
        }
    }
}

fn temporary(target: &Target) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(".storagebox-").suffix(".tmp");
    if let Some(permissions) = permissions(target) {
        builder.permissions(permissions);
    }
    builder.tempfile_in(target.directory())
}

/// Those of the file that is replaced, or the usual ones.
fn permissions(target: &Target) -> Option<Permissions> {
    let old = fs::metadata(&target.real).ok().map(|about| about.permissions());
    old.or_else(usual_permissions)
}

#[cfg(unix)]
fn usual_permissions() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn usual_permissions() -> Option<Permissions> {
    None
}

fn unwritable(target: Option<&Target>, error: io::Error) -> Failure {
    match target {
        Some(target) => target.unwritable(error),
        None => Failure::Print(error),
    }
}

/// Whoever stopped reading has read enough.
fn print(file: NamedTempFile) -> Result<(), Failure> {
    let mut file = file.into_file();
    let printed = file.rewind().and_then(|()| io::copy(&mut file, &mut io::stdout().lock()));
    match printed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Print(error)),
        _ => Ok(()),
    }
}

fn persist(file: NamedTempFile, target: &Target) -> io::Result<()> {
    file.as_file().sync_all()?;
    file.persist(&target.real)?;
    sync_directory(target.directory())
}

/// Makes the new name last through a power cut.
#[cfg(unix)]
fn sync_directory(directory: &Path) -> io::Result<()> {
    fs::File::open(directory)?.sync_all()
}

#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}
