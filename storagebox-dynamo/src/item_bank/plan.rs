//! Calls of a claim, planned for a transaction of the caller.
//!
//! Lapsed holds are ended beforehand, by separate calls with other tags, because a row with the tag of the transaction
//! proves that the transaction was committed.

use std::collections::HashSet;
use std::sync::Arc;

use storagebox_core::{Attempt, ClaimId, ClaimState, Confirmed, Held, Hold, HoldState, Item, Released, Result, Taken};

use super::claim::{HELD, LASTS, judge};
use super::release::{Ending, as_released};
use super::take::TakeAttempt;
use super::void::NOT_VOID;
use super::{Bank, DynamoBank};
use crate::candidates::Source as _;
use crate::client::{Tag, Write};
use crate::error::contention;
use crate::parts::Planned;
use crate::row::{Row, RowKey};

impl DynamoBank {
    /// Plans to assign an item to the claim for ever. `rows` are the rows that the caller's transaction already
    /// changes.
    pub(crate) async fn plan_assign(
        &self,
        claim: &ClaimId,
        tag: &Tag,
        rows: &HashSet<RowKey>,
    ) -> Result<Planned<Taken>> {
        let since = self.0.candidates.fetches();
        match self.0.written_state(claim).await? {
            ClaimState::Held(held) => return Ok(Planned::answer(Taken::Again(held))),
            ClaimState::Ended(end) => return Ok(Planned::answer(Taken::Ended(end))),
            ClaimState::Unknown => {}
        }
        let Some(item) = Bank::free_item(&self.0, since, rows).await? else {
            return Ok(Planned::answer(Taken::Empty));
        };
        let take = TakeAttempt { attempt: Attempt::first(), claim, hold: Hold::Forever, tag };
        let (bank, writes) = (Arc::clone(&self.0), self.0.writes(take, &item).await?.into());
        let taken = Taken::New(Held { item, hold: HoldState::Forever });
        Ok(Planned::by_first(taken, writes, move |row| match bank.shown(row.as_ref())? {
            ClaimState::Held(held) => Ok(Taken::Again(held)),
            ClaimState::Ended(end) => Ok(Taken::Ended(end)),
            ClaimState::Unknown => Err(contention()),
        }))
    }

    /// Plans to confirm a hold, and to remove its item from the index.
    pub(crate) async fn plan_confirm(&self, claim: &ClaimId, tag: &Tag) -> Result<Planned<Confirmed>> {
        let held = match as_confirmed(self.0.written_state(claim).await?) {
            Ok(confirmed) => return Ok(Planned::answer(confirmed)),
            Err(held) => held,
        };
        let key = self.0.claim_key(claim.as_str()).await?;
        let confirmed = self.0.confirmation(&key, Attempt::first(), tag).value(":i", held.item.as_str());
        let mut writes = vec![confirmed.only_if(format!("{LASTS} AND {NOT_VOID} AND i = :i"))];
        if held.hold != HoldState::Forever {
            let item = Write::update(&self.0.item_key(held.item.as_str()).await?).remove(&["o"]);
            writes.push(item.only_if("c = :c").value(":c", claim.as_str()));
        }
        let bank = Arc::clone(&self.0);
        Ok(Planned::by_first(Confirmed::Confirmed(held.item), writes, move |row| {
            as_confirmed(bank.shown(row.as_ref())?).map_err(|_| contention())
        }))
    }

    /// Plans to end a claim and to free its item, or to fence an unknown claim.
    pub(crate) async fn plan_release(&self, claim: &ClaimId, tag: &Tag) -> Result<Planned<Released>> {
        let (state, key) = (self.0.written_state(claim).await?, self.0.claim_key(claim.as_str()).await?);
        let writes = match (as_released(&state), state) {
            (Some(known), _) => return Ok(Planned::answer(known)),
            (None, ClaimState::Held(held)) => {
                self.0.endings(&key, claim, &held.item, Ending::Released, tag).await?.into()
            }
            (None, _) => vec![self.0.fence(&key, tag)],
        };
        let bank = Arc::clone(&self.0);
        Ok(Planned::by_first(Released::Released, writes, move |row| {
            as_released(&bank.shown(row.as_ref())?).ok_or_else(contention)
        }))
    }
}

impl Bank {
    /// Reads the state of a claim. If the hold has run out, first writes the end of the claim.
    async fn written_state(&self, claim: &ClaimId) -> Result<ClaimState> {
        let row = self.claim_row(claim).await?;
        let key = self.claim_key(claim.as_str()).await?;
        self.final_state(&key, claim, row.as_ref(), &Tag::fresh()).await
    }

    /// Returns the state of a claim from the row that refused a write. Returns `Contention` if the end of a lapsed hold
    /// is not written yet.
    fn shown(&self, row: Option<&Row>) -> Result<ClaimState> {
        let is_held = row.is_some_and(|row| row.text("s") == Some(HELD));
        match judge(self.client().moment(), row)? {
            ClaimState::Ended(_) if is_held => Err(contention()),
            state => Ok(state),
        }
    }

    /// Returns a free item whose row is not in the transaction; `None` if no such item was found.
    async fn free_item(bank: &Arc<Self>, since: u64, rows: &HashSet<RowKey>) -> Result<Option<Item>> {
        while let Some(lent) = bank.candidates.next(bank, since).await? {
            let candidate = lent.candidate().clone();
            // The candidate does not go back to the pool, so that no other task of the process picks it meanwhile.
            lent.spent();
            if rows.contains(&bank.item_key(candidate.item().as_str()).await?) {
                return bank.another_item(rows).await;
            }
            if bank.is_free(&candidate).await? {
                return Ok(Some(candidate.item().clone()));
            }
        }
        Ok(None)
    }

    /// Reads one page of candidates. Returns a free item whose row is not in the transaction.
    async fn another_item(&self, rows: &HashSet<RowKey>) -> Result<Option<Item>> {
        // The page has room for every item of the transaction and for one more.
        for candidate in self.page_from_start(rows.len() + 1).await? {
            if rows.contains(&self.item_key(candidate.item().as_str()).await?) {
                continue;
            }
            return match self.is_free(&candidate).await? {
                true => Ok(Some(candidate.item().clone())),
                false => Err(contention()),
            };
        }
        Ok(None)
    }
}

/// Returns the outcome of a `confirm` that changes nothing, or the hold that can be confirmed.
fn as_confirmed(state: ClaimState) -> std::result::Result<Confirmed, Held> {
    match state {
        ClaimState::Unknown => Ok(Confirmed::Unknown),
        ClaimState::Ended(end) => Ok(Confirmed::Ended(end)),
        ClaimState::Held(held) if held.hold == HoldState::Confirmed => Ok(Confirmed::Confirmed(held.item)),
        ClaimState::Held(held) => Err(held),
    }
}
