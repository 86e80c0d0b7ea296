//! Checks and runs the examples of drivers, which are a workspace of their own.

use std::process::Command;

use anyhow::Result;

use crate::command::{cargo, shown, silent};
use crate::workspace;

const MANIFEST: &str = "examples/drivers/Cargo.toml";

/// Checks the format of the examples, and lints them.
pub(crate) fn check() -> Result<String> {
    silent(cargo(["fmt", "--all", "--check", "--manifest-path", MANIFEST]))?;
    silent(elsewhere(cargo([
        "clippy",
        "--locked",
        "--all-targets",
        "--manifest-path",
        MANIFEST,
        "--",
        "-D",
        "warnings",
    ]))?)
}

/// Runs each example on a PostgreSQL server, and the suite's cases of a bank through Python.
pub(crate) fn run() -> Result<()> {
    shown(elsewhere(cargo(["test", "--locked", "--manifest-path", MANIFEST]))?)?;
    let suite = ["test", "--locked", "-p", "storagebox-postgres", "--test", "prove", "--"];
    shown(cargo(suite.into_iter().chain(["python::", "--ignored", "--nocapture"])))
}

/// Makes a command build in a separate folder, because cargo allows only one build per folder at a time.
fn elsewhere(mut command: Command) -> Result<Command> {
    command.env("CARGO_TARGET_DIR", workspace::builds()?.join("drivers"));
    Ok(command)
}
