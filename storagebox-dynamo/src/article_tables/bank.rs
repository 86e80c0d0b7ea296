//! The tables as a bank. Calls for which the tables have no room return `Unsupported`.

use std::sync::Arc;

use storagebox_core::{
    Added, Attempt, ClaimId, ClaimState, Confirmed, Counts, Cursor, Error, Extended, Hold, Item, ItemBank, ItemState,
    ListedItem, Page, Released, Restored, Result, Retired, Taken, Withdrawn, async_trait,
};
use tracing::instrument;

use super::assign::for_good;
use super::listing::Position;
use super::{ArticleTables, Tables};

#[derive(Clone, Debug)]
pub(super) struct ArticleBank(pub(super) ArticleTables);

impl ArticleBank {
    fn tables(&self) -> &Arc<Tables> {
        &self.0.0
    }
}

#[async_trait]
impl ItemBank for ArticleBank {
    async fn add(&self, items: &[Item]) -> Result<Added> {
        self.0.add(items).await
    }

    async fn attempt_take(&self, attempt: Attempt, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        match hold.checked()? {
            Hold::Forever => self.0.assigned(attempt, claim).await,
            Hold::For(_) => Err(no_room("a hold that ends")),
        }
    }

    /// Changes nothing, because every hold is already permanent.
    async fn attempt_extend(&self, attempt: Attempt, claim: &ClaimId, hold: Hold) -> Result<Extended> {
        hold.checked()?;
        let given = self.0.get(claim).await?;
        match given {
            Some(item) => Ok(Extended::Extended(for_good(item))),
            None => attempt.refused(Extended::Unknown),
        }
    }

    async fn attempt_confirm(&self, _: Attempt, _: &ClaimId) -> Result<Confirmed> {
        Err(no_room("confirming"))
    }

    async fn release(&self, _: &ClaimId) -> Result<Released> {
        Err(no_room("releasing"))
    }

    async fn get(&self, claim: &ClaimId) -> Result<ClaimState> {
        let given = self.0.get(claim).await?;
        Ok(given.map_or(ClaimState::Unknown, |item| ClaimState::Held(for_good(item))))
    }

    async fn counts(&self) -> Result<Counts> {
        self.0.counts().await
    }

    async fn attempt_retire(&self, _: Attempt, _: &ClaimId) -> Result<Retired> {
        Err(no_room("retiring"))
    }

    #[instrument(level = "trace", skip_all)]
    async fn holder(&self, item: &Item) -> Result<ItemState> {
        self.tables().holder(item).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedItem>> {
        let position = Position::read(cursor, limit)?;
        self.tables().client().settle("list", || self.tables().list(&position, limit)).await
    }

    async fn withdraw(&self, _: &[Item]) -> Result<Withdrawn> {
        Err(no_room("withdrawing"))
    }

    async fn restore(&self, _: &[Item]) -> Result<Restored> {
        Err(no_room("restoring"))
    }
}

fn no_room(what: &str) -> Error {
    let what = format_args!("{what} in the tables of article 1");
    Error::unsupported(what, "a bank of `dynamodb:` or of another backend").on("dynamo")
}
