//! The leases of a run, asked with patience; it sees whether somebody else was at work.

use std::time::Duration;

use storagebox::{
    Aborted, Begun, Completed, DedupId, Fingerprint, Lease, LeaseExtended, LeaseRepo, OpId, Payload, Result,
    Retention, Retry, async_trait,
};

use super::stage::Stage;
use crate::progress::Waiting;
use crate::retry;
use crate::say::{Kind, say};
use crate::step::Step;

/// The command has run and cannot be run again, so its end is worth half a minute of trying.
const AT_THE_END: Retry =
    Retry { attempts: 40, first_delay: Duration::from_millis(20), max_delay: Duration::from_secs(1) };

pub(super) struct Patient<'a> {
    leases: &'a dyn LeaseRepo,
    stage: &'a Stage,
    waiting: Waiting,
}

impl<'a> Patient<'a> {
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
impl LeaseRepo for Patient<'_> {
    async fn begin(
        &self,
        id: &DedupId,
        op: &OpId,
        duration: Duration,
        fingerprint: Option<&Fingerprint>,
    ) -> Result<Begun> {
        let begin = || self.leases.begin(id, op, duration, fingerprint);
        let begun = retry::plain(Retry::default(), Step::Begin, begin).await?;
        self.look_at(&begun);
        Ok(begun)
    }

    async fn complete(&self, lease: &Lease, result: &Payload, retention: Retention) -> Result<Completed> {
        let complete = || self.leases.complete(lease, result, retention);
        retry::plain(AT_THE_END, Step::RecordRun, complete).await
    }

    async fn abort(&self, lease: &Lease) -> Result<Aborted> {
        retry::plain(Retry::default(), Step::GiveBack, || self.leases.abort(lease)).await
    }

    async fn extend(&self, lease: &Lease, duration: Duration) -> Result<LeaseExtended> {
        // The next beat is the next attempt.
        retry::plain(Retry::NEVER, Step::Extend, || self.leases.extend(lease, duration)).await
    }
}
