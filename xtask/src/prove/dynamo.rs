//! The long tests of the DynamoDB backend.

use anyhow::Result;
use storagebox_testkit::python;

use crate::command::shown;
use crate::install;
use crate::steps::step;

/// The test that another test runs as a child process, and that fails without its environment variables.
const WORKER: &str = "a_worker_process";

/// The option that runs six cases at once, because a case mostly waits for the server.
const AT_ONCE: &str = "--test-threads=6";

pub(super) fn run() -> Result<()> {
    step("dynoxide (some minutes, once)", install::dynoxide)?;
    step("the Python package of article 1", || {
        python::with_the_package_of_article_1()?;
        Ok(String::new())
    })?;
    shown(super::test_at_length("storagebox-dynamo", "prove", &["--skip", WORKER]))?;
    shown(super::test("storagebox-cli", "cli", &["--ignored", "dynamo"]))?;
    super::suite_at_length("storagebox-dynamo", &[AT_ONCE])?;
    let mut faults = super::test("storagebox-dynamo", "faults", &[AT_ONCE]);
    faults.env("STORAGEBOX_FAULTS", "each");
    shown(faults)
}
