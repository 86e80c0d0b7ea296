//! What a claim's holder does with it: extend, confirm, release; and how an operator retires it.

use std::sync::atomic::{AtomicBool, Ordering};

use storagebox_core::{
    ClaimId, ClaimState, Confirmed, End, Error, ErrorKind, Extended, Held, Hold, HoldState, Item, Released, Result,
    Retired,
};

use super::Bank;
use super::claim::{CONFIRMED, EXPIRED, HELD, LASTS, RAN_OUT, RELEASED, UNKNOWN, end_of, held_item, judge, until};
use super::item::{SPENT, free_at, held_at};
use crate::client::{Refusal, Tag, Transacted, Write, Wrote};
use crate::clock::Millis;
use crate::row::{EXPIRES, Row, RowKey};

/// Whether an earlier attempt of a call was sent that leaves nothing behind by which it could be known again.
#[derive(Debug, Default)]
pub(super) struct Sent(AtomicBool);

/// How a claim ends that holds an item.
#[derive(Clone, Copy, Debug)]
enum Ending {
    LetGo,
    RunOut(Millis),
}

impl Ending {
    /// The state after it, and the condition.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::LetGo => (RELEASED, LASTS),
            Self::RunOut(_) => (EXPIRED, RAN_OUT),
        }
    }
}

