//! Runs the examples.

use std::process::Command;

use anyhow::{Result, ensure};

use crate::command::{captured, cargo};
use crate::workspace;

const PACKAGE: &str = "storagebox-examples";

/// Runs every example that was built for the tests, and returns their names.
pub(crate) fn run() -> Result<String> {
    each(|name| Ok(Command::new(workspace::example(name)?)))
}

/// Runs every example with `cargo run`, as users do, and returns their names.
pub(crate) fn each_alone() -> Result<String> {
    each(|name| Ok(cargo(["run", "--locked", "-p", PACKAGE, "--example", name])))
}

fn each(command: impl Fn(&str) -> Result<Command>) -> Result<String> {
    let package = workspace::package(PACKAGE)?;
    let names: Vec<_> = package.examples().collect();
    ensure!(!names.is_empty(), "{PACKAGE} has no example");
    for name in &names {
        captured(command(name)?)?;
    }
    Ok(names.join(", "))
}
