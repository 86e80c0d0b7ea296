//! The calls after a `take`: `extend`, `confirm`, `release` and `retire`.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use aws_sdk_dynamodb::types::ReturnValue;
use storagebox_core::{
    Attempt, ClaimId, ClaimState, Confirmed, End, Error, Extended, Held, Hold, HoldState, Item, Released, Result,
    Retired,
};

use super::Bank;
use super::claim::{CONFIRMED, EXPIRED, HELD, LASTS, RAN_OUT, RELEASED, UNKNOWN, end_of, held_item, judge, until};
use super::item::{SPENT, free_at, held_at};
use super::void::{NOT_VOID, ONLY_VOID, VOID, is_void};
use crate::client::{Tag, Write, Wrote};
use crate::clock::Millis;
use crate::error::contention;
use crate::row::{Row, RowKey};

#[derive(Clone, Copy, Debug)]
pub(super) enum Ending {
    Released,
    /// The hold ran out at this time.
    Expired(Millis),
}

impl Bank {
    /// Extends the hold in the claim's row. Then moves the item to its new place in the index, so that takers do not
    /// find the item while it is held.
    pub(super) async fn extend(&self, attempt: Attempt, claim: &ClaimId, hold: Hold, tag: &Tag) -> Result<Extended> {
        let key = self.claim_key(claim.as_str()).await?;
        let until = end_of(self.client(), hold);
        let extended = Write::update(&key).tagged(tag).answering(ReturnValue::AllNew);
        let lasts = format!("s = :held AND u > :coming AND {NOT_VOID}");
        let extended = match until {
            Some(until) => extended.set("u", until.0).only_if(format!("{lasts} AND u < :u")),
            None => extended.remove(&["u"]).only_if(lasts),
        };
        let extended = extended.expiring(self.open.expiry_after(until));
        let extended = extended.value(":held", HELD).value(":coming", self.client().surely_coming().0);
        match self.client().write(&extended.value(":call", attempt.call())).await? {
            Wrote::Done(row) => self.extended(&key, claim, row, until, tag).await.map_err(Error::after_unresolved),
            Wrote::Refused(row) if is_void(self.client().moment(), row.as_ref(), attempt)? => Ok(Extended::Unknown),
            Wrote::Refused(row) => match self.final_state(&key, claim, row.as_ref(), tag).await? {
                ClaimState::Unknown => self.refused_unknown(&key, row.as_ref(), attempt, tag, Extended::Unknown).await,
                state => Ok(as_extended(state)),
            },
        }
    }

    /// Returns the outcome of an `extend` that was made; `row` is the claim's row after the update.
    async fn extended(
        &self,
        key: &RowKey,
        claim: &ClaimId,
        row: Option<Row>,
        until: Option<Millis>,
        tag: &Tag,
    ) -> Result<Extended> {
        let state = self.final_state(key, claim, row.as_ref(), tag).await?;
        if let ClaimState::Held(held) = &state {
            self.put_off(&held.item, claim, until).await;
        }
        Ok(as_extended(state))
    }

    /// Confirms the hold in the claim's row. Then removes the item from the index.
    pub(super) async fn confirm(&self, attempt: Attempt, claim: &ClaimId, tag: &Tag) -> Result<Confirmed> {
        let key = self.claim_key(claim.as_str()).await?;
        let confirmed = self.confirmation(&key, attempt, tag).answering(ReturnValue::AllOld);
        match self.client().write(&confirmed).await? {
            Wrote::Done(held) => self.confirmed(claim, held).await.map_err(Error::after_unresolved),
            Wrote::Refused(row) if is_void(self.client().moment(), row.as_ref(), attempt)? => Ok(Confirmed::Unknown),
            Wrote::Refused(row) => match self.final_state(&key, claim, row.as_ref(), tag).await? {
                ClaimState::Unknown => self.refused_unknown(&key, row.as_ref(), attempt, tag, Confirmed::Unknown).await,
                ClaimState::Ended(end) => Ok(Confirmed::Ended(end)),
                ClaimState::Held(Held { item, hold: HoldState::Confirmed }) => {
                    if row.is_some_and(|row| tag.is_on(&row)) {
                        self.put_off(&item, claim, None).await;
                    }
                    Ok(Confirmed::Confirmed(item))
                }
                ClaimState::Held(_) => Err(contention()),
            },
        }
    }

