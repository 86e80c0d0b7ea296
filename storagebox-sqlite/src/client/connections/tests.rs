use std::task::{Context, Poll};

use sqlx::{Connection, Executor, Row, query, query_scalar};

use super::*;
use crate::config::Synchronous;

async fn pragma(connection: &mut SqliteConnection, sql: &'static str) -> i64 {
    query_scalar(sql).fetch_one(connection).await.unwrap()
}

#[tokio::test]
async fn every_connection_has_the_configured_durability() {
    let folder = storagebox_testkit::Folder::new("sqlite-test").unwrap();
    for synchronous in [Synchronous::Normal, Synchronous::Full, Synchronous::Extra] {
        let settings = Settings { synchronous, checkpoint_after: 7, ..Settings::default() };
        let connections = Connections::own(&folder.path().join("store.db"), &settings);
        connections.making().await.unwrap().close().await.unwrap();
        let mut writing = connections.writing(|| true).await.unwrap();
        let writer = writing.connection();
        assert_eq!(pragma(writer, "PRAGMA synchronous").await, synchronous.number());
        assert_eq!(pragma(writer, "PRAGMA wal_autocheckpoint").await, 7);
        let looked = connections.look(|| query("PRAGMA query_only")).await.unwrap();
        assert_eq!(looked.first().map(|row| row.get(0)), Some(1));
    }
    assert_eq!(Settings::default().synchronous, Synchronous::Full);
}

/// Sets up a file, and returns the connections of two stores to this file.
async fn two(folder: &storagebox_testkit::Folder) -> (Connections, Connections) {
    let settings = Settings { checkpoint_after: 0, ..Settings::default() };
    let path = folder.path().join("store.db");
    let own = || Connections::own(&path, &settings);
    let client = crate::client::Client::new(own(), Settings::default());
    crate::schema::setup(&client).await.unwrap();
    (own(), own())
}

/// Commits a transaction with so many pages that moving them to the file takes long.
async fn write(connections: &Connections) -> Result<()> {
    let mut writing = connections.writing(|| true).await?;
    let sql = "CREATE TABLE IF NOT EXISTS long (a); INSERT INTO long VALUES (randomblob(8000000))";
    writing.connection().execute(sql).await.map_err(error::before_commit)?;
    writing.remember_sidecars()?;
    writing.end(true);
    Ok(())
}

fn log(connections: &Connections) -> PathBuf {
    connections.path().unwrap().with_file_name("store.db-wal")
}

/// One store is opened while another store of this process closes and removes the log.
#[tokio::test]
async fn a_store_opened_while_another_closes_accepts_a_new_log() {
    for round in 0..5 {
        let folder = storagebox_testkit::Folder::new("sqlite-test").unwrap();
        let (old, new) = two(&folder).await;
        write(&old).await.unwrap();
        let mut closing = std::pin::pin!(old.close());
        let begins = |context: &mut Context<'_>| Poll::Ready(closing.as_mut().poll(context).is_pending());
        let _is_pending = std::future::poll_fn(begins).await;
        while log(&new).exists() {
            tokio::task::yield_now().await;
        }
        std::fs::write(folder.path().join("other"), "x").unwrap();
        let written = write(&new).await;
        assert!(written.is_ok(), "round {round}: {written:?}");
    }
}
