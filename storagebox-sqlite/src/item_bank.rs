//! The item bank: one row per item, and one row per ended claim (`sql/item_bank`).

mod admin;
mod claim;
mod take;

use std::sync::Arc;

use sqlx::Row;
use storagebox_core::{
    Added, Attempt, ClaimId, ClaimState, Confirmed, Counts, Cursor, Extended, Hold, Item, ItemBank, ItemState,
    ListedItem, Namespace, Page, Released, Restored, Result, Retired, Taken, Withdrawn, async_trait,
};
use tracing::instrument;

use crate::client::{Client, Kind, OpenNamespace, Texts};
use crate::clock::Micros;
use crate::error::read;

use take::Take;

const ADD: &str = include_str!("../sql/item_bank/add.sql");
const COUNTS: &str = include_str!("../sql/item_bank/counts.sql");

#[derive(Debug)]
pub(crate) struct SqliteBank {
    bank: Arc<OpenNamespace>,
}

impl SqliteBank {
    pub(crate) fn new(client: &Arc<Client>, name: &Namespace) -> Self {
        Self { bank: Arc::new(OpenNamespace::new(client, Kind::Bank, name)) }
    }
}

fn batches(items: &[Item]) -> Result<Vec<Texts>> {
    Texts::batches(items.iter().map(Item::as_str))
}

#[async_trait]
impl ItemBank for SqliteBank {
    #[instrument(level = "trace", skip_all)]
    async fn add(&self, items: &[Item]) -> Result<Added> {
        let added = self.bank.write_each("add", batches(items)?, |step, items| {
            Box::pin(async move {
                let added = step.change(step.ask(ADD).bind(items.json())).await?;
                Ok(Added { added, already_present: items.count().saturating_sub(added) })
            })
        });
        Ok(added.await?.into_iter().fold(Added::default(), |mut all, one| {
            all += one;
            all
        }))
    }

    #[instrument(level = "trace", skip_all)]
    async fn attempt_take(&self, attempt: Attempt, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        let take = Take { bank: self.bank.name().clone(), attempt, claim: claim.clone(), hold: hold.checked()? };
        self.bank
            .write_at_once(
                "take",
                take,
                |step, take| Box::pin(take.by_itself(step)),
                |step, take| Box::pin(take.make(step)),
            )
            .await
    }

    #[instrument(level = "trace", skip_all)]
    async fn attempt_extend(&self, attempt: Attempt, claim: &ClaimId, hold: Hold) -> Result<Extended> {
        let extend = (claim.clone(), attempt, hold.checked()?);
        self.bank
            .write("extend", extend, |step, (claim, attempt, hold)| {
                Box::pin(claim::extend(step, claim, *attempt, *hold))
            })
            .await
    }

    #[instrument(level = "trace", skip_all)]
    async fn attempt_confirm(&self, attempt: Attempt, claim: &ClaimId) -> Result<Confirmed> {
        let confirm = (claim.clone(), attempt);
        self.bank
            .write("confirm", confirm, |step, (claim, attempt)| Box::pin(claim::confirm(step, claim, *attempt)))
            .await
    }

    #[instrument(level = "trace", skip_all)]
    async fn release(&self, claim: &ClaimId) -> Result<Released> {
        self.bank.write("release", claim.clone(), |step, claim| Box::pin(claim::release(step, claim))).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn get(&self, claim: &ClaimId) -> Result<ClaimState> {
        let claim = claim.as_str().to_owned();
        let rows = self.bank.look("get", claim::GET, move |ask| ask.bind(claim.clone())).await?;
        claim::state(rows.first())
    }

    #[instrument(level = "trace", skip_all)]
    async fn counts(&self) -> Result<Counts> {
        let rows = self.bank.look("counts", COUNTS, |ask| ask).await?;
        let Some(row) = rows.first() else {
            return Ok(Counts::default());
        };
        let count = |column| read("counts", row.try_get(column)).map(i64::unsigned_abs);
        Ok(Counts {
            free: count("free")?,
            held: count("held")?,
            spent: count("spent")?,
            withdrawn: count("withdrawn")?,
        })
    }

    #[instrument(level = "trace", skip_all)]
    async fn attempt_retire(&self, attempt: Attempt, claim: &ClaimId) -> Result<Retired> {
        let retire = (claim.clone(), attempt);
        self.bank.write("retire", retire, |step, (claim, attempt)| Box::pin(claim::retire(step, claim, *attempt))).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn holder(&self, item: &Item) -> Result<ItemState> {
        admin::holder(&self.bank, item).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedItem>> {
        admin::list(&self.bank, cursor, limit).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn withdraw(&self, items: &[Item]) -> Result<Withdrawn> {
        let parts =
            self.bank.write_each("withdraw", batches(items)?, |step, items| Box::pin(admin::withdraw(step, items)));
        Ok(parts.await?.into_iter().fold(Withdrawn::default(), |all, one| Withdrawn {
            withdrawn: all.withdrawn + one.withdrawn,
            already_withdrawn: all.already_withdrawn + one.already_withdrawn,
            in_use: all.in_use + one.in_use,
            unknown: all.unknown + one.unknown,
        }))
    }

    #[instrument(level = "trace", skip_all)]
    async fn restore(&self, items: &[Item]) -> Result<Restored> {
        let parts =
            self.bank.write_each("restore", batches(items)?, |step, items| Box::pin(admin::restore(step, items)));
        Ok(parts.await?.into_iter().fold(Restored::default(), |all, one| Restored {
            restored: all.restored + one.restored,
            not_withdrawn: all.not_withdrawn + one.not_withdrawn,
            unknown: all.unknown + one.unknown,
        }))
    }
}

/// Returns the end of a hold that begins now, or `None` if it never ends.
fn end_of(hold: Hold, now: Micros) -> Option<i64> {
    match hold {
        Hold::Forever => None,
        Hold::For(duration) => Some(now.after(storagebox_core::backend::micros(duration)).0),
    }
}
