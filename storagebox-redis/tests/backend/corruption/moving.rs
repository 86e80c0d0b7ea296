//! Namespaces whose slots are moving to another node of a cluster.

use std::collections::BTreeSet;
use std::time::Duration;

use storagebox_core::{Backend as _, Certainty, ErrorKind, ItemBank as _, Result};
use storagebox_redis::RedisStore;
use storagebox_testkit::checks::calls::LOOKS;
use storagebox_testkit::checks::corruption::Call;
use storagebox_testkit::redis::Settings;
use tokio::task::JoinSet;

use super::epoch::PARTS;
use super::{NAMESPACE, Part, UPKEEP};
use crate::support::{Place, Resharding, Server};

/// Fills a namespace. Returns a call for each changing script of the part, except upkeep.
async fn changes(place: &Place, store: &RedisStore, part: &Part) -> Result<Vec<Call>> {
    (part.fill)(place, store, NAMESPACE).await?;
    let (mut calls, mut seen) = (part.every_call(store, NAMESPACE)?, BTreeSet::new());
    calls.retain(|call| {
        let verb = call.name.split(' ').next().unwrap_or_default();
        !LOOKS.contains(&verb) && verb != UPKEEP && seen.insert(verb.to_owned())
    });
    Ok(calls)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_in_a_moving_slot_stops_before_its_first_write() -> Result<()> {
    let place = Server::cluster(Settings::quick()).await?.place().await?;
    // A long timeout, because a call that ran out of time on a busy machine would be unknown.
    let patient = place.builder()?.call_timeout(Duration::from_secs(60)).connect(&place.server.url())?;
    let (mut calls, mut moving) = (vec![], vec![]);
    for part in PARTS {
        calls.extend(changes(&place, &patient, part).await?);
    }
    for part in PARTS {
        moving.push(Resharding::begin(&place, part.tag).await?);
    }
    assert!(calls.len() >= 24, "{calls:?}");
    // Each call is retried for some seconds, so they run at the same time.
    let mut stopped = JoinSet::new();
    for call in calls {
        stopped.spawn(async move { (call.make().await, call.name) });
    }
    for (outcome, name) in stopped.join_all().await {
        let error = outcome.expect_err(&name);
        let found = (error.kind(), error.certainty());
        assert_eq!(found, (ErrorKind::Contention, Certainty::NotApplied), "{name}: {error}");
    }
    for slot in moving {
        slot.finish(&place).await?;
    }
    assert_eq!(place.store()?.item_bank(&NAMESPACE.parse()?)?.counts().await?.total(), 12);
    Ok(())
}
