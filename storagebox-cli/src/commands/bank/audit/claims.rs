//! Checks that the claim of a listed item shows that item.

use storagebox::bank::{ClaimState, HoldState, ItemState, ListedItem};
use storagebox::values::{ClaimId, Item};
use storagebox::{Bank, Result};

/// A listed item that is held or spent, and the claim that has the item.
pub(super) struct Claimed {
    item: Item,
    claim: ClaimId,
    spent: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Agrees,
    /// The item has changed since it was listed.
    Changed,
    AtOdds(ClaimId),
}

impl Claimed {
    pub(super) fn of(listed: ListedItem) -> Option<Self> {
        let (claim, spent) = match listed.state {
            ItemState::Held(claim) => (claim, false),
            ItemState::Spent(Some(claim)) => (claim, true),
            ItemState::Unknown | ItemState::Free | ItemState::Spent(None) | ItemState::Withdrawn => {
                return None;
            }
        };
        Some(Self { item: listed.item, claim, spent })
    }

    /// Compares the item with its claim, and detects changes by other programs.
    pub(super) async fn look(self, bank: &Bank) -> Result<Verdict> {
        if self.is_shown(bank).await? {
            return Ok(Verdict::Agrees);
        }
        // The id of the claim may have been retired and may have taken the item again.
        if self.has_moved(bank).await? || self.is_shown(bank).await? {
            return Ok(Verdict::Changed);
        }
        Ok(Verdict::AtOdds(self.claim))
    }

    async fn is_shown(&self, bank: &Bank) -> Result<bool> {
        Ok(match bank.get(&self.claim).await? {
            ClaimState::Held(held) => held.item == self.item && (held.hold == HoldState::Confirmed) == self.spent,
            ClaimState::Unknown | ClaimState::Ended(_) => false,
        })
    }

    async fn has_moved(&self, bank: &Bank) -> Result<bool> {
        Ok(match bank.holder(&self.item).await? {
            ItemState::Held(claim) => self.spent || claim != self.claim,
            ItemState::Spent(Some(claim)) => !self.spent || claim != self.claim,
            _ => true,
        })
    }
}
