//! Certifies the parts that the backend has.

use std::process::ExitCode;

use own_backend::Consumer;
use storagebox_conformance::{Embedded, Part, run};

fn main() -> ExitCode {
    let missing = [Part::ItemBank, Part::Entities, Part::Counter, Part::Ordered];
    let harness = Embedded::new("consumer", |clock| Ok(Consumer::new(clock)));
    run(missing.into_iter().fold(harness, |harness, part| harness.without(part, "the backend lacks the part")))
}
