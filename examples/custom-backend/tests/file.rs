//! Tests of the file, and of a clock that is set back.

#![allow(clippy::disallowed_methods, reason = "a test may unwrap")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use custom_backend::RedbStore;
use storagebox_core::{Backend, ClaimState, Clock, Confirmed, End, ErrorKind, Hold, Item, ItemBank, Result, Taken};
use tempfile::TempDir;

fn file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = folder.path().join("store.redb");
    (folder, file)
}

fn run(test: impl Future<Output = Result<()>>) {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(test).unwrap();
}

async fn error_of(store: &RedbStore) -> Option<ErrorKind> {
    store.ping().await.err().map(|error| error.kind())
}

#[test]
fn only_setup_creates_the_file() {
    let (_folder, file) = file();
    run(async {
        let store = RedbStore::new(&file);
        assert_eq!(error_of(&store).await, Some(ErrorKind::NotSetUp));
        assert!(!file.exists());
        store.setup().await?;
        assert_eq!(error_of(&store).await, None);
        Ok(())
    });
}

#[test]
fn file_is_unavailable_while_another_store_has_it_open() {
    let (_folder, file) = file();
    run(async {
        let (store, other) = (RedbStore::new(&file), RedbStore::new(&file));
        store.setup().await?;
        assert_eq!(error_of(&other).await, Some(ErrorKind::Unavailable));
        store.close().await?;
        assert_eq!(error_of(&other).await, None);
        assert_eq!(error_of(&store).await, Some(ErrorKind::Unavailable));
        Ok(())
    });
}

#[test]
fn foreign_file_is_refused_and_not_changed() {
    let (_folder, file) = file();
    std::fs::write(&file, "a letter").unwrap();
    run(async {
        let store = RedbStore::new(&file);
        assert_eq!(error_of(&store).await, Some(ErrorKind::Corrupt));
        assert!(store.setup().await.is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "a letter");
        Ok(())
    });
}

/// A clock in whole seconds, which a test sets forward and back.
#[derive(Clone, Debug)]
struct Seconds(Arc<AtomicU64>);

impl Clock for Seconds {
    fn now(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::SeqCst))
    }
}

#[test]
fn item_has_one_claim_after_the_clock_is_set_back() {
    let (_folder, file) = file();
    run(async {
        let clock = Seconds(Arc::new(AtomicU64::new(1_000)));
        let store = RedbStore::with_clock(&file, clock.clone());
        store.setup().await?;
        let bank = store.item_bank(&"seats".parse()?)?;
        bank.add(&[Item::new("7A")?]).await?;
        let (ada, bob) = ("ada".parse()?, "bob".parse()?);
        assert!(matches!(bank.take(&ada, Hold::For(Duration::from_secs(60))).await?, Taken::New(_)));
        clock.0.store(1_060, Ordering::SeqCst);
        assert!(matches!(bank.take(&bob, Hold::Forever).await?, Taken::New(_)));
        clock.0.store(1_000, Ordering::SeqCst);
        assert_eq!(bank.get(&ada).await?, ClaimState::Ended(End::Expired));
        store.close().await?;
        assert_eq!(bank.confirm(&ada).await?, Confirmed::Ended(End::Expired));
        assert!(matches!(bank.confirm(&bob).await?, Confirmed::Confirmed(_)));
        Ok(())
    });
}
