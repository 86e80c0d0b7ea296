//! Upkeep: rows that no promise needs any more go. On AWS the table's time to live does the same, days later and for
//! free.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::join_all;
use storagebox_core::{Key, Maintained, Namespace, Result};

use crate::client::{Answers, Client, Write, home_elsewhere, row_of_namespace};
use crate::entity_ledger::{Entities, FORGOTTEN};
use crate::item_bank::{Bank, LAPSED};
use crate::row::{Attributes, Row, RowKey, Value};
use crate::single_flight::SingleFlight;

/// How many rows one request reads, and how many requests one call makes at the most.
const PAGE: usize = 1_000;
const PAGES: usize = 20;
/// How many rows are deleted at once: upkeep by one row after another falls behind a few writers.
const AT_ONCE: usize = 16;

/// The row is one that nobody needs.
const UNNEEDED: &str = "g <= :past";

#[derive(Debug, Default)]
pub(crate) struct Upkeep {
    /// Where the last call stopped.
    place: Mutex<Option<Attributes>>,
    calls: SingleFlight,
}

/// One call.
struct Round<'a> {
    client: &'a Arc<Client>,
    banks: HashMap<Namespace, Bank>,
    entities: HashMap<Namespace, Entities>,
    /// Whether the namespace of this row is at home elsewhere.
    elsewhere: HashMap<RowKey, bool>,
    deleted: usize,
    /// Items that were put where they belong in the index. Nothing of them is deleted, but it is work.
    tidied: usize,
    /// Entities that were looked at and stay, which is work too.
    kept: usize,
}

impl Upkeep {
    /// Goes on where the last call stopped, page by page, until the budget is spent or the table's end is reached.
    pub(crate) async fn maintain(&self, client: &Arc<Client>, most: usize) -> Result<Maintained> {
        let mut round = Round::new(client);
        let _turn = self.calls.next().await;
        let ended = self.pass(&mut round, most).await;
        // What was deleted before an error stays deleted.
        ended.map_err(|error| if round.changed() > 0 { error.after_unresolved() } else { error })
    }

    async fn pass(&self, round: &mut Round<'_>, most: usize) -> Result<Maintained> {
        let client = round.client;
        let mut from = self.place();
        for _ in 0..PAGES {
            let page = client.settled("maintain", || scan(client, from.clone())).await?;
            let mut rows = &page.rows[..];
            while !rows.is_empty() {
                let left = most.saturating_sub(round.work());
                if left == 0 {
                    return Ok(round.ended(true));
                }
                let (next, rest) = rows.split_at(rows.len().min(left).min(AT_ONCE));
                round.visit(next).await?;
                if let Some(last) = next.last() {
                    self.stop_at(Some(key_of(last)?.attributes()));
                }
                rows = rest;
            }
            from = page.next;
            self.stop_at(from.clone());
            if from.is_none() {
                return Ok(round.ended(round.changed() >= most));
            }
        }
        Ok(round.ended(true))
    }

    fn place(&self) -> Option<Attributes> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn stop_at(&self, place: Option<Attributes>) {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }
}

impl<'a> Round<'a> {
    fn new(client: &'a Arc<Client>) -> Self {
        let (banks, entities, elsewhere) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { client, banks, entities, elsewhere, deleted: 0, tidied: 0, kept: 0 }
    }

    fn work(&self) -> usize {
        self.changed() + self.kept
    }

    /// What stays as it is would be met again by the next call, and the one after it.
    fn changed(&self) -> usize {
        self.deleted + self.tidied
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
                self.tidy(name, row).await?;
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

    /// The region where the namespace is at home may have written the row anew, and what is deleted here would undo
    /// that.
    async fn is_elsewhere(&mut self, row: &Row) -> Result<bool> {
        let partition = row.needed("pk", row.text("pk"))?;
        let Some(key) = row_of_namespace(self.client, partition) else { return Ok(false) };
        if let Some(known) = self.elsewhere.get(&key) {
            return Ok(*known);
        }
        let made = self.client.settled("maintain", || self.client.get(&key)).await?;
        // A damaged namespace is reported to the call that opens it. It must not keep upkeep from the other namespaces.
        let elsewhere = made.is_some_and(|made| !matches!(home_elsewhere(self.client, &made), Ok(None)));
        self.elsewhere.insert(key, elsewhere);
        Ok(elsewhere)
    }

    async fn tidy(&mut self, name: Namespace, row: &Row) -> Result<()> {
        let client = self.client;
        let bank = &*self.banks.entry(name).or_insert_with_key(|name| Bank::for_upkeep(client, name));
        self.tidied += usize::from(client.settled("maintain", || bank.tidied(row)).await?);
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

/// Rows that nobody needs, entities without a state that may be forgotten, and items that stand in the index because a
/// hold on them would have run out by now.
async fn scan(client: &Client, from: Option<Attributes>) -> Result<Answers> {
    let prefix = client.settings().prefix.as_str();
    let mut values = HashMap::from([(":past".to_owned(), client.surely_past().0.value())]);
    values.extend(Bank::lapsed(client));
    let wanted = format!("({UNNEEDED} OR ({FORGOTTEN}) OR ({LAPSED}))");
    if prefix.is_empty() {
        return client.scan(&wanted, &values, PAGE, from).await;
    }
    values.insert(":prefix".to_owned(), prefix.value());
    client.scan(&format!("{wanted} AND begins_with(pk, :prefix)"), &values, PAGE, from).await
}

/// Another call may need the row by now.
async fn removed(client: &Client, row: &Row) -> Result<bool> {
    let delete = Write::delete(&key_of(row)?).only_if(UNNEEDED).value(":past", client.surely_past().0);
    client.deleted("maintain", &delete).await
}

fn key_of(row: &Row) -> Result<RowKey> {
    Ok(RowKey::new(row.needed("pk", row.text("pk"))?, row.sort()?))
}
