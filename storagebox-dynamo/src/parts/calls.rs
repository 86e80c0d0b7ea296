//! The calls of [`Parts`]. Each reads rows and plans its writes.

use storagebox_core::{
    Change, ClaimId, Confirmed, Consumed, Counted, Created, DedupId, Key, Namespace, OpId, OrderedOptions, Payload,
    Recorded, Released, Result, Retention, Stamp, Strategy, Taken, TokenId, Written,
};
use tracing::instrument;

use super::{PartOutcome, Parts};
use crate::dedup_repo::DynamoDedupRepo;

/// The calls that a transaction can contain. Each call has the outcomes and the errors of the same call of the store,
/// and also the errors that the documentation of [`Parts`] lists.
impl Parts {
    /// Assigns a free item to the claim, for ever. Two calls of one transaction get two items; the second is `Empty` if
    /// no other item is free.
    #[instrument(level = "trace", skip_all)]
    pub async fn assign(&mut self, bank: &Namespace, claim: &ClaimId) -> Result<Taken> {
        let bank = self.store.bank(bank)?;
        let plan = || bank.plan_assign(claim, &self.tag, &self.rows);
        let planned = self.client().settle("assign", plan).await?;
        self.add("assign", planned, PartOutcome::Taken)
    }

    /// Makes the hold of the claim permanent: its item is spent.
    #[instrument(level = "trace", skip_all)]
    pub async fn confirm(&mut self, bank: &Namespace, claim: &ClaimId) -> Result<Confirmed> {
        let bank = self.store.bank(bank)?;
        let planned = self.client().settle("confirm", || bank.plan_confirm(claim, &self.tag)).await?;
        self.add("confirm", planned, PartOutcome::Confirmed)
    }

    /// Ends the claim and frees its item. An unknown claim is fenced.
    #[instrument(level = "trace", skip_all)]
    pub async fn release(&mut self, bank: &Namespace, claim: &ClaimId) -> Result<Released> {
        let bank = self.store.bank(bank)?;
        let planned = self.client().settle("release", || bank.plan_release(claim, &self.tag)).await?;
        self.add("release", planned, PartOutcome::Released)
    }

    /// Records the first value of an id.
    #[instrument(level = "trace", skip_all)]
    pub async fn record(
        &mut self,
        records: &Namespace,
        id: &DedupId,
        value: &Payload,
        op: &OpId,
        retention: Retention,
    ) -> Result<Recorded> {
        let records = DynamoDedupRepo(self.store.records(records)?);
        let plan = || records.plan_record((id, op), value, retention, &self.tag);
        let planned = self.client().settle("record", plan).await?;
        self.add("record", planned, PartOutcome::Recorded)
    }

    /// Creates a token.
    #[instrument(level = "trace", skip_all)]
    pub async fn create_token(&mut self, tokens: &Namespace, token: &TokenId) -> Result<Created> {
        let tokens = self.store.tokens(tokens)?;
        let planned = self.client().settle("create", || tokens.plan_creation(token, &self.tag)).await?;
        self.add("create", planned, PartOutcome::Created)
    }

    /// Consumes a token.
    #[instrument(level = "trace", skip_all)]
    pub async fn consume(&mut self, tokens: &Namespace, token: &TokenId, op: &OpId) -> Result<Consumed> {
        let tokens = self.store.tokens(tokens)?;
        let planned = self.client().settle("consume", || tokens.plan_consumption(token, op, &self.tag)).await?;
        self.add("consume", planned, PartOutcome::Consumed)
    }

    /// Applies a change to a counter with the strategy [`Marker`](Strategy::Marker). The value is not read: a change
    /// that leads out of its bounds is refused with the transaction.
    ///
    /// # Errors
    ///
    /// Returns `Unsupported` for any other strategy.
    #[instrument(level = "trace", skip_all)]
    pub async fn apply(
        &mut self,
        counters: &Namespace,
        strategy: Strategy,
        key: &Key,
        change: &Change,
    ) -> Result<Counted> {
        let counters = self.store.counters(counters, strategy)?;
        let planned = self.client().settle("apply", || counters.plan(key, change, &self.tag)).await?;
        self.add("apply", planned, PartOutcome::Counted)
    }

    /// Writes the value of a key, if its stamp is the newest.
    #[instrument(level = "trace", skip_all)]
    pub async fn put(
        &mut self,
        values: &Namespace,
        options: OrderedOptions,
        key: &Key,
        value: &Payload,
        stamp: &Stamp,
    ) -> Result<Written> {
        let values = self.store.ordered(values, options)?;
        let planned = self.client().settle("put", || values.plan(key, stamp, Some(value), &self.tag)).await?;
        self.add("put", planned, PartOutcome::Written)
    }

    /// Deletes the value of a key, if the stamp is the newest.
    #[instrument(level = "trace", skip_all)]
    pub async fn delete(
        &mut self,
        values: &Namespace,
        options: OrderedOptions,
        key: &Key,
        stamp: &Stamp,
    ) -> Result<Written> {
        let values = self.store.ordered(values, options)?;
        let planned = self.client().settle("delete", || values.plan(key, stamp, None, &self.tag)).await?;
        self.add("delete", planned, PartOutcome::Written)
    }
}
