//! A store on a real clock that is far away: each call takes as long as a round trip across an ocean.

use std::sync::Arc;
use std::time::Duration;

use storagebox_conformance::{Case, Declared, Harness, Sandbox, listed};
use storagebox_core::layer::{Call, Layer, Layered, Next, Response};
use storagebox_core::{Backend, ListedItem, Namespace, Result, async_trait};
use storagebox_memory::MemoryStore;

const ROUND_TRIP: Duration = Duration::from_millis(200);

/// The functions of cases that make several calls before an entry ends. All cases would take a quarter of an hour.
const CASES: [&str; 6] = [
    "a_record_lives_to_its_end",
    "an_expired_record_is_not_listed",
    "later_calls_do_not_change_the_retention",
    "beginning_again_does_not_extend",
    "what_stands_there_decides_before_the_horizon",
    "a_tombstone_goes_after_its_age",
];

pub(crate) fn is_timed(case: &Case) -> bool {
    CASES.iter().any(|name| case.name().ends_with(name))
}

#[derive(Debug)]
struct Distance;

#[async_trait]
impl Layer for Distance {
    #[allow(clippy::disallowed_methods, reason = "it is the way to the store that takes time, not the store")]
    async fn call(&self, _: &Call<'_>, next: Next<'_>) -> Result<Response> {
        tokio::time::sleep(ROUND_TRIP).await;
        next.run().await
    }
}

pub(crate) struct Remote;

struct Place(Arc<dyn Backend>);

#[async_trait]
impl Harness for Remote {
    fn name(&self) -> String {
        "memory far away".to_owned()
    }

    fn declared(&self) -> Declared {
        Declared::all()
            .without_network("a store in this process has no server")
            .without_restart("a store in this process ends with it")
            .without_processes("a store in this process is its alone")
    }

    async fn bare(&self) -> Result<Box<dyn Sandbox>> {
        Ok(Box::new(Place(Arc::new(Layered::new(Arc::new(MemoryStore::new()), Arc::new(Distance))))))
    }
}

/// A sandbox whose clock cannot be moved.
#[async_trait]
impl Sandbox for Place {
    async fn open(&self) -> Result<Arc<dyn Backend>> {
        Ok(Arc::clone(&self.0))
    }

    async fn audit(&self, bank: &Namespace) -> Result<Vec<ListedItem>> {
        listed(&*self.0, bank).await
    }
}
