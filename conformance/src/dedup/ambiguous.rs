//! Lost replies, requests that land late or twice.

use std::collections::BTreeMap;
use std::sync::Arc;

use storagebox_core::{
    Aborted, Backend, Begun, Completed, DedupId, DedupRepo, ErrorKind, Forgotten, Lease, LeaseRepo, OpId, Recorded,
    Replaced, Result, Retention, Version,
};

use super::calls::Call;
use super::{LONG, Repos, id, op, text};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::{Fate, Link};
use crate::race::answered;
use crate::repeatable::Repeatable;
use crate::world::World;

const FOREVER: Retention = Retention::Forever;

pub(super) async fn a_record_of_any_fate_happens_once(world: &World) -> Verdict {
    meet_every_fate(world, &[Call::Record]).await
}

pub(super) async fn a_replace_of_any_fate_happens_once(world: &World) -> Verdict {
    meet_every_fate(world, &[Call::Replace]).await
}

pub(super) async fn a_reset_of_any_fate_happens_once(world: &World) -> Verdict {
    meet_every_fate(world, &[Call::Forget, Call::Abort]).await
}

pub(super) async fn a_lease_call_of_any_fate_happens_once(world: &World) -> Verdict {
    meet_every_fate(world, &[Call::Begin, Call::Complete, Call::Extend]).await
}

async fn meet_every_fate(world: &World, calls: &[Call]) -> Verdict {
    for &call in calls {
        for fate in [Fate::RequestLost, Fate::ReplyLost, Fate::Late, Fate::Twice] {
            let during = |failure: Failure| failure.during(format!("{call:?} whose fate is {fate:?}"));
            meet(world, call, fate).await.map_err(during)?;
        }
    }
    Ok(())
}

/// Repeats the call until it is answered, lets the requests in flight land, and checks that the call took effect once.
async fn meet(world: &World, call: Call, fate: Fate) -> Verdict {
    let scene = call.set(world, &format!("{call:?}-{fate:?}")).await?;
    let link = Link::script([fate]);
    let far: Arc<dyn Backend> = link.before_store(world.store());
    match (fate, call.make(&scene, &far).await) {
        (Fate::Delivered | Fate::Twice, Ok(told)) => ensure_eq!(told, call.first(), "the answer to the call"),
        (_, Err(error)) if error.kind() == ErrorKind::OutcomeUnknown => {
            let expected = if fate == Fate::ReplyLost { call.again() } else { call.first() };
            ensure_eq!(call.make(&scene, &far).await?, expected, "the same call again");
        }
        (_, other) => return Err(Failure::new(format!("a lost reply arrived: {other:?}"))),
    }
    link.land().await;
    ensure_eq!(call.make(&scene, &far).await?, call.again(), "the same call when all has landed");
    call.ensure_done(world, &scene, &world.client().await?).await
}

async fn ensure_lost<T: std::fmt::Debug>(answer: impl Future<Output = Result<T>>) -> Verdict {
    ensure_matches!(answer.await, Err(error) if error.kind() == ErrorKind::OutcomeUnknown, "a call that lands late");
    Ok(())
}

/// Calls of an expired lease that land after another lease has begun change nothing.
pub(super) async fn what_lands_after_the_lease_changed_hands_changes_nothing(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (ada, bob, short) = (op("ada")?, op("bob")?, world.short());
    for finish in [false, true] {
        let job = id(&format!("job-{finish}"))?;
        let old = repos.begin_new(&job, &ada, short).await?;
        let link = Link::script([Fate::Late; 4]);
        let far = repos.behind(&link);
        ensure_lost(far.leases.begin(&job, &ada, LONG, None)).await?;
        ensure_lost(far.leases.extend(&old, LONG)).await?;
        ensure_lost(far.leases.complete(&old, &text("late")?, FOREVER)).await?;
        ensure_lost(far.leases.abort(&old)).await?;
        world.pass(short).await;
        let begun = repos.leases.begin(&job, &bob, LONG, None).await?;
        let lease = ensure_matches!(begun, Begun::Started(lease) => lease, "the other's begin");
        if finish {
            let _ = repos.leases.complete(&lease, &text("result")?, FOREVER).await?;
        }
        link.land().await;
        repos.ensure_value(&job, finish.then_some("result")).await?;
        let after = repos.leases.begin(&job, &bob, LONG, None).await?;
        match after {
            Begun::Started(same) if !finish => {
                ensure_eq!(same, lease, "the other's lease when all has landed")
            }
            other => ensure!(
                finish && matches!(other, Begun::Done(_)),
                "the other caller's next begin has another answer: {other:?}"
            ),
        }
    }
    Ok(())
}

