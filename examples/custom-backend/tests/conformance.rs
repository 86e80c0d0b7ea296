//! The suite on the backend.

mod harness;

use std::process::ExitCode;
use std::sync::Arc;

use storagebox_conformance::Profile;

fn main() -> ExitCode {
    harness::suite(|store| Arc::new(store), Profile::SMOKE)
}
