//! Broken leases.

use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use storagebox_core::{
    Aborted, Begun, Completed, DedupId, Entry, Fence, Fingerprint, Lease, LeaseExtended, LeaseRepo, MAX_DURATION, OpId,
    Payload, Result, Retention, Version, async_trait, checked_duration,
};

use crate::steps::{UnderWay, between_steps, lock};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeaseMistake {
    FencedCompletes,
    FencedExtends,
    FingerprintIgnored,
    LapseLosesFingerprint,
    OwnRetryIsInFlight,
    FenceStandsStill,
    TwoLiveLeases,
    NeverLapses,
    RemembersFailures,
    AbortLeavesNoFence,
    ResultsForEver,
}

use LeaseMistake as Mistake;

#[derive(Default)]
pub(crate) struct LeaseState {
    begun: Mutex<HashMap<(DedupId, OpId), Fence>>,
    beginners: AtomicUsize,
    /// The requested duration of the last lease of each id.
    asked: Mutex<HashMap<DedupId, Duration>>,
    /// The last lease of each id.
    last: Mutex<HashMap<DedupId, Lease>>,
}

pub(crate) struct BrokenLeases {
    pub(crate) inner: Arc<dyn LeaseRepo>,
    pub(crate) mistake: Option<Mistake>,
    pub(crate) state: Arc<LeaseState>,
}

impl BrokenLeases {
    fn begun_before(&self, id: &DedupId, op: &OpId, fence: Fence) -> bool {
        lock(&self.state.begun).insert((id.clone(), op.clone()), fence) == Some(fence)
    }

    /// Returns the lease with the fence that the inner repository gave to it.
    fn below(&self, lease: &Lease) -> Lease {
        let known = lock(&self.state.begun).get(&(lease.id.clone(), lease.op.clone())).copied();
        match self.mistake {
            Some(Mistake::FenceStandsStill) => Lease { fence: known.unwrap_or(lease.fence), ..lease.clone() },
            _ => lease.clone(),
        }
    }

    /// Gives a lease to every call of `begin` that starts while another call of `begin` is in progress.
    async fn begin_among(
        &self,
        id: &DedupId,
        op: &OpId,
        term: Duration,
        fingerprint: Option<&Fingerprint>,
    ) -> Result<Begun> {
        let (_under_way, others) = UnderWay::enter(&self.state.beginners);
        let begun = self.inner.begin(id, op, term, fingerprint).await?;
        between_steps().await;
        Ok(match begun {
            Begun::InFlight { .. } if others > 0 => {
                Begun::Started(Lease { id: id.clone(), op: op.clone(), fence: Fence::new(u64::MAX) })
            }
            other => other,
        })
    }

    async fn begin_for_ever(
        &self,
        id: &DedupId,
        op: &OpId,
        term: Duration,
        fingerprint: Option<&Fingerprint>,
    ) -> Result<Begun> {
        let begun = self.inner.begin(id, op, MAX_DURATION, fingerprint).await?;
        let asked = *lock(&self.state.asked).entry(id.clone()).or_insert(term);
        Ok(match begun {
            Begun::InFlight { remaining } => Begun::InFlight { remaining: remaining.min(asked) },
            other => other,
        })
    }

    /// Begins a lease if the last lease of the id has lapsed, even if the last lease had another fingerprint.
    async fn begin_after_any_lapse(
        &self,
        id: &DedupId,
        op: &OpId,
        term: Duration,
        fingerprint: Option<&Fingerprint>,
    ) -> Result<Begun> {
        let mut begun = self.inner.begin(id, op, term, fingerprint).await?;
        let last = lock(&self.state.last).get(id).cloned();
        if let (Begun::Mismatch, Some(last)) = (&begun, last)
            // Only a lapsed lease lets another operation begin without a fingerprint.
            && let Begun::Started(lease) = self.inner.begin(id, &OpId::new(format!("{op} looks"))?, term, None).await?
            && lease != last
        {
            begun = Begun::Started(Lease { op: op.clone(), ..lease });
        }
        if let Begun::Started(lease) = &begun {
            lock(&self.state.last).insert(id.clone(), lease.clone());
        }
        Ok(begun)
    }

    fn spoil(&self, id: &DedupId, op: &OpId, begun: Begun) -> Begun {
        match (self.mistake, begun) {
            (Some(Mistake::OwnRetryIsInFlight), Begun::Started(lease)) => {
                if self.begun_before(id, op, lease.fence) {
                    return Begun::InFlight { remaining: Duration::from_millis(1) };
                }
                Begun::Started(lease)
            }
            (Some(Mistake::FenceStandsStill), Begun::Started(lease)) => {
                self.begun_before(id, op, lease.fence);
                Begun::Started(Lease { fence: Fence::new(1), ..lease })
            }
            (Some(Mistake::AbortLeavesNoFence), Begun::Fenced) => {
                Begun::Started(Lease { id: id.clone(), op: op.clone(), fence: Fence::new(u64::MAX) })
            }
            (_, other) => other,
        }
    }
}

#[async_trait]
impl LeaseRepo for BrokenLeases {
    async fn begin(&self, id: &DedupId, op: &OpId, term: Duration, fingerprint: Option<&Fingerprint>) -> Result<Begun> {
        let term = checked_duration("lease", term)?;
        let begun = match self.mistake {
            Some(Mistake::FingerprintIgnored) => self.inner.begin(id, op, term, None).await?,
            Some(Mistake::LapseLosesFingerprint) => self.begin_after_any_lapse(id, op, term, fingerprint).await?,
            Some(Mistake::NeverLapses) => self.begin_for_ever(id, op, term, fingerprint).await?,
            Some(Mistake::TwoLiveLeases) => self.begin_among(id, op, term, fingerprint).await?,
            _ => self.inner.begin(id, op, term, fingerprint).await?,
        };
        Ok(self.spoil(id, op, begun))
    }

    async fn complete(&self, lease: &Lease, result: &Payload, retention: Retention) -> Result<Completed> {
        let lease = &self.below(lease);
        let retention = match self.mistake {
            Some(Mistake::ResultsForEver) => Retention::Forever,
            _ => retention,
        };
        let completed = self.inner.complete(lease, result, retention).await?;
        Ok(match (self.mistake, completed) {
            (Some(Mistake::FencedCompletes), Completed::Fenced) => {
                Completed::Completed(Entry { value: result.clone(), version: Version::new(u64::MAX) })
            }
            (_, other) => other,
        })
    }

    async fn abort(&self, lease: &Lease) -> Result<Aborted> {
        let lease = &self.below(lease);
        if self.mistake == Some(Mistake::RemembersFailures) {
            // Stores the failure as the result.
            let kept = self.inner.complete(lease, &Payload::default(), Retention::Forever).await?;
            return Ok(match kept {
                Completed::Completed(_) | Completed::Again(_) => Aborted::Aborted,
                Completed::Fenced => Aborted::Fenced,
            });
        }
        self.inner.abort(lease).await
    }

    async fn extend(&self, lease: &Lease, term: Duration) -> Result<LeaseExtended> {
        let extended = self.inner.extend(&self.below(lease), term).await?;
        Ok(match self.mistake {
            Some(Mistake::FencedExtends) => LeaseExtended::Extended,
            _ => extended,
        })
    }
}
