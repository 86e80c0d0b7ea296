//! Who may read and write a file that takes another's place.

use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

use super::place::{Place, is_for_everybody};

const ALL: u32 = 0o777;
const BUT_THE_GROUPS: u32 = 0o707;

/// Gives the new file, which is its owner's alone, what the file in its place has: the owner and the group as far as
/// this process may, and the rights without regard to its mask.
pub(super) fn keep(place: &Place, new: &File) -> io::Result<()> {
    let old = fs::metadata(place.real())?;
    let me = rustix::process::geteuid().as_raw();
    if is_a_strangers(fs::metadata(place.folder())?.mode(), old.uid(), me) {
        return Ok(());
    }
    let both = fchown(new, Some(old.uid()), Some(old.gid()));
    let _not_allowed = both.or_else(|_| fchown(new, None, Some(old.gid())));
    new.set_permissions(Permissions::from_mode(rights(&old, &new.metadata()?)))
}

/// In a folder for everybody, such as `/tmp`, anybody may have put a file there, for whomever to read what replaces it.
fn is_a_strangers(folder_mode: u32, old_of: u32, me: u32) -> bool {
    is_for_everybody(folder_mode) && old_of != me
}

/// Where the group is another, what the old one was allowed is not for it.
fn rights(old: &Metadata, new: &Metadata) -> u32 {
    let kept = if new.gid() == old.gid() { ALL } else { BUT_THE_GROUPS };
    old.mode() & kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strangers_file_in_a_folder_for_everybody_gives_no_rights() {
        let (root, me, stranger) = (0, 1_000, 1_001);
        assert!(is_a_strangers(0o41777, stranger, me) && is_a_strangers(0o41777, stranger, root));
        for (mode, old) in [(0o41777, me), (0o40755, stranger), (0o40777, stranger), (0o41775, stranger)] {
            assert!(!is_a_strangers(mode, old, me), "{mode:o} {old}");
        }
    }
}
