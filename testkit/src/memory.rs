//! The machine's folder whose files stand in memory.
//!
//! A server makes and removes hundreds of files for each test. On a disk the system looks for room past all that were
//! removed in the last seconds, which costs more than the test.

use std::path::Path;

/// Where it is, on Linux.
pub(crate) const FOLDER: &str = "/dev/shm";

/// What must be free there. The tests' servers were seen to take 200 MiB together; PostgreSQL may keep 1 GiB of each
/// one's log.
const ROOM: u64 = 4 << 30;

/// It, if there is one with room. Who names a folder for temporary files has chosen another.
pub(crate) fn folder() -> Option<&'static Path> {
    let chosen = std::env::var_os("TMPDIR").is_some();
    (!chosen && room(FOLDER) >= ROOM).then(|| Path::new(FOLDER))
}

/// The bytes that are free to us there.
fn room(folder: &str) -> u64 {
    rustix::fs::statvfs(folder).map_or(0, |told| told.f_bavail.saturating_mul(told.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_has_no_room() {
        assert_eq!(room("/dev/shm/storagebox-nowhere"), 0);
        assert_ne!(room("/"), 0);
    }
}
