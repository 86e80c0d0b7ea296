//! The suite refuses the backend with a mistake, and its report names the clause and the mistake.
//!
//! `CUSTOM_BACKEND_WRONG=1 cargo test -p custom-backend --test refused` shows the report.

mod harness;

use std::process::{Command, ExitCode};
use std::sync::Arc;

use custom_backend::wrong::wrong;
use libtest_mimic::{Arguments, Failed, Trial};
use storagebox_conformance::Profile;

/// The environment variable with which this program runs the suite on the backend with the wrong `release`.
const WRONG: &str = "CUSTOM_BACKEND_WRONG";

/// The lines that the report of the suite must contain, in this order. `…` stands for any text.
const REPORT: &str = include_str!("refused.txt");

fn main() -> ExitCode {
    if std::env::var_os(WRONG).is_some() {
        return harness::suite(|store| Arc::new(wrong(store)), Profile::SMOKE);
    }
    let trial = Trial::test("the_mistake_is_refused", || refused().map_err(Failed::from));
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit_code()
}

fn refused() -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut suite = Command::new(program);
    let suite = suite.arg("item_bank::").env(WRONG, "1").env("STORAGEBOX_SEED", "7").output();
    let suite = suite.map_err(|error| error.to_string())?;
    let report = String::from_utf8_lossy(&suite.stdout);
    if suite.status.success() {
        return Err(format!("the suite accepted the mistake:\n{report}"));
    }
    let mut lines = report.lines();
    match REPORT.lines().find(|expected| !lines.any(|line| is_as(line, expected))) {
        Some(missing) => Err(format!("the report does not contain {missing:?} in this order:\n{report}")),
        None => Ok(()),
    }
}

fn is_as(line: &str, expected: &str) -> bool {
    expected.strip_suffix('…').map_or(line == expected, |begin| line.starts_with(begin))
}