/// Late calls change nothing if they land after their record or lease has ended.
pub(super) async fn what_lands_after_the_end_changes_nothing(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let ada = op("ada")?;
    for next in [false, true] {
        for end in ["forget", "expire", "abort"] {
            let place = id(&format!("{end}-{next}"))?;
            let link = Link::script([Fate::Twice, Fate::Late, Fate::Late, Fate::Late]);
            end_early(world, &repos, &repos.behind(&link), &place, end).await?;
            if next {
                repos.record_new(&place, "next", &op("bob")?, FOREVER).await?;
            }
            link.land().await;
            repos.ensure_value(&place, next.then_some("next")).await?;
            let late = repos.records.record(&place, &text("late")?, &ada, FOREVER).await?;
            ensure_eq!(late, Recorded::Fenced, "the op whose record or lease came to its end by {end}");
            if !next {
                repos.begin_new(&place, &op("bob")?, LONG).await?;
            }
        }
    }
    Ok(())
}

/// Creates a record or a lease and ends it while late copies of its calls are still in flight.
async fn end_early(world: &World, repos: &Repos, far: &Repos, place: &DedupId, end: &str) -> Verdict {
    let (ada, bob) = (op("ada")?, op("bob")?);
    if end == "abort" {
        let lease = far.begin_new(place, &ada, LONG).await?;
        ensure_lost(far.leases.extend(&lease, LONG)).await?;
        ensure_lost(far.leases.complete(&lease, &text("late")?, FOREVER)).await?;
        ensure_lost(far.leases.begin(place, &ada, LONG, None)).await?;
        ensure_eq!(repos.leases.abort(&lease).await?, Aborted::Aborted, "aborting");
        return Ok(());
    }
    let retention = if end == "expire" { Retention::For(world.short()) } else { FOREVER };
    let version = far.record_new(place, "first", &ada, retention).await?;
    ensure_lost(far.records.replace(place, version, &text("late")?, &bob)).await?;
    ensure_lost(far.records.forget(place, version)).await?;
    ensure_lost(far.leases.begin(place, &ada, LONG, None)).await?;
    if end == "expire" {
        world.pass(world.short()).await;
        return Ok(());
    }
    ensure_eq!(repos.records.forget(place, version).await?, Forgotten::Forgotten, "forgetting");
    Ok(())
}

/// Records and leases are created and ended under faults, and each call is repeated until it is answered. In the end
/// every answer is still true.
pub(super) async fn random_faults_leave_every_answer_true(world: &World) -> Verdict {
    let mut rng = world.rng();
    for _ in 0..world.profile().rounds {
        let world = world.another().await?;
        let repos = Repos::of(world.store())?;
        let link = Link::random(rng.u64(..), 30);
        let far = repos.behind(&link);
        let mut expected = BTreeMap::new();
        for number in 0..25 {
            let place = id(&format!("place-{number}"))?;
            let life = Life { repos: &far, place: &place, ada: op("ada")?, bob: op("bob")? };
            expected.insert(place.clone(), life.live(rng.u8(..6)).await?);
            if rng.u8(..4) == 0 {
                link.land().await;
            }
        }
        link.heal();
        link.land().await;
        for (place, value) in &expected {
            repos.ensure_value(place, *value).await?;
        }
        let listed = repos.records.list(None, 1_000).await?.entries.len();
        ensure_eq!(listed, expected.values().flatten().count(), "records listed in the end");
    }
    Ok(())
}

