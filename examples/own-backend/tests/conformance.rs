//! Certifies the parts that the backend has.

use std::process::ExitCode;
use std::sync::Arc;

use own_backend::Consumer;
use storagebox_conformance::{Declared, Harness, Part, Sandbox, TestClock, run};
use storagebox_core::{Backend, Error, ListedItem, ManualClock, Namespace, Result, async_trait};

struct Consumers;

/// A store and its clock.
struct Place(Consumer, ManualClock);

#[async_trait]
impl Harness for Consumers {
    fn name(&self) -> String {
        "consumer".into()
    }

    fn declared(&self) -> Declared {
        use Part::{Counter, Deduplicator, Errors, ItemBank, Ordered, Store, Strategies, Values};
        [Counter, Deduplicator, ItemBank, Ordered, Strategies]
            .into_iter()
            .map(|part| (part, "the backend lacks the part"))
            .chain([Errors, Store, Values].map(|part| (part, "its cases need a bank")))
            .fold(Declared::all(), |declared, (part, why)| declared.without(part, why))
            .without_network("a store in memory has no server")
            .without_restart("a store in memory ends with its process")
    }

    async fn fresh(&self) -> Result<Sandbox> {
        let clock = ManualClock::new();
        Ok(Sandbox::new("consumer", Place(Consumer::new(clock.clone()), clock)))
    }

    async fn open(&self, sandbox: &Sandbox) -> Result<Arc<dyn Backend>> {
        let place = sandbox.guard::<Place>();
        place.map(|place| Arc::new(place.0.clone()) as _).ok_or_else(|| Error::corrupt("the place", "is another's"))
    }

    async fn audit(&self, _: &Sandbox, _: &Namespace) -> Result<Vec<ListedItem>> {
        Ok(vec![])
    }

    fn clock(&self, sandbox: &Sandbox) -> Option<Arc<dyn TestClock>> {
        sandbox.guard::<Place>().map(|place| Arc::new(place.1.clone()) as _)
    }
}

fn main() -> ExitCode {
    run(Consumers)
}
