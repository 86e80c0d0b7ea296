//! The rows of claims, and the state of a claim at the time of a step.

use redb::{ReadableTable, TableDefinition};
use storagebox_core::{ClaimId, ClaimState, End, Held, HoldState, Item, Result};

use super::Caller;
use crate::client::{Look, Step};
use crate::error::Stepped;
use crate::time::{NEVER, is_forgotten, remaining};

/// A row: the item, or `None` for a released claim; the end of the hold, or the time of the release; and whether the
/// claim was confirmed.
type Row<'a> = (Option<&'a str>, i64, bool);

/// The claims, by bank and claim.
pub(crate) const CLAIMS: TableDefinition<(&str, &str), Row<'static>> = TableDefinition::new("claims");

/// A claim that took an item.
#[derive(Debug)]
pub(crate) struct Claim {
    pub(crate) item: String,
    pub(crate) until: i64,
    pub(crate) is_confirmed: bool,
}

/// The state of a claim at the time of a step (IB-6, IB-7).
#[derive(Debug)]
pub(crate) enum Judged {
    Unknown,
    Held(Claim),
    Ended(End),
}

impl Claim {
    pub(super) fn held(&self, now: i64) -> Result<Held> {
        let hold = match self.until {
            _ if self.is_confirmed => HoldState::Confirmed,
            NEVER => HoldState::Forever,
            until => HoldState::Remaining(remaining(now, until)),
        };
        Ok(Held { item: Item::new(self.item.as_str())?, hold })
    }
}

fn judge(row: Option<Row<'_>>, now: i64) -> Judged {
    match row {
        None => Judged::Unknown,
        Some((Some(item), until, is_confirmed)) if now < until => {
            Judged::Held(Claim { item: item.to_owned(), until, is_confirmed })
        }
        Some((_, ended, _)) if is_forgotten(ended, now) => Judged::Unknown,
        Some((Some(_), ..)) => Judged::Ended(End::Expired),
        Some((None, ..)) => Judged::Ended(End::Released),
    }
}

impl Caller<'_> {
    pub(super) fn judged(&self) -> Stepped<Judged> {
        let claims = self.step.table(CLAIMS)?;
        let row = claims.get(self.key())?;
        Ok(judge(row.as_ref().map(|row| row.value()), self.step.now))
    }

    /// Returns the claim as stored, even if its hold has expired.
    pub(crate) fn unjudged(&self) -> Stepped<Option<Claim>> {
        let claims = self.step.table(CLAIMS)?;
        let claim = claims.get(self.key())?.and_then(|row| {
            let (item, until, is_confirmed) = row.value();
            Some(Claim { item: item?.to_owned(), until, is_confirmed })
        });
        Ok(claim)
    }

    pub(super) fn put(&self, claim: &Claim) -> Stepped<()> {
        let row = (Some(claim.item.as_str()), claim.until, claim.is_confirmed);
        self.step.edit(CLAIMS)?.insert(self.key(), row)?;
        Ok(())
    }

    /// Ends the claim, even if it has taken no item.
    pub(super) fn fence(&self) -> Stepped<()> {
        self.step.edit(CLAIMS)?.insert(self.key(), (None, self.step.now, false))?;
        Ok(())
    }

    pub(super) fn forget(&self) -> Stepped<()> {
        self.step.edit(CLAIMS)?.remove(self.key())?;
        Ok(())
    }

    fn key(&self) -> (&str, &str) {
        (self.bank, self.claim.as_str())
    }
}

pub(super) fn get(look: &Look, bank: &str, claim: &ClaimId) -> Stepped<ClaimState> {
    let row = look.table(CLAIMS)?.get((bank, claim.as_str()))?;
    Ok(match judge(row.as_ref().map(|row| row.value()), look.now) {
        Judged::Unknown => ClaimState::Unknown,
        Judged::Held(claim) => ClaimState::Held(claim.held(look.now)?),
        Judged::Ended(end) => ClaimState::Ended(end),
    })
}

/// Deletes the rows of claims that need not be remembered any more.
pub(crate) fn maintain(step: &Step, most: usize) -> Stepped<usize> {
    let now = step.now;
    step.delete(CLAIMS, most, |_, (_, ended, _)| is_forgotten(ended, now))
}
