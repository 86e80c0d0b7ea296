//! `take`: puts the claim's row and changes the item's row in one transaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use storagebox_core::{Attempt, ClaimId, ClaimState, Held, Hold, Item, Result, Taken};

use super::Bank;
use super::candidates::Candidate;
use super::claim::{HELD, UNKNOWN, begun, end_of};
use super::item::{free_at, held_at};
use super::void::{NOT_VOID, ONLY_VOID, VOID, is_void};
use crate::candidates::Lent;
use crate::client::{Refusal, Tag, Transacted, Write};
use crate::config::ReadFirst;
use crate::row::Row;

#[derive(Clone, Copy, Debug)]
pub(super) struct TakeAttempt<'a> {
    pub(super) attempt: Attempt,
    pub(super) claim: &'a ClaimId,
    pub(super) hold: Hold,
    pub(super) tag: &'a Tag,
}

impl Bank {
    /// Takes the first candidate that is still free. If the claim is known, its row decides the outcome.
    pub(super) async fn take(bank: &Arc<Self>, take: TakeAttempt<'_>, since: u64) -> Result<Taken> {
        if bank.repeats.read_first(bank.client().settings().read_first) {
            let row = bank.claim_row(take.claim).await?;
            if let Some(known) = bank.known(take, row.as_ref()).await? {
                return Ok(known);
            }
        }
        while let Some(lent) = bank.candidates.next(bank, since).await? {
            if let Some(taken) = bank.attempt(take, lent).await? {
                bank.repeats.note(&taken);
                return Ok(taken);
            }
        }
        let row = bank.claim_row(take.claim).await?;
        if let Some(known) = bank.known(take, row.as_ref()).await? {
            return Ok(known);
        }
        let key = bank.claim_key(take.claim.as_str()).await?;
        bank.refused_unknown(&key, row.as_ref(), take.attempt, take.tag, Taken::Empty).await
    }

    /// Returns the outcome if the claim's row decides it, and adds the take to the average of repeats.
    async fn known(&self, take: TakeAttempt<'_>, row: Option<&Row>) -> Result<Option<Taken>> {
        let answer = self.repeated(take, row).await?;
        answer.iter().for_each(|taken| self.repeats.note(taken));
        Ok(answer)
    }

    /// Returns the outcome that the claim's row decides; `None` if the claim is unknown and the call is not void.
    async fn repeated(&self, take: TakeAttempt<'_>, row: Option<&Row>) -> Result<Option<Taken>> {
        let TakeAttempt { attempt, claim, tag, .. } = take;
        let key = self.claim_key(claim.as_str()).await?;
        Ok(match self.final_state(&key, claim, row, tag).await? {
            ClaimState::Unknown => is_void(self.client().moment(), row, attempt)?.then_some(Taken::Empty),
            ClaimState::Held(held) if row.is_some_and(|row| tag.is_on(row)) => Some(Taken::New(held)),
            ClaimState::Held(held) => Some(Taken::Again(held)),
            ClaimState::Ended(end) => Some(Taken::Ended(end)),
        })
    }

    /// Tries to take a candidate. Returns `None` if another call took the candidate first.
    async fn attempt(&self, take: TakeAttempt<'_>, lent: Lent<'_, Candidate>) -> Result<Option<Taken>> {
        if !self.is_free(lent.candidate()).await? {
            lent.spent();
            return Ok(None);
        }
        let item = lent.candidate().item().clone();
        let writes = self.writes(take, &item).await?;
        match self.client().transact(&writes).await? {
            Transacted::Done => {
                lent.spent();
                self.hints.remember(take.claim, &item);
                Ok(Some(Taken::New(Held { item, hold: begun(take.hold) })))
            }
            Transacted::Refused(refusals) => self.refused(take, refusals, lent).await,
        }
    }

    /// Returns whether the candidate is free. If the hold of the item has lapsed, first frees the item.
    pub(super) async fn is_free(&self, candidate: &Candidate) -> Result<bool> {
        match candidate {
            Candidate::Free(_) => Ok(true),
            Candidate::Lapsed { item, by, at } => self.freed(item, by, at).await,
        }
    }

    /// Returns the writes of the claim and of the item.
    pub(super) async fn writes(&self, take: TakeAttempt<'_>, item: &Item) -> Result<[Write; 2]> {
        let TakeAttempt { attempt, claim, hold, tag } = take;
        let until = end_of(self.client(), hold);
        // The claim's row is updated, not replaced, so that it keeps its void calls.
        let held = Write::update(&self.claim_key(claim.as_str()).await?).set("s", HELD).set("i", item.as_str());
        let held = match until {
            Some(until) => held.set("u", until.0),
            None => held.remove(&["u"]),
        };
        let held = held.tagged(tag).expiring(self.open.expiry_after(until)).only_if(takeable());
        let held = held.value(":past", self.client().surely_past().0).value(":void", VOID);
        let held = held.value(":call", attempt.call());
        let taken = Write::update(&self.item_key(item.as_str()).await?).set("c", claim.as_str());
        let taken = match held_at(until) {
            Some(at) => taken.set("o", at),
            None => taken.remove(&["o"]),
        };
        Ok([held, taken.only_if("o = :was").value(":was", free_at(item.as_str()))])
    }

    /// Returns the outcome of a refused transaction; `None` if another candidate must be tried. The claim's row decides
    /// first: a known claim takes no other item.
    async fn refused(
        &self,
        take: TakeAttempt<'_>,
        refusals: Vec<Refusal>,
        lent: Lent<'_, Candidate>,
    ) -> Result<Option<Taken>> {
        let mut refusals = refusals.into_iter();
        if let Some(Refusal::Condition(row)) = refusals.next()
            && let Some(taken) = self.repeated(take, row.as_ref()).await?
        {
            return Ok(Some(taken));
        }
        if let Some(Refusal::Condition(_)) = refusals.next() {
            lent.spent();
        }
        Ok(None)
    }
}

/// Returns the condition that the claim is unknown and that the call is not void.
fn takeable() -> String {
    format!("{UNKNOWN} OR ({ONLY_VOID} AND {NOT_VOID})")
}

/// The share of recent takes whose claim already had an item: a moving average, in units of 1/65,536.
#[derive(Debug, Default)]
pub(super) struct Repeats(AtomicU32);

/// One in seven: above this share of repeated takes, it is cheaper to read the claim first.
const OFTEN: u32 = 65_536 / 7;
const WEIGHT: u32 = 32;

impl Repeats {
    fn read_first(&self, choice: ReadFirst) -> bool {
        match choice {
            ReadFirst::Always => true,
            ReadFirst::Never => false,
            ReadFirst::Auto => self.0.load(Ordering::Relaxed) > OFTEN,
        }
    }

    /// Adds a take to the average, which is only an estimate.
    fn note(&self, taken: &Taken) {
        let seen = if matches!(taken, Taken::New(_)) { 0 } else { 65_536 };
        // One of two concurrent additions may be lost.
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
    fn take_reads_the_claim_first_if_repeats_are_common() {
        assert!(!after(&[]));
        assert!(!after(&[(1_000, false), (4, true)]));
        assert!(after(&[(1_000, false), (6, true)]));
        assert!(!after(&[(1_000, true), (100, false)]));
    }

    #[test]
    fn the_average_of_repeats_stays_in_its_range() {
        let repeats = Repeats::default();
        (0..100_000).for_each(|_| repeats.note(&Taken::Ended(End::Released)));
        assert!(repeats.0.load(Ordering::Relaxed) <= 65_536 + WEIGHT);
    }
}
