//! Upkeep: deletes rows that no promise needs any more. On AWS the table's time to live does the same, days later and
//! for free.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use aws_sdk_dynamodb::operation::scan::builders::ScanFluentBuilder;
use futures_util::future::join_all;
use storagebox_core::backend::SingleFlight;
use storagebox_core::{Key, Maintained, Namespace, Result};

use crate::client::{Client, Partition, RowPage, Write, home_elsewhere};
use crate::entity_ledger::{Entities, FORGOTTEN};
use crate::item_bank::{Bank, LAPSED};
use crate::lock::lock;
use crate::row::{Attributes, Row, RowKey, Value};

const PAGE: i32 = 1_000;
/// The largest number of pages that one call reads.
const PAGES: usize = 20;
const AT_ONCE: usize = 16;

/// The condition that no promise needs the row.
const UNNEEDED: &str = "g <= :past";

#[derive(Debug, Default)]
pub(crate) struct Upkeep {
    /// The key after which the next call continues.
    position: Mutex<Option<Attributes>>,
    calls: SingleFlight,
}

struct Round<'a> {
    client: &'a Arc<Client>,
    banks: HashMap<Namespace, Bank>,
    entities: HashMap<Namespace, Entities>,
    /// Whether a namespace has its home in another region, by the key of the namespace's row.
    elsewhere: HashMap<RowKey, bool>,
    deleted: usize,
    /// The number of items that were moved to their correct place in the index.
    moved: usize,
    /// The number of entities that were checked and not deleted.
    kept: usize,
}

impl Upkeep {
    /// Continues upkeep where the last call stopped. Returns after work on `most` rows, after `PAGES` pages, or at the
    /// end of the table.
    pub(crate) async fn maintain(&self, client: &Arc<Client>, most: usize) -> Result<Maintained> {
        let mut round = Round::new(client);
        let _flight = self.calls.next().await;
        let ended = self.pass(&mut round, most).await;
        // Rows that were deleted before an error stay deleted.
        ended.map_err(|error| if round.changed() > 0 { error.after_unresolved() } else { error })
    }

    async fn pass(&self, round: &mut Round<'_>, most: usize) -> Result<Maintained> {
        let client = round.client;
        let mut from = lock(&self.position).clone();
        for _ in 0..PAGES {
            let page = client.settle("maintain", || scan(client, from.clone())).await?;
            let mut rows = &page.rows[..];
            while !rows.is_empty() {
                let left = most.saturating_sub(round.work());
                if left == 0 {
                    return Ok(round.ended(true));
                }
                let (next, rest) = rows.split_at(rows.len().min(left).min(AT_ONCE));
                round.visit(next).await?;
                if let Some(last) = next.last() {
                    *lock(&self.position) = Some(last.key()?.attributes());
                }
                rows = rest;
            }
            from = page.next;
            lock(&self.position).clone_from(&from);
            if from.is_none() {
                return Ok(round.ended(round.changed() >= most));
            }
        }
        Ok(round.ended(true))
    }
}

impl<'a> Round<'a> {
    fn new(client: &'a Arc<Client>) -> Self {
        let (banks, entities, elsewhere) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { client, banks, entities, elsewhere, deleted: 0, moved: 0, kept: 0 }
    }

    fn work(&self) -> usize {
        self.changed() + self.kept
    }

    fn changed(&self) -> usize {
        self.deleted + self.moved
    }

    fn ended(&self, more: bool) -> Maintained {
        Maintained { deleted: self.deleted as u64, more }
    }

    async fn visit(&mut self, rows: &[Row]) -> Result<()> {
        let mut unneeded = Vec::with_capacity(rows.len());
        for row in rows {
            if self.is_elsewhere(row).await? {
                continue;
            }
            if let Some(name) = Bank::of_items(row, self.client) {
                self.move_item(name, row).await?;
            } else if let Some((name, key)) = Entities::of(row, self.client) {
                self.forget(name, &key, row).await?;
            } else {
                unneeded.push(row);
            }
        }
        self.remove(&unneeded).await
    }

    async fn remove(&mut self, rows: &[&Row]) -> Result<()> {
        let client = self.client;
        let mut outcome = Ok(());
        for is_removed in join_all(rows.iter().map(|row| removed(client, row))).await {
            match is_removed {
                Ok(is_removed) => self.deleted += usize::from(is_removed),
                Err(error) => outcome = outcome.and(Err(error)),
            }
        }
        outcome
    }

    /// Returns whether the row's namespace has its home in another region.
    async fn is_elsewhere(&mut self, row: &Row) -> Result<bool> {
        // A deletion in this region could undo a newer write in the home region.
        let partition = row.needed("pk", row.text("pk"))?;
        let Some(partition) = Partition::parse(self.client, partition) else { return Ok(false) };
        let key = partition.namespace_row(self.client);
        if let Some(known) = self.elsewhere.get(&key) {
            return Ok(*known);
        }
        let namespace = self.client.settle("maintain", || self.client.get(&key)).await?;
        // A damaged namespace must not stop upkeep of the other namespaces. The call that opens it reports it.
        let elsewhere = namespace.is_some_and(|row| !matches!(home_elsewhere(self.client, &row), Ok(None)));
        self.elsewhere.insert(key, elsewhere);
        Ok(elsewhere)
    }

    async fn move_item(&mut self, name: Namespace, row: &Row) -> Result<()> {
        let client = self.client;
        let bank = &*self.banks.entry(name).or_insert_with_key(|name| Bank::for_upkeep(client, name));
        self.moved += usize::from(client.settle("maintain", || bank.moved_back(row)).await?);
        Ok(())
    }

    async fn forget(&mut self, name: Namespace, key: &Key, row: &Row) -> Result<()> {
        let client = self.client;
        let entities = &*self.entities.entry(name).or_insert_with_key(|name| Entities::for_upkeep(client, name));
        match entities.forgotten(key, row).await? {
            true => self.deleted += 1,
            false => self.kept += 1,
        }
        Ok(())
    }
}

/// Reads a page of rows for upkeep: rows that no promise needs, entities without a state, and items that the index
/// shows as lapsed.
async fn scan(client: &Client, from: Option<Attributes>) -> Result<RowPage> {
    let mut filter = format!("({UNNEEDED} OR ({FORGOTTEN}) OR ({LAPSED}))");
    let mut values = HashMap::from([(":past".to_owned(), client.surely_past().0.value())]);
    values.extend(Bank::lapsed(client));
    // DynamoDB refuses an empty text here.
    let prefix = client.settings().prefix.as_str();
    if !prefix.is_empty() {
        filter.push_str(" AND begins_with(pk, :prefix)");
        values.insert(":prefix".to_owned(), prefix.value());
    }
    let narrowed = |scan: ScanFluentBuilder| {
        let scan = scan.filter_expression(filter).set_expression_attribute_values(Some(values));
        scan.projection_expression("pk, sk, c, n, o").limit(PAGE).set_exclusive_start_key(from)
    };
    client.scan(client.table(), narrowed).await
}

/// Deletes the row if no promise needs the row. Returns whether the row was deleted.
async fn removed(client: &Client, row: &Row) -> Result<bool> {
    let delete = Write::delete(&row.key()?).only_if(UNNEEDED).value(":past", client.surely_past().0);
    client.deleted("maintain", &delete).await
}
