//! The checks besides the tests. They matter to developers, and prove nothing to users.

use std::env;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::Result;

use crate::api::{self, Lists};
use crate::command::{cargo, silent};
use crate::steps::Steps;
use crate::{drivers, features, fresh, packages};

/// Runs two sequences of steps at once, and lists the times of the steps.
pub(crate) fn run() -> Result<()> {
    let mut steps = Steps::new();
    let outcome = thread::scope(|scope| {
        let elsewhere = scope.spawn(|| {
            let mut steps = Steps::beside();
            let outcome = builds_elsewhere(&mut steps);
            (steps, outcome)
        });
        let here = builds_here(&mut steps);
        let (others, outcome) = elsewhere.join().unwrap_or_else(|panic| resume_unwind(panic));
        steps.append(others);
        here.and(outcome)
    });
    println!("\n{steps}");
    outcome
}

/// Runs the steps that build in the tests' build folder, one after another, because cargo locks the folder for one
/// build at a time.
fn builds_here(steps: &mut Steps) -> Result<()> {
    steps.step("format", || silent(cargo(["fmt", "--all", "--check"])))?;
    steps.step("clippy", || silent(clippy()))?;
    steps.step("documentation", || silent(documentation()))?;
    steps.step("each feature of what people use", features::each_used)?;
    steps.step("one driver for each feature", features::one_driver_each)?;
    steps.step("a feature that is off", features::off_is_named)?;
    steps.step("what the packages hold", packages::run)
}

/// Runs the steps that build in separate folders.
fn builds_elsewhere(steps: &mut Steps) -> Result<()> {
    steps.step("a fresh crate with one feature", fresh::run)?;
    steps.step("the examples of drivers", drivers::check)?;
    steps.step("the public names", || api::run(Lists::Light, true))
}

/// Returns the command for clippy of libraries and programs, without tests.
fn clippy() -> Command {
    // The gate only requires that tests compile without warnings. `cargo xtask prove features` runs clippy on tests.
    cargo(["clippy", "--workspace", "--locked", "--", "-D", "warnings"])
}

/// Returns the command that builds the documentation of all packages at once, and reuses what clippy has checked.
fn documentation() -> Command {
    let mut command = cargo(["doc", "--workspace", "--no-deps", "--locked"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    if let Some(driver) = beside_cargo("clippy-driver") {
        command.env("RUSTC_WORKSPACE_WRAPPER", driver).env("CLIPPY_ARGS", CLIPPY_ARGS);
    }
    command
}

/// The form in which clippy passes `-D warnings` to its compiler. With another value, all packages would be compiled
/// again.
const CLIPPY_ARGS: &str = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__";

/// Returns the path of another program of cargo's toolchain.
fn beside_cargo(program: &str) -> Option<PathBuf> {
    let path = Path::new(&env::var_os("CARGO")?).with_file_name(program);
    path.is_file().then_some(path)
}
