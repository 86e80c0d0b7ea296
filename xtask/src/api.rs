//! The public names of each library, against the list in `docs/api`: what changes for users is seen in a review.

use std::fs;
use std::process::Command;

use public_api::{Builder, MINIMUM_NIGHTLY_RUST_VERSION};

use crate::command::captured;
use crate::failure::Failure;
use crate::workspace;

/// A library and the feature with which its documentation is built.
type Library = (&'static str, &'static str);

/// What depends on little, so that the gate looks at it.
const LIGHT: [Library; 3] =
    [("storagebox-core", "serde,json"), ("storagebox", "memory,serde,json"), ("storagebox-memory", "")];
/// What brings a driver or a framework for tests.
const HEAVY: [Library; 6] = [
    ("storagebox-conformance", ""),
    ("storagebox-sqlite", ""),
    ("storagebox-postgres", ""),
    ("storagebox-redis", ""),
    ("storagebox-dynamo", ""),
    ("storagebox-transports", "nats,postgres,rabbitmq,redis-streams"),
];

/// Which lists are looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lists {
    /// Those of libraries that depend on little.
    Light,
    All,
}

/// Writes the lists anew, or checks that they are fresh. Says what was done, or that no toolchain is there to do it.
pub(crate) fn run(lists: Lists, check: bool) -> Result<String, Failure> {
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

/// The format of the documentation that is read is not stable.
fn has_nightly() -> bool {
    captured(nightly(&["--version"])).is_ok()
}

fn of((library, features): &Library, check: bool) -> Result<(), Failure> {
    let fresh = list(library, features)?;
    let file = format!("docs/api/{library}.txt");
    if !check {
        let path = workspace::root().join(file);
        return fs::write(&path, fresh).map_err(|error| Failure::File { path, error });
    }
    let known = workspace::read(&file)?;
    if known == fresh { Ok(()) } else { Err(Failure::OtherNames { file, changes: changes(&known, &fresh) }) }
}

/// A line for each public name, in order.
fn list(library: &str, features: &str) -> Result<String, Failure> {
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
        .map_err(|error| Failure::Names { library: library.to_owned(), why: error.to_string() })?;
    Ok(names.items().map(|name| format!("{name}\n")).collect())
}

/// Cargo of the newest toolchain, whatever this task was started by.
fn nightly(arguments: &[&str]) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo"]).args(arguments).current_dir(workspace::root());
    // The gate's flags are for the toolchain that the library is built with.
    command.env_remove("RUSTFLAGS").env_remove("RUSTDOCFLAGS").env_remove("CARGO");
    command
}

/// What is gone, and what is new.
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
    fn a_change_is_told_line_by_line() {
        assert_eq!(changes("a\nb\n", "b\nc\n"), "-a\n+c\n");
        assert_eq!(changes("a\n", "a\n"), "");
    }
}
