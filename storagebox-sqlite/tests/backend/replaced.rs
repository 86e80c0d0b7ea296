//! Files that are replaced, removed or restored while a process works with them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::{env, fs};

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, query, query_scalar, raw_sql};
use storagebox_core::{
    Backend, Certainty, ClaimState, Counts, Error, ErrorKind, Hold, Item, ItemBank, ItemState, Result,
};
use storagebox_sqlite::SqliteStore;

use crate::support::{Place, failed};

/// Opens a store with two items, one of them taken.
async fn in_use() -> Result<(Place, SqliteStore)> {
    let place = Place::ready().await?;
    let store = place.store()?;
    let bank = store.item_bank(&"namespace".parse()?)?;
    bank.add(&[Item::new("A")?, Item::new("B")?]).await?;
    let _ = bank.take(&"ada".parse()?, Hold::Forever).await?;
    Ok((place, store))
}

/// Makes a copy of the file, as a backup does.
async fn copied(place: &Place) -> Result<PathBuf> {
    let copy = place.path().with_extension("copy");
    let into = query("VACUUM INTO ?1").bind(copy.to_str().ok_or_else(|| failed("a path"))?);
    let mut raw = place.raw().await?;
    into.execute(&mut raw).await.map_err(failed)?;
    raw.close().await.map_err(failed)?;
    Ok(copy)
}

/// Replaces the file by a copy.
async fn restore(place: &Place) -> Result<()> {
    let copy = copied(place).await?;
    remove(place, &["-wal", "-shm"])?;
    fs::rename(copy, place.path()).map_err(failed)
}

fn remove(place: &Place, suffixes: &[&str]) -> Result<()> {
    let name = place.path().display().to_string();
    suffixes.iter().try_for_each(|suffix| fs::remove_file(format!("{name}{suffix}")).map_err(failed))
}

fn is_refused(error: &Error) {
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Corrupt, Certainty::NotApplied), "{error}");
    assert!(error.to_string().contains("after it was opened"), "{error}");
}

async fn is_refused_everything(store: &SqliteStore) -> Result<()> {
    let bank = store.item_bank(&"namespace".parse()?)?;
    for error in [
        bank.take(&"eve".parse().unwrap(), Hold::Forever).await.unwrap_err(),
        bank.add(&[Item::new("C")?]).await.unwrap_err(),
        bank.counts().await.unwrap_err(),
        store.ping().await.unwrap_err(),
        store.setup().await.unwrap_err(),
        store.maintain(10).await.unwrap_err(),
    ] {
        is_refused(&error);
    }
    Ok(())
}

#[cfg(unix)]
#[tokio::test]
async fn calls_after_the_file_was_replaced_are_refused() -> Result<()> {
    let (place, old) = in_use().await?;
    restore(&place).await?;
    let new = place.store()?;
    let bobs = new.item_bank(&"namespace".parse()?)?.take(&"bob".parse()?, Hold::Forever).await?;
    assert_eq!(bobs.item(), Some(&Item::new("B")?));
    is_refused_everything(&old).await?;
    // The closing store must not remove the log, which belongs to the new file.
    old.close().await?;
    assert_eq!(new.item_bank(&"namespace".parse()?)?.take(&"bob".parse()?, Hold::Forever).await?.item(), bobs.item());
    Ok(())
}

#[cfg(unix)]
#[tokio::test]
async fn calls_after_the_file_was_removed_are_refused() -> Result<()> {
    let (place, store) = in_use().await?;
    remove(&place, &["", "-wal", "-shm"])?;
    is_refused_everything(&store).await?;
    assert!(!place.path().exists());
    Ok(())
}

/// A read from the removed log would return data that no other process sees.
#[cfg(unix)]
#[tokio::test]
async fn a_read_after_a_sidecar_file_was_removed_is_refused() -> Result<()> {
    for beside in [&["-wal", "-shm"][..], &["-wal"], &["-shm"]] {
        let (place, store) = in_use().await?;
        let bank = store.item_bank(&"namespace".parse()?)?;
        store.ping().await?;
        assert_eq!(bank.counts().await?.held, 1);
        remove(&place, beside)?;
        for _ in 0..2 {
            is_refused(&bank.counts().await.unwrap_err());
            is_refused(&bank.get(&"ada".parse()?).await.unwrap_err());
            is_refused(&bank.list(None, 10).await.unwrap_err());
            is_refused(&store.ping().await.unwrap_err());
        }
        is_refused(&bank.take(&"eve".parse()?, Hold::Forever).await.unwrap_err());
    }
    Ok(())
}

