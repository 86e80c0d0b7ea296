//! Entities and their entries, E-1 to E-8: what the suite does not test of this backend.

mod forgotten;
mod lost;
mod sizes;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use storagebox_core::{Clock, Commit, EntityLedger, Result};
use storagebox_testkit::checks::entities::{self, commit_of, split};
use storagebox_testkit::checks::{id, processor};

use crate::scene::{in_place, recorded, with_place};

/// Returns a commit that adds an entry, consumes one token and creates two.
async fn exchange_of(entities: &dyn EntityLedger, name: &str) -> Result<Commit> {
    let create = vec![id(&format!("{name}-0")), id(&format!("{name}-1"))];
    Ok(Commit { consume: Some(id("in")), create, ..commit_of(entities, name).await? })
}

/// A clock that moves on by a millisecond each time it is read.
#[derive(Debug, Default)]
struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> Duration {
        Duration::from_secs(1_700_000_000) + Duration::from_millis(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn racing_copies_of_a_message_take_effect_once() -> Result<()> {
    in_place(async |place| {
        let client = place.table.client(None, None).await;
        let store = place.builder().clock(Ticking::default()).from_client(&client)?;
        processor::racing_copies_take_effect_once([&store, &store]).await
    })
    .await
}

#[test]
fn invalid_calls_of_entities_are_refused_before_any_request() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let opened = split(&store)?;
        opened.pending(None, 1).await?;
        faults.taken();
        entities::refuses_before_it_asks(&store, &["nobody's"]).await?;
        assert_eq!(faults.taken(), [], "requests were sent");
        Ok(())
    })
}
