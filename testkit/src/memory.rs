//! The machine's folder whose files stand in memory.
//!
//! A server makes and removes hundreds of files for each test. On a disk the system looks for room past all that were
//! removed in the last seconds, which costs more than the test.

use std::path::Path;

use rustix::fs::{Access, StatVfs, access, statvfs};

/// Where it is, on Linux.
pub(crate) const FOLDER: &str = "/dev/shm";

/// What must be free there. The tests' servers were seen to take 200 MiB together; PostgreSQL may keep 1 GiB of each
/// one's log.
const ROOM: u64 = 4 << 30;

/// It, if there is one with room that we may write to. Who names a folder for temporary files has chosen another.
pub(crate) fn folder() -> Option<&'static Path> {
    let chosen = std::env::var_os("TMPDIR").is_some();
    (!chosen && room(FOLDER) >= ROOM).then(|| Path::new(FOLDER))
}

/// The bytes that are free to us there, none if we may make nothing there.
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
        // Nobody makes files there, root neither.
        assert_eq!(room("/proc/1"), 0);
    }
}