struct Life<'a> {
    repos: &'a Repos,
    place: &'a DedupId,
    ada: OpId,
    bob: OpId,
}

impl Life<'_> {
    /// Makes one of several sequences of calls on the id, and returns the value that the id has afterwards.
    async fn live(&self, choice: u8) -> Result<Option<&'static str>, Failure> {
        match choice {
            0 => {
                self.record("first", &self.ada).await?;
                self.rival("first").await
            }
            1 => {
                let version = self.record("first", &self.ada).await?;
                self.replace(version, "second").await?;
                self.rival("second").await
            }
            2 => {
                let version = self.record("first", &self.ada).await?;
                self.forget(version).await
            }
            3 => {
                let version = self.record("first", &self.ada).await?;
                self.forget(version).await?;
                self.record("second", &self.bob).await?;
                Ok(Some("second"))
            }
            4 => {
                let lease = self.begin().await?;
                self.complete(&lease).await?;
                self.rival("result").await
            }
            _ => {
                let lease = self.begin().await?;
                let aborted = answered(|| self.repos.leases.abort(&lease)).await?;
                ensure_eq!(aborted, Aborted::Aborted, "aborting one's lease");
                self.record("second", &self.bob).await?;
                Ok(Some("second"))
            }
        }
    }

    async fn record(&self, value: &str, who: &OpId) -> Result<Version, Failure> {
        let value = text(value)?;
        match answered(|| self.repos.records.record(self.place, &value, who, FOREVER)).await? {
            Recorded::New(version) => Ok(version),
            Recorded::Again(entry) if entry.value == value => Ok(entry.version),
            other => Err(Failure::new(format!("{who} records a vacant id: {other:?}"))),
        }
    }

    async fn replace(&self, version: Version, value: &str) -> Verdict {
        let value = text(value)?;
        let replaced = answered(|| self.repos.records.replace(self.place, version, &value, &self.ada)).await?;
        ensure_matches!(replaced, Replaced::Replaced(_) | Replaced::Again(_), "replacing what nobody else has");
        Ok(())
    }

    async fn forget(&self, version: Version) -> Result<Option<&'static str>, Failure> {
        let forgotten = answered(|| self.repos.records.forget(self.place, version)).await?;
        ensure_matches!(forgotten, Forgotten::Forgotten | Forgotten::Absent, "forgetting what nobody else has");
        Ok(None)
    }

    async fn begin(&self) -> Result<Lease, Failure> {
        let begun = answered(|| self.repos.leases.begin(self.place, &self.ada, LONG, None)).await?;
        Ok(ensure_matches!(begun, Begun::Started(lease) => lease, "beginning a vacant id"))
    }

    async fn complete(&self, lease: &Lease) -> Verdict {
        let result = text("result")?;
        let completed = answered(|| self.repos.leases.complete(lease, &result, FOREVER)).await?;
        let (Completed::Completed(entry) | Completed::Again(entry)) = completed else {
            return Err(Failure::new("the caller's own complete was fenced"));
        };
        ensure_eq!(entry.value, result, "the result that was recorded");
        Ok(())
    }

    /// Checks that `record` and `begin` of another caller both return this value.
    async fn rival(&self, value: &'static str) -> Result<Option<&'static str>, Failure> {
        let mine = text("rival")?;
        let recorded = answered(|| self.repos.records.record(self.place, &mine, &self.bob, FOREVER)).await?;
        let seen = ensure_matches!(recorded, Recorded::Existing(entry) => entry, "a rival's record");
        ensure_eq!(seen.value, text(value)?, "what a rival sees");
        let begun = answered(|| self.repos.leases.begin(self.place, &self.bob, LONG, None)).await?;
        ensure_eq!(begun, Begun::Done(seen), "a rival's begin");
        Ok(Some(value))
    }
}
