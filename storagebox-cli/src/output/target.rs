//! Where an output goes, decided before any work is done.

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use super::place::Place;
use super::reserved::Reserved;
use super::temporary;
use crate::exit::Failure;
use crate::input::Source;
use crate::terminal::{self, PrintableWriter};

/// Codes are money: a new file is for its owner alone.
const FOR_ITS_OWNER: u32 = 0o600;
/// As far as the process' mask lets it.
const FOR_EVERYBODY: u32 = 0o666;

/// A place for an output: one that may be written and that nothing else is in.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// As the person named it.
    shown: PathBuf,
    way: Way,
    reserved: Reserved,
    rights: u32,
}

/// How what was written comes there.
#[derive(Clone, Debug)]
enum Way {
    StandardOutput,
    StandardError,
    /// Through a pipe, or to what keeps nothing, such as a terminal or `/dev/null`.
    Stream {
        is_device: bool,
    },
    /// In the place of a regular file, or where there is none yet.
    File(Place),
}

impl Target {
    pub(crate) fn at(path: &Path, reserved: &Reserved) -> Result<Self, Failure> {
        let way = match (Source::named(path), fs::metadata(path)) {
            (Source::StandardInput, _) => Way::StandardOutput,
            (Source::File(_), Ok(about)) => Way::to(path, &about)?,
            (Source::File(_), Err(_)) => Way::File(place(path)?),
        };
        if let Way::File(place) = &way {
            reserved.keep(path, place)?;
            temporary::clean_up(place.folder());
        }
        Ok(Self { shown: path.to_owned(), way, reserved: reserved.clone(), rights: FOR_ITS_OWNER })
    }

    /// For what holds no secret.
    pub(crate) fn for_everybody(self) -> Self {
        Self { rights: FOR_EVERYBODY, ..self }
    }

    pub(crate) fn shown(&self) -> &Path {
        &self.shown
    }

    pub(crate) fn is_standard_output(&self) -> bool {
        matches!(self.way, Way::StandardOutput)
    }

    /// Whether a regular file is there now.
    pub(crate) fn is_there(&self) -> bool {
        matches!(&self.way, Way::File(place) if place.real().is_file())
    }

    /// The beginning of the file that is there, at most so long.
    pub(crate) fn beginning(&self, bytes: u64) -> Result<Vec<u8>, Failure> {
        let mut beginning = vec![];
        if let Way::File(place) = &self.way {
            let read = File::open(place.real()).and_then(|file| file.take(bytes).read_to_end(&mut beginning));
            read.map_err(|source| Failure::Read { path: self.shown.display().to_string(), source })?;
        }
        Ok(beginning)
    }

    /// Whether one would take the other's place. A device takes whatever comes, from whomever.
    pub(crate) fn is_also(&self, other: &Self) -> bool {
        match (&self.way, &other.way) {
            (Way::File(own), Way::File(other)) => own.is(other),
            (Way::Stream { is_device: false }, Way::Stream { .. }) => is_same(&self.shown, &other.shown),
            (Way::StandardOutput, Way::StandardOutput) | (Way::StandardError, Way::StandardError) => true,
            _ => false,
        }
    }

    /// Writes the bytes, standard output being elsewhere.
    pub(crate) fn write(&self, bytes: &[u8], standard_output: &mut dyn Write) -> Result<(), Failure> {
        match &self.way {
            Way::StandardOutput => pour(&mut &*bytes, standard_output).map_err(|error| self.unwritable(error)),
            _ => {
                let (mut file, name) = self.begin()?;
                file.write_all(bytes).map_err(|error| self.unwritable(error))?;
                self.publish(file, name)
            }
        }
    }

    /// A file to write to until it is published: beside its place, or without a name where it has none.
    pub(super) fn begin(&self) -> Result<(File, Option<TempPath>), Failure> {
        let begun = match &self.way {
            Way::File(place) => {
                temporary::create(place.folder(), self.first_rights(place)).map(|(file, name)| (file, Some(name)))
            }
            _ => tempfile::tempfile().map(|file| (file, None)),
        };
        begun.map_err(|error| self.unwritable(error))
    }

    /// Puts the file in its place, in one step, once it is surely on disk; or its bytes through.
    pub(super) fn publish(&self, mut file: File, name: Option<TempPath>) -> Result<(), Failure> {
        match (&self.way, name) {
            (Way::File(place), Some(name)) => self.put(place, &file, name),
            (way, _) => file.rewind().and_then(|()| way.pass(&self.shown, &mut file)).map_err(|e| self.unwritable(e)),
        }
    }

