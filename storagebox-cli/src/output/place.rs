//! Which file a path leads to, whatever it is called: compared as the system knows it, and not by its name alone.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// As many as Linux follows.
const LINKS: usize = 40;

/// What the system knows a file by: its device and its number there.
#[cfg(unix)]
pub(super) type Identity = (u64, u64);
/// Elsewhere its whole path stands for it.
#[cfg(not(unix))]
pub(super) type Identity = PathBuf;

/// A file, or where one would be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Without links at its end, so that a link is written through and not replaced.
    real: PathBuf,
    folder: Identity,
    name: OsString,
    /// If it is there.
    own: Option<Identity>,
}

impl Place {
    /// Wherever links lead.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        Self::at_end(&end_of_links(path, |_, _| Ok(()))?)
    }

    /// As far as the system would follow links for a program that just opens it.
    pub(super) fn to_write(path: &Path) -> io::Result<Self> {
        Self::at_end(&end_of_links(path, may_be_followed)?)
    }

    fn at_end(path: &Path) -> io::Result<Self> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
        let folder = fs::canonicalize(folder_of(path))?;
        let real = folder.join(&name);
        let own = identity(&real);
        Ok(Self { real, folder: identity(&folder).ok_or(io::ErrorKind::NotFound)?, name, own })
    }

    pub(super) fn real(&self) -> &Path {
        &self.real
    }

    pub(super) fn folder(&self) -> &Path {
        folder_of(&self.real)
    }

    pub(super) fn identity(&self) -> Option<&Identity> {
        self.own.as_ref()
    }

    /// Whether this is there, and nothing else.
    #[cfg(unix)]
    pub(super) fn is_at(&self, about: &Metadata) -> bool {
        self.own == Some(of_metadata(about))
    }

    #[cfg(not(unix))]
    pub(super) fn is_at(&self, _: &Metadata) -> bool {
        self.own.is_some()
    }

    /// What is there now.
    pub(super) fn now(&self) -> Self {
        Self { own: identity(&self.real), ..self.clone() }
    }

    /// Whether both are one file, by whatever links, or would be one if they were made. Where none is there yet, names
    /// that differ in case may be one on a file system that makes no difference.
    pub(super) fn is(&self, other: &Self) -> bool {
        let is_in_one_folder = self.folder == other.folder;
        match (&self.own, &other.own) {
            (Some(own), Some(other)) => own == other,
            (None, None) => is_in_one_folder && is_alike(&self.name, &other.name),
            // One of them has only just appeared, or gone.
            _ => is_in_one_folder && self.name == other.name,
        }
    }
}

fn is_alike(name: &OsStr, other: &OsStr) -> bool {
    name.to_string_lossy().to_lowercase() == other.to_string_lossy().to_lowercase()
}

/// Whether a link in a folder may be followed.
type Judge = fn(link: &Metadata, folder: &Metadata) -> io::Result<()>;

/// Where links lead, whether anything is there or not.
fn end_of_links(path: &Path, judge: Judge) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::symlink_metadata(&path) {
            Ok(link) if link.is_symlink() => {
                let folder = folder_of(&path);
                judge(&link, &fs::metadata(folder)?)?;
                path = folder.join(fs::read_link(&path)?);
            }
            _ => return Ok(path),
        }
    }
    Err(io::Error::other("too many links"))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// In a folder for everybody, such as `/tmp`, a stranger's link leads where the stranger likes. Linux refuses to follow
/// it, and who follows links by hand has to refuse it too.
#[cfg(unix)]
fn may_be_followed(link: &Metadata, folder: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let me = rustix::process::geteuid().as_raw();
    match is_a_strangers(folder.mode(), folder.uid(), link.uid(), me) {
        true => Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is a link of another user's")),
        false => Ok(()),
    }
}

#[cfg(unix)]
fn is_a_strangers(folder_mode: u32, folder_of: u32, link_of: u32, me: u32) -> bool {
    is_for_everybody(folder_mode) && link_of != me && link_of != folder_of
}

/// Whether anybody may put files there and nobody remove another's, as in `/tmp`.
#[cfg(unix)]
pub(super) fn is_for_everybody(folder_mode: u32) -> bool {
    const STICKY_AND_FOR_EVERYBODY: u32 = 0o1002;
    folder_mode & STICKY_AND_FOR_EVERYBODY == STICKY_AND_FOR_EVERYBODY
}

#[cfg(not(unix))]
fn may_be_followed(_: &Metadata, _: &Metadata) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
pub(super) fn identity(path: &Path) -> Option<Identity> {
    fs::metadata(path).ok().map(|about| of_metadata(&about))
}

/// If the system tells.
#[cfg(unix)]
pub(super) fn of_file(file: &fs::File) -> Option<Identity> {
    file.metadata().ok().map(|about| of_metadata(&about))
}

#[cfg(unix)]
pub(super) fn of_metadata(about: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (about.dev(), about.ino())
}

#[cfg(not(unix))]
pub(super) fn identity(path: &Path) -> Option<Identity> {
    fs::canonicalize(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(folder: &Path, name: &str) -> Place {
        Place::of(&folder.join(name)).unwrap()
    }

    #[test]
    fn a_file_is_itself_by_every_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        fs::create_dir(path.join("under")).unwrap();
        fs::write(path.join("there"), "").unwrap();
        fs::write(path.join("other"), "").unwrap();
        fs::hard_link(path.join("there"), path.join("hard")).unwrap();
        for same in ["there", "./there", "under/../there", "hard"] {
            assert!(place(path, "there").is(&place(path, same)), "{same}");
        }
        assert!(!place(path, "there").is(&place(path, "other")));
        for same in ["missing", "under/../missing", "MISSING"] {
            assert!(place(path, "missing").is(&place(path, same)), "{same}");
        }
        assert!(!place(path, "missing").is(&place(path, "under/missing")));
        assert!(!place(path, "missing").is(&place(path, "there")));
        let made = place(path, "made");
        fs::write(path.join("made"), "").unwrap();
        assert!(made.is(&place(path, "made")) && place(path, "made").is(&made));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_to_where_they_lead() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        fs::write(path.join("there"), "").unwrap();
        for (link, to) in [("a", "there"), ("b", "a"), ("c", "missing"), ("d", "c"), ("e", "e")] {
            symlink(to, path.join(link)).unwrap();
        }
        assert!(place(path, "b").is(&place(path, "there")));
        assert!(place(path, "d").is(&place(path, "missing")));
        Place::of(&path.join("e")).unwrap_err();
        symlink(path, path.join("loop")).unwrap();
        assert!(place(path, "loop/missing").is(&place(path, "missing")));
    }

    #[cfg(unix)]
    #[test]
    fn a_strangers_link_in_a_folder_for_everybody_is_not_followed() {
        let (root, me, stranger) = (0, 1_000, 1_001);
        assert!(is_a_strangers(0o41777, root, stranger, me));
        assert!(is_a_strangers(0o41777, root, stranger, root));
        for (mode, folder, link) in
            [(0o41777, root, me), (0o41777, root, root), (0o41777, stranger, stranger), (0o40755, me, stranger)]
        {
            assert!(!is_a_strangers(mode, folder, link, me), "{mode:o} {folder} {link}");
        }
    }
}
