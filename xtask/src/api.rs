//! Compares the public names of each library with the list in `docs/api`, so that a review shows what changes for
//! users.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use public_api::{Builder, MINIMUM_NIGHTLY_RUST_VERSION};

use crate::command::captured;
use crate::workspace;

/// A library and the feature with which its documentation is built.
type Library = (&'static str, &'static str);

/// The libraries with few dependencies, which the gate checks.
const LIGHT: [Library; 3] =
    [("storagebox-core", "serde,json"), ("storagebox", "memory,serde,json"), ("storagebox-memory", "")];
/// The libraries with a driver or a test framework.
const HEAVY: [Library; 6] = [
    ("storagebox-conformance", ""),
    ("storagebox-sqlite", ""),
    ("storagebox-postgres", ""),
    ("storagebox-redis", ""),
    ("storagebox-dynamo", ""),
    ("storagebox-transports", "nats,postgres,rabbitmq,redis-streams"),
];

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lists {
    /// Only the lists of libraries with few dependencies.
    Light,
    All,
}

/// Writes the lists, or checks that they are up to date. Returns a summary.
pub(crate) fn run(lists: Lists, check: bool) -> Result<String> {
    if !has_nightly() {
        return Ok(format!("NOT CHECKED: rustup toolchain install {MINIMUM_NIGHTLY_RUST_VERSION} or newer"));
    }
    let heavy = HEAVY.iter().filter(|_| lists == Lists::All);
    let libraries: Vec<_> = LIGHT.iter().chain(heavy).collect();
    for library in &libraries {
        of(library, check)?;
    }
    Ok(format!("{} libraries", libraries.len()))
}

/// Returns whether a nightly toolchain is installed, which the documentation as JSON needs.
fn has_nightly() -> bool {
    captured(nightly(&["--version"])).is_ok()
}

fn of((library, features): &Library, check: bool) -> Result<()> {
    let fresh = list(library, features)?;
    let file = format!("docs/api/{library}.txt");
    if !check {
        return workspace::write(file, fresh);
    }
    let known = workspace::read(&file)?;
    let changes = || changes(&known, &fresh);
    ensure!(known == fresh, "{}{file} is stale: run `cargo xtask api` and look at what changed for users", changes());
    Ok(())
}

/// Returns a line per public name, in order.
fn list(library: &str, features: &str) -> Result<String> {
    let documentation = [
        "rustdoc",
        "--locked",
        "--quiet",
        "--lib",
        "-p",
        library,
        "--features",
        features,
        "--target-dir",
        "target/api",
        "--",
        "-Zunstable-options",
        "--output-format=json",
        "--cap-lints=allow",
    ];
    captured(nightly(&documentation))?;
    let json = workspace::root().join(format!("target/api/doc/{}.json", library.replace('-', "_")));
    let names = Builder::from_rustdoc_json(&json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()
        .with_context(|| format!("the public names of {library} cannot be listed"))?;
    Ok(names.items().map(|name| format!("{name}\n")).collect())
}

/// Returns a cargo command of the nightly toolchain, even if another toolchain runs this task.
fn nightly(arguments: &[&str]) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo"]).args(arguments).current_dir(workspace::root());
    // These variables are meant for the toolchain that runs this task, and not for nightly.
    command.env_remove("RUSTFLAGS").env_remove("RUSTDOCFLAGS").env_remove("CARGO");
    command
}

/// Returns the removed and the added lines.
fn changes(known: &str, fresh: &str) -> String {
    let lacking = |sign, of: &str, other: &str| {
        let others: std::collections::HashSet<_> = other.lines().collect();
        let lines = of.lines().filter(|line| !others.contains(line));
        lines.map(|line| format!("{sign}{line}\n")).collect::<String>()
    };
    lacking('-', known, fresh) + &lacking('+', fresh, known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_line_by_line() {
        assert_eq!(changes("a\nb\n", "b\nc\n"), "-a\n+c\n");
        assert_eq!(changes("a\n", "a\n"), "");
    }
}