/// The sidecar files are removed, and another process creates new ones.
#[cfg(unix)]
#[tokio::test]
async fn a_read_after_sidecar_files_were_replaced_is_refused() -> Result<()> {
    let (place, store) = in_use().await?;
    let bank = store.item_bank(&"namespace".parse()?)?;
    assert_eq!(bank.counts().await?.held, 1);
    remove(&place, &["-wal", "-shm"])?;
    for suffix in ["-wal", "-shm"] {
        fs::write(format!("{}{suffix}", place.path().display()), "").map_err(failed)?;
    }
    is_refused(&bank.counts().await.unwrap_err());
    is_refused(&store.ping().await.unwrap_err());
    Ok(())
}

async fn mode(place: &Place) -> Result<String> {
    let mut raw = place.raw().await?;
    query_scalar("PRAGMA journal_mode").fetch_one(&mut raw).await.map_err(failed)
}

#[tokio::test]
async fn a_restored_file_gets_a_write_ahead_log() -> Result<()> {
    let (place, store) = in_use().await?;
    let copy = copied(&place).await?;
    store.close().await?;
    fs::rename(copy, place.path()).map_err(failed)?;
    assert_eq!(mode(&place).await?, "delete");
    assert_eq!(
        place.store()?.item_bank(&"namespace".parse()?)?.take(&"bob".parse()?, Hold::Forever).await?.item(),
        Some(&Item::new("B")?)
    );
    assert_eq!(mode(&place).await?, "wal");
    Ok(())
}

#[tokio::test]
async fn a_call_leaves_a_database_of_another_program_unchanged() -> Result<()> {
    let place = Place::bare()?;
    let options = place.options().create_if_missing(true);
    let mut theirs = options.connect().await.map_err(failed)?;
    query("CREATE TABLE theirs (a)").execute(&mut theirs).await.map_err(failed)?;
    theirs.close().await.map_err(failed)?;
    let error = place
        .store()?
        .item_bank(&"namespace".parse()?)?
        .take(&"ada".parse().unwrap(), Hold::Forever)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotSetUp, "{error}");
    assert_eq!(mode(&place).await?, "delete");
    Ok(())
}

const FILE: &str = "STORAGEBOX_SQLITE_ELSEWHERE_FILE";
const SQL: &str = "STORAGEBOX_SQLITE_ELSEWHERE_SQL";
const ANSWER: &str = "the other process found: ";

/// Runs SQL in another process, and returns the text that the SQL selects.
fn elsewhere(place: &Place, sql: &str) -> Result<String> {
    let mut program = Command::new(env::current_exe().map_err(failed)?);
    program.args(["--exact", "replaced::child_process_runs_sql", "--ignored", "--nocapture"]);
    let done = program.env(FILE, place.path()).env(SQL, sql).output().map_err(failed)?;
    assert!(done.status.success(), "{done:?}");
    let out = String::from_utf8(done.stdout).map_err(failed)?;
    let found = out.split_once(ANSWER).and_then(|(_, rest)| rest.lines().next());
    found.map(str::to_owned).ok_or_else(|| failed(format_args!("no answer in {out}")))
}

#[ignore = "what another process does, which cases start"]
#[tokio::test]
async fn child_process_runs_sql() -> Result<()> {
    let (Ok(file), Ok(sql)) = (env::var(FILE), env::var(SQL)) else { return Ok(()) };
    let mut raw = SqliteConnectOptions::new().filename(file).connect().await.map_err(failed)?;
    let found: String = query_scalar(AssertSqlSafe(sql)).fetch_one(&mut raw).await.map_err(failed)?;
    println!("{ANSWER}{found}");
    raw.close().await.map_err(failed)
}

const BOB_TAKES: &str = "UPDATE storagebox_items SET state = 'held', claim = 'bob' WHERE item = 'B' RETURNING item";
const BOB_HAS: &str = "SELECT coalesce(group_concat(item), 'nothing') FROM storagebox_items WHERE claim = 'bob'";

/// Two processes with different shared memories could write at once.
#[cfg(unix)]
#[tokio::test]
async fn a_take_after_the_shared_memory_was_removed_is_refused() -> Result<()> {
    let (place, old) = in_use().await?;
    remove(&place, &["-shm"])?;
    elsewhere(&place, BOB_TAKES)?;
    is_refused(&old.item_bank(&"namespace".parse()?)?.take(&"eve".parse().unwrap(), Hold::Forever).await.unwrap_err());
    Ok(())
}