    pub(super) fn confirmation(&self, key: &RowKey, attempt: Attempt, tag: &Tag) -> Write {
        let confirmed = Write::update(key).set("s", CONFIRMED).tagged(tag).remove(&["u"]).expiring(None);
        let confirmed = confirmed.only_if(format!("{LASTS} AND {NOT_VOID}")).value(":call", attempt.call());
        confirmed.value(":held", HELD).value(":coming", self.client().surely_coming().0)
    }

    /// Returns the outcome of a `confirm` that was made; `held` is the claim's row before the update.
    async fn confirmed(&self, claim: &ClaimId, held: Option<Row>) -> Result<Confirmed> {
        let held = held.ok_or_else(|| Error::unknown("the service did not return the claim's row").on("dynamo"))?;
        let item = held_item(&held)?;
        if held.has("u") {
            self.put_off(&item, claim, None).await;
        }
        Ok(Confirmed::Confirmed(item))
    }

    /// Moves a claim's item to its new place in the index, or out of the index if the hold has no end.
    async fn put_off(&self, item: &Item, claim: &ClaimId, until: Option<Millis>) {
        if let Ok(key) = self.item_key(item.as_str()).await {
            let moved = match held_at(until) {
                Some(later) => Write::update(&key).set("o", later).only_if("c = :c AND o < :o"),
                None => Write::update(&key).remove(&["o"]).only_if("c = :c AND attribute_exists(o)"),
            };
            // An error is ignored, because a taker or upkeep moves the item later.
            let _ = self.client().write(&moved.value(":c", claim.as_str())).await;
        }
    }

    /// Returns the state of a claim from its row. If the hold has run out, first writes the end of the claim, so that a
    /// late `confirm` or `extend` finds the claim ended.
    pub(super) async fn final_state(
        &self,
        key: &RowKey,
        claim: &ClaimId,
        row: Option<&Row>,
        tag: &Tag,
    ) -> Result<ClaimState> {
        let state = judge(self.client().moment(), row)?;
        let Some(row) = row.filter(|row| row.text("s") == Some(HELD)) else { return Ok(state) };
        let (ClaimState::Ended(_), Some(end)) = (&state, until(row)?) else { return Ok(state) };
        match self.ended(key, claim, &held_item(row)?, Ending::Expired(end), tag).await? {
            Wrote::Done(_) => Ok(state),
            Wrote::Refused(_) => Err(contention()),
        }
    }

    /// Releases a claim, in one transaction if a hint names the claim's item.
    pub(super) async fn release(&self, claim: &ClaimId, tag: &Tag) -> Result<Released> {
        let key = self.claim_key(claim.as_str()).await?;
        let row = match self.hints.item_of(claim) {
            Some(item) => match self.ended(&key, claim, &item, Ending::Released, tag).await? {
                Wrote::Done(_) => return Ok(Released::Released),
                Wrote::Refused(row) => row,
            },
            None => None,
        };
        match self.final_state(&key, claim, row.as_ref(), tag).await? {
            ClaimState::Unknown => self.fenced(&key, claim, tag).await,
            state => self.released(&key, claim, state, tag).await,
        }
    }

    /// Ends an unknown claim, so that a `take` for the claim that arrives later takes nothing.
    async fn fenced(&self, key: &RowKey, claim: &ClaimId, tag: &Tag) -> Result<Released> {
        match self.client().write(&self.fence(key, tag)).await? {
            Wrote::Done(_) => Ok(Released::Released),
            Wrote::Refused(row) => match self.final_state(key, claim, row.as_ref(), tag).await? {
                ClaimState::Unknown => Err(contention()),
                state => self.released(key, claim, state, tag).await,
            },
        }
    }

    pub(super) fn fence(&self, key: &RowKey, tag: &Tag) -> Write {
        let fence = self.ending(key, RELEASED, self.client().now()).tagged(tag);
        let fence = fence.only_if(format!("{UNKNOWN} OR {ONLY_VOID}")).value(":void", VOID);
        fence.value(":past", self.client().surely_past().0)
    }

    async fn released(&self, key: &RowKey, claim: &ClaimId, state: ClaimState, tag: &Tag) -> Result<Released> {
        match (as_released(&state), state) {
            (Some(known), _) => Ok(known),
            (None, ClaimState::Held(held)) => match self.ended(key, claim, &held.item, Ending::Released, tag).await? {
                Wrote::Done(_) => Ok(Released::Released),
                Wrote::Refused(_) => Err(contention()),
            },
            (None, _) => Err(contention()),
        }
    }

