//! Whose a file is, in a folder where everybody may put one.

use std::path::Path;

use storagebox_core::Result;

/// Refuses what a stranger put into a folder for everybody, such as `/tmp`: a link leads where the stranger likes, and
/// a database is one that the stranger can read.
#[cfg(unix)]
pub(super) fn check(path: &Path) -> Result<()> {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    let folder = path.parent().unwrap_or(path);
    let (Ok(found), Ok(folder)) = (fs::symlink_metadata(path), fs::metadata(folder)) else {
        return Ok(());
    };
    let me = rustix::process::geteuid().as_raw();
    // What root put there is as safe as the machine. Links of root's, Linux follows no more than others.
    let is_roots = found.uid() == ROOT && !found.is_symlink();
    match !is_roots && is_a_strangers(folder.mode(), folder.uid(), found.uid(), me) {
        true => Err(crate::error::a_strangers(path)),
        false => Ok(()),
    }
}

#[cfg(not(unix))]
pub(super) fn check(_: &Path) -> Result<()> {
    Ok(())
}

#[cfg(unix)]
const ROOT: u32 = 0;

#[cfg(unix)]
fn is_a_strangers(folder_mode: u32, folder_of: u32, file_of: u32, me: u32) -> bool {
    const STICKY_AND_FOR_EVERYBODY: u32 = 0o1002;
    let is_for_everybody = folder_mode & STICKY_AND_FOR_EVERYBODY == STICKY_AND_FOR_EVERYBODY;
    is_for_everybody && file_of != me && file_of != folder_of
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_a_stranger_put_into_a_folder_for_everybody_is_a_strangers() {
        let (me, stranger) = (1_000, 1_001);
        for (mode, folder, file, who, expected) in [
            (0o41777, ROOT, stranger, me, true),
            (0o41777, ROOT, stranger, ROOT, true),
            (0o41777, ROOT, me, me, false),
            (0o41777, ROOT, ROOT, me, false),
            (0o41777, stranger, stranger, me, false),
            (0o40755, me, stranger, me, false),
        ] {
            let found = is_a_strangers(mode, folder, file, who);
            assert_eq!(found, expected, "{mode:o} {folder} {file} {who}");
        }
    }
}
