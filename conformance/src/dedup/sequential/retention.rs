//! How long a record is remembered: D-4.

use std::collections::BTreeMap;

use storagebox_core::{Begun, Completed, DedupRepo, Forgotten, LeaseRepo, MAX_DURATION, Recorded, Replaced, Retention};

use crate::dedup::{LONG, Repos, id, op, text};
use crate::ends::before_its_end;
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::pages::after;
use crate::world::World;

const FOREVER: Retention = Retention::Forever;

/// Every kind of call treats an expired record as absent, even if it is the first call after the expiry.
pub(in crate::dedup) async fn an_expired_record_is_absent(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (ada, bob, short) = (op("ada")?, op("bob")?, world.short());
    let mut versions = BTreeMap::new();
    for name in ["get", "replace", "forget", "record", "begin"] {
        versions.insert(name, repos.record_new(&id(name)?, "first", &ada, Retention::For(short)).await?);
        repos.ensure_value(&id(name)?, Some("first")).await?;
    }
    world.pass(short).await;
    repos.ensure_value(&id("get")?, None).await?;
    let replaced = repos.records.replace(&id("replace")?, versions["replace"], &text("x")?, &bob).await?;
    ensure_eq!(replaced, Replaced::Stale(None), "a replace of an expired record");
    let forgotten = repos.records.forget(&id("forget")?, versions["forget"]).await?;
    ensure_eq!(forgotten, Forgotten::Absent, "forgetting an expired record");
    let version = repos.record_new(&id("record")?, "second", &bob, FOREVER).await?;
    ensure!(version != versions["record"], "a version was used again after the expiry");
    repos.ensure_value(&id("record")?, Some("second")).await?;
    repos.begin_new(&id("begin")?, &bob, LONG).await?;
    repos.ensure_value(&id("replace")?, None).await
}

pub(in crate::dedup) async fn an_expired_record_is_not_listed(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (ada, short) = (op("ada")?, world.short());
    repos.record_new(&id("short")?, "first", &ada, Retention::For(short)).await?;
    repos.record_new(&id("long")?, "first", &ada, Retention::For(LONG)).await?;
    repos.begin_new(&id("leased")?, &ada, LONG).await?;
    ensure_eq!(listed(&repos, 10).await?.len(), 2, "records listed before the expiry");
    world.pass(short).await;
    let left: Vec<_> = listed(&repos, 10).await?.into_keys().collect();
    ensure_eq!(left, ["long"], "records listed after the expiry");
    Ok(())
}

pub(in crate::dedup) async fn a_record_lives_to_its_end(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (order, ada, short) = (id("order")?, op("ada")?, world.short());
    let lives = async {
        repos.record_new(&order, "first", &ada, Retention::For(short * 3)).await?;
        for _ in 0..2 {
            world.pass(short).await;
            repos.ensure_value(&order, Some("first")).await?;
            let other = repos.records.record(&order, &text("x")?, &op("bob")?, FOREVER).await?;
            ensure_matches!(other, Recorded::Existing(_), "another's record before the end");
            let again = repos.records.record(&order, &text("x")?, &ada, FOREVER).await?;
            ensure_matches!(again, Recorded::Again(_), "the winner's retry before the end");
        }
        Ok(())
    };
    before_its_end(world, short * 3, lives).await?;
    world.pass(short).await;
    repos.ensure_value(&order, None).await
}

pub(in crate::dedup) async fn forever_is_for_ever(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (order, job, ada) = (id("order")?, id("job")?, op("ada")?);
    repos.record_new(&order, "first", &ada, FOREVER).await?;
    let lease = repos.begin_new(&job, &ada, LONG).await?;
    let _ = repos.leases.complete(&lease, &text("result")?, FOREVER).await?;
    if world.can_travel() {
        world.pass(MAX_DURATION).await;
    }
    world.upkeep().await?;
    repos.ensure_value(&order, Some("first")).await?;
    repos.ensure_value(&job, Some("result")).await?;
    let again = repos.records.record(&order, &text("x")?, &ada, FOREVER).await?;
    ensure_matches!(again, Recorded::Again(_), "the winner's retry after a hundred years");
    Ok(())
}

