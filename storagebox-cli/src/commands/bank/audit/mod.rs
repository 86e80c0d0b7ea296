//! `storagebox bank audit`: every item, its claim and the counts, checked against each other.

mod claims;
mod report;
mod seen;
#[cfg(test)]
mod tests;

use std::io::Write;

use futures_util::stream::{self, StreamExt, TryStreamExt};
use storagebox::Bank;
use storagebox::bank::{Counts, ItemState, ListedItem};
use storagebox::values::ClaimId;

use crate::check::{Check, Mismatch};
use crate::cli::OfNamespace;
use crate::commands::pages::{PAGE, Pages};
use crate::exit::{Exit, Failure};
use crate::progress::Progress;
use claims::Verdict;
use seen::Seen;

const CONCURRENCY: usize = 64;
/// The maximum number of inconsistent claims that the audit names.
const NAMED: usize = 10;

pub(super) async fn run(
    args: &OfNamespace,
    bank: &Bank,
    as_json: bool,
    to: &mut (dyn Write + Send),
) -> Result<Exit, Failure> {
    let audit = audit(bank).await?;
    let mismatches = audit.mismatches();
    report::answer(args, &audit, &mismatches).print(to, as_json)?;
    if mismatches.is_empty() { Ok(Exit::Done) } else { Err(Failure::BankAudit(mismatches)) }
}

/// Audits the bank. Returns the counts at the end of the audit, and the mismatches.
pub(crate) async fn audit_of(bank: &Bank) -> storagebox::Result<(Counts, Vec<Mismatch>)> {
    let audit = audit(bank).await?;
    Ok((audit.after, audit.mismatches()))
}

/// The figures of a listing, and the counts before and after the listing.
#[derive(Debug, Default)]
struct Audit {
    before: Counts,
    after: Counts,
    listed: Counts,
    without_state: u64,
    listed_again: u64,
    claims: u64,
    /// The number of items that another program changed after they were listed.
    changed: u64,
    at_odds: u64,
    /// The ids of the first inconsistent claims, at most `NAMED`.
    named: Vec<ClaimId>,
}

async fn audit(bank: &Bank) -> storagebox::Result<Audit> {
    let before = bank.counts().await?;
    let progress = Progress::of_items("auditing", before.total());
    let mut audit = Audit { before, ..Audit::default() };
    let mut seen = Seen::default();
    let mut pages = Pages::of(|| bank.list());
    while let Some(entries) = pages.next(PAGE).await? {
        for entry in &entries {
            audit.enter(entry, &mut seen);
            progress.item();
        }
        audit.look_at_claims(entries, bank).await?;
    }
    audit.after = bank.counts().await?;
    Ok(audit)
}

impl Audit {
    fn enter(&mut self, entry: &ListedItem, seen: &mut Seen) {
        self.listed_again += u64::from(!seen.insert(&entry.item));
        *match entry.state {
            ItemState::Unknown => &mut self.without_state,
            ItemState::Free => &mut self.listed.free,
            ItemState::Held(_) => &mut self.listed.held,
            ItemState::Spent(_) => &mut self.listed.spent,
            ItemState::Withdrawn => &mut self.listed.withdrawn,
        } += 1;
    }

    async fn look_at_claims(&mut self, entries: Vec<ListedItem>, bank: &Bank) -> storagebox::Result<()> {
        let claims = entries.into_iter().filter_map(claims::Claimed::of);
        let looks = stream::iter(claims).map(|claimed| claimed.look(bank));
        let mut verdicts = looks.buffer_unordered(CONCURRENCY);
        while let Some(verdict) = verdicts.try_next().await? {
            self.claims += 1;
            match verdict {
                Verdict::Agrees => {}
                Verdict::Changed => self.changed += 1,
                Verdict::AtOdds(claim) => self.name(claim),
            }
        }
        Ok(())
    }

    fn name(&mut self, claim: ClaimId) {
        self.at_odds += 1;
        if self.named.len() < NAMED {
            self.named.push(claim);
        }
    }

    /// Returns whether the audit saw no change by another program.
    fn is_at_rest(&self) -> bool {
        self.before == self.after && self.changed == 0
    }

    fn mismatches(&self) -> Vec<Mismatch> {
        let mut compared =
            vec![Check::LISTED_IN_A_STATE.none(self.without_state), Check::CLAIM_SHOWS_ITEM.none(self.at_odds)];
        // The sums need not agree after a change by another program.
        if self.is_at_rest() {
            compared.extend(self.sums());
        }
        compared.into_iter().flatten().collect()
    }

    /// Compares the listing with the counts, which must agree if no other program changes the bank.
    fn sums(&self) -> [Option<Mismatch>; 5] {
        let Self { before, listed, .. } = self;
        [
            Check::LISTED_ONCE.none(self.listed_again),
            Check::FREE_AS_COUNTED.exactly(before.free, listed.free),
            Check::HELD_AS_COUNTED.exactly(before.held, listed.held),
            Check::SPENT_AS_COUNTED.exactly(before.spent, listed.spent),
            Check::WITHDRAWN_AS_COUNTED.exactly(before.withdrawn, listed.withdrawn),
        ]
    }
}