    fn put(&self, place: &Place, file: &File, name: TempPath) -> Result<(), Failure> {
        self.look_again(place)?;
        let put = file.sync_all().and_then(|()| match place.identity() {
            Some(_) => replace(place, file, name),
            None => name.persist_noclobber(place.real()).map_err(|error| error.error),
        });
        put.and_then(|()| sync_directory(place.folder())).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Failure::Changed(self.shown.clone()),
            _ => self.unwritable(error),
        })
    }

    /// Much may have happened since the work began: only what was there then is replaced.
    fn look_again(&self, place: &Place) -> Result<(), Failure> {
        if fs::symlink_metadata(place.real()).is_ok_and(|about| !about.is_file()) {
            return Err(Failure::NotAFile(self.shown.clone()));
        }
        let now = self::place(place.real())?;
        self.reserved.keep(&self.shown, &now)?;
        match now == *place {
            true => Ok(()),
            false => Err(Failure::Changed(self.shown.clone())),
        }
    }

    /// Until it is in its place, what is to replace a file is for its owner alone.
    fn first_rights(&self, place: &Place) -> u32 {
        place.identity().map_or(self.rights, |_| FOR_ITS_OWNER)
    }

    pub(super) fn unwritable(&self, source: io::Error) -> Failure {
        match self.way {
            Way::File(_) => Failure::Write { path: self.shown.clone(), source },
            Way::StandardOutput => Failure::Pass { to: "standard output".into(), source },
            _ => Failure::Pass { to: self.shown.clone(), source },
        }
    }
}

impl Way {
    /// To what is there.
    fn to(path: &Path, about: &Metadata) -> Result<Self, Failure> {
        match (standard(about), about.is_file(), stream(about.file_type())) {
            (Some(standard), ..) => Ok(standard),
            // What a process has open and nobody can find any more is there too, by its number.
            (None, true, _) => match place(path)? {
                place if place.is_at(about) => Ok(Self::File(place)),
                _ => Err(Failure::NotAFile(path.to_owned())),
            },
            (None, false, Some(stream)) => Ok(stream),
            (None, false, None) => Err(Failure::NotAFile(path.to_owned())),
        }
    }

    fn pass(&self, path: &Path, from: &mut File) -> io::Result<()> {
        match self {
            Self::StandardOutput => pour(from, &mut terminal::stdout(false)),
            Self::StandardError => pour(from, &mut terminal::stderr(false)),
            Self::Stream { .. } | Self::File(_) => pour(from, &mut PrintableWriter::over(open_stream(path)?, false)),
        }
    }
}

/// What is there may have become something else meanwhile.
fn open_stream(path: &Path) -> io::Result<File> {
    let stream = OpenOptions::new().write(true).open(path)?;
    match self::stream(stream.metadata()?.file_type()) {
        Some(_) => Ok(stream),
        None => Err(io::Error::other("it was a pipe or a device, and no longer is")),
    }
}

fn place(path: &Path) -> Result<Place, Failure> {
    if is_a_folders_name(path) {
        return Err(Failure::NotAFile(path.to_owned()));
    }
    Place::to_write(path).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => Failure::NotAFile(path.to_owned()),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Failure::NoDirectory(folder(path)),
        _ => Failure::Write { path: path.to_owned(), source: error },
    })
}

/// As in `given/`, of which the last part alone would be a file's name.
fn is_a_folders_name(path: &Path) -> bool {
    let shown = path.to_string_lossy();
    let end = shown.rsplit(std::path::is_separator).next();
    matches!(end, Some("" | "."))
}

fn folder(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    folder.unwrap_or(Path::new(".")).to_owned()
}

/// The output is the purpose of the command: a reader that has gone has not got it.
fn pour(from: &mut impl Read, to: &mut (impl Write + ?Sized)) -> io::Result<()> {
    io::copy(from, to).and_then(|_| to.flush())
}

/// One of this program's own outputs by another name, such as `/dev/stdout`.
#[cfg(unix)]
fn standard(about: &Metadata) -> Option<Way> {
    use super::place::{of_file, of_metadata};
    use std::os::fd::{AsFd, BorrowedFd};
    let is = |output: BorrowedFd<'_>| {
        let output = output.try_clone_to_owned().ok().map(File::from);
        output.and_then(|output| of_file(&output)) == Some(of_metadata(about))
    };
    match (is(io::stdout().as_fd()), is(io::stderr().as_fd())) {
        (true, _) => Some(Way::StandardOutput),
        (false, true) => Some(Way::StandardError),
        (false, false) => None,
    }
}

#[cfg(not(unix))]
fn standard(_: &Metadata) -> Option<Way> {
    None
}

#[cfg(unix)]
fn stream(kind: FileType) -> Option<Way> {
    use std::os::unix::fs::FileTypeExt;
    (kind.is_fifo() || kind.is_char_device()).then(|| Way::Stream { is_device: kind.is_char_device() })
}

#[cfg(not(unix))]
fn stream(_: FileType) -> Option<Way> {
    None
}

fn is_same(path: &Path, other: &Path) -> bool {
    let identity = super::place::identity(path);
    identity.is_some() && identity == super::place::identity(other)
}

fn replace(place: &Place, file: &File, name: TempPath) -> io::Result<()> {
    #[cfg(unix)]
    super::rights::keep(place, file)?;
    #[cfg(not(unix))]
    let _ = file;
    name.persist(place.real()).map_err(|error| error.error)
}

/// Makes the new name last through a power cut.
#[cfg(unix)]
fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}