pub(in crate::dedup) async fn later_calls_do_not_change_the_retention(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (ada, bob, short) = (op("ada")?, op("bob")?, world.short());
    let (brief, lasting) = (id("brief")?, id("lasting")?);
    let lives = async {
        for (order, retention, other) in
            [(&brief, Retention::For(short * 2), FOREVER), (&lasting, FOREVER, Retention::For(short))]
        {
            let version = repos.record_new(order, "first", &ada, retention).await?;
            let _ = repos.records.record(order, &text("x")?, &ada, other).await?;
            let _ = repos.records.record(order, &text("x")?, &bob, other).await?;
            let _ = repos.records.replace(order, version, &text("second")?, &bob).await?;
            let _ = repos.leases.begin(order, &bob, short, None).await?;
        }
        world.pass(short).await;
        let version = repos.entry(&brief).await?.version;
        let _ = repos.records.replace(&brief, version, &text("third")?, &bob).await?;
        repos.ensure_value(&brief, Some("third")).await
    };
    before_its_end(world, short * 2, lives).await?;
    world.pass(short).await;
    repos.ensure_value(&brief, None).await?;
    repos.ensure_value(&lasting, Some("second")).await
}

pub(in crate::dedup) async fn a_result_expires_after_its_completion(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (job, ada, bob, short) = (id("job")?, op("ada")?, op("bob")?, world.short());
    let lease = repos.begin_new(&job, &ada, LONG).await?;
    world.pass(short * 2).await;
    let _ = repos.leases.complete(&lease, &text("result")?, Retention::For(short * 2)).await?;
    world.pass(short).await;
    let done = repos.leases.begin(&job, &bob, LONG, None).await?;
    ensure_matches!(done, Begun::Done(_), "a result whose retention began with its completion");
    world.pass(short).await;
    repos.ensure_value(&job, None).await?;
    let late = repos.leases.complete(&lease, &text("late")?, FOREVER).await?;
    ensure_eq!(late, Completed::Fenced, "completing again when the result has expired");
    let next = repos.begin_new(&job, &bob, LONG).await?;
    ensure!(next.fence > lease.fence, "the fence {:?} after {:?}", next.fence, lease.fence);
    Ok(())
}

pub(in crate::dedup) async fn upkeep_deletes_nothing_that_lives(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let (ada, bob, short) = (op("ada")?, op("bob")?, world.short());
    repos.record_new(&id("brief")?, "first", &ada, Retention::For(short)).await?;
    repos.record_new(&id("long")?, "first", &ada, Retention::For(LONG)).await?;
    let lease = repos.begin_new(&id("leased")?, &ada, LONG).await?;
    let lapsed = repos.begin_new(&id("lapsed")?, &ada, short).await?;
    world.pass(short).await;
    for _ in 0..3 {
        world.upkeep().await?;
    }
    repos.ensure_value(&id("brief")?, None).await?;
    repos.ensure_value(&id("long")?, Some("first")).await?;
    let begun = repos.leases.begin(&id("leased")?, &bob, LONG, None).await?;
    ensure_matches!(begun, Begun::InFlight { .. }, "another's begin during a lease, after upkeep");
    for lease in [lease, lapsed] {
        let completed = repos.leases.complete(&lease, &text("result")?, FOREVER).await?;
        ensure_matches!(completed, Completed::Completed(_), "completing {} after upkeep", lease.id);
    }
    Ok(())
}

pub(in crate::dedup) async fn a_listing_shows_each_record_once(world: &World) -> Verdict {
    let repos = Repos::of(world.store())?;
    let ada = op("ada")?;
    for number in 0..120 {
        let name = format!("record-{number}");
        repos.record_new(&id(&name)?, &name, &ada, FOREVER).await?;
    }
    for limit in [1, 7, 1_000] {
        let shown = listed(&repos, limit).await?;
        for number in 0..120 {
            let name = format!("record-{number}");
            let found = shown.get(&name).cloned();
            ensure_eq!(found, Some((1, name.clone())), "how often {name} is listed by {limit}, and its value");
        }
    }
    Ok(())
}

/// Lists all ids while records are created. Returns how often each id was listed, and the value of the id.
async fn listed(repos: &Repos, limit: usize) -> Result<BTreeMap<String, (usize, String)>, Failure> {
    let mut shown = BTreeMap::new();
    let mut cursor = None;
    loop {
        let page = repos.records.list(cursor.as_ref(), limit).await?;
        ensure!(page.entries.len() <= limit, "{} entries on a page of {limit}", page.entries.len());
        for listed in page.entries {
            let value = String::from_utf8_lossy(listed.entry.value.as_bytes()).into_owned();
            shown.entry(String::from(listed.id)).or_insert((0, value)).0 += 1;
        }
        cursor = after(cursor.as_ref(), page.next)?;
        if cursor.is_none() {
            return Ok(shown);
        }
        let name = format!("later-{}-{limit}", shown.len());
        let _ = repos.records.record(&id(&name)?, &text("x")?, &op("bob")?, FOREVER).await?;
    }
}
