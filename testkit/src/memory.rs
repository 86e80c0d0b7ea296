//! The machine's folder whose files are in memory.
//!
//! A server creates and removes hundreds of files for each test. On a disk, the system searches for space past all
//! files that were removed in the last seconds, which takes longer than the test.

use std::path::Path;

use rustix::fs::{Access, StatVfs, access, statvfs};

/// The path of the folder on Linux.
pub(crate) const FOLDER: &str = "/dev/shm";

/// The bytes that must be free there. The tests' servers together used up to 200 MiB; each PostgreSQL server may keep a
/// log of 1 GiB.
const ROOM: u64 = 4 << 30;

/// Returns the folder if it has room and we may write to it. A user who sets `TMPDIR` has chosen another folder.
pub(crate) fn folder() -> Option<&'static Path> {
    let chosen = std::env::var_os("TMPDIR").is_some();
    (!chosen && room(FOLDER) >= ROOM).then(|| Path::new(FOLDER))
}

/// Returns the bytes that we can use there: 0 if we may not create files there.
fn room(folder: &str) -> u64 {
    let is_ours = access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    let free = |told: StatVfs| told.f_bavail.saturating_mul(told.f_frsize);
    if is_ours { statvfs(folder).map_or(0, free) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_we_cannot_write_to_has_no_room() {
        let mut here = std::env::temp_dir();
        assert_ne!(room(here.to_str().unwrap()), 0);
        here.push("storagebox-nowhere");
        assert_eq!(room(here.to_str().unwrap()), 0);
        // Nobody can create files there, not even root.
        assert_eq!(room("/proc/1"), 0);
    }
}
