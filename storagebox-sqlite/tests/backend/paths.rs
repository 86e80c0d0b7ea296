//! Paths that SQLite and the system read differently, and files that another user created.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use storagebox_core::{Backend, ErrorKind, Item, ItemBank, Result};
use storagebox_sqlite::SqliteStore;
use storagebox_testkit::checks::calls;

use crate::support::{Place, failed};

const FOR_EVERYBODY: u32 = 0o1777;
const STRANGER: u32 = 54_321;

fn folder(place: &Place) -> Result<PathBuf> {
    fs::canonicalize(place.path().parent().ok_or_else(|| failed("a folder"))?).map_err(failed)
}

async fn used(store: &SqliteStore) -> Result<()> {
    store.setup().await?;
    store.item_bank(&"namespace".parse()?)?.add(&[Item::new("A")?]).await?;
    store.item_bank(&"namespace".parse()?)?.counts().await.map(drop)
}

/// Returns the files of a folder that this process has open.
#[cfg(target_os = "linux")]
fn open_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let handles = fs::read_dir("/proc/self/fd").map_err(failed)?;
    let files = handles.filter_map(|handle| fs::read_link(handle.ok()?.path()).ok());
    Ok(files.filter(|file| file.starts_with(folder)).collect())
}

/// Returns whether this spelling of a path is accepted. Checks that the process opens only files that
/// `SqliteStore::files` lists.
#[cfg(target_os = "linux")]
async fn opens_only_what_it_names(spelling: &str) -> Result<bool> {
    let place = Place::bare()?;
    let folder = folder(&place)?;
    fs::create_dir(folder.join("sub")).map_err(failed)?;
    for (link, to) in [("a", "x/"), ("b", "x//"), ("c", "x/."), ("d", "sub/../a"), ("sub/e", "../x/./")] {
        symlink(to, folder.join(link)).map_err(failed)?;
    }
    let Ok(store) = SqliteStore::connect(&format!("sqlite:{}/{spelling}", folder.display())) else {
        assert!(!folder.join("x").exists(), "{spelling}");
        return Ok(false);
    };
    used(&store).await?;
    let named: Vec<_> = store.files().iter().filter_map(|file| fs::canonicalize(file).ok()).collect();
    let open = open_in(&folder)?;
    assert!(open.len() >= 3, "{spelling}: {open:?}");
    for file in open {
        assert!(named.contains(&file), "{spelling}: {} is not in {named:?}", file.display());
        let mode = fs::metadata(&file).map_err(failed)?.mode() & 0o777;
        assert_eq!(mode, 0o600, "{spelling}: {}", file.display());
    }
    store.close().await?;
    Ok(true)
}

/// Regression: the log was not in the list of files, a program replaced the log, and one item was given twice.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn each_open_file_is_listed_and_private_for_any_path_spelling() -> Result<()> {
    for spelling in ["x", "./x", "sub/../x", "sub//..//./x", "a", "b", "c", "d", "sub/e"] {
        assert!(opens_only_what_it_names(spelling).await?, "{spelling} was refused");
    }
    for spelling in ["x/", "x//", "x/.", "x/./", "x/..", "a/"] {
        assert!(!opens_only_what_it_names(spelling).await?, "{spelling} was accepted");
    }
    Ok(())
}

#[tokio::test]
async fn a_loop_of_links_is_refused() -> Result<()> {
    let place = Place::bare()?;
    symlink("store.db", place.path()).map_err(failed)?;
    let store = place.store()?;
    calls::setup_is_refused(&store, ErrorKind::Misconfigured, "40 links").await;
    Ok(())
}

/// Regression: as root, SQLite opened the device and left a journal beside it.
#[tokio::test]
async fn a_device_or_a_socket_is_refused() -> Result<()> {
    let place = Place::bare()?;
    let _socket = UnixListener::bind(place.path()).map_err(failed)?;
    for path in [PathBuf::from("/dev/null"), place.path()] {
        let store = SqliteStore::open(&path)?;
        calls::setup_is_refused(&store, ErrorKind::Misconfigured, "must be a file").await;
    }
    assert!(!Path::new("/dev/null-journal").exists());
    Ok(())
}

/// If SQLite created the file instead, every user could read the file.
#[tokio::test]
async fn a_file_that_cannot_be_created_is_unavailable() -> Result<()> {
    let place = Place::bare()?;
    let store = SqliteStore::open(place.path().with_file_name("x".repeat(256)))?;
    let error = store.setup().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("could not be created"), "{error}");
    Ok(())
}

/// As root, makes another user the owner of `theirs`. The store must then be refused, and otherwise accepted.
async fn is_refused_if_a_strangers(place: &Place, theirs: &Path) -> Result<()> {
    let is_theirs = std::os::unix::fs::lchown(theirs, Some(STRANGER), None).is_ok();
    let store = place.store()?;
    for answer in [store.setup().await, store.ping().await, used(&store).await] {
        match answer {
            Err(error) if is_theirs => {
                assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
                assert!(error.to_string().contains("a folder of your own"), "{error}");
            }
            answer => assert!(answer.is_ok() && !is_theirs, "{}: {answer:?}", theirs.display()),
        }
    }
    store.close().await
}

fn for_everybody() -> Result<Place> {
    let place = Place::bare()?;
    let rights = fs::Permissions::from_mode(FOR_EVERYBODY);
    fs::set_permissions(folder(&place)?, rights).map_err(failed)?;
    Ok(place)
}

#[tokio::test]
async fn a_link_of_another_user_in_a_public_folder_is_not_followed() -> Result<()> {
    let (place, elsewhere) = (for_everybody()?, Place::bare()?);
    symlink(elsewhere.path(), place.path()).map_err(failed)?;
    is_refused_if_a_strangers(&place, &place.path()).await?;
    let is_theirs = fs::symlink_metadata(place.path()).map_err(failed)?.uid() == STRANGER;
    assert_eq!(elsewhere.path().exists(), !is_theirs);
    Ok(())
}

/// The other user, who owns the file, could read all items.
#[tokio::test]
async fn a_database_of_another_user_in_a_public_folder_is_not_used() -> Result<()> {
    let place = for_everybody()?;
    fs::write(place.path(), "").map_err(failed)?;
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o666)).map_err(failed)?;
    is_refused_if_a_strangers(&place, &place.path()).await
}

#[tokio::test]
async fn a_sidecar_file_of_another_user_is_not_used() -> Result<()> {
    for suffix in ["db-wal", "db-shm", "db-journal"] {
        let place = for_everybody()?;
        let theirs = place.path().with_extension(suffix);
        fs::write(&theirs, "").map_err(failed)?;
        is_refused_if_a_strangers(&place, &theirs).await?;
    }
    Ok(())
}

/// Only the folder's owner can create files there, so the file is there on purpose.
#[tokio::test]
async fn a_database_of_another_user_in_a_private_folder_is_used() -> Result<()> {
    let place = Place::ready().await?;
    // Only root can change the owner. The file must be used in both cases.
    let _ = chown(place.path(), Some(STRANGER), None);
    used(&place.store()?).await
}
