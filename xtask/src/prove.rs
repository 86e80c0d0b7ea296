//! The long checks.

mod dependencies;
mod dynamo;
mod hand_out;
mod peak;
mod postgres;
mod redis;
mod released;
mod sqlite;

use std::process::Command;

use anyhow::Result;

use crate::api::{self, Lists};
use crate::arguments::Part;
use crate::command::{cargo, shown, silent};
use crate::steps::step;
use crate::{alarms, drivers, examples, features, fresh, install, mutants, outside};

pub(crate) fn run(part: Part) -> Result<()> {
    match part {
        Part::Features => every_feature(),
        Part::Dependencies => dependencies::run(),
        Part::Memory => memory(),
        Part::Deduplicator => explored(&["deduplicator_model", "deduplicator_explorer"]),
        Part::Tokens => explored(&["token_model", "processor_explorer", "one_time_explorer"]),
        Part::Messages => messages(),
        Part::Transports => transports(),
        Part::Handles => handles(),
        Part::Fresh => outside_the_workspace(),
        Part::Drivers => drivers::run(),
        Part::HandOut => hand_out::run(),
        Part::Bench => bench(),
        Part::Postgres => postgres::run(),
        Part::Dynamo => dynamo::run(),
        Part::Redis => redis::run(),
        Part::Sqlite => sqlite::run(),
        Part::Pipeline { transport } => pipeline(transport.as_deref()),
        Part::Mutants(filter) => mutants::run(&filter),
        Part::Alarms { backend } => alarms::run(backend.as_deref()),
    }
}

/// Builds the crates of users and of a backend's author outside the workspace.
fn outside_the_workspace() -> Result<()> {
    step("a fresh crate with one feature", fresh::run)?;
    step("a backend outside the workspace", outside::run)
}

/// The number of messages that the check sends through two endpoints on each backend, under faults. The claim of
/// article 2 needs this number.
const MESSAGES: &str = "100000";

fn messages() -> Result<()> {
    step("dynoxide (some minutes, once)", install::dynoxide)?;
    shown(cargo(["run", "--locked", "-p", "storagebox-soak", "--", "messages", MESSAGES]))
}

/// Returns the command for a test of a package, with arguments of the test program.
fn test(package: &str, test: &str, arguments: &[&str]) -> Command {
    let mut command = cargo(["test", "--locked", "-p", package, "--test", test, "--"]);
    command.args(arguments);
    command
}

/// Returns the command for a test outside the gate, which runs its cases one after another.
fn test_at_length(package: &str, name: &str, more: &[&str]) -> Command {
    test(package, name, &[&["--ignored", "--nocapture", "--test-threads=1"], more].concat())
}

/// Tests RabbitMQ, which is not in the gate because its broker takes a minute to start. Debian's `rabbitmq-server` must
/// be installed.
fn transports() -> Result<()> {
    shown(test("storagebox-transports", "rabbitmq", &["--ignored", "--skip", "as_a_worker_process"]))?;
    shown(test("storagebox-testkit", "all", &["--ignored", "rabbit"]))
}

/// Runs the proof of the example `pipeline`, over this transport or over all transports.
fn pipeline(transport: Option<&str>) -> Result<()> {
    let prove = ["run", "--locked", "-p", "storagebox-pipeline", "--", "prove"];
    shown(cargo(prove.into_iter().chain(transport)))
}

/// Runs clippy on tests, benches and examples, checks each feature of every package alone, and checks the public names
/// of all libraries.
fn every_feature() -> Result<()> {
    let clippy = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    step("clippy of everything", || silent(cargo(clippy)))?;
    step("every feature alone", features::each_alone)?;
    step("its documentation", features::each_documented)?;
    step("the examples by themselves", examples::each_alone)?;
    step("the public names", || api::run(Lists::All, true))
}

/// Checks that the suite catches every mutant with many seeds, and that many runs of the suite raise no false alarm.
fn memory() -> Result<()> {
    let mut mutants = test("storagebox-conformance", "mutants", &[]);
    mutants.env("STORAGEBOX_SEEDS", "1000");
    shown(mutants)?;
    let mut conformance = test("storagebox-memory", "conformance", &[]);
    conformance.env("STORAGEBOX_RUNS", "10000");
    shown(conformance)
}

/// Runs a backend's suite with arguments that take too long for the gate.
fn suite_at_length(package: &str, arguments: &[&str]) -> Result<()> {
    let mut suite = test(package, "conformance", arguments);
    suite.env("STORAGEBOX_PROFILE", "quick");
    shown(suite)
}

/// Runs the whole suite in the set-ups in which the gate runs only a part of it.
fn suite_in_other_set_ups(package: &str) -> Result<()> {
    let mut suite = test(package, "smoke", &[]);
    suite.env("STORAGEBOX_SET_UPS", "everything");
    shown(suite)
}

/// Runs the explorations that take too long for the gate.
fn explored(tests: &[&str]) -> Result<()> {
    let tests = tests.iter().flat_map(|test| ["--test", test]);
    // Leaves out the features for proofs with servers, because their drivers take minutes to build.
    let of_proofs = ["test", "--locked", "-p", "storagebox-proofs", "--no-default-features"].into_iter().chain(tests);
    shown(cargo(of_proofs.chain(["--", "--ignored", "--nocapture"])))
}

/// Makes ten thousand calls through a handle on each networked backend, while every third reply is lost.
fn handles() -> Result<()> {
    step("dynoxide (some minutes, once)", install::dynoxide)?;
    shown(test_at_length("storagebox-proofs", "handles", &[]))
}

fn bench() -> Result<()> {
    let table = |name, options: &[&str]| {
        let bench = ["bench", "--locked", "-p", "storagebox-benches", "--bench", name, "--", "--gate"];
        shown(cargo(bench.iter().chain(options).copied()))
    };
    table("counts", &[])?;
    table("table", &["--rounds", "15"])
}
