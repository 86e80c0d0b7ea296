//! Files that are not a store's, or not writable, and the write-ahead log of a file.

use std::fs;

use storagebox_core::{Backend, Error, ErrorKind, Hold, Item, ItemBank, Result};
use storagebox_sqlite::SqliteStore;
use storagebox_testkit::checks::calls;

use crate::support::{Place, failed};

#[tokio::test]
async fn setup_in_a_missing_folder_asks_to_create_the_folder() -> Result<()> {
    let place = Place::bare()?;
    let store = SqliteStore::open(place.path().join("under").join("store.db"))?;
    calls::setup_is_refused(&store, ErrorKind::NotSetUp, "create this folder first").await;
    Ok(())
}

#[tokio::test]
async fn setup_on_a_folder_is_refused() -> Result<()> {
    let place = Place::bare()?;
    let store = SqliteStore::open(place.path().parent().ok_or_else(|| failed("a folder"))?)?;
    calls::setup_is_refused(&store, ErrorKind::Misconfigured, "is a folder").await;
    Ok(())
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_unchanged() -> Result<()> {
    let place = Place::bare()?;
    let text = "a letter, and no database. ".repeat(100);
    fs::write(place.path(), &text).map_err(failed)?;
    let store = place.store()?;
    calls::setup_is_refused(&store, ErrorKind::Corrupt, "is not a SQLite database").await;
    calls::are_refused(&store, ErrorKind::Corrupt).await?;
    assert_eq!(fs::read_to_string(place.path()).map_err(failed)?, text);
    Ok(())
}

#[tokio::test]
async fn upkeep_truncates_the_log_and_closing_removes_it() -> Result<()> {
    let place = Place::ready().await?;
    let store = place.builder().wal_autocheckpoint(0).open(place.path())?;
    let items: Vec<_> = (0..20_000).map(|number| Item::new(format!("{number}"))).collect::<Result<_>>()?;
    store.item_bank(&"namespace".parse()?)?.add(&items).await?;
    let log = place.path().with_extension("db-wal");
    let length = || fs::metadata(&log).map(|found| found.len()).map_err(failed);
    assert!(length()? > 1_000_000, "{}", length()?);
    store.maintain(10).await?;
    assert_eq!(length()?, 0);
    store.close().await?;
    assert!(!log.exists());
    assert_eq!(place.store()?.item_bank(&"namespace".parse()?)?.counts().await?.free, 20_000);
    Ok(())
}

#[tokio::test]
async fn a_call_on_a_closed_store_is_unavailable() -> Result<()> {
    let place = Place::ready().await?;
    let store = place.store()?;
    let bank = store.item_bank(&"namespace".parse()?)?;
    let _ = bank.take(&"ada".parse()?, Hold::Forever).await?;
    store.close().await?;
    for error in
        [bank.take(&"bob".parse().unwrap(), Hold::Forever).await.unwrap_err(), bank.counts().await.unwrap_err()]
    {
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(error.to_string().contains("the store is closed"), "{error}");
    }
    store.close().await
}

#[cfg(unix)]
mod rights {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::path::Path;

    use super::*;

    fn mode(path: &Path) -> Result<u32> {
        Ok(fs::metadata(path).map_err(failed)?.mode() & 0o777)
    }

    /// Items such as voucher codes are worth money, so other users of the machine must not read the file.
    #[tokio::test]
    async fn a_created_file_is_private_to_its_owner() -> Result<()> {
        let place = Place::bare()?;
        let store = place.store()?;
        store.setup().await?;
        store.item_bank(&"namespace".parse()?)?.add(&[Item::new("A")?]).await?;
        let files: Vec<_> = store.files().into_iter().filter(|file| file.exists()).collect();
        let names = files.iter().map(|file| file.extension().and_then(|name| name.to_str()));
        let names: std::collections::BTreeSet<_> = names.flatten().collect();
        assert_eq!(names, ["db", "db-shm", "db-wal"].into());
        for file in files {
            assert_eq!(mode(&file)?, 0o600, "{}", file.display());
        }
        store.close().await
    }

    #[tokio::test]
    async fn a_file_created_through_a_link_is_private_to_its_owner() -> Result<()> {
        let place = Place::bare()?;
        let real = place.path().with_file_name("real.db");
        symlink("real.db", place.path()).map_err(failed)?;
        let store = place.store()?;
        store.setup().await?;
        assert_eq!(mode(&real)?, 0o600);
        assert!(store.files().contains(&real.with_extension("db-wal")), "{:?}", store.files());
        store.close().await
    }

    #[tokio::test]
    async fn the_files_method_lists_each_file_once_per_path() -> Result<()> {
        let place = Place::bare()?;
        let named = |store: SqliteStore| -> std::collections::BTreeSet<_> {
            let files = store.files();
            let names: std::collections::BTreeSet<_> = files.iter().cloned().collect();
            assert_eq!(names.len(), files.len(), "{files:?}");
            names
        };
        assert_eq!(named(place.store()?).len(), 4);
        symlink("real.db", place.path()).map_err(failed)?;
        assert_eq!(named(place.store()?).len(), 8);
        Ok(())
    }

    #[tokio::test]
    async fn an_existing_file_keeps_its_permissions() -> Result<()> {
        let place = Place::bare()?;
        fs::write(place.path(), "").map_err(failed)?;
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o640)).map_err(failed)?;
        let store = place.store()?;
        store.setup().await?;
        store.item_bank(&"namespace".parse()?)?.add(&[Item::new("A")?]).await?;
        assert_eq!(mode(&place.path())?, 0o640);
        assert_eq!(mode(&place.path().with_extension("db-wal"))?, 0o640);
        store.close().await
    }

    /// Only users other than root can lack a right. As root, each call succeeds.
    #[tokio::test]
    async fn a_call_without_the_rights_to_a_file_is_denied() -> Result<()> {
        for suffix in ["db", "db-wal", "db-shm"] {
            let place = Place::ready().await?;
            let file = place.path().with_extension(suffix);
            if !file.exists() {
                fs::write(&file, "").map_err(failed)?;
            }
            fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).map_err(failed)?;
            let is_root = fs::read(&file).is_ok();
            let store = place.store()?;
            let added = store.item_bank(&"namespace".parse()?)?.add(&[Item::new("A")?]).await;
            for answer in [added.map(drop), store.ping().await, store.setup().await] {
                let kind = answer.as_ref().err().map(Error::kind);
                assert_eq!(kind, (!is_root).then_some(ErrorKind::Denied), "{suffix}: {answer:?}");
            }
        }
        Ok(())
    }
}
