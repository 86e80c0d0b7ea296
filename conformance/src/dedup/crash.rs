//! A server that is killed and restarted.

use storagebox_core::{Begun, Completed, DedupRepo, Fingerprint, LeaseRepo, Recorded, Retention};

use super::{LONG, Repos, id, op, text};
use crate::failure::{Verdict, ensure, ensure_eq, ensure_matches};
use crate::harness::Restart;
use crate::world::World;

pub(super) async fn what_was_acknowledged_survives_a_restart(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (ada, bob) = (op("ada")?, op("bob")?);
    let (order, gone, job) = (id("order")?, id("gone")?, id("job")?);
    repos.record_new(&order, "value", &ada, Retention::Forever).await?;
    let version = repos.record_new(&gone, "value", &ada, Retention::Forever).await?;
    let _ = repos.records.forget(&gone, version).await?;
    let ten = Fingerprint::new("ten")?;
    let begun = repos.leases.begin(&job, &ada, LONG, Some(&ten)).await?;
    let lease = ensure_matches!(begun, Begun::Started(lease) => lease, "ada begins");
    world.restart(Restart::Kill).await?;

    let fresh = Repos::of(&world.client().await?)?;
    let entry = fresh.entry(&order).await?;
    let again = fresh.records.record(&order, &text("x")?, &ada, Retention::Forever).await?;
    ensure_eq!(again, Recorded::Again(entry.clone()), "the winner's retry after the restart");
    let other = fresh.records.record(&order, &text("x")?, &bob, Retention::Forever).await?;
    ensure_eq!(other, Recorded::Existing(entry), "another's record after the restart");
    fresh.ensure_value(&order, Some("value")).await?;
    let late = fresh.records.record(&gone, &text("x")?, &ada, Retention::Forever).await?;
    ensure_eq!(late, Recorded::Fenced, "a late record of what was forgotten before the restart");
    let next = fresh.record_new(&gone, "next", &bob, Retention::Forever).await?;
    ensure!(next != version, "{version:?} was used again after the restart");

    let same = fresh.leases.begin(&job, &ada, LONG, Some(&ten)).await?;
    ensure_eq!(same, Begun::Started(lease.clone()), "the lease after the restart");
    let mismatch = fresh.leases.begin(&job, &bob, LONG, Some(&Fingerprint::new("eleven")?)).await?;
    ensure_eq!(mismatch, Begun::Mismatch, "the fingerprint after the restart");
    let completed = fresh.leases.complete(&lease, &text("result")?, Retention::Forever).await?;
    ensure_matches!(completed, Completed::Completed(_), "completing after the restart");
    world.restart(Restart::Clean).await?;
    Repos::of(&world.client().await?)?.ensure_value(&job, Some("result")).await
}
