//! Everything that must be green.

use std::process::Command;
use std::time::Instant;

use storagebox_testkit::servers::WAY_VARIABLE;
use storagebox_testkit::{Server, Way};

use crate::arguments::TestOptions;
use crate::command::{captured, cargo, shown, step};
use crate::failure::Failure;
use crate::{examples, features, install, readme, servers};

/// Runs the steps in turn. The tests come last, so that the output ends with cargo's own summary.
pub(crate) fn run(options: TestOptions) -> Result<(), Failure> {
    if options.servers == Some(Way::Docker) && !cfg!(feature = "docker") {
        return shown(with_docker(options));
    }
    let start = Instant::now();
    if options.install {
        step("servers' packages", install::packages)?;
        step("dynoxide (a minute, once)", install::dynoxide)?;
    }
    // First, because there is nothing to wait for if one is missing.
    let servers = servers::start(options.servers)?;
    step("format", || silent(cargo(["fmt", "--all", "--check"])))?;
    step("clippy", || {
        silent(cargo(["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]))
    })?;
    step("documentation", || silent(documentation()))?;
    step("every feature alone", features::each_alone)?;
    step("documentation with every feature alone", features::each_documented)?;
    step("one driver for each feature", features::one_driver_each)?;
    step("a feature that is off", features::off_is_named)?;
    step("the examples run", examples::run)?;
    step("the README's first command", readme::run)?;
    println!("{:<32}        {:7.1} s\n", "so far; now the tests", start.elapsed().as_secs_f64());
    shown(tests(options, &servers))
}

/// This task again, built with what everyday builds are spared.
fn with_docker(options: TestOptions) -> Command {
    let mut command = cargo(["run", "--locked", "-p", "xtask", "--features", "docker", "--", "test"]);
    command.args(["--servers", Way::Docker.name()]).args(options.install.then_some("--install"));
    command
}

fn silent(command: Command) -> Result<String, Failure> {
    captured(command).map(|_| String::new())
}

fn documentation() -> Command {
    let mut command = cargo(["doc", "--workspace", "--no-deps", "--locked"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    command
}

/// Servers that the tests start themselves come by the same way.
fn tests(options: TestOptions, servers: &[Server]) -> Command {
    let mut command = cargo(["test", "--workspace", "--locked"]);
    command.envs(options.servers.map(|way| (WAY_VARIABLE, way.name())));
    command.envs(servers.iter().map(|server| (server.variable(), server.url())));
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docker_is_asked_for_with_the_same_options() {
        let options = TestOptions { install: true, servers: Some(Way::Docker) };
        let command = with_docker(options);
        let arguments: Vec<_> = command.get_args().skip_while(|argument| *argument != "--").skip(1).collect();
        assert_eq!(arguments, ["test", "--servers", "docker", "--install"]);
    }

    #[test]
    fn the_tests_are_told_where_to_get_servers_from() {
        let told = |options| tests(options, &[]).get_envs().count();
        assert_eq!(told(TestOptions::default()), 0);
        assert_eq!(told(TestOptions { servers: Some(Way::Local), ..TestOptions::default() }), 1);
    }
}
