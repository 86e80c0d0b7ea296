//! The item bank: each call is one function of the schema (`sql/item_bank`).

mod answers;
mod take;
mod take_cursors;

use std::collections::HashSet;
use std::sync::Arc;

use sqlx::postgres::PgRow;
use storagebox_core::backend::PageRequest;
use storagebox_core::{
    Added, Attempt, ClaimId, ClaimState, Confirmed, Counts, Cursor, Extended, Hold, Item, ItemBank, ItemState,
    ListedItem, Namespace, Page, Released, Restored, Result, Retired, Taken, Withdrawn, async_trait,
};
use tracing::instrument;

use crate::client::{Client, FunctionCall, Kind, OpenNamespace, hash};

use answers::ClaimView;
pub(crate) use answers::texts;
use take::Take;

/// The maximum number of items in one statement: enough that commits cost little, and few enough that no transaction
/// lasts long.
const BATCH: usize = 5_000;

#[derive(Debug)]
pub(crate) struct PostgresBank {
    bank: Arc<OpenNamespace>,
    takes: take::Takes,
}

impl PostgresBank {
    pub(crate) fn new(client: &Arc<Client>, name: &Namespace) -> Self {
        let bank = Arc::new(OpenNamespace::new(client, Kind::Bank, name));
        Self { takes: take::Takes::new(&bank), bank }
    }

    fn client(&self) -> &Client {
        self.bank.client()
    }

    async fn about(&self, function: &'static str, claim: &ClaimId) -> Result<PgRow> {
        let call = FunctionCall::value(function)
            .about(self.bank.opened().await?)
            .with(claim.as_str())
            .with(self.client().memory());
        self.client().row(&call).await
    }

    /// Calls a function about one claim. The function can refuse the attempt (ER-5).
    async fn attempted(&self, function: &'static str, attempt: Attempt, claim: &ClaimId) -> Result<PgRow> {
        let call = FunctionCall::value(function)
            .about(self.bank.opened().await?)
            .with(claim.as_str())
            .with(attempt.call())
            .with(attempt.is_repeated())
            .with(self.client().memory());
        self.client().row(&call).await
    }

    /// Calls a function about items in batches, each batch in its own transaction. Returns one answer per batch.
    async fn in_batches(
        &self,
        operation: &'static str,
        call: &FunctionCall<'static>,
        items: &[Item],
    ) -> Result<Vec<PgRow>> {
        let mut answers = Vec::new();
        for batch in sorted(items).chunks(BATCH) {
            let (hashes, items): (Vec<_>, Vec<_>) = batch.iter().copied().unzip();
            let attempt = || async {
                let call = call.clone().about(self.bank.opened().await?).with(hashes.clone()).with(items.clone());
                self.client().row(&call).await
            };
            match self.client().settle(operation, attempt).await {
                Ok(answer) => answers.push(answer),
                Err(error) if answers.is_empty() => return Err(error),
                Err(error) => return Err(error.after_unresolved()),
            }
        }
        Ok(answers)
    }
}

/// Returns each item once, with its hash, sorted by hash and item.
fn sorted(items: &[Item]) -> Vec<(i64, &str)> {
    let mut seen = HashSet::with_capacity(items.len());
    let distinct = items.iter().map(Item::as_str).filter(|item| seen.insert(*item));
    let mut sorted: Vec<_> = distinct.map(|item| (hash(item), item)).collect();
    // In this order, concurrent batches cannot deadlock.
    sorted.sort_unstable();
    sorted
}

#[async_trait]
impl ItemBank for PostgresBank {
    #[instrument(level = "trace", skip_all)]
    async fn add(&self, items: &[Item]) -> Result<Added> {
        let mut report = Added::default();
        for answer in self.in_batches("add", &FunctionCall::value("bank_add"), items).await? {
            report.added += answers::number(&answer, "bank_add", 0)?;
        }
        report.already_present = sorted(items).len() as u64 - report.added;
        Ok(report)
    }

    #[instrument(level = "trace", skip_all)]
    async fn attempt_take(&self, attempt: Attempt, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        self.takes.take(Take { attempt, claim: claim.clone(), hold: hold.checked()? }).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn attempt_extend(&self, attempt: Attempt, claim: &ClaimId, hold: Hold) -> Result<Extended> {
        let hold = take::micros_of(hold.checked()?);
        let extend = |attempt: Attempt| async move {
            let call = FunctionCall::value("bank_extend")
                .about(self.bank.opened().await?)
                .with(claim.as_str())
                .with(attempt.call())
                .with(attempt.is_repeated())
                .with(hold)
                .with(self.client().memory());
            ClaimView::of(&self.client().row(&call).await?, "bank_extend")?.extended(attempt)
        };
        self.client().settle_attempts("extend", attempt, extend).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn attempt_confirm(&self, attempt: Attempt, claim: &ClaimId) -> Result<Confirmed> {
        let confirm = |attempt: Attempt| async move {
            let row = self.attempted("bank_confirm", attempt, claim).await?;
            ClaimView::of(&row, "bank_confirm")?.confirmed(attempt)
        };
        self.client().settle_attempts("confirm", attempt, confirm).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn release(&self, claim: &ClaimId) -> Result<Released> {
        let attempt = || async move { answers::released(&self.about("bank_release", claim).await?) };
        self.client().settle("release", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn get(&self, claim: &ClaimId) -> Result<ClaimState> {
        let attempt = || async move { ClaimView::of(&self.about("bank_get", claim).await?, "bank_get")?.claim_state() };
        self.client().settle("get", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn counts(&self) -> Result<Counts> {
        let attempt = || async move {
            let call = FunctionCall::rows("bank_counts").about(self.bank.opened().await?);
            answers::counts(&self.client().row(&call).await?)
        };
        self.client().settle("counts", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn attempt_retire(&self, attempt: Attempt, claim: &ClaimId) -> Result<Retired> {
        let retire = |attempt: Attempt| async move {
            answers::retired(&self.attempted("bank_retire", attempt, claim).await?, attempt)
        };
        self.client().settle_attempts("retire", attempt, retire).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn holder(&self, item: &Item) -> Result<ItemState> {
        let attempt = || async move {
            let call = FunctionCall::rows("bank_holder")
                .about(self.bank.opened().await?)
                .with(hash(item.as_str()))
                .with(item.as_str());
            self.client().rows(&call).await?.first().map_or(Ok(ItemState::Unknown), answers::item_state)
        };
        self.client().settle("holder", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedItem>> {
        let listing = &PageRequest::of::<Item>("postgres", cursor, limit)?;
        let attempt = || async {
            let call = FunctionCall::rows("bank_list")
                .about(self.bank.opened().await?)
                .with(answers::place_after(listing))
                .with(listing.after())
                .with(listing.limit());
            answers::page(&self.client().rows(&call).await?, listing)
        };
        self.client().settle("list", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn withdraw(&self, items: &[Item]) -> Result<Withdrawn> {
        let mut report = Withdrawn::default();
        for answer in self.in_batches("withdraw", &FunctionCall::rows("bank_withdraw"), items).await? {
            answers::add_withdrawn(&mut report, &answer)?;
        }
        Ok(report)
    }

    #[instrument(level = "trace", skip_all)]
    async fn restore(&self, items: &[Item]) -> Result<Restored> {
        let mut report = Restored::default();
        for answer in self.in_batches("restore", &FunctionCall::rows("bank_restore"), items).await? {
            answers::add_restored(&mut report, &answer)?;
        }
        Ok(report)
    }
}
