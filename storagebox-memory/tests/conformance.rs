//! The conformance suite against the memory backend, with a clock that the suite moves.

use std::process::ExitCode;

use storagebox_conformance::{Embedded, run};
use storagebox_memory::MemoryStore;

fn main() -> ExitCode {
    run(Embedded::new("memory", |clock| MemoryStore::builder().clock(clock).build()))
}
