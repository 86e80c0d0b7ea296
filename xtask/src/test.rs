//! Installs what the tests need, builds the tests and runs them.

use std::process::Command;
use std::time::Instant;

use anyhow::Result;
use storagebox_testkit::servers::WAY_VARIABLE;
use storagebox_testkit::{Server, Way};

use crate::arguments::Servers;
use crate::command::{cargo, shown, silent};
use crate::programs::Program;
use crate::steps::Steps;
use crate::summary::Summary;
use crate::{examples, install, programs, readme, servers};

const EVERYTHING: &[&str] = &["--workspace"];

/// The packages and features whose tests need no server.
const WITHOUT_SERVERS: &[&str] = &[
    "--package=storagebox",
    "--package=storagebox-cli",
    "--package=storagebox-conformance",
    "--package=storagebox-core",
    "--package=storagebox-examples",
    "--package=storagebox-memory",
    "--package=storagebox-proofs",
    "--package=storagebox-sqlite",
    "--no-default-features",
    "--features=storagebox/memory,storagebox/sqlite,storagebox/serde,storagebox/json,storagebox-examples/memory,storagebox-examples/sqlite",
    "--features=storagebox-cli/memory,storagebox-cli/sqlite",
];

/// The profile of the suite in the gate, which still catches every deliberately broken store. `cargo xtask prove` does
/// more random work.
const PROFILE: (&str, &str) = ("STORAGEBOX_PROFILE", "smoke");

/// The number of seeds with which the suite must catch every deliberately broken store. Each run uses new seeds. `cargo
/// xtask prove` uses a thousand.
const SEEDS: (&str, &str) = ("STORAGEBOX_SEEDS", "8");

/// The number of slowest test programs that the table shows.
const LONGEST: usize = 8;

/// Runs the steps one after another, and prints their times even if a step fails.
pub(crate) fn run(servers: Option<Servers>) -> Result<()> {
    if servers == Some(Servers::Docker) && !cfg!(feature = "docker") {
        return shown(with_docker());
    }
    let mut steps = Steps::new();
    let mut summary = Summary::default();
    let outcome = match servers {
        Some(Servers::None) => without_servers(&mut steps, &mut summary),
        servers => everything(servers.and_then(Servers::way), &mut steps, &mut summary),
    };
    print(&steps, summary);
    outcome
}

/// Returns the command that builds this task with the feature `docker` and runs the task again.
fn with_docker() -> Command {
    let command = ["run", "--locked", "-p", "xtask", "--features", "docker"];
    cargo(command.into_iter().chain(["--", "test", "--servers", Way::Docker.name()]))
}

fn without_servers(steps: &mut Steps, summary: &mut Summary) -> Result<()> {
    steps.step("the README's first command", readme::run)?;
    Tests { of: WITHOUT_SERVERS, way: None, servers: Vec::new() }.run(steps, summary)
}

fn everything(way: Option<Way>, steps: &mut Steps, summary: &mut Summary) -> Result<()> {
    let coming = if way == Some(Way::Docker) { None } else { Some(install::all()?) };
    steps.step("the README's first command", readme::run)?;
    let tests = Tests { of: EVERYTHING, way, servers: Vec::new() };
    tests.build(steps)?;
    coming.map_or(Ok(()), |coming| coming.arrive(steps))?;
    Tests { servers: servers::start(way)?, ..tests }.run_built(steps, summary)
}

/// The packages to test, and the source of the servers.
struct Tests {
    of: &'static [&'static str],
    way: Option<Way>,
    servers: Vec<Server>,
}

impl Tests {
    fn run(&self, steps: &mut Steps, summary: &mut Summary) -> Result<()> {
        self.build(steps)?;
        self.run_built(steps, summary)
    }

    fn build(&self, steps: &mut Steps) -> Result<()> {
        steps.step("the tests are built", || silent(self.cargo(&["--no-run"])))
    }

    fn run_built(&self, steps: &mut Steps, summary: &mut Summary) -> Result<()> {
        steps.step("the examples run", examples::run)?;
        println!();
        let (programs, start) = (self.programs()?, Instant::now());
        let outcome = programs::run(programs, summary);
        steps.add("the tests run", start.elapsed(), outcome.is_ok().then(|| summary.to_string()));
        outcome
    }

    /// Builds the test programs.
    fn programs(&self) -> Result<Vec<Program>> {
        let mut programs = programs::built_without_warnings(self.cargo(&[]))?;
        for program in &mut programs {
            program.env(self.variables());
            if program.is("conformance") {
                program.env([PROFILE]);
            }
            if program.is("mutants") {
                program.env([SEEDS]);
            }
        }
        // Cargo itself runs the examples in the documentation.
        programs.push(Program::new("documentation", self.cargo(&["--doc", "--no-fail-fast"])));
        Ok(programs)
    }

    /// Returns the command `cargo test` for these packages.
    fn cargo(&self, more: &[&str]) -> Command {
        let mut command = cargo(["test", "--locked"]);
        command.args(self.of).args(more).envs(self.variables());
        command
    }

    fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        let way = self.way.map(|way| (WAY_VARIABLE, way.name()));
        way.into_iter().chain(self.servers.iter().map(|server| (server.variable(), server.url())))
    }
}

/// Prints the table of the steps and the summary of the tests, if they are not empty.
fn print(steps: &Steps, summary: Summary) {
    if steps.any() {
        println!("\n{steps}");
    }
    if summary.any() {
        let (counts, failures) = (summary.to_string(), summary.failures());
        println!("The longest of the tests:");
        for program in summary.longest(LONGEST) {
            println!("{:<42} {:>7.1} s", program.name, program.time.as_secs_f64());
        }
        if !failures.is_empty() {
            println!("\nWhat failed:\n{failures}");
        }
        println!("\n{counts}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    fn tests(of: &'static [&'static str], way: Option<Way>) -> Tests {
        Tests { of, way, servers: Vec::new() }
    }

    #[test]
    fn the_chosen_source_of_servers_is_passed_to_the_tests() {
        let variables = |way| tests(EVERYTHING, way).cargo(&[]).get_envs().filter(|(_, value)| value.is_some()).count();
        assert_eq!(variables(None), 0);
        assert_eq!(variables(Some(Way::Local)), 1);
    }

    #[test]
    fn packages_tested_without_servers_are_in_the_workspace() {
        let members = workspace::packages().unwrap();
        for package in WITHOUT_SERVERS.iter().filter_map(|word| word.strip_prefix("--package=")) {
            assert!(members.iter().any(|member| member.name == package), "{package}");
        }
    }
}
