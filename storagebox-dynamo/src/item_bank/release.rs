//! What a claim's holder does with it: extend, confirm, release; and how an operator retires it.

use std::sync::atomic::{AtomicBool, Ordering};

use storagebox_core::{
    ClaimId, Confirmed, End, Error, ErrorKind, Extended, Held, Hold, HoldState, Item, Released, Result,
    Retired,
};

use super::Bank;
use super::claim::{CONFIRMED, HELD, Judged, LASTS, RELEASED, UNKNOWN, end_of, held_item, judge};
use super::item::{SPENT, free_at};
use crate::client::{Refusal, Tag, Transacted, Write, Wrote};
use crate::row::{Row, RowKey};
use crate::schema::EXPIRES;

/// Whether an earlier attempt of a call was sent that leaves nothing behind by which it could be known again.
#[derive(Debug, Default)]
pub(super) struct Sent(AtomicBool);

impl Bank {
    /// One update of the claim's row. The item's place in the index is moved by whoever meets it too early.
    pub(super) async fn extend(&self, claim: &ClaimId, hold: Hold, tag: &Tag) -> Result<Extended> {
        let key = self.claim_key(claim.as_str()).await?;
        let until = end_of(self.client(), hold);
        let extended = Write::update(&key).tagged(tag).answering_new();
        let lasts = "s = :held AND u > :coming";
        let extended = match until {
            Some(until) => {
                let (forgotten, expires) = self.forgetting(Some(until));
                let extended = extended.set("u", until.0).set_some("g", forgotten).set_some(EXPIRES, expires);
                extended.only_if(format!("{lasts} AND u < :u"))
            }
            None => extended.remove(&["u", "g", EXPIRES]).only_if(lasts),
        };
        let extended = extended.value(":held", HELD).value(":coming", self.client().surely_coming().0);
        Ok(match self.judged(self.client().write(&extended).await?)? {
            Judged::Unknown => Extended::Unknown,
            Judged::Ended(end) => Extended::Ended(end),
            Judged::Held(held) if held.hold == HoldState::Confirmed => Extended::Confirmed(held),
            Judged::Held(held) => Extended::Extended(held),
        })
    }

    /// One update of the claim's row, which decides; the item's row says only whose it is.
    pub(super) async fn confirm(&self, claim: &ClaimId, tag: &Tag) -> Result<Confirmed> {
        let key = self.claim_key(claim.as_str()).await?;
        let confirmed = Write::update(&key).set("s", CONFIRMED).tagged(tag).remove(&["u", "g", EXPIRES]);
        let confirmed = confirmed.only_if(LASTS).value(":held", HELD).answering_new();
        let confirmed = confirmed.value(":coming", self.client().surely_coming().0);
        match self.judged(self.client().write(&confirmed).await?)? {
            Judged::Unknown => Ok(Confirmed::Unknown),
            Judged::Ended(end) => Ok(Confirmed::Ended(end)),
            Judged::Held(Held { item, hold: HoldState::Confirmed }) => Ok(Confirmed::Confirmed(item)),
            Judged::Held(_) => Err(moving()),
        }
    }

    /// What a write says of the claim. One that was made to a row that makes no sense has been made all the same.
    fn judged(&self, wrote: Wrote) -> Result<Judged> {
        match wrote {
            Wrote::Done(row) => judge(self.client(), row.as_ref()).map_err(Error::after_unresolved),
            Wrote::Refused(row) => judge(self.client(), row.as_ref()),
        }
    }

    /// One transaction where the item is known, because it was taken here; otherwise the claim is fenced as if it were
    /// unknown, and the refusal tells what it holds.
    pub(super) async fn release(&self, claim: &ClaimId, tag: &Tag) -> Result<Released> {
        let key = self.claim_key(claim.as_str()).await?;
        let row = match self.hints.item_of(claim) {
            Some(item) => match self.let_go(&key, claim, &item, tag).await? {
                Wrote::Done(_) => return Ok(Released::Released),
                Wrote::Refused(row) => row,
            },
            None => None,
        };
        match judge(self.client(), row.as_ref())? {
            Judged::Unknown => self.fenced(&key, claim, tag).await,
            judged => self.released(&key, claim, judged, tag).await,
        }
    }

