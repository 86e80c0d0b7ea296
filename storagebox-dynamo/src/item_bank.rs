//! The item bank: a claim and its item change together, in one transaction.
//!
//! The key of an item's row never changes. While the item may be taken, its row is in the index `order`: the place of a
//! free item is `0` and a hash, so that takers begin at random places; the place of an item whose hold may lapse is `1`
//! and the end of the hold. The row of the claim has the claim's item and the end of its hold. If the two rows differ,
//! the row of the claim decides.

mod bulk;
mod candidates;
mod claim;
mod cleanup;
mod counts;
mod hints;
mod item;
mod lapse;
mod plan;
mod release;
mod take;
mod void;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use storagebox_core::{
    Added, Attempt, ClaimId, ClaimState, Confirmed, Counts, Cursor, Extended, Hold, Item, ItemBank, ItemState,
    ListedItem, Namespace, Page, Released, Restored, Result, Retired, Taken, Withdrawn, async_trait,
};
use tracing::instrument;

use crate::candidates::Candidates;
use crate::client::{Client, Kind, OpenNamespace, Tag};

use candidates::Candidate;
use hints::Hints;
use take::{Repeats, TakeAttempt};

pub(crate) use cleanup::LAPSED;

/// A bank, whose candidates and hints are shared by the tasks of a process.
#[derive(Debug)]
pub(crate) struct Bank {
    open: OpenNamespace,
    candidates: Candidates<Candidate>,
    hints: Hints,
    repeats: Repeats,
}

#[derive(Clone, Debug)]
pub(crate) struct DynamoBank(Arc<Bank>);

impl DynamoBank {
    pub(crate) fn new(client: &Arc<Client>, name: &Namespace) -> Self {
        Self(Arc::new(Bank::of(OpenNamespace::new(client, Kind::Bank, name))))
    }
}

impl Bank {
    pub(crate) fn for_upkeep(client: &Arc<Client>, name: &Namespace) -> Self {
        Self::of(OpenNamespace::new(client, Kind::Bank, name).of_any_memory())
    }

    fn of(open: OpenNamespace) -> Self {
        Self {
            candidates: Candidates::new(open.client().settings().fetch_limit),
            open,
            hints: Hints::default(),
            repeats: Repeats::default(),
        }
    }

    fn client(&self) -> &Client {
        self.open.client()
    }
}

#[async_trait]
impl ItemBank for DynamoBank {
    #[instrument(level = "trace", skip_all)]
    async fn add(&self, items: &[Item]) -> Result<Added> {
        self.0.add(items).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn attempt_take(&self, attempt: Attempt, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        let hold = hold.checked()?;
        let (tag, since) = (Tag::fresh(), self.0.candidates.fetches());
        let take = |attempt: Attempt| Bank::take(&self.0, TakeAttempt { attempt, claim, hold, tag: &tag }, since);
        self.0.client().settle_attempts("take", attempt, take).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn attempt_extend(&self, attempt: Attempt, claim: &ClaimId, hold: Hold) -> Result<Extended> {
        let (hold, tag) = (hold.checked()?, Tag::fresh());
        let extend = |attempt: Attempt| self.0.extend(attempt, claim, hold, &tag);
        self.0.client().settle_attempts("extend", attempt, extend).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn attempt_confirm(&self, attempt: Attempt, claim: &ClaimId) -> Result<Confirmed> {
        let tag = Tag::fresh();
        let confirm = |attempt: Attempt| self.0.confirm(attempt, claim, &tag);
        self.0.client().settle_attempts("confirm", attempt, confirm).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn release(&self, claim: &ClaimId) -> Result<Released> {
        let tag = Tag::fresh();
        self.0.client().settle("release", || self.0.release(claim, &tag)).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn get(&self, claim: &ClaimId) -> Result<ClaimState> {
        self.0.client().settle("get", || self.0.state(claim)).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn counts(&self) -> Result<Counts> {
        self.0.counts().await
    }

    #[instrument(level = "trace", skip_all)]
    async fn attempt_retire(&self, attempt: Attempt, claim: &ClaimId) -> Result<Retired> {
        let was_sent = AtomicBool::new(false);
        let retire = |attempt: Attempt| self.0.retire(attempt, claim, &was_sent);
        self.0.client().settle_attempts("retire", attempt, retire).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn holder(&self, item: &Item) -> Result<ItemState> {
        self.0.client().settle("holder", || self.0.holder(item)).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedItem>> {
        let position = crate::page::Position::read(cursor, limit)?;
        self.0.client().settle("list", || self.0.list(&position, limit)).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn withdraw(&self, items: &[Item]) -> Result<Withdrawn> {
        self.0.withdraw(items).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn restore(&self, items: &[Item]) -> Result<Restored> {
        self.0.restore(items).await
    }
}
