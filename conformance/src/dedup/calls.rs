//! Every mutating call: its preconditions, its answer, and the state after it.

use std::sync::Arc;

use storagebox_core::{
    Aborted, Backend, Begun, Completed, DedupId, DedupRepo, Forgotten, Lease, LeaseExtended, LeaseRepo, OpId, Payload,
    Recorded, Replaced, Result, Retention, Version, async_trait,
};

use super::{LONG, Repos, id, op};
use crate::failure::{Failure, Verdict, ensure_matches};
use crate::race::answered;
use crate::repeatable::{Repeatable, Told};
use crate::world::World;

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

/// An id that is prepared so that the call has an effect.
pub(super) struct Scene {
    pub(super) id: DedupId,
    ada: OpId,
    version: Version,
    lease: Lease,
}

#[async_trait]
impl Repeatable for Call {
    type Scene = Scene;

    async fn set(self, world: &World, place: &str) -> Result<Scene, Failure> {
        let repos = Repos::of(world.store())?;
        let (id, ada, kim) = (id(&format!("scene-{place}"))?, op("ada")?, op("kim")?);
        let aside = repos.begin_new(&super::id(&format!("aside-{place}"))?, &ada, LONG).await?;
        let mut scene = Scene { id: id.clone(), ada: ada.clone(), version: Version::new(0), lease: aside };
        match self {
            Self::Record | Self::Begin => {}
            Self::Replace | Self::Forget => {
                scene.version = repos.record_new(&id, "before", &kim, Retention::Forever).await?;
            }
            Self::Complete | Self::Abort => scene.lease = repos.begin_new(&id, &ada, LONG).await?,
            Self::Extend => scene.lease = repos.begin_new(&id, &ada, world.short() * 2).await?,
        }
        Ok(scene)
    }

    fn needle(scene: &Scene) -> &str {
        scene.id.as_str()
    }

    async fn make(self, scene: &Scene, store: &Arc<dyn Backend>) -> Result<Told> {
        let (records, leases) = (store.dedup_repo(&"records".parse()?)?, store.lease_repo(&"records".parse()?)?);
        let (Scene { id, ada, version, lease }, after) = (scene, Payload::try_from("after")?);
        Ok(match self {
            Self::Record => recorded(&records.record(id, &after, ada, Retention::Forever).await?),
            Self::Replace => replaced(&records.replace(id, *version, &after, ada).await?),
            Self::Forget => forgotten(&records.forget(id, *version).await?),
            Self::Begin => begun(&leases.begin(id, ada, LONG, None).await?),
            Self::Complete => completed(&leases.complete(lease, &after, Retention::Forever).await?),
            Self::Abort => aborted(leases.abort(lease).await?),
            Self::Extend => extended(leases.extend(lease, LONG).await?),
        })
    }

    async fn is_done(self, scene: &Scene, store: &Arc<dyn Backend>) -> Result<Option<bool>, Failure> {
        let found = store.dedup_repo(&"records".parse()?)?.get(&scene.id).await?;
        Ok(match self {
            Self::Record | Self::Replace | Self::Complete => {
                Some(found.is_some_and(|entry| entry.value.as_bytes() == b"after"))
            }
            Self::Forget => Some(found.is_none()),
            // No call reads a lease.
            Self::Begin | Self::Abort | Self::Extend => None,
        })
    }

    fn is_checked_by_a_change(self) -> bool {
        matches!(self, Self::Begin | Self::Abort | Self::Extend)
    }

    async fn ensure_done(self, world: &World, scene: &Scene, store: &Arc<dyn Backend>) -> Verdict {
        let repos = Repos::of(store)?;
        if self == Self::Extend {
            world.pass(world.short() * 2).await;
        }
        let value = matches!(self, Self::Record | Self::Replace | Self::Complete).then_some("after");
        repos.ensure_value(&scene.id, value).await?;
        let stranger = repos.leases.begin(&scene.id, &op("stranger")?, LONG, None).await?;
        match self {
            Self::Record | Self::Replace | Self::Complete => {
                ensure_matches!(stranger, Begun::Done(_), "a stranger's begin after {self:?}");
            }
            Self::Begin | Self::Extend => {
                ensure_matches!(stranger, Begun::InFlight { .. }, "a stranger's begin after {self:?}");
            }
            Self::Forget | Self::Abort => {
                ensure_matches!(stranger, Begun::Started(_), "a stranger's begin after {self:?}");
            }
        }
        Ok(())
    }

    async fn unrelated(self, old: &Arc<dyn Backend>, fresh: &Arc<dyn Backend>, place: &str) -> Verdict {
        let (old, id, kim) = (old.dedup_repo(&"records".parse()?)?, id(place)?, op("kim")?);
        let _ = answered(|| async { old.record(&id, &Payload::try_from("value")?, &kim, Retention::Forever).await })
            .await?;
        Repos::of(fresh)?.ensure_value(&id, Some("value")).await
    }
}

impl Call {
    /// Returns the answer to the first attempt that lands.
    pub(super) fn first(self) -> Told {
        match self {
            Self::Record | Self::Replace | Self::Forget | Self::Complete => Told::Now,
            Self::Begin | Self::Abort | Self::Extend => Told::Done,
        }
    }

    /// Returns the answer to a repetition of the call after it has landed.
    pub(super) fn again(self) -> Told {
        match self {
            Self::Record | Self::Replace | Self::Forget | Self::Complete => Told::Before,
            Self::Begin | Self::Abort | Self::Extend => Told::Done,
        }
    }
}

fn recorded(outcome: &Recorded) -> Told {
    match outcome {
        Recorded::New(_) => Told::Now,
        Recorded::Again(_) => Told::Before,
        other => Told::wrong(other),
    }
}

fn replaced(outcome: &Replaced) -> Told {
    match outcome {
        Replaced::Replaced(_) => Told::Now,
        Replaced::Again(_) => Told::Before,
        Replaced::Stale(_) => Told::wrong(outcome),
    }
}

fn forgotten(outcome: &Forgotten) -> Told {
    match outcome {
        Forgotten::Forgotten => Told::Now,
        Forgotten::Absent => Told::Before,
        Forgotten::Stale(_) => Told::wrong(outcome),
    }
}

fn begun(outcome: &Begun) -> Told {
    match outcome {
        Begun::Started(_) => Told::Done,
        other => Told::wrong(other),
    }
}

fn completed(outcome: &Completed) -> Told {
    match outcome {
        Completed::Completed(_) => Told::Now,
        Completed::Again(_) => Told::Before,
        Completed::Fenced => Told::wrong(outcome),
    }
}

fn aborted(outcome: Aborted) -> Told {
    match outcome {
        Aborted::Aborted => Told::Done,
        Aborted::Fenced => Told::wrong(outcome),
    }
}

fn extended(outcome: LeaseExtended) -> Told {
    match outcome {
        LeaseExtended::Extended => Told::Done,
        LeaseExtended::Fenced => Told::wrong(outcome),
    }
}
