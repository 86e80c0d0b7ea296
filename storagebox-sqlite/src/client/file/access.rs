//! The check whether this process has the rights that SQLite needs.

use std::path::Path;

/// Returns whether this process lacks a right to the file, to a sidecar file or to their folder. Opens none of the
/// files: closing one would release all locks that SQLite has on it.
#[cfg(unix)]
pub(crate) fn is_denied(path: &Path) -> bool {
    use rustix::fs::Access;

    use super::with_sidecars;

    let end = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let lacks_folder = end.parent().is_some_and(|folder| is_lacking(folder, Access::WRITE_OK | Access::EXEC_OK));
    lacks_folder || with_sidecars(&end).iter().any(|file| is_lacking(file, Access::READ_OK | Access::WRITE_OK))
}

#[cfg(unix)]
fn is_lacking(path: &Path, rights: rustix::fs::Access) -> bool {
    use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};

    use rustix::fs::{AtFlags, CWD, accessat};

    let found = accessat(CWD, path, rights, AtFlags::EACCESS);
    found.is_err_and(|error| matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem))
}

/// Returns `false`: on Windows, the rights to a file are not known before it is opened.
#[cfg(not(unix))]
pub(crate) fn is_denied(_: &Path) -> bool {
    false
}
