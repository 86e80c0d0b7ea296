//! Mistakes that the protocol guards against, each made by a layer in front of the stores.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use storagebox_core::layer::{Call, Layer, Layered, Next, Request, Response};
use storagebox_core::{
    Backend, ClaimId, ClaimState, DedupId, DedupRepo, ItemBank, OpId, Payload, Released, Replaced, Result,
};

use crate::record::{Intent, Written};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// The item is written into the record even if the record has changed.
    NoFinalCompareAndSet,
    /// The claim is released before the record says that the claim is given up.
    ReleasesBeforeGivingUp,
    /// The release of a claim that holds nothing does not end the claim.
    GivesUpWithoutFence,
    /// A caller releases the claim if another caller has already assigned the item.
    LoserReleases,
}

impl Mutant {
    pub(crate) fn before(self, gated: Layered) -> Layered {
        let records = gated.dedup_repo(&"records".parse().expect("a name")).expect("a repository");
        Layered::new(Arc::new(gated.clone()), Arc::new(Mistaken { mutant: self, gated, records }))
    }
}

/// A layer in front of the gate, which makes the mistake of a mutant. Each of the layer's store calls is a separate
/// step of the scheduler.
struct Mistaken {
    mutant: Mutant,
    gated: Layered,
    records: Arc<dyn DedupRepo>,
}

#[async_trait]
impl Layer for Mistaken {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        match (call.request, self.mutant) {
            (Request::Replace { id, value, op, .. }, _) => self.replace(id, value, op, next).await,
            // The claim was released before, so nothing is left to do.
            (Request::Release { .. }, Mutant::ReleasesBeforeGivingUp) => Ok(Response::Release(Released::Released)),
            _ => next.run().await,
        }
    }
}

impl Mistaken {
    async fn replace(&self, id: &DedupId, value: &Payload, op: &OpId, next: Next<'_>) -> Result<Response> {
        match (self.mutant, Written::read(value)) {
            (Mutant::NoFinalCompareAndSet, Written::Assigned(..)) => {
                self.force(id, value, op).await.map(Response::Replace)
            }
            (Mutant::ReleasesBeforeGivingUp, Written::GivingUp(intent)) => {
                self.release(id, &intent).await?;
                next.run().await
            }
            (Mutant::LoserReleases, Written::Assigned(intent, _)) => {
                let response = next.run().await?;
                if let Response::Replace(Replaced::Stale(_)) = &response {
                    self.release(id, &intent).await?;
                }
                Ok(response)
            }
            _ => next.run().await,
        }
    }

    async fn force(&self, id: &DedupId, value: &Payload, op: &OpId) -> Result<Replaced> {
        loop {
            let Some(entry) = self.records.get(id).await? else {
                return Ok(Replaced::Stale(None));
            };
            match self.records.replace(id, entry.version, value, op).await? {
                Replaced::Stale(_) => {}
                done => return Ok(done),
            }
        }
    }

    async fn release(&self, id: &DedupId, intent: &Intent) -> Result<()> {
        let claim = ClaimId::new(intent.claim(id.as_str()))?;
        self.gated.item_bank(&intent.bank.as_str().parse()?)?.release(&claim).await.map(drop)
    }
}

impl fmt::Debug for Mistaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mistaken").field(&self.mutant).finish()
    }
}

/// A layer that does not end an unknown claim on release. The layer is behind the gate, so that a release remains one
/// step.
pub(crate) struct Unfenced(pub(crate) Arc<dyn ItemBank>);

#[async_trait]
impl Layer for Unfenced {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let Request::Release { claim, .. } = call.request else { return next.run().await };
        match self.0.get(claim).await? {
            ClaimState::Held(_) => next.run().await,
            ClaimState::Unknown | ClaimState::Ended(_) => Ok(Response::Release(Released::Released)),
        }
    }
}

impl fmt::Debug for Unfenced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unfenced")
    }
}
