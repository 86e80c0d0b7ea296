//! The leases of a run: each call of them is logged, and it is seen whether somebody else was at work.

use std::time::Duration;

use storagebox::dedup::{Aborted, Begun, Completed, LeaseExtended};
use storagebox::values::DedupId;
use storagebox::{
    Fingerprint, Lease, OpId, Payload, Result, Retention, Retry, async_trait,
    parts::{LeaseRepo, Settles},
};

use super::stage::Stage;
use crate::progress::Waiting;
use crate::retry;
use crate::say::{Kind, say};
use crate::step::Step;

pub(super) struct Watched<'a> {
    leases: &'a dyn LeaseRepo,
    stage: &'a Stage,
    waiting: Waiting,
}

impl<'a> Watched<'a> {
    pub(super) fn with(leases: &'a dyn LeaseRepo, stage: &'a Stage) -> Self {
        Self { leases, stage, waiting: Waiting::default() }
    }

    fn look_at(&self, begun: &Begun) {
        match begun {
            Begun::InFlight { .. } if self.stage.wait() => self.waiting.begin("waiting for another's run"),
            Begun::InFlight { .. } => {}
            Begun::Started(_) if self.stage.waited() => {
                self.waiting.end();
                let why = "it failed, was interrupted, or its lease ran out";
                let what = "the run that was under way left no result";
                say(Kind::Note, format_args!("{what} ({why}); running the command here"));
            }
            _ => self.waiting.end(),
        }
    }
}

#[async_trait]
impl LeaseRepo for Watched<'_> {
    async fn begin(
        &self,
        id: &DedupId,
        op: &OpId,
        duration: Duration,
        fingerprint: Option<&Fingerprint>,
    ) -> Result<Begun> {
        let begin = || self.leases.begin(id, op, duration, fingerprint);
        let begun = once(Step::Begin, begin).await?;
        self.look_at(&begun);
        Ok(begun)
    }

    async fn complete(&self, lease: &Lease, result: &Payload, retention: Retention) -> Result<Completed> {
        once(Step::RecordRun, || self.leases.complete(lease, result, retention)).await
    }

    async fn abort(&self, lease: &Lease) -> Result<Aborted> {
        once(Step::GiveBack, || self.leases.abort(lease)).await
    }

    async fn extend(&self, lease: &Lease, duration: Duration) -> Result<LeaseExtended> {
        once(Step::Extend, || self.leases.extend(lease, duration)).await
    }
}

/// The run itself tries again.
async fn once<T, Fut>(step: Step, call: impl FnMut() -> Fut) -> Result<T>
where
    T: Settles,
    Fut: Future<Output = Result<T>>,
{
    retry::plain(Retry::NEVER, step, call).await
}
