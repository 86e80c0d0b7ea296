//! The destination of an output, which is checked before any work is done.

use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use super::reserved::{Reserved, is_same};
use crate::exit::Failure;
use crate::message::{Kind, eprint_message};
use crate::terminal::{self, PrintableWriter};

/// An output whose path was checked.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// The path as the user wrote it.
    path: PathBuf,
    destination: Destination,
    is_secret: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Destination {
    StandardOutput,
    StandardError,
    Pipe,
    /// A terminal, or a device that keeps nothing, such as `/dev/null`.
    Device,
    NewFile,
    /// A file that exists and is to be replaced.
    OldFile,
}

impl Target {
    /// Checks the path of an output. Refuses an existing file unless `replace` is true.
    pub(crate) fn at(path: &Path, replace: bool, reserved: &Reserved) -> Result<Self, Failure> {
        let target = Self { path: path.to_owned(), destination: Destination::of(path)?, is_secret: true };
        if target.is_file() {
            reserved.refuse(path)?;
        }
        if target.is_there() && !replace {
            return Err(Failure::Exists(path.to_owned()));
        }
        // Fails before the work if the directory cannot be written to.
        target.unnamed_file()?;
        Ok(target)
    }

    /// Lets the umask decide who may read the file. Only for a file without secrets.
    pub(crate) fn for_everybody(self) -> Self {
        Self { is_secret: false, ..self }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn is_standard_output(&self) -> bool {
        self.destination == Destination::StandardOutput
    }

    /// Returns whether the file existed when the path was checked.
    pub(crate) fn is_there(&self) -> bool {
        self.destination == Destination::OldFile
    }

    fn is_file(&self) -> bool {
        matches!(self.destination, Destination::NewFile | Destination::OldFile)
    }

    /// Returns whether both outputs go to one file, pipe or standard output.
    pub(crate) fn is_also(&self, other: &Self) -> bool {
        match self.destination {
            Destination::Device => false,
            Destination::StandardOutput | Destination::StandardError => self.destination == other.destination,
            _ => is_same(&self.path, &other.path),
        }
    }

    /// Writes the bytes to the destination, which may be `standard_output`.
    pub(crate) fn write(&self, bytes: &[u8], standard_output: &mut dyn Write) -> Result<(), Failure> {
        match self.destination {
            Destination::StandardOutput => copy(&mut &*bytes, standard_output).map_err(|error| self.unwritable(error)),
            _ => self.publish_from(&mut &*bytes),
        }
    }

    /// Creates a file without a name, on the disk where the output goes.
    pub(super) fn unnamed_file(&self) -> Result<File, Failure> {
        let created = if self.is_file() { tempfile::tempfile_in(folder_of(&self.path)) } else { tempfile::tempfile() };
        created.map_err(|error| self.unwritable(error))
    }

    /// Copies the content of an unnamed file to the destination.
    pub(super) fn publish(&self, mut file: File) -> Result<(), Failure> {
        file.rewind().map_err(|error| self.unwritable(error))?;
        self.publish_from(&mut file)
    }

    fn publish_from(&self, from: &mut impl Read) -> Result<(), Failure> {
        let published = match self.destination {
            Destination::StandardOutput => copy(from, &mut terminal::stdout(false)),
            Destination::StandardError => copy(from, &mut terminal::stderr(false)),
            Destination::Pipe | Destination::Device => {
                open_stream(&self.path).and_then(|stream| copy(from, &mut PrintableWriter::over(stream, false)))
            }
            Destination::NewFile | Destination::OldFile => self.put(from),
        };
        published.map_err(|error| self.unwritable(error))
    }

    /// Writes the file under a temporary name, and renames it when all of it is on disk.
    fn put(&self, from: &mut impl Read) -> io::Result<()> {
        let mut file = self.named_file()?;
        io::copy(from, &mut file)?;
        file.as_file().sync_all()?;
        match self.destination {
            Destination::OldFile => file.persist(&self.path)?,
            _ => file.persist_noclobber(&self.path)?,
        };
        // The file is there, so this is no failure of the command, which would find it at the next run.
        if let Err(error) = sync_directory(folder_of(&self.path)) {
            let path = self.path.display();
            let what = "is written, but its name may not survive a power failure";
            eprint_message(Kind::Note, format_args!("{path} {what}, because its directory cannot be flushed: {error}"));
        }
        Ok(())
    }

    fn named_file(&self) -> io::Result<NamedTempFile> {
        let mut builder = Builder::new();
        builder.prefix(".storagebox-").suffix(".tmp");
        #[cfg(unix)]
        if !self.is_secret {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        builder.tempfile_in(folder_of(&self.path))
    }

    pub(super) fn unwritable(&self, source: io::Error) -> Failure {
        let path = self.path.clone();
        match source.kind() {
            io::ErrorKind::AlreadyExists => Failure::Exists(path),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory if self.is_file() => {
                Failure::NoDirectory(folder_of(&path).to_owned())
            }
            _ if self.is_file() => Failure::Write { path, source },
            _ if self.is_standard_output() => Failure::Pass { to: "standard output".into(), source },
            _ => Failure::Pass { to: path, source },
        }
    }
}

impl Destination {
    fn of(path: &Path) -> Result<Self, Failure> {
        let about = match path.to_str() {
            Some("-" | "/dev/stdout") => return Ok(Self::StandardOutput),
            Some("/dev/stderr") => return Ok(Self::StandardError),
            // A dangling link exists too.
            _ => fs::metadata(path).or_else(|_| fs::symlink_metadata(path)),
        };
        match about.map(|about| about.file_type()) {
            Ok(kind) if kind.is_file() || kind.is_symlink() => Ok(Self::OldFile),
            Ok(kind) => stream(kind).ok_or_else(|| Failure::NotAFile(path.to_owned())),
            Err(_) if names_a_folder(path) => Err(Failure::NotAFile(path.to_owned())),
            Err(_) => Ok(Self::NewFile),
        }
    }
}

#[cfg(unix)]
fn stream(kind: FileType) -> Option<Destination> {
    use std::os::unix::fs::FileTypeExt;
    match kind {
        kind if kind.is_fifo() => Some(Destination::Pipe),
        kind if kind.is_char_device() => Some(Destination::Device),
        _ => None,
    }
}

#[cfg(not(unix))]
fn stream(_: FileType) -> Option<Destination> {
    None
}

/// Opens a pipe or a device. Fails if the path now leads to a file.
fn open_stream(path: &Path) -> io::Result<File> {
    let stream = OpenOptions::new().write(true).open(path)?;
    match stream.metadata()?.is_file() {
        true => Err(io::Error::other("it was a pipe or a device, and no longer is")),
        false => Ok(stream),
    }
}

/// Returns whether the path ends like `given/` or `given/.`, and so names a folder.
fn names_a_folder(path: &Path) -> bool {
    let path = path.to_string_lossy();
    matches!(path.rsplit(std::path::is_separator).next(), Some("" | "."))
}

pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Copies everything. A closed pipe is an error, because the output is the purpose of the command.
fn copy(from: &mut impl Read, to: &mut (impl Write + ?Sized)) -> io::Result<()> {
    io::copy(from, to).and_then(|_| to.flush())
}

/// Flushes the directory to disk, so that a new name in it survives a power failure.
#[cfg(unix)]
fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}
