//! The cost of calls, in commits that SQLite counts: a change costs one transaction, a read none.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sqlx::Connection;
use sqlx::sqlite::SqlitePoolOptions;
use storagebox_core::{Backend, DedupRepo, Result};
use storagebox_testkit::checks::calls::LOOKS;
use storagebox_testkit::checks::round_trips::{Metered, remember_at_once};

use crate::support::{Place, failed};

/// Returns a store whose connections count their commits.
fn metered(place: &Place) -> Result<Metered> {
    let commits = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&commits);
    let pool = SqlitePoolOptions::new().max_connections(4).after_connect(move |connection, _| {
        let counter = Arc::clone(&counter);
        Box::pin(async move {
            connection.lock_handle().await?.set_commit_hook(move || {
                counter.fetch_add(1, Ordering::SeqCst);
                true
            });
            Ok(())
        })
    });
    let store = place.builder().from_pool(pool.connect_lazy_with(place.options()))?;
    Ok(Metered::new(store, move || commits.load(Ordering::SeqCst)))
}

/// A take that changes nothing costs one transaction too.
#[tokio::test]
async fn each_change_costs_one_transaction_and_each_read_none() -> Result<()> {
    let place = Place::ready().await?;
    let mut metered = metered(&place)?;
    metered.every_call("id").await?;
    metered.assert_one_each_but(&LOOKS);
    Ok(())
}

#[tokio::test]
async fn five_thousand_texts_are_added_per_transaction() -> Result<()> {
    let place = Place::ready().await?;
    assert_eq!(metered(&place)?.cost_of_adding(12_000).await?, 3);
    Ok(())
}

/// The calls arrive while another process is writing, and wait for the same transaction.
#[tokio::test]
async fn calls_that_arrive_together_share_a_transaction() -> Result<()> {
    let place = Place::ready().await?;
    let metered = metered(&place)?;
    let records = metered.store.dedup_repo(&"namespace".parse()?)?;
    remember_at_once(&records, 0..1).await?;
    let mut other = place.raw().await?;
    let writing = other.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
    let write = async {
        // Each call runs until it waits: there is one thread.
        tokio::task::yield_now().await;
        writing.rollback().await.map_err(failed)
    };
    let all = async { tokio::try_join!(remember_at_once(&records, 1..65), write) };
    let (_, commits) = metered.cost_of(all).await?;
    assert!(commits <= 3, "{commits} transactions");
    assert_eq!(records.list(None, 100).await?.entries.len(), 65);
    Ok(())
}
