//! The long tests of the Redis backend.

use anyhow::Result;

use crate::command::{cargo, shown};

pub(super) fn run() -> Result<()> {
    let mut of_backend = super::test_at_length("storagebox-redis", "prove", &[]);
    of_backend.env("STORAGEBOX_SET_UPS", "everything");
    shown(of_backend)?;
    super::suite_at_length("storagebox-redis", &[])?;
    super::suite_in_other_set_ups("storagebox-redis")?;
    shown(cargo(["run", "--locked", "-p", "storagebox-redis", "--example", "harness"]))
}
