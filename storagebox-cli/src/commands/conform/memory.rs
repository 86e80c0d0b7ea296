//! Stores in this process.

use storagebox::{Error, MemoryStore, async_trait};
use storagebox_conformance::{Embedded, Harness};

use super::TestTarget;

pub(super) struct Process;

#[async_trait]
impl TestTarget for Process {
    fn harness(&self) -> Box<dyn Harness> {
        Box::new(Embedded::new("memory", |clock| MemoryStore::builder().clock(clock).build()))
    }

    async fn reach(&self) -> Result<(), Error> {
        Ok(())
    }

    async fn remove(&self) -> Result<(), Error> {
        Ok(())
    }

    fn left(&self) -> String {
        "what is in this process".to_owned()
    }
}