/// Moving the removed log to the file would undo commits of other processes.
#[cfg(unix)]
#[tokio::test]
async fn a_process_with_a_removed_log_moves_nothing_to_the_file() -> Result<()> {
    for end in ["closed", "dropped", "refused"] {
        let place = Place::ready().await?;
        let old = place.store()?;
        let bank = old.item_bank(&"namespace".parse()?)?;
        bank.add(&[Item::new("A")?, Item::new("B")?]).await?;
        old.maintain(1).await?;
        let _ = bank.take(&"ada".parse()?, Hold::Forever).await?;
        remove(&place, &["-wal", "-shm"])?;
        elsewhere(&place, BOB_TAKES)?;
        if end == "refused" {
            is_refused(&bank.take(&"eve".parse()?, Hold::Forever).await.unwrap_err());
        }
        drop(bank);
        match end {
            "dropped" => drop(old),
            _ => old.close().await?,
        }
        assert_eq!(elsewhere(&place, "PRAGMA integrity_check")?, "ok", "{end}");
        assert_eq!(elsewhere(&place, BOB_HAS)?, "B", "{end}");
    }
    Ok(())
}

/// The process has only connections that read.
#[cfg(unix)]
#[tokio::test]
async fn a_reader_with_a_removed_log_moves_nothing_to_the_file() -> Result<()> {
    let (place, first) = in_use().await?;
    first.maintain(1).await?;
    let old = place.store()?;
    old.ping().await?;
    let _ = first.item_bank(&"namespace".parse()?)?.take(&"eve".parse()?, Hold::Forever).await?;
    old.ping().await?;
    first.close().await?;
    remove(&place, &["-wal", "-shm"])?;
    elsewhere(&place, BOB_TAKES)?;
    old.close().await?;
    assert_eq!(elsewhere(&place, "PRAGMA integrity_check")?, "ok");
    assert_eq!(elsewhere(&place, BOB_HAS)?, "B");
    Ok(())
}

/// SQLite maps the shared memory of a file once per process, so the new store would use the removed shared memory.
#[cfg(unix)]
#[tokio::test]
async fn a_new_store_in_a_process_with_a_removed_log_is_refused() -> Result<()> {
    let (place, old) = in_use().await?;
    remove(&place, &["-wal", "-shm"])?;
    elsewhere(&place, "PRAGMA integrity_check")?;
    old.close().await?;
    let new = place.store()?;
    is_refused(&new.item_bank(&"namespace".parse()?)?.take(&"bob".parse().unwrap(), Hold::Forever).await.unwrap_err());
    is_refused(&new.ping().await.unwrap_err());
    is_refused(&new.setup().await.unwrap_err());
    Ok(())
}

/// Overwrites the file's tables with those of the copy.
async fn put_back(place: &Place, copy: &Path) -> Result<()> {
    let mut raw = place.raw().await?;
    let attach = query("ATTACH ?1 AS copy").bind(copy.to_str().ok_or_else(|| failed("a path"))?);
    attach.execute(&mut raw).await.map_err(failed)?;
    let over = "DELETE FROM main.storagebox_items; DELETE FROM main.storagebox_namespaces;
        INSERT INTO main.storagebox_namespaces SELECT * FROM copy.storagebox_namespaces;
        INSERT INTO main.storagebox_items SELECT * FROM copy.storagebox_items";
    raw_sql(over).execute(&mut raw).await.map_err(failed)?;
    raw.close().await.map_err(failed)
}

/// Opens a bank, and then restores a copy of the file in which the bank does not exist.
async fn put_back_below() -> Result<(Place, Arc<dyn ItemBank>)> {
    let place = Place::ready().await?;
    let copy = copied(&place).await?;
    let adas = place.store()?.item_bank(&"adas".parse()?)?;
    adas.add(&[Item::new("A")?]).await?;
    put_back(&place, &copy).await?;
    Ok((place, adas))
}

/// The copy is written over the contents of the file while a store is open.
#[tokio::test]
async fn a_namespace_missing_in_a_copy_is_not_mistaken_for_another() -> Result<()> {
    let (place, adas) = put_back_below().await?;
    place.store()?.item_bank(&"bobs".parse()?)?.add(&[Item::new("B")?]).await?;
    // A take tries one statement and then a transaction. The other calls read.
    assert_eq!(adas.take(&"ada".parse()?, Hold::Forever).await?.item(), None);
    assert_eq!(adas.counts().await?, Counts::default());
    assert_eq!(adas.holder(&Item::new("B")?).await?, ItemState::Unknown);
    assert_eq!(place.store()?.item_bank(&"bobs".parse()?)?.counts().await?.free, 1);
    Ok(())
}

/// The restored copy lacks the bank, and another bank has a claim with the same id.
#[tokio::test]
async fn a_claim_missing_in_a_copy_is_not_read_from_another_bank() -> Result<()> {
    let (place, adas) = put_back_below().await?;
    let bobs = place.store()?.item_bank(&"bobs".parse()?)?;
    bobs.add(&[Item::new("B")?]).await?;
    let _ = bobs.take(&"ada".parse()?, Hold::Forever).await?;
    assert_eq!(adas.get(&"ada".try_into()?).await?, ClaimState::Unknown);
    assert_eq!(adas.take(&"ada".parse()?, Hold::Forever).await?.item(), None);
    Ok(())
}
