//! The Redis backend, at length, by its own long tests.

use crate::command::{cargo, shown};
use crate::failure::Failure;

pub(super) fn run() -> Result<(), Failure> {
    let of_backend = ["test", "--locked", "-p", "storagebox-redis", "--test", "prove", "--"];
    shown(cargo(of_backend.into_iter().chain(["--ignored", "--nocapture", "--test-threads=1"])))?;
    super::suite_at_length("storagebox-redis")?;
    super::suite_in_other_set_ups("storagebox-redis")?;
    shown(cargo(["run", "--locked", "-p", "storagebox-redis", "--example", "harness"]))
}
