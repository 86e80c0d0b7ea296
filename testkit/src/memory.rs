//! The machine's folder whose files are in memory.
//!
//! A server creates and removes hundreds of files for each test. On a disk, the system searches for space past all
//! files that were removed in the last seconds, which takes longer than the test.

use std::path::Path;

use rustix::fs::{Access, StatVfs, access, statvfs};

/// The folder whose files are in memory, on Linux.
pub(crate) const FOLDER: &str = "/dev/shm";

/// The free bytes that the folder in memory must have. All servers of the tests used up to 200 MiB, and each PostgreSQL
/// server may also keep a log of 1 GiB.
const ROOM: u64 = 4 << 30;

/// Returns the folder in memory, if it has enough room, we may write to it, and `TMPDIR` is not set.
pub(crate) fn folder() -> Option<&'static Path> {
    let chosen = std::env::var_os("TMPDIR").is_some();
    (!chosen && room(FOLDER) >= ROOM).then(|| Path::new(FOLDER))
}

/// Returns the number of bytes that we can use in a folder, or 0 if we may not create files there.
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
        // No user can create files there, not even root.
        assert_eq!(room("/proc/1"), 0);
    }
}
