//! Everything that must be green.

use std::process::Command;
use std::time::Instant;

use crate::arguments::TestOptions;
use crate::command::{captured, cargo, shown, step};
use crate::failure::Failure;
use crate::{examples, features, readme, servers};

/// Runs the steps in turn. The tests come last, so that the output ends with cargo's own summary.
pub(crate) fn run(options: TestOptions) -> Result<(), Failure> {
    let start = Instant::now();
    if options.install {
        step("servers", servers::install)?;
    }
    step("format", || silent(cargo(["fmt", "--all", "--check"])))?;
    step("clippy", || {
        silent(cargo(["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]))
    })?;
    step("documentation", || silent(documentation()))?;
    step("every feature alone", features::each_alone)?;
    step("one driver for each feature", features::one_driver_each)?;
    step("the examples run", examples::run)?;
    step("the README's first command", readme::run)?;
    println!("{:<32}        {:7.1} s\n", "so far; now the tests", start.elapsed().as_secs_f64());
    shown(tests(options))
}

fn silent(command: Command) -> Result<String, Failure> {
    captured(command).map(|_| String::new())
}

fn documentation() -> Command {
    let mut command = cargo(["doc", "--workspace", "--no-deps", "--locked"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    command
}

fn tests(options: TestOptions) -> Command {
    let mut command = cargo(["test", "--workspace", "--locked"]);
    command.envs(options.servers.map(|servers| ("STORAGEBOX_TEST_SERVERS", servers.name())));
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Servers;

    #[test]
    fn the_tests_are_told_where_to_get_servers_from() {
        let told = |options| tests(options).get_envs().count();
        assert_eq!(told(TestOptions::default()), 0);
        assert_eq!(told(TestOptions { servers: Some(Servers::Local), ..TestOptions::default() }), 1);
    }
}
