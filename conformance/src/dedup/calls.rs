//! Every mutating call, with what it needs before, what it answers, and what is left after it.

use storagebox_core::{
    Aborted, Begun, Completed, DedupId, DedupRepo, Forgotten, Lease, LeaseExtended, LeaseRepo, OpId,
    Recorded, Replaced, Result, Retention, Version,
};

use super::{LONG, Repos, id, op};
use crate::case::Verdict;
use crate::failure::{Failure, ensure_matches};
use crate::world::World;

/// A call of `ada` on one id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Record,
    Replace,
    Forget,
    Begin,
    Complete,
    Abort,
    Extend,
}

pub(super) const ON_RECORDS: [Call; 3] = [Call::Record, Call::Replace, Call::Forget];
pub(super) const ON_LEASES: [Call; 4] = [Call::Begin, Call::Complete, Call::Abort, Call::Extend];

/// An id on which a call can do something.
pub(super) struct Scene {
    pub(super) id: DedupId,
    ada: OpId,
    version: Version,
    lease: Lease,
}

impl Scene {
    /// What the call needs, made in good order through another link.
    pub(super) async fn set(call: Call, world: &World, repos: &Repos) -> Result<Self, Failure> {
        let (id, ada, kim) = (id("scene")?, op("ada")?, op("kim")?);
        let aside = repos.begin_new(&super::id("aside")?, &ada, LONG).await?;
        let mut scene = Self { id: id.clone(), ada: ada.clone(), version: Version::new(0), lease: aside };
        match call {
            Call::Record | Call::Begin => {}
            Call::Replace | Call::Forget => {
                scene.version = repos.record_new(&id, "before", &kim, Retention::Forever).await?;
            }
            Call::Complete | Call::Abort => scene.lease = repos.begin_new(&id, &ada, LONG).await?,
            Call::Extend => scene.lease = repos.begin_new(&id, &ada, world.short() * 2).await?,
        }
        Ok(scene)
    }

    /// Makes the call; the name of its outcome.
    pub(super) async fn make(&self, call: Call, repos: &Repos) -> Result<&'static str> {
        let (records, leases) = (&repos.records, &repos.leases);
        let after = storagebox_core::Payload::try_from("after")?;
        Ok(match call {
            Call::Record => recorded(&records.record(&self.id, &after, &self.ada, Retention::Forever).await?),
            Call::Replace => replaced(&records.replace(&self.id, self.version, &after, &self.ada).await?),
            Call::Forget => forgotten(&records.forget(&self.id, self.version).await?),
            Call::Begin => begun(&leases.begin(&self.id, &self.ada, LONG, None).await?),
            Call::Complete => completed(&leases.complete(&self.lease, &after, Retention::Forever).await?),
            Call::Abort => aborted(leases.abort(&self.lease).await?),
            Call::Extend => extended(leases.extend(&self.lease, LONG).await?),
        })
    }

    /// What the call must have left, whoever looks.
    pub(super) async fn ensure_done(&self, call: Call, world: &World, repos: &Repos) -> Verdict {
        if call == Call::Extend {
            world.pass(world.short() * 2).await;
        }
        let value = matches!(call, Call::Record | Call::Replace | Call::Complete).then_some("after");
        repos.ensure_value(&self.id, value).await?;
        let stranger = repos.leases.begin(&self.id, &op("stranger")?, LONG, None).await?;
        match call {
            Call::Record | Call::Replace | Call::Complete => {
                ensure_matches!(stranger, Begun::Done(_), "a stranger's begin after {call:?}");
            }
            Call::Begin | Call::Extend => {
                ensure_matches!(stranger, Begun::InFlight { .. }, "a stranger's begin after {call:?}");
            }
            Call::Forget | Call::Abort => {
                ensure_matches!(stranger, Begun::Started(_), "a stranger's begin after {call:?}");
            }
        }
        Ok(())
    }
}

impl Call {
    /// The outcome of the first call that lands.
    pub(super) fn first(self) -> &'static str {
        match self {
            Self::Record => "New",
            Self::Replace => "Replaced",
            Self::Forget => "Forgotten",
            Self::Begin => "Started",
            Self::Complete => "Completed",
            Self::Abort => "Aborted",
            Self::Extend => "Extended",
        }
    }

    /// The outcome of the same call when it has landed before.
    pub(super) fn again(self) -> &'static str {
        match self {
            Self::Record | Self::Replace | Self::Complete => "Again",
            Self::Forget => "Absent",
            Self::Begin | Self::Abort | Self::Extend => self.first(),
        }
    }
}

fn recorded(outcome: &Recorded) -> &'static str {
    match outcome {
        Recorded::New(_) => "New",
        Recorded::Again(_) => "Again",
        Recorded::Existing(_) => "Existing",
        Recorded::InFlight { .. } => "InFlight",
        Recorded::Fenced => "Fenced",
    }
}

fn replaced(outcome: &Replaced) -> &'static str {
    match outcome {
        Replaced::Replaced(_) => "Replaced",
        Replaced::Again(_) => "Again",
        Replaced::Stale(_) => "Stale",
    }
}

fn forgotten(outcome: &Forgotten) -> &'static str {
    match outcome {
        Forgotten::Forgotten => "Forgotten",
        Forgotten::Absent => "Absent",
        Forgotten::Stale(_) => "Stale",
    }
}

fn begun(outcome: &Begun) -> &'static str {
    match outcome {
        Begun::Started(_) => "Started",
        Begun::InFlight { .. } => "InFlight",
        Begun::Done(_) => "Done",
        Begun::Mismatch => "Mismatch",
        Begun::Fenced => "Fenced",
    }
}

fn completed(outcome: &Completed) -> &'static str {
    match outcome {
        Completed::Completed(_) => "Completed",
        Completed::Again(_) => "Again",
        Completed::Fenced => "Fenced",
    }
}

fn aborted(outcome: Aborted) -> &'static str {
    match outcome {
        Aborted::Aborted => "Aborted",
        Aborted::Fenced => "Fenced",
    }
}

fn extended(outcome: LeaseExtended) -> &'static str {
    match outcome {
        LeaseExtended::Extended => "Extended",
        LeaseExtended::Fenced => "Fenced",
    }
}
