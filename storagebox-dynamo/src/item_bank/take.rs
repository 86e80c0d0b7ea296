//! `take`: puts the claim's row and changes the item's row in one transaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use storagebox_core::{ClaimId, ClaimState, Held, Hold, Item, Result, Taken};

use super::Bank;
use super::candidates::Candidate;
use super::claim::{HELD, UNKNOWN, begun, end_of};
use super::item::{free_at, held_at};
use crate::candidates::Lent;
use crate::client::{Refusal, Tag, Transacted, Write};
use crate::config::ReadFirst;
use crate::row::Row;

impl Bank {
    /// Takes the first candidate that is still there. The row of a known claim decides the outcome.
    pub(super) async fn take(bank: &Arc<Self>, claim: &ClaimId, hold: Hold, tag: &Tag, since: u64) -> Result<Taken> {
        if bank.repeats.read_first(bank.client().settings().read_first)
            && let Some(known) = bank.known(claim, tag).await?
        {
            return Ok(known);
        }
        while let Some(lent) = bank.candidates.next(bank, since).await? {
            if let Some(taken) = bank.attempt(claim, hold, tag, lent).await? {
                bank.repeats.note(&taken);
                return Ok(taken);
            }
        }
        let known = bank.known(claim, tag).await?;
        Ok(known.unwrap_or(Taken::Empty))
    }

    /// Reads the claim's row. Returns the outcome if the claim is known.
    async fn known(&self, claim: &ClaimId, tag: &Tag) -> Result<Option<Taken>> {
        let row = self.client().get(&self.claim_key(claim.as_str()).await?).await?;
        let answer = self.repeated(claim, row.as_ref(), tag).await?;
        answer.iter().for_each(|taken| self.repeats.note(taken));
        Ok(answer)
    }

    /// Returns the outcome by the claim's row; `None` if the claim is unknown. A row with the call's own tag was
    /// written by an attempt whose reply was lost.
    async fn repeated(&self, claim: &ClaimId, row: Option<&Row>, tag: &Tag) -> Result<Option<Taken>> {
        let key = self.claim_key(claim.as_str()).await?;
        Ok(match self.final_state(&key, claim, row, tag).await? {
            ClaimState::Unknown => None,
            ClaimState::Held(held) if row.is_some_and(|row| tag.is_on(row)) => Some(Taken::New(held)),
            ClaimState::Held(held) => Some(Taken::Again(held)),
            ClaimState::Ended(end) => Some(Taken::Ended(end)),
        })
    }

    /// Tries to take a candidate. Returns `None` if another call took it first.
    async fn attempt(
        &self,
        claim: &ClaimId,
        hold: Hold,
        tag: &Tag,
        lent: Lent<'_, Candidate>,
    ) -> Result<Option<Taken>> {
        let was = match lent.candidate() {
            Candidate::Free(item) => free_at(item.as_str()),
            Candidate::Lapsed { item, by, at } => match self.freed(item, by, at).await? {
                true => free_at(item.as_str()),
                false => {
                    lent.spent();
                    return Ok(None);
                }
            },
        };
        let item = lent.candidate().item().clone();
        let writes = self.writes(claim, &item, hold, tag, &was).await?;
        match self.client().transact(&writes).await? {
            Transacted::Done => {
                lent.spent();
                self.hints.remember(claim, &item);
                Ok(Some(Taken::New(Held { item, hold: begun(hold) })))
            }
            Transacted::Refused(refusals) => self.refused(claim, refusals, tag, lent).await,
        }
    }

    async fn writes(&self, claim: &ClaimId, item: &Item, hold: Hold, tag: &Tag, was: &str) -> Result<[Write; 2]> {
        let until = end_of(self.client(), hold);
        let row = Row::new(&self.claim_key(claim.as_str()).await?)
            .with("s", HELD)
            .with("i", item.as_str())
            .with_some("u", until.map(|until| until.0))
            .expiring(self.open.expiry_after(until));
        let past = self.client().surely_past().0;
        let held = Write::put(row).tagged(tag).only_if(UNKNOWN).value(":past", past);
        let taken = Write::update(&self.item_key(item.as_str()).await?).set("c", claim.as_str());
        let taken = match held_at(until) {
            Some(at) => taken.set("o", at),
            None => taken.remove(&["o"]),
        };
        Ok([held, taken.only_if("o = :was").value(":was", was)])
    }

    /// Returns the outcome of a refused transaction. The claim's row decides first: a known claim takes no other item,
    /// and the candidate goes back.
    async fn refused(
        &self,
        claim: &ClaimId,
        refusals: Vec<Refusal>,
        tag: &Tag,
        lent: Lent<'_, Candidate>,
    ) -> Result<Option<Taken>> {
        let mut refusals = refusals.into_iter();
        if let Some(Refusal::Condition(row)) = refusals.next()
            && let Some(taken) = self.repeated(claim, row.as_ref(), tag).await?
        {
            return Ok(Some(taken));
        }
        if let Some(Refusal::Condition(_)) = refusals.next() {
            lent.spent();
        }
        Ok(None)
    }
}

/// The share of the last takes whose claim already had its item, as a moving average in 1/65,536.
#[derive(Debug, Default)]
pub(super) struct Repeats(AtomicU32);

/// The share from which on a read per take costs less than a refused transaction per repeated take: one in seven.
const OFTEN: u32 = 65_536 / 7;
/// The weight of one take in the average.
const WEIGHT: u32 = 32;

impl Repeats {
    fn read_first(&self, choice: ReadFirst) -> bool {
        match choice {
            ReadFirst::Always => true,
            ReadFirst::Never => false,
            ReadFirst::Auto => self.0.load(Ordering::Relaxed) > OFTEN,
        }
    }

    /// Adds a take to the average. Of two concurrent additions one may be lost, because it is only an estimate.
    fn note(&self, taken: &Taken) {
        let seen = if matches!(taken, Taken::New(_)) { 0 } else { 65_536 };
        let before = self.0.load(Ordering::Relaxed);
        self.0.store(before - before / WEIGHT + seen / WEIGHT, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use storagebox_core::{End, HoldState};

    use super::*;

    fn after(takes: &[(usize, bool)]) -> bool {
        let repeats = Repeats::default();
        let held = Held { item: Item::new("code").unwrap(), hold: HoldState::Forever };
        for (count, again) in takes {
            let taken = if *again { Taken::Again(held.clone()) } else { Taken::New(held.clone()) };
            (0..*count).for_each(|_| repeats.note(&taken));
        }
        repeats.read_first(ReadFirst::Auto)
    }

    #[test]
    fn claims_are_read_first_once_repeats_are_common() {
        assert!(!after(&[]));
        assert!(!after(&[(1_000, false), (4, true)]));
        assert!(after(&[(1_000, false), (6, true)]));
        assert!(!after(&[(1_000, true), (100, false)]));
    }

    #[test]
    fn the_average_stays_in_its_range() {
        let repeats = Repeats::default();
        (0..100_000).for_each(|_| repeats.note(&Taken::Ended(End::Released)));
        assert!(repeats.0.load(Ordering::Relaxed) <= 65_536 + WEIGHT);
    }
}
