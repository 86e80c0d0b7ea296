//! Loads of items: a bank's `add`, and the statement of `add` with prepared arguments.

use std::sync::Arc;

use sqlx::{ConnectOptions, query};

use super::file::{Bank, fresh, number};
use crate::error::{Failure, Result};
use crate::row::{Load, Prepared, Work};

const ADD: &str = include_str!("../../../../storagebox-sqlite/sql/item_bank/add.sql");

/// The number of items per statement, the same as in the library.
const BATCH: usize = 5_000;

/// Prepares one call of `add` with all items of the measurement.
pub(super) fn ours(world: &Arc<Bank>, load: Load) -> Result<Prepared> {
    let items = Arc::new(fresh(load)?);
    let (bank, kept) = (Arc::clone(world.filled.part()), Box::new((Arc::clone(world), Arc::clone(&items))));
    let work = async move { all_new(bank.add(&items).await?.added, items.len()) };
    Ok(Prepared { tasks: vec![Box::pin(work) as Work], world: kept })
}

pub(super) fn plain(world: &Arc<Bank>, load: Load) -> Result<Prepared> {
    let items = fresh(load)?;
    let batches: Vec<_> = items
        .chunks(BATCH)
        .map(|batch| format!("[\"{}\"]", batch.iter().map(|item| item.as_str()).collect::<Vec<_>>().join("\",\"")))
        .collect();
    let (options, kept) = (world.options(), Box::new(Arc::clone(world)));
    let work = async move {
        let mut connection = options.connect().await?;
        let number = number(&mut connection).await?;
        let mut added = 0;
        for batch in batches {
            added += query(ADD).bind(number).bind(batch).execute(&mut connection).await?.rows_affected();
        }
        all_new(added, load.calls)
    };
    Ok(Prepared { tasks: vec![Box::pin(work) as Work], world: kept })
}

fn all_new(added: u64, items: usize) -> Result<()> {
    if added == items as u64 { Ok(()) } else { Err(Failure::NoWork { answer: format!("{added} new items") }) }
}
