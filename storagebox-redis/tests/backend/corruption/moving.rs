//! Namespaces whose slots are on their way to another node of a cluster.

use std::time::Duration;

use storagebox_core::{Certainty, ErrorKind, Result};
use storagebox_testkit::redis::Settings;
use tokio::task::JoinSet;

use super::UPKEEP;
use super::epoch::{PARTS, filled};
use crate::support::{Resharding, Server, failed};

/// What the calls begin with that only read; those need not be stopped.
const READS: [&str; 6] = ["counts", "exists", "get", "holder", "list", "value"];

/// A script that wrote and then met a key which is not here any more would stop half-way, so each one that may write is
/// stopped before it does: not only those of the bank.
#[tokio::test(flavor = "multi_thread")]
async fn every_change_of_a_slot_on_its_way_is_stopped_before_it_does_anything() -> Result<()> {
    let place = Server::cluster(Settings::quick()).await?.place().await?;
    // A busy machine takes its time, and what ran out of it would be unknown.
    let patient = place.builder()?.call_timeout(Duration::from_secs(60)).connect(&place.server.url())?;
    let calls = filled(&place, &patient).await?;
    let mut moving = vec![];
    for part in PARTS {
        moving.push(Resharding::begin(&place, part.tag).await?);
    }
    let is_change = |name: &str| name != UPKEEP && !READS.iter().any(|read| name.starts_with(read));
    // Each is tried again for some seconds: side by side they take them once.
    let mut changes = JoinSet::new();
    for call in calls.iter().filter(|call| is_change(&call.name)) {
        let (name, made) = (call.name.clone(), call.make());
        changes.spawn(async move { (name, made.await) });
    }
    let stopped = changes.join_all().await;
    assert!(stopped.len() > 100, "only {} calls", stopped.len());
    for (name, outcome) in stopped {
        let error = outcome.expect_err(&name);
        let found = (error.kind(), error.certainty());
        assert_eq!(found, (ErrorKind::Contention, Certainty::NotApplied), "{name}: {error}");
    }
    for slot in moving {
        slot.finish(&place).await?;
    }
    let store = place.store()?;
    let bank = storagebox_core::Backend::item_bank(&store, &super::NAMESPACE.parse()?)?;
    let counts = storagebox_core::ItemBank::counts(&*bank).await?;
    if counts.total() == 12 { Ok(()) } else { Err(failed(format_args!("{counts:?}"))) }
}
