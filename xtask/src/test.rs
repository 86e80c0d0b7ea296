//! Everything that must be green.

use std::env;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Instant;

use storagebox_testkit::servers::WAY_VARIABLE;
use storagebox_testkit::{Server, Way};

use crate::api::{self, Lists};
use crate::arguments::Servers;
use crate::command::{captured, cargo, shown};
use crate::failure::Failure;
use crate::programs::Program;
use crate::steps::Steps;
use crate::summary::Summary;
use crate::{examples, features, fresh, install, packages, programs, readme, servers};

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
    "--features=storagebox/memory,storagebox/sqlite,storagebox/serde,storagebox/json,storagebox-examples/memory",
    "--features=storagebox-cli/memory,storagebox-cli/sqlite",
];

/// How much of what is random the suite does here: every deliberately broken store is still caught. `prove` does more.
const PROFILE: (&str, &str) = ("STORAGEBOX_PROFILE", "smoke");

/// With how many seeds, other ones each time, every deliberately broken store is caught. `prove` takes a thousand.
const SEEDS: (&str, &str) = ("STORAGEBOX_SEEDS", "8");

/// How many test programs the table names.
const LONGEST: usize = 8;

/// Runs the steps in turn. Whatever comes of them, their times are listed, and the last line is what the tests came to.
pub(crate) fn run(servers: Servers) -> Result<(), Failure> {
    if servers == Servers::By(Way::Docker) && !cfg!(feature = "docker") {
        return shown(with_docker());
    }
    let mut steps = Steps::new();
    let mut summary = Summary::default();
    let outcome = match servers {
        Servers::None => without_servers(&mut steps, &mut summary),
        Servers::Any | Servers::By(_) => everything(servers.way(), &mut steps, &mut summary),
    };
    print(&steps, summary);
    outcome
}

/// This task again, built with what everyday builds are spared.
fn with_docker() -> Command {
    let command = ["run", "--locked", "-p", "xtask", "--features", "docker"];
    cargo(command.into_iter().chain(["--", "test", "--servers", Way::Docker.name()]))
}

fn without_servers(steps: &mut Steps, summary: &mut Summary) -> Result<(), Failure> {
    steps.step("the README's first command", readme::run)?;
    Tests { of: WITHOUT_SERVERS, way: None, servers: Vec::new() }.run(steps, summary, &[])
}

fn everything(way: Option<Way>, steps: &mut Steps, summary: &mut Summary) -> Result<(), Failure> {
    let coming = if way == Some(Way::Docker) { None } else { Some(install::all()?) };
    steps.step("format", || silent(cargo(["fmt", "--all", "--check"])))?;
    steps.step("the README's first command", readme::run)?;
    steps.step("clippy", || silent(clippy()))?;
    steps.step("documentation", || silent(documentation()))?;
    coming.map_or(Ok(()), |coming| coming.arrive(steps))?;
    Tests { of: EVERYTHING, way, servers: servers::start(way)? }.run(steps, summary, &[small_builds, builds_elsewhere])
}

/// What builds one small thing after another: alone it would leave all cores but one idle, so it runs beside the tests.
fn small_builds(steps: &mut Steps) -> Result<(), Failure> {
    steps.step("each feature of what people use", features::each_used)?;
    steps.step("one driver for each feature", features::one_driver_each)?;
    steps.step("a feature that is off", features::off_is_named)?;
    steps.step("what the packages hold", packages::run)
}

/// Likewise, in folders of their own, so that cargo makes none of them wait for the others.
fn builds_elsewhere(steps: &mut Steps) -> Result<(), Failure> {
    steps.step("a fresh crate with one feature", fresh::run)?;
    steps.step("the public names", || api::run(Lists::Light, true))
}

/// Steps that run beside the tests.
type Beside = fn(&mut Steps) -> Result<(), Failure>;

/// What cargo is asked to test, and where the tests get their servers from.
struct Tests {
    of: &'static [&'static str],
    way: Option<Way>,
    servers: Vec<Server>,
}

