//! The check of a file's owner in a folder to which every user may write.

#[cfg(unix)]
use std::path::Path;
use std::path::PathBuf;

use storagebox_core::Result;

/// Returns `Denied` if another user created a file in a folder to which every user may write. All files must be in one
/// folder.
#[cfg(unix)]
pub(super) fn check(files: &[PathBuf]) -> Result<()> {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    let folder = files.first().and_then(|file| file.parent()).map(fs::metadata);
    match folder {
        Some(Ok(folder)) if is_for_everybody(folder.mode()) => {
            files.iter().try_for_each(|file| check_in(file, folder.uid()))
        }
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn check_in(path: &Path, folder_of: u32) -> Result<()> {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    let Ok(found) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    let me = rustix::process::geteuid().as_raw();
    // Files of root are trusted. Links of root are not: Linux does not follow them either in such a folder.
    let is_roots = found.uid() == ROOT && !found.is_symlink();
    match !is_roots && is_a_strangers(folder_of, found.uid(), me) {
        true => Err(crate::error::a_strangers(path)),
        false => Ok(()),
    }
}

#[cfg(not(unix))]
pub(super) fn check(_: &[PathBuf]) -> Result<()> {
    Ok(())
}

#[cfg(unix)]
const ROOT: u32 = 0;

#[cfg(unix)]
fn is_for_everybody(folder_mode: u32) -> bool {
    const STICKY_AND_FOR_EVERYBODY: u32 = 0o1002;
    folder_mode & STICKY_AND_FOR_EVERYBODY == STICKY_AND_FOR_EVERYBODY
}

#[cfg(unix)]
fn is_a_strangers(folder_of: u32, file_of: u32, me: u32) -> bool {
    file_of != me && file_of != folder_of
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_user_in_a_public_folder_is_detected() {
        let (me, stranger) = (1_000, 1_001);
        for (mode, folder, file, who, expected) in [
            (0o41777, ROOT, stranger, me, true),
            (0o41777, ROOT, stranger, ROOT, true),
            (0o41777, ROOT, me, me, false),
            (0o41777, ROOT, ROOT, me, false),
            (0o41777, stranger, stranger, me, false),
            (0o40755, me, stranger, me, false),
        ] {
            let found = is_for_everybody(mode) && is_a_strangers(folder, file, who);
            assert_eq!(found, expected, "{mode:o} {folder} {file} {who}");
        }
    }
}
