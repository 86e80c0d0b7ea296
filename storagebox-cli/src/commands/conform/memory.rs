//! The target `memory:`, whose stores are in this process.

use storagebox::time::ManualClock;
use storagebox::{MemoryStore, Result, async_trait};
use storagebox_conformance::Declared;

use super::TestTarget;
use super::cases::Case;

pub(super) struct Process;

#[async_trait]
impl TestTarget for Process {
    fn name(&self) -> String {
        "memory".to_owned()
    }

    fn declared(&self) -> Declared {
        Declared::all()
            .without_network("a store in this process has no server")
            .without_restart("a store in this process ends with it")
    }

    async fn bare(&self, _: u64) -> Result<Case> {
        let clock = ManualClock::new();
        let store = MemoryStore::builder().clock(clock.clone()).build()?;
        Ok(Case::new(clock, move |_| Ok(store.clone())))
    }

    fn left(&self) -> String {
        "nothing outside this process".to_owned()
    }
}