impl Bank {
    /// One update of the claim's row, which decides. After that the item goes to its new place in the index, so that
    /// takers do not meet it while it is held.
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
        let wrote = self.client().write(&extended).await?;
        let (is_made, judged) = (matches!(wrote, Wrote::Done(_)), self.judged(&key, claim, wrote, tag).await?);
        if let (true, ClaimState::Held(held)) = (is_made, &judged) {
            self.put_off(&held.item, claim, until).await;
        }
        Ok(match judged {
            ClaimState::Unknown => Extended::Unknown,
            ClaimState::Ended(end) => Extended::Ended(end),
            ClaimState::Held(held) if held.hold == HoldState::Confirmed => Extended::Confirmed(held),
            ClaimState::Held(held) => Extended::Extended(held),
        })
    }

    /// One update of the claim's row, which decides. What may lapse no more leaves the index after that.
    pub(super) async fn confirm(&self, claim: &ClaimId, tag: &Tag) -> Result<Confirmed> {
        let key = self.claim_key(claim.as_str()).await?;
        let confirmed = Write::update(&key).set("s", CONFIRMED).tagged(tag).remove(&["u", "g", EXPIRES]);
        let confirmed = confirmed.only_if(LASTS).value(":held", HELD).answering_old();
        let confirmed = confirmed.value(":coming", self.client().surely_coming().0);
        match self.client().write(&confirmed).await? {
            Wrote::Done(held) => self.confirmed(claim, held).await.map_err(Error::after_unresolved),
            Wrote::Refused(row) => match self.told(&key, claim, row.as_ref(), tag).await? {
                ClaimState::Unknown => Ok(Confirmed::Unknown),
                ClaimState::Ended(end) => Ok(Confirmed::Ended(end)),
                ClaimState::Held(Held { item, hold: HoldState::Confirmed }) => {
                    if row.is_some_and(|row| tag.is_on(&row)) {
                        self.put_off(&item, claim, None).await;
                    }
                    Ok(Confirmed::Confirmed(item))
                }
                ClaimState::Held(_) => Err(moving()),
            },
        }
    }

    /// The answer to a claim that was held as this row tells.
    async fn confirmed(&self, claim: &ClaimId, held: Option<Row>) -> Result<Confirmed> {
        let held = held.ok_or_else(|| Error::unknown("the service did not show the row").on("dynamo"))?;
        let item = held_item(&held)?;
        if held.has("u") {
            self.put_off(&item, claim, None).await;
        }
        Ok(Confirmed::Confirmed(item))
    }

    /// Moves the item of a claim to where its hold lapses now, and out of the index if it may lapse no more; never
    /// back. What the claim's row says stands, whatever becomes of this: a taker or upkeep makes up for it.
    async fn put_off(&self, item: &Item, claim: &ClaimId, until: Option<Millis>) {
        if let Ok(key) = self.item_key(item.as_str()).await {
            let moved = match held_at(until) {
                Some(later) => Write::update(&key).set("o", later).only_if("c = :c AND o < :o"),
                None => Write::update(&key).remove(&["o"]).only_if("c = :c AND attribute_exists(o)"),
            };
            let _ = self.client().write(&moved.value(":c", claim.as_str())).await;
        }
    }

    /// What a write says of the claim. One that was made to a row that makes no sense has been made all the same.
    async fn judged(&self, key: &RowKey, claim: &ClaimId, wrote: Wrote, tag: &Tag) -> Result<ClaimState> {
        match wrote {
            Wrote::Done(row) => self.told(key, claim, row.as_ref(), tag).await.map_err(Error::after_unresolved),
            Wrote::Refused(row) => self.told(key, claim, row.as_ref(), tag).await,
        }
    }

    /// Judges the claim's row, for good: the end of a hold is written before anybody is told of it. So a `confirm` or
    /// an `extend` that was sent in time and lands after that finds the claim ended.
    pub(super) async fn told(&self, key: &RowKey, claim: &ClaimId, row: Option<&Row>, tag: &Tag) -> Result<ClaimState> {
        let judged = judge(self.client().moment(), row)?;
        let Some(row) = row.filter(|row| row.text("s") == Some(HELD)) else { return Ok(judged) };
        let (ClaimState::Ended(_), Some(end)) = (&judged, until(row)?) else { return Ok(judged) };
        match self.ended(key, claim, &held_item(row)?, Ending::RunOut(end), tag).await? {
            Wrote::Done(_) => Ok(judged),
            Wrote::Refused(_) => Err(moving()),
        }
    }

    /// One transaction where the item is known, because it was taken here; otherwise the claim is fenced as if it were
    /// unknown, and the refusal tells what it holds.
    pub(super) async fn release(&self, claim: &ClaimId, tag: &Tag) -> Result<Released> {
        let key = self.claim_key(claim.as_str()).await?;
        let row = match self.hints.item_of(claim) {
            Some(item) => match self.ended(&key, claim, &item, Ending::LetGo, tag).await? {
                Wrote::Done(_) => return Ok(Released::Released),
                Wrote::Refused(row) => row,
            },
            None => None,
        };
        match self.told(&key, claim, row.as_ref(), tag).await? {
            ClaimState::Unknown => self.fenced(&key, claim, tag).await,
            judged => self.released(&key, claim, judged, tag).await,
        }
    }

    /// Ends an unknown claim, so that a `take` of it that lands later gets nothing.
    async fn fenced(&self, key: &RowKey, claim: &ClaimId, tag: &Tag) -> Result<Released> {
        let (forgotten, expires) = self.forgetting(Some(self.client().now()));
        let fence = Row::new(key).with("s", RELEASED).with_some("g", forgotten).with_some(EXPIRES, expires);
        let past = self.client().surely_past().0;
        match self.client().write(&Write::put(fence).tagged(tag).only_if(UNKNOWN).value(":past", past)).await? {
            Wrote::Done(_) => Ok(Released::Released),
            Wrote::Refused(row) => match self.told(key, claim, row.as_ref(), tag).await? {
                ClaimState::Unknown => Err(moving()),
                judged => self.released(key, claim, judged, tag).await,
            },
        }
    }

    async fn released(&self, key: &RowKey, claim: &ClaimId, judged: ClaimState, tag: &Tag) -> Result<Released> {
        match judged {
            ClaimState::Ended(End::Expired) => Ok(Released::Expired),
            ClaimState::Ended(End::Released) => Ok(Released::Released),
            ClaimState::Held(held) if held.hold == HoldState::Confirmed => Ok(Released::Confirmed),
            ClaimState::Held(held) => match self.ended(key, claim, &held.item, Ending::LetGo, tag).await? {
                Wrote::Done(_) => Ok(Released::Released),
                Wrote::Refused(_) => Err(moving()),
            },
            ClaimState::Unknown => Err(moving()),
        }
    }

    /// Ends the claim and frees its item.
    async fn ended(&self, key: &RowKey, claim: &ClaimId, item: &Item, how: Ending, tag: &Tag) -> Result<Wrote> {
        let (state, condition) = how.words();
        let end = if let Ending::RunOut(end) = how { end } else { self.client().now() };
        let ended = self.ending(key, state, end).tagged(tag);
        let ended = ended.only_if(format!("{condition} AND i = :i")).value(":held", HELD).value(":i", item.as_str());
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
        let at = self.client().moment();
        let row = self.client().get(&key).await?;
        let judged = judge(at, row.as_ref())?;
        let (Some(row), false) = (row, judged == ClaimState::Unknown) else {
            return Ok(if sent.0.load(Ordering::Relaxed) { Retired::Retired } else { Retired::Unknown });
        };
        let seen = row.needed("t", row.text("t"))?;
        let mut writes = vec![Write::delete(&key).only_if("t = :t").value(":t", seen)];
        match judged {
            ClaimState::Held(held) if held.hold != HoldState::Confirmed => return Ok(Retired::Holding),
            ClaimState::Held(_) => writes.push(self.spending(claim, &held_item(&row)?).await?),
            ClaimState::Ended(_) | ClaimState::Unknown => {}
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
