//! The backends, kept at work for long.

use crate::arguments::Soak;
use crate::command::{cargo, shown};
use crate::failure::Failure;
use crate::install;
use crate::steps::step;

pub(crate) fn run(soak: &Soak) -> Result<(), Failure> {
    step("dynoxide (some minutes, once)", install::dynoxide)?;
    let mut run = cargo(["run", "--locked", "-p", "storagebox-proofs", "--bin", "soak", "--"]);
    run.arg(soak.minutes.to_string()).args(&soak.backends);
    shown(run)
}
