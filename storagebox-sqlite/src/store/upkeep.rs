//! Upkeep: deletes rows that no promise needs, and moves the write-ahead log to the file.

use std::sync::Arc;

use sqlx::query;
use storagebox_core::{Maintained, Result};

use crate::client::{Batching, Call, Client, Step, spawn_detached};

const REAP: &str = include_str!("../../sql/item_bank/reap.sql");

/// The statements of upkeep. The arguments of each statement are its times and the most rows to delete.
const DELETE: [(&str, Cutoff); 8] = [
    (include_str!("../../sql/item_bank/maintain.sql"), Cutoff::Forgotten),
    (include_str!("../../sql/dedup_repo/maintain.sql"), Cutoff::Both),
    (include_str!("../../sql/dedup_repo/maintain_ended.sql"), Cutoff::Forgotten),
    (include_str!("../../sql/token_store/maintain.sql"), Cutoff::Forgotten),
    (include_str!("../../sql/entity_ledger/maintain.sql"), Cutoff::Forgotten),
    (include_str!("../../sql/counter/maintain.sql"), Cutoff::Now),
    (include_str!("../../sql/ordered_store/maintain.sql"), Cutoff::Now),
    (include_str!("../../sql/void_calls/maintain.sql"), Cutoff::Now),
];

#[derive(Clone, Copy)]
enum Cutoff {
    Now,
    Forgotten,
    Both,
}

pub(super) async fn maintain(client: &Client, max_entries: usize) -> Result<Maintained> {
    let most = i64::try_from(max_entries).unwrap_or(i64::MAX);
    let call = Call::new(client.inner(), None, most, |step, most| Box::pin(delete(step, *most)));
    let deleted = client.write("maintain", Batching::Alone, call).await?;
    let inner = Arc::clone(client.inner());
    let moved = spawn_detached(async move { inner.connections.checkpoint().await }).await;
    // The deletion is committed, so an error here does not mean that nothing was done.
    moved.map_err(|error| error.after_unresolved().during("maintain"))?;
    Ok(Maintained { deleted, more: deleted == max_entries as u64 })
}

async fn delete(step: &mut Step<'_>, most: i64) -> Result<u64> {
    let mut deleted = 0;
    step.change(query(REAP).bind(step.now.0).bind(most)).await?;
    for (sql, told) in DELETE {
        let left = most.saturating_sub_unsigned(deleted);
        let ask = match told {
            Cutoff::Now => query(sql).bind(step.now.0),
            Cutoff::Forgotten => query(sql).bind(step.forgotten.0),
            Cutoff::Both => query(sql).bind(step.now.0).bind(step.forgotten.0),
        };
        deleted += step.number("a count of what was deleted", ask.bind(left)).await?.unsigned_abs();
    }
    Ok(deleted)
}
