//! The same id with another fingerprint: D-6.

use storagebox_core::{Begun, Completed, DedupRepo, Fingerprint, Lease, LeaseRepo, Retention};

use crate::dedup::{LONG, Repos, id, op, text};
use crate::failure::{Failure, Verdict, ensure_eq, ensure_matches};
use crate::world::World;

pub(super) async fn begin(repos: &Repos, name: &str, who: &str, fingerprint: Option<&str>) -> Result<Begun, Failure> {
    let fingerprint = fingerprint.map(Fingerprint::new).transpose()?;
    Ok(repos.leases.begin(&id(name)?, &op(who)?, LONG, fingerprint.as_ref()).await?)
}

pub(super) async fn started(repos: &Repos, name: &str, who: &str, fingerprint: &str) -> Result<Lease, Failure> {
    let begun = begin(repos, name, who, Some(fingerprint)).await?;
    Ok(ensure_matches!(begun, Begun::Started(lease) => lease, "{who} begins {name}"))
}

pub(in crate::dedup) async fn another_fingerprint_is_mismatch(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let lease = started(&repos, "job", "ada", "ten").await?;
    for who in ["ada", "bob"] {
        ensure_eq!(begin(&repos, "job", who, Some("eleven")).await?, Begun::Mismatch, "{who} during the lease");
    }
    let _ = repos.leases.complete(&lease, &text("result")?, Retention::Forever).await?;
    for who in ["ada", "bob"] {
        ensure_eq!(begin(&repos, "job", who, Some("eleven")).await?, Begun::Mismatch, "{who} after the lease");
    }
    let version = repos.entry(&id("job")?).await?.version;
    let _ = repos.records.replace(&id("job")?, version, &text("other")?, &op("eve")?).await?;
    ensure_eq!(begin(&repos, "job", "bob", Some("eleven")).await?, Begun::Mismatch, "after a replace");
    started(&repos, "another", "bob", "eleven").await?;
    Ok(())
}

pub(in crate::dedup) async fn the_same_or_none_is_no_mismatch(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let lease = started(&repos, "job", "ada", "ten").await?;
    for fingerprint in [Some("ten"), None] {
        let same = begin(&repos, "job", "ada", fingerprint).await?;
        ensure_eq!(same, Begun::Started(lease.clone()), "the same op with {fingerprint:?}");
        let other = begin(&repos, "job", "bob", fingerprint).await?;
        ensure_matches!(other, Begun::InFlight { .. }, "another's begin with {fingerprint:?}");
    }
    let completed = repos.leases.complete(&lease, &text("result")?, Retention::Forever).await?;
    let entry = ensure_matches!(completed, Completed::Completed(entry) => entry, "completing");
    for fingerprint in [Some("ten"), None] {
        let done = begin(&repos, "job", "bob", fingerprint).await?;
        ensure_eq!(done, Begun::Done(entry.clone()), "a begin of what is done with {fingerprint:?}");
    }
    let recorded = id("recorded")?;
    repos.record_new(&recorded, "value", &op("ada")?, Retention::Forever).await?;
    let done = begin(&repos, "recorded", "bob", Some("ten")).await?;
    ensure_eq!(done, Begun::Done(repos.entry(&recorded).await?), "a record that names no fingerprint");
    repos.begin_new(&id("unnamed")?, &op("ada")?, LONG).await?;
    let other = begin(&repos, "unnamed", "bob", Some("ten")).await?;
    ensure_matches!(other, Begun::InFlight { .. }, "a lease that names no fingerprint");
    Ok(())
}

pub(in crate::dedup) async fn a_mismatch_changes_nothing(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let lease = started(&repos, "job", "ada", "ten").await?;
    let _ = begin(&repos, "job", "bob", Some("eleven")).await?;
    let _ = begin(&repos, "job", "ada", Some("eleven")).await?;
    let same = begin(&repos, "job", "ada", Some("ten")).await?;
    ensure_eq!(same, Begun::Started(lease.clone()), "the lease after mismatches");
    let completed = repos.leases.complete(&lease, &text("result")?, Retention::Forever).await?;
    let entry = ensure_matches!(completed, Completed::Completed(entry) => entry, "completing");
    let _ = begin(&repos, "job", "bob", Some("eleven")).await?;
    ensure_eq!(repos.entry(&id("job")?).await?, entry, "the result after a mismatch");
    let done = begin(&repos, "job", "bob", Some("ten")).await?;
    ensure_eq!(done, Begun::Done(entry), "the fingerprint after a mismatch");
    Ok(())
}

pub(in crate::dedup) async fn a_fingerprint_ends_with_its_record(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, short) = (id("job")?, world.short());
    let lease = started(&repos, "job", "ada", "one").await?;
    let _ = repos.leases.abort(&lease).await?;
    let lease = started(&repos, "job", "bob", "two").await?;
    let _ = repos.leases.complete(&lease, &text("result")?, Retention::Forever).await?;
    let _ = repos.records.forget(&job, repos.entry(&job).await?.version).await?;
    let lease = started(&repos, "job", "eve", "three").await?;
    let _ = repos.leases.complete(&lease, &text("result")?, Retention::For(short)).await?;
    world.pass(short).await;
    let lease = started(&repos, "job", "kim", "four").await?;
    let _ = repos.leases.complete(&lease, &text("result")?, Retention::Forever).await?;
    ensure_eq!(begin(&repos, "job", "joe", Some("three")).await?, Begun::Mismatch, "an older fingerprint");
    Ok(())
}
