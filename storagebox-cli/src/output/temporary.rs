//! Files under a passing name, which are locked while somebody writes them: one without a lock was left behind.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};
use tempfile::{Builder, TempPath};

#[cfg(unix)]
use super::place::{identity, of_file};

const BEGINNING: &str = ".storagebox-";
const END: &str = ".tmp";
/// How often a name is taken, or the file removed by one who cleans up, before that is an error.
const ATTEMPTS: usize = 10;

/// A new file in the folder, with these rights, locked for as long as it is open; dropping its name removes it.
pub(super) fn create(folder: &Path, mode: u32) -> io::Result<(File, TempPath)> {
    for _ in 1..ATTEMPTS {
        if let Some(created) = try_create(folder, mode)? {
            return Ok(created);
        }
    }
    try_create(folder, mode)?.ok_or_else(|| io::Error::other("other programs remove what is begun"))
}

/// `None` if one who cleans up was there before the lock was.
fn try_create(folder: &Path, mode: u32) -> io::Result<Option<(File, TempPath)>> {
    let name = name(fastrand::Rng::new().u64(..));
    let mut builder = Builder::new();
    builder.prefix(&name).suffix("").rand_bytes(0);
    with_rights(&mut builder, mode);
    let (file, path) = builder.tempfile_in(folder)?.into_parts();
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(None),
        // A file system without locks: nobody can lock it there to remove it either.
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    Ok(is_at(&file, &path).then_some((file, path)))
}

/// Removes what earlier runs left in the folder because they were killed. What cannot be removed stays.
pub(super) fn clean_up(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_str().is_some_and(is_ours)) {
        let _kept = remove_if_left(&entry.path());
    }
}

/// A process that still writes the file does not lose it: a process that holds the lock is alive, and one that no
/// longer has the file under this name has moved it into its place.
fn remove_if_left(path: &Path) -> io::Result<()> {
    if !is_plain_and_mine(&fs::symlink_metadata(path)?) {
        return Ok(());
    }
    let mut options = OpenOptions::new();
    let file = harmless(options.read(true)).open(path)?;
    match file.try_lock() {
        Ok(()) if is_at(&file, path) => fs::remove_file(path),
        _ => Ok(()),
    }
}

/// With a part that only a storagebox would have written, so that nobody else's file is taken for one of ours.
fn name(number: u64) -> String {
    let own = format!("{number:016x}");
    let hash = Sha256::digest(format!("a temporary file of storagebox: {own}"));
    let mut name = format!("{BEGINNING}{own}-");
    for byte in hash.iter().take(8) {
        name.push_str(&format!("{byte:02x}"));
    }
    name + END
}

fn is_ours(file_name: &str) -> bool {
    let number = file_name.strip_prefix(BEGINNING).and_then(|rest| rest.get(..16));
    let number = number.and_then(|number| u64::from_str_radix(number, 16).ok());
    number.is_some_and(|number| name(number) == file_name)
}

#[cfg(unix)]
fn with_rights(builder: &mut Builder<'_, '_>, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(mode));
}

#[cfg(not(unix))]
fn with_rights(_: &mut Builder<'_, '_>, _: u32) {}

/// Opening it waits for nobody and follows no link, whatever took its place meanwhile.
#[cfg(unix)]
fn harmless(options: &mut OpenOptions) -> &mut OpenOptions {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    options.custom_flags(flags.bits().cast_signed())
}

#[cfg(not(unix))]
fn harmless(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

#[cfg(unix)]
fn is_plain_and_mine(about: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    about.is_file() && about.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_plain_and_mine(about: &fs::Metadata) -> bool {
    about.is_file()
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    let own = of_file(file);
    own.is_some() && own == identity(path)
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}
