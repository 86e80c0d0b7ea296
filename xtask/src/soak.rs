//! Runs the backends for a long time.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use crate::arguments::Soak;
use crate::command::{cargo, shown};
use crate::install;
use crate::steps::step;

/// The packages that parse input from outside.
const READERS: [&str; 6] = [
    "storagebox-cli",
    "storagebox-core",
    "storagebox-dynamo",
    "storagebox-postgres",
    "storagebox-redis",
    "storagebox-sqlite",
];

pub(crate) fn run(soak: &Soak) -> Result<()> {
    step("dynoxide (some minutes, once)", install::dynoxide)?;
    let mut run = cargo(["run", "--locked", "-p", "storagebox-soak", "--"]);
    run.arg(soak.minutes.to_string()).args(&soak.backends);
    shown(run)?;
    if soak.backends.is_empty() { shown(fuzz(soak.minutes)) } else { Ok(()) }
}

/// Returns the command that runs each test of a parser for this number of seconds.
fn fuzz(seconds: u32) -> Command {
    let packages = READERS.iter().flat_map(|package| ["-p", package]);
    let mut fuzz = cargo(["test", "--locked", "--lib", "--bins", "--test", "backend"].into_iter().chain(packages));
    fuzz.args(["--", "fuzz_"]);
    fuzz.env("BOLERO_RANDOM_ITERATIONS", usize::MAX.to_string());
    fuzz.env("BOLERO_RANDOM_TEST_TIME_MS", Duration::from_secs(seconds.into()).as_millis().to_string());
    fuzz
}