    /// Ends the claim and frees its item, in one transaction.
    async fn ended(&self, key: &RowKey, claim: &ClaimId, item: &Item, how: Ending, tag: &Tag) -> Result<Wrote> {
        let writes = self.endings(key, claim, item, how, tag).await?;
        self.client().transact(&writes).await?.of_first().ok_or_else(|| not_with(claim))
    }

    pub(super) async fn endings(
        &self,
        key: &RowKey,
        claim: &ClaimId,
        item: &Item,
        how: Ending,
        tag: &Tag,
    ) -> Result<[Write; 2]> {
        let (state, condition, end) = match how {
            Ending::Released => (RELEASED, LASTS, self.client().now()),
            Ending::Expired(end) => (EXPIRED, RAN_OUT, end),
        };
        let ended = self.ending(key, state, end).tagged(tag);
        let ended = ended.only_if(format!("{condition} AND i = :i")).value(":held", HELD).value(":i", item.as_str());
        let ended = ended.value(":coming", self.client().surely_coming().0);
        let freed = Write::update(&self.item_key(item.as_str()).await?).set("o", free_at(item.as_str()));
        Ok([ended, freed.remove(&["c"]).only_if("c = :c").value(":c", claim.as_str())])
    }

    /// Deletes the row of an ended or confirmed claim. The item of a confirmed claim stays spent, without a claim.
    ///
    /// If the claim is unknown and an earlier attempt was sent (`was_sent`), returns `Retired`, because that attempt
    /// may have deleted the row.
    pub(super) async fn retire(&self, attempt: Attempt, claim: &ClaimId, was_sent: &AtomicBool) -> Result<Retired> {
        let key = self.claim_key(claim.as_str()).await?;
        let at = self.client().moment();
        let row = self.client().get(&key).await?;
        if is_void(at, row.as_ref(), attempt)? {
            return Ok(Retired::Holding);
        }
        let state = judge(at, row.as_ref())?;
        let (Some(row), false) = (row, state == ClaimState::Unknown) else {
            return Ok(if was_sent.load(Relaxed) { Retired::Retired } else { Retired::Unknown });
        };
        let seen = row.needed("t", row.text("t"))?;
        let deleted = Write::delete(&key).only_if(format!("t = :t AND {NOT_VOID}")).value(":t", seen);
        let mut writes = vec![deleted.value(":call", attempt.call())];
        match state {
            ClaimState::Held(held) if held.hold != HoldState::Confirmed => {
                return self.refused_holding(&key, &row, attempt, Retired::Holding).await;
            }
            ClaimState::Held(_) => writes.push(self.spending(claim, &held_item(&row)?).await?),
            ClaimState::Ended(_) | ClaimState::Unknown => {}
        }
        was_sent.store(true, Relaxed);
        match self.client().transact(&writes).await?.of_first() {
            Some(Wrote::Done(_)) => Ok(Retired::Retired),
            Some(Wrote::Refused(_)) => Err(contention()),
            None => Err(not_with(claim)),
        }
    }

    async fn spending(&self, claim: &ClaimId, item: &Item) -> Result<Write> {
        let spent = Write::update(&self.item_key(item.as_str()).await?).set("s", SPENT).remove(&["c", "o"]);
        Ok(spent.only_if("c = :c").value(":c", claim.as_str()))
    }
}

fn as_extended(state: ClaimState) -> Extended {
    match state {
        ClaimState::Unknown => Extended::Unknown,
        ClaimState::Ended(end) => Extended::Ended(end),
        ClaimState::Held(held) if held.hold == HoldState::Confirmed => Extended::Confirmed(held),
        ClaimState::Held(held) => Extended::Extended(held),
    }
}

/// Returns the outcome of a `release` that changes nothing; `None` if the claim is unknown or holds an item.
pub(super) fn as_released(state: &ClaimState) -> Option<Released> {
    match state {
        ClaimState::Ended(End::Expired) => Some(Released::Expired),
        ClaimState::Ended(End::Released) => Some(Released::Released),
        ClaimState::Held(held) if held.hold == HoldState::Confirmed => Some(Released::Confirmed),
        ClaimState::Held(_) | ClaimState::Unknown => None,
    }
}

/// Creates the error of a claim whose item's row does not name the claim.
fn not_with(claim: &ClaimId) -> Error {
    let record = format_args!("the item of the claim {claim:?}");
    Error::corrupt(record, "its row names another claim, or no claim").on("dynamo")
}
