//! The conformance suite against the memory backend, with a clock that the suite moves.

use std::any::Any;
use std::process::ExitCode;

use storagebox_conformance::{CallerTransaction, Embedded, run};
use storagebox_core::{Result, async_trait};
use storagebox_memory::{MemoryStore, MemoryTransaction};

struct Caller(MemoryTransaction);

#[async_trait]
impl CallerTransaction for Caller {
    fn connection(&mut self) -> &mut (dyn Any + Send) {
        &mut self.0
    }

    async fn commit(self: Box<Self>) -> Result<()> {
        self.0.commit()
    }

    async fn rollback(self: Box<Self>) -> Result<()> {
        self.0.rollback();
        Ok(())
    }
}

fn main() -> ExitCode {
    let memory = Embedded::new("memory", |clock| MemoryStore::builder().clock(clock).build());
    run(memory.with_transactions(|| Box::new(Caller(MemoryTransaction::begin()))))
}
