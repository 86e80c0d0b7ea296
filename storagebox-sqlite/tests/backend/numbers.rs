//! Versions and fences after some tables were restored from an older copy than the others.

use std::time::Duration;

use sqlx::{Connection as _, query};
use storagebox_core::{
    Backend as _, Begun, Completed, DedupRepo as _, LeaseRepo as _, Payload, Recorded, Replaced, Result, Retention,
};
use storagebox_testkit::checks::entities::{commit_at, committed, split, version};

use crate::support::{Place, failed};

const HOUR: Duration = Duration::from_secs(3_600);

/// Sets the last number of each namespace back to 0, as if the table of namespaces came from an older copy.
async fn put_back(place: &Place) -> Result<()> {
    let mut raw = place.raw().await?;
    query("UPDATE storagebox_namespaces SET last_number = 0").execute(&mut raw).await.map_err(failed)?;
    raw.close().await.map_err(failed)
}

#[tokio::test]
async fn a_fence_after_a_partial_restore_exceeds_the_stored_fence() -> Result<()> {
    let place = Place::ready().await?;
    let leases = place.store()?.lease_repo(&"namespace".parse()?)?;
    let id = "id".parse()?;
    let mut last = 0;
    for number in 0..4 {
        let begun = leases.begin(&id, &format!("op-{number}").parse()?, HOUR, None).await?;
        let Begun::Started(lease) = begun else { return Err(failed(format_args!("{begun:?}"))) };
        assert!(lease.fence.number() > last, "{lease:?} after {last}");
        last = lease.fence.number();
        place.clock.advance(2 * HOUR);
        if number % 2 == 1 {
            put_back(&place).await?;
        }
    }
    let begun = leases.begin(&id, &"last".parse()?, HOUR, None).await?;
    let Begun::Started(lease) = begun else { return Err(failed(format_args!("{begun:?}"))) };
    put_back(&place).await?;
    let completed = leases.complete(&lease, &Payload::try_from("done")?, Retention::Forever).await?;
    let Completed::Completed(entry) = completed else { return Err(failed(format_args!("{completed:?}"))) };
    assert!(entry.version.number() > lease.fence.number(), "{entry:?} after {lease:?}");
    Ok(())
}

#[tokio::test]
async fn a_version_after_a_partial_restore_exceeds_the_stored_version() -> Result<()> {
    let place = Place::ready().await?;
    let records = place.store()?.dedup_repo(&"namespace".parse()?)?;
    let (id, value) = ("id".parse()?, Payload::try_from("value")?);
    for number in 0..5 {
        let _ = records.record(&format!("other-{number}").parse()?, &value, &"op".parse()?, Retention::Forever).await?;
    }
    let recorded = records.record(&id, &value, &"op".parse()?, Retention::Forever).await?;
    let Recorded::New(mut last) = recorded else { return Err(failed(format_args!("{recorded:?}"))) };
    for number in 0..3 {
        put_back(&place).await?;
        let replaced = records.replace(&id, last, &value, &format!("next-{number}").parse()?).await?;
        let Replaced::Replaced(next) = replaced else { return Err(failed(format_args!("{replaced:?}"))) };
        assert!(next > last, "{next:?} after {last:?}");
        last = next;
    }
    Ok(())
}

#[tokio::test]
async fn an_entity_version_grows_after_a_partial_restore() -> Result<()> {
    let place = Place::ready().await?;
    let entities = split(&place.store()?)?;
    let mut last = None;
    for number in 0..4 {
        committed(&*entities, &commit_at(last, &format!("message-{number}"))).await?;
        let next = version(&*entities, "look").await?;
        assert!(next > last, "{next:?} after {last:?}");
        last = next;
        put_back(&place).await?;
    }
    Ok(())
}
