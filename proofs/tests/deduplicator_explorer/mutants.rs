//! Mistakes that the protocol guards against, each made by a wrapper in front of the stores.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use storagebox_core::{
    Added, BankAdmin, ClaimId, ClaimState, Confirmed, Counts, Cursor, DedupId, DedupRepo, Entry, Extended,
    Forgotten, Hold, Item, ItemBank, ListedRecord, OpId, Page, Payload, Recorded, Released, Replaced, Result,
    Retention, Taken, Version,
};

use crate::gate::{GatedBank, GatedRepo};
use crate::record::{Intent, Written};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// The item is put into the record whatever stands there by now.
    NoFinalCompareAndSet,
    /// The claim is released first, and then the record is moved on.
    ReleasesBeforeGivingUp,
    /// A claim that holds nothing is not ended by its release.
    GivesUpWithoutFence,
    /// Whoever comes too late to assign the item releases the claim.
    LoserReleases,
}

impl Mutant {
    pub(crate) fn repo(
        self,
        repo: GatedRepo,
        banks: BTreeMap<&'static str, GatedBank>,
    ) -> Arc<dyn DedupRepo> {
        Arc::new(MutantRepo { mutant: self, repo, banks })
    }

    pub(crate) fn bank(self, bank: GatedBank) -> Arc<dyn ItemBank> {
        match self {
            Self::ReleasesBeforeGivingUp => Arc::new(ReleasedBefore(bank)),
            _ => Arc::new(bank),
        }
    }
}

/// In front of the gate, so that each of its steps is one of the schedule.
struct MutantRepo {
    mutant: Mutant,
    repo: GatedRepo,
    banks: BTreeMap<&'static str, GatedBank>,
}

impl MutantRepo {
    async fn force(&self, id: &DedupId, value: &Payload, op: &OpId) -> Result<Replaced> {
        loop {
            let Some(entry) = self.repo.get(id).await? else {
                return Ok(Replaced::Stale(None));
            };
            match self.repo.replace(id, entry.version, value, op).await? {
                Replaced::Stale(_) => {}
                done => return Ok(done),
            }
        }
    }

    async fn release(&self, id: &DedupId, intent: &Intent) -> Result<Released> {
        let claim = ClaimId::new(intent.claim(id.as_str()))?;
        self.banks[intent.bank.as_str()].release(&claim).await
    }
}

#[async_trait]
impl DedupRepo for MutantRepo {
    async fn replace(&self, id: &DedupId, version: Version, value: &Payload, op: &OpId) -> Result<Replaced> {
        match (self.mutant, Written::read(value)) {
            (Mutant::NoFinalCompareAndSet, Written::Assigned(..)) => self.force(id, value, op).await,
            (Mutant::ReleasesBeforeGivingUp, Written::GivingUp(intent)) => {
                let _ = self.release(id, &intent).await?;
                self.repo.replace(id, version, value, op).await
            }
            (Mutant::LoserReleases, Written::Assigned(intent, _)) => {
                let replaced = self.repo.replace(id, version, value, op).await?;
                if let Replaced::Stale(_) = replaced {
                    let _ = self.release(id, &intent).await?;
                }
                Ok(replaced)
            }
            _ => self.repo.replace(id, version, value, op).await,
        }
    }

    async fn record(
        &self,
        id: &DedupId,
        value: &Payload,
        op: &OpId,
        retention: Retention,
    ) -> Result<Recorded> {
        self.repo.record(id, value, op, retention).await
    }

    async fn get(&self, id: &DedupId) -> Result<Option<Entry>> {
        self.repo.get(id).await
    }

    async fn forget(&self, id: &DedupId, version: Version) -> Result<Forgotten> {
        self.repo.forget(id, version).await
    }

    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedRecord>> {
        self.repo.list(cursor, limit).await
    }
}

/// A bank whose claims were released before this: it has nothing left to do.
struct ReleasedBefore(GatedBank);

/// A bank that does not end a claim which it never saw. Behind the gate, because it is one atomic step.
pub(crate) struct Unfenced(pub(crate) Arc<dyn BankAdmin>);

/// All of a bank but its `release`.
macro_rules! bank_with {
    ($bank:ident { $($release:item)* }) => {
        #[async_trait]
        impl ItemBank for $bank {
            $($release)*

            async fn take(&self, claim: &ClaimId, hold: Hold) -> Result<Taken> {
                self.0.take(claim, hold).await
            }

            async fn add(&self, items: &[Item]) -> Result<Added> {
                self.0.add(items).await
            }

            async fn extend(&self, claim: &ClaimId, hold: Hold) -> Result<Extended> {
                self.0.extend(claim, hold).await
            }

            async fn confirm(&self, claim: &ClaimId) -> Result<Confirmed> {
                self.0.confirm(claim).await
            }

            async fn get(&self, claim: &ClaimId) -> Result<ClaimState> {
                self.0.get(claim).await
            }

            async fn counts(&self) -> Result<Counts> {
                self.0.counts().await
            }
        }
    };
}

bank_with!(ReleasedBefore {
    async fn release(&self, _: &ClaimId) -> Result<Released> {
        Ok(Released::Released)
    }
});

bank_with!(Unfenced {
    async fn release(&self, claim: &ClaimId) -> Result<Released> {
        match self.0.get(claim).await? {
            ClaimState::Held(_) => self.0.release(claim).await,
            ClaimState::Unknown | ClaimState::Ended(_) => Ok(Released::Released),
        }
    }
});
