//! The example of a backend, outside the workspace: a copy of it compiles and conforms.

use std::fs;
use std::path::Path;

use crate::command::{captured, cargo};
use crate::failure::Failure;
use crate::workspace;

const BACKEND: &str = "examples/own-backend";

const FILES: [&str; 4] = ["src/lib.rs", "src/records.rs", "src/tokens.rs", "tests/conformance.rs"];

/// Certifies the backend. Returns the suite's own summary.
pub(crate) fn run() -> Result<String, Failure> {
    let folder = workspace::builds()?.join("own-backend");
    for file in FILES {
        write(&folder.join(file), &workspace::read(format!("{BACKEND}/{file}"))?)?;
    }
    write(&folder.join("Cargo.toml"), &outside(&workspace::read(format!("{BACKEND}/Cargo.toml"))?))?;
    // The versions that are here already.
    write(&folder.join("Cargo.lock"), &workspace::read("Cargo.lock")?)?;
    let mut suite = cargo(["test", "--offline", "--test", "conformance"]);
    suite.current_dir(&folder).env("CARGO_TARGET_DIR", folder.join("target"));
    let told = captured(suite)?;
    let summary = |line: &&str| line.starts_with("consumer: L1");
    told.lines().find(summary).map(str::to_owned).ok_or(Failure::NotCertified)
}

/// The manifest of a crate that is a workspace of its own.
fn outside(manifest: &str) -> String {
    let root = format!("{}/", workspace::root().display());
    format!("{}\n[workspace]\n", manifest.replace("../../", &root))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error| Failure::File { path: path.to_owned(), error };
    fs::create_dir_all(path.parent().unwrap_or(path)).map_err(failed)?;
    fs::write(path, text).map_err(failed)
}