    /// Ends an unknown claim, so that a `take` of it that lands later gets nothing.
    async fn fenced(&self, key: &RowKey, claim: &ClaimId, tag: &Tag) -> Result<Released> {
        let (forgotten, expires) = self.forgetting(Some(self.client().now()));
        let fence = Row::new(key).with("s", RELEASED).with_some("g", forgotten).with_some(EXPIRES, expires);
        let past = self.client().surely_past().0;
        match self
            .client()
            .write(&Write::put(fence).tagged(tag).only_if(UNKNOWN).value(":past", past))
            .await?
        {
            Wrote::Done(_) => Ok(Released::Released),
            Wrote::Refused(row) => match judge(self.client(), row.as_ref())? {
                Judged::Unknown => Err(moving()),
                judged => self.released(key, claim, judged, tag).await,
            },
        }
    }

    async fn released(&self, key: &RowKey, claim: &ClaimId, judged: Judged, tag: &Tag) -> Result<Released> {
        match judged {
            Judged::Ended(End::Expired) => Ok(Released::Expired),
            Judged::Ended(End::Released) => Ok(Released::Released),
            Judged::Held(held) if held.hold == HoldState::Confirmed => Ok(Released::Confirmed),
            Judged::Held(held) => match self.let_go(key, claim, &held.item, tag).await? {
                Wrote::Done(_) => Ok(Released::Released),
                Wrote::Refused(_) => Err(moving()),
            },
            Judged::Unknown => Err(moving()),
        }
    }

    /// Ends the claim and frees its item.
    async fn let_go(&self, key: &RowKey, claim: &ClaimId, item: &Item, tag: &Tag) -> Result<Wrote> {
        let ended = self.ending(key, RELEASED, self.client().now()).tagged(tag);
        let ended =
            ended.only_if(format!("{LASTS} AND i = :i")).value(":held", HELD).value(":i", item.as_str());
        let ended = ended.value(":coming", self.client().surely_coming().0);
        let freed = Write::update(&self.item_key(item.as_str()).await?).set("o", free_at(item.as_str()));
        let freed = freed.remove(&["c"]).only_if("c = :c").value(":c", claim.as_str());
        match self.client().transact(&[ended, freed]).await? {
            Transacted::Done => Ok(Wrote::Done(None)),
            Transacted::Refused(refusals) => match refusals.into_iter().next() {
                Some(Refusal::Condition(row)) => Ok(Wrote::Refused(row)),
                _ => Err(astray(claim)),
            },
        }
    }

    /// A confirmed claim's item stays spent, without a claim.
    pub(super) async fn retire(&self, claim: &ClaimId, sent: &Sent) -> Result<Retired> {
        let key = self.claim_key(claim.as_str()).await?;
        let row = self.client().get(&key).await?;
        let judged = judge(self.client(), row.as_ref())?;
        let (Some(row), false) = (row, judged == Judged::Unknown) else {
            return Ok(if sent.0.load(Ordering::Relaxed) { Retired::Retired } else { Retired::Unknown });
        };
        let seen = row.needed("t", row.text("t"))?;
        let mut writes = vec![Write::delete(&key).only_if("t = :t").value(":t", seen)];
        match judged {
            Judged::Held(held) if held.hold != HoldState::Confirmed => return Ok(Retired::Holding),
            Judged::Held(_) => writes.push(self.spending(claim, &held_item(&row)?).await?),
            Judged::Ended(_) | Judged::Unknown => {}
        }
        sent.0.store(true, Ordering::Relaxed);
        match self.client().transact(&writes).await? {
            Transacted::Done => Ok(Retired::Retired),
            Transacted::Refused(refusals) => match refusals.first() {
                // Nobody changed the claim, so its item is with it.
                Some(Refusal::Not) => Err(astray(claim)),
                _ => Err(moving()),
            },
        }
    }

    async fn spending(&self, claim: &ClaimId, item: &Item) -> Result<Write> {
        let spent = Write::update(&self.item_key(item.as_str()).await?).set("s", SPENT).remove(&["c", "o"]);
        Ok(spent.only_if("c = :c").value(":c", claim.as_str()))
    }
}

/// The claim holds an item whose row says otherwise.
fn astray(claim: &ClaimId) -> Error {
    let record = format_args!("the item of the claim {claim:?}");
    Error::corrupt(record, "its row says that it is with another claim, or with none").on("dynamo")
}

/// Something changed between two looks at it; the call begins anew.
pub(super) fn moving() -> Error {
    Error::new(ErrorKind::Contention, "another call of the same claim or item was under way").on("dynamo")
}
