//! Loads of items: a bank's `add`, and the SQL function of `add` with prepared arguments.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use sqlx::query_scalar;
use storagebox::parts::ItemBank;
use storagebox::values::Item;

use super::client::Client;
use crate::error::{Failure, Result};
use crate::row::{Load, Prepared, Work};
use crate::rows::filled::these;

/// The number of items per statement, the same as in the library.
const BATCH: usize = 5_000;

/// The arguments of a statement that adds items: hashes and items, sorted by hash.
type Batch = (Vec<i64>, Vec<String>);

/// Prepares one call of `add` with all items of the measurement.
pub(super) fn add(bank: &Arc<dyn ItemBank>, load: Load) -> Result<Prepared> {
    let items = Arc::new(fresh(load)?);
    let world = Box::new((Arc::clone(bank), Arc::clone(&items)));
    let bank = Arc::clone(bank);
    let work = async move { all_new(bank.add(&items).await?.added, items.len()) };
    Ok(Prepared { tasks: vec![Box::pin(work) as Work], world })
}

pub(super) fn plain(client: &Client, number: i64, load: Load) -> Result<Prepared> {
    let batches = Arc::new(batches(&fresh(load)?));
    let (client, world) = (client.clone(), Box::new(Arc::clone(&batches)));
    let work = async move {
        let mut added = 0;
        for (hashes, items) in batches.iter() {
            let add = query_scalar("SELECT storagebox.bank_add($1,$2,$3)").bind(number).bind(hashes).bind(items);
            let new: i64 = add.fetch_one(&mut *client.connection().await?).await?;
            added += new.unsigned_abs();
        }
        all_new(added, load.calls)
    };
    Ok(Prepared { tasks: vec![Box::pin(work) as Work], world })
}

fn all_new(added: u64, items: usize) -> Result<()> {
    if added == items as u64 { Ok(()) } else { Err(Failure::NoWork { answer: format!("{added} new items") }) }
}

/// Returns items that no other measurement uses.
fn fresh(load: Load) -> Result<Vec<Item>> {
    let first = load.slice as usize * 1_000_000_000;
    these(first..first + load.calls)
}

fn batches(items: &[Item]) -> Vec<Batch> {
    let mut sorted: Vec<_> = items.iter().map(|item| (hash(item.as_str()), item.as_str())).collect();
    sorted.sort_unstable();
    sorted.chunks(BATCH).map(|batch| batch.iter().map(|(hash, item)| (*hash, (*item).to_owned())).unzip()).collect()
}

/// Returns the hash of an item, as the library computes it.
fn hash(text: &str) -> i64 {
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    i64::from_be_bytes(first)
}
