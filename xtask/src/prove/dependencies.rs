//! Checks the dependencies by `deny.toml`: their licences, their sources, and that each has a version.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::command::{captured, cargo, silent};
use crate::steps::step;
use crate::workspace;

const INSTALL: &str = "install --debug --locked cargo-deny@0.20.2 --no-default-features --root target/tools";

pub(super) fn run() -> Result<()> {
    step("cargo-deny (some minutes, once)", installed)?;
    step("licences, bans and sources", || silent(check()))
}

fn installed() -> Result<String> {
    if program().is_file() {
        return Ok("it is there".to_owned());
    }
    let mut install = cargo(INSTALL.split_whitespace());
    // Otherwise cargo would build the program in the workspace's build folder, with other features of shared
    // dependencies.
    install.env_remove("CARGO_TARGET_DIR").env_remove("CARGO_BUILD_TARGET_DIR");
    captured(install).map(|_| "installed cargo-deny".to_owned())
}

fn check() -> Command {
    let mut check = Command::new(program());
    check.args(["--locked", "check", "licenses", "bans", "sources"]).current_dir(workspace::root());
    check
}

fn program() -> PathBuf {
    workspace::root().join("target/tools/bin/cargo-deny")
}