impl Tests {
    fn run(&self, steps: &mut Steps, summary: &mut Summary, beside: &[Beside]) -> Result<(), Failure> {
        steps.step("the tests are built", || silent(self.cargo(&["--no-run"])))?;
        steps.step("the examples run", examples::run)?;
        println!();
        let (programs, start) = (self.programs()?, Instant::now());
        thread::scope(|scope| {
            let beside: Vec<_> = beside.iter().map(|work| scope.spawn(|| alone(*work))).collect();
            let mut outcome = programs::run(programs, summary);
            steps.add("the tests run", start.elapsed(), outcome.is_ok().then(|| summary.to_string()));
            for work in beside {
                let (others, ended) = work.join().unwrap_or_else(|panic| resume_unwind(panic));
                steps.append(others);
                outcome = outcome.and(ended);
            }
            outcome
        })
    }

    /// The examples in the documentation are compiled and run by cargo alone.
    fn programs(&self) -> Result<Vec<Program>, Failure> {
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
        programs.push(Program::new("documentation", self.cargo(&["--doc", "--no-fail-fast"])));
        Ok(programs)
    }

    /// Servers that the tests start themselves come by the same way.
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

/// The steps of some work, and what came of it.
fn alone(work: Beside) -> (Steps, Result<(), Failure>) {
    let mut steps = Steps::beside();
    let outcome = work(&mut steps);
    (steps, outcome)
}

/// Nothing of what has not begun.
fn print(steps: &Steps, summary: Summary) {
    if steps.any() {
        println!("\n{steps}");
    }
    if summary.any() {
        let counts = summary.to_string();
        println!("The longest of the tests:");
        for program in summary.longest(LONGEST) {
            println!("{:<42} {:>7.1} s", program.name, program.time.as_secs_f64());
        }
        println!("\n{counts}");
    }
}

fn silent(command: Command) -> Result<String, Failure> {
    captured(command).map(|_| String::new())
}

/// Of libraries and programs. Tests are compiled without a warning; `prove features` lints them too.
fn clippy() -> Command {
    cargo(["clippy", "--workspace", "--locked", "--", "-D", "warnings"])
}

/// Of all packages at once, so that the dependencies are those that clippy looked at; and by clippy's compiler, called as
/// by clippy, so that the packages are too.
fn documentation() -> Command {
    let mut command = cargo(["doc", "--workspace", "--no-deps", "--locked"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    if let Some(driver) = beside_cargo("clippy-driver") {
        command.env("RUSTC_WORKSPACE_WRAPPER", driver).env("CLIPPY_ARGS", CLIPPY_ARGS);
    }
    command
}

/// How clippy tells its compiler of `-D warnings`. If it is told otherwise, the packages are compiled once more.
const CLIPPY_ARGS: &str = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__";

/// Another program of cargo's toolchain.
fn beside_cargo(program: &str) -> Option<PathBuf> {
    let path = Path::new(&env::var_os("CARGO")?).with_file_name(program);
    path.is_file().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    fn tests(of: &'static [&'static str], way: Option<Way>) -> Tests {
        Tests { of, way, servers: Vec::new() }
    }

    #[test]
    fn the_tests_are_told_where_to_get_servers_from() {
        let told = |way| tests(EVERYTHING, way).cargo(&[]).get_envs().filter(|(_, value)| value.is_some()).count();
        assert_eq!(told(None), 0);
        assert_eq!(told(Some(Way::Local)), 1);
    }

    #[test]
    fn what_needs_no_server_is_of_this_workspace() {
        let manifest = workspace::read("Cargo.toml").unwrap();
        let members: Vec<_> = workspace::members(&manifest).collect();
        let packages = WITHOUT_SERVERS.iter().filter_map(|word| word.strip_prefix("--package="));
        for package in packages {
            let folder = package.strip_prefix("storagebox-").unwrap_or(package);
            assert!(members.contains(&package) || members.contains(&folder), "{package}");
        }
    }
}
