//! Runs the test programs that cargo built. A few programs run concurrently, because most wait for servers and disks as
//! much as they compute. The longest programs start first.

use std::collections::VecDeque;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, thread};

use anyhow::{Result, ensure};
use serde_json::Value;

use crate::command::{captured, heard};
use crate::summary::Summary;

/// The names of the slowest programs, the slowest first.
const LONG: [&str; 5] = ["conformance", "cli", "backend", "faults", "smoke"];

/// A program that prints no line for this long is stuck. Its last lines name the test, because the harness prints the
/// name of each test that takes over a minute.
const SILENCE: Duration = Duration::from_secs(15 * 60);

/// A test program, with the name that is shown.
#[derive(Debug)]
pub(crate) struct Program {
    name: String,
    command: Command,
}

/// Builds the test programs, and returns them, the slowest first.
pub(crate) fn built(build: Command) -> Result<Vec<Program>> {
    Ok(among(&messages_of(build)?))
}

/// Builds the test programs like [`built`], but fails if the compiler prints a warning.
pub(crate) fn built_without_warnings(build: Command) -> Result<Vec<Program>> {
    let messages = messages_of(build)?;
    let warnings: String = messages.iter().filter_map(warning).collect();
    ensure!(warnings.is_empty(), "{warnings}the tests must compile without warnings");
    Ok(among(&messages))
}

/// Runs the build, and returns cargo's messages.
fn messages_of(mut build: Command) -> Result<Vec<Value>> {
    build.args(["--no-run", "--message-format", "json"]);
    Ok(captured(build)?.lines().filter_map(|message| serde_json::from_str(message).ok()).collect())
}

fn among(messages: &[Value]) -> Vec<Program> {
    let mut programs: Vec<_> = messages.iter().filter_map(of_message).collect();
    programs.sort_by_key(Program::place);
    programs
}

/// Returns the text of a compiler warning. Cargo reports only warnings of this workspace's packages.
fn warning(message: &Value) -> Option<&str> {
    let is_warning = message["message"]["level"].as_str()? == "warning";
    message["message"]["rendered"].as_str().filter(|_| is_warning)
}

/// Returns the test program that a message of cargo names, if it names one.
fn of_message(message: &Value) -> Option<Program> {
    let is_test = message["profile"]["test"].as_bool()?;
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    let executable = message["executable"].as_str().filter(|_| is_test)?;
    let source = Path::new(message["target"]["src_path"].as_str()?).strip_prefix(folder).ok()?;
    let mut command = Command::new(executable);
    // `cargo test` sets this variable to the folder of the test's package. The inherited value is the folder of xtask.
    command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
    Some(Program::new(format!("{} {}", folder.file_name()?.display(), source.display()), command))
}

impl Program {
    pub(crate) fn new(name: impl Into<String>, command: Command) -> Self {
        Self { name: name.into(), command }
    }

    /// Returns a new command that runs the program, without arguments.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(self.command.get_program());
        command.current_dir(self.command.get_current_dir().unwrap_or(Path::new(".")));
        command.envs(self.command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    }

    /// Returns the key by which programs are sorted.
    fn place(&self) -> (usize, String) {
        (LONG.iter().position(|name| self.is(name)).unwrap_or(LONG.len()), self.name.clone())
    }

    /// Returns whether the program's file or folder has this name.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.name.split(['/', '.']).any(|part| part == name)
    }

    /// Returns whether the program is a test of this package.
    pub(crate) fn is_of(&self, package: &str) -> bool {
        self.name.split(' ').next() == Some(package)
    }

    pub(crate) fn env<'a>(&mut self, variables: impl IntoIterator<Item = (&'a str, &'a str)>) {
        self.command.envs(variables);
    }

    pub(crate) fn run(self) -> Ran {
        let (mut summary, mut lines, start) = (Summary::default(), String::new(), Instant::now());
        let outcome = heard(self.command, SILENCE, |line| {
            lines.push_str(line);
            lines.push('\n');
            summary.hear(line);
        });
        let took = start.elapsed();
        summary.ran(&self.name, took);
        let outcome = outcome.and_then(|()| {
            let passed = summary.is_passed();
            ensure!(passed, "{} ended with exit code 0, but did not report that all of its cases passed", self.name);
            Ok(())
        });
        if outcome.is_err() {
            summary.failed(format!("{}\n{}", self.name, failures(&lines)));
        }
        Ran { name: self.name, lines, took, summary, outcome }
    }
}

/// A program that has ended, with its output.
pub(crate) struct Ran {
    pub(crate) name: String,
    pub(crate) lines: String,
    pub(crate) took: Duration,
    pub(crate) summary: Summary,
    pub(crate) outcome: Result<()>,
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n     Ran {} in {:.1} s\n{}", self.name, self.took.as_secs_f64(), self.lines)
    }
}

/// The number of lines of a failed program that are printed again.
const SHOWN: usize = 60;

/// Returns the lines in which a program reports its failed cases, or the program's last lines if it reports no cases.
fn failures(lines: &str) -> String {
    let (_, from_there) = lines.split_once("\nfailures:\n").unwrap_or_default();
    let failures: Vec<_> = from_there.lines().take_while(|line| !line.starts_with("test result")).take(SHOWN).collect();
    let all: Vec<_> = lines.lines().collect();
    let shown = if failures.is_empty() { &all[all.len().saturating_sub(SHOWN)..] } else { &failures };
    shown.join("\n")
}

/// Runs all programs, even if some fail. Prints the output of each program when the program has ended.
pub(crate) fn run(programs: Vec<Program>, summary: &mut Summary) -> Result<()> {
    let (waiting, all) = (Mutex::new(VecDeque::from(programs)), Mutex::new((summary, Ok(()))));
    thread::scope(|scope| {
        for _ in 0..lanes() {
            scope.spawn(|| {
                while let Some(program) = next(&waiting) {
                    println!("     Running {}", program.name);
                    let ran = program.run();
                    let (summary, outcome) = &mut *lock(&all);
                    println!("{ran}");
                    summary.add(ran.summary);
                    *outcome = std::mem::replace(outcome, Ok(())).and(ran.outcome);
                }
            });
        }
    });
    let (_, outcome) = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    outcome
}

/// Returns the number of programs to run at once: one more than there are cores, because a program may wait.
fn lanes() -> usize {
    thread::available_parallelism().map_or(1, usize::from) + 1
}

fn next(waiting: &Mutex<VecDeque<Program>>) -> Option<Program> {
    lock(waiting).pop_front()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::exit_code;

    fn message(is_test: bool, source: &str) -> Value {
        serde_json::json!({
            "reason": "compiler-artifact",
            "manifest_path": "/w/storagebox-redis/Cargo.toml",
            "target": { "kind": ["test"], "src_path": format!("/w/storagebox-redis/{source}") },
            "profile": { "test": is_test },
            "executable": "/w/target/debug/deps/program-0123",
        })
    }

    fn shell(name: &str, script: &str) -> Program {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Program::new(name, command)
    }

    #[test]
    fn failures_are_printed_again_without_the_passed_tests() {
        let lines = "test a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b ----\nlost\n\ntest result: FAILED. 1 passed; 1 failed";
        assert_eq!(failures(lines), "\n---- b ----\nlost\n");
        assert_eq!(failures("running 1 test\nkilled"), "running 1 test\nkilled");
    }

    const PASSED: &str = "echo 'test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured'";

    #[test]
    fn a_test_program_runs_in_the_folder_of_its_package() {
        let program = of_message(&message(true, "tests/backend/main.rs")).unwrap();
        assert_eq!(program.name, "storagebox-redis tests/backend/main.rs");
        assert_eq!(program.command.get_current_dir(), Some(Path::new("/w/storagebox-redis")));
        assert!(of_message(&message(false, "examples/one.rs")).is_none(), "an example is no test");
        assert!(of_message(&serde_json::json!({ "reason": "build-finished", "success": true })).is_none());
    }

    /// A warning in a test must fail the build, because the gate does not run clippy on tests.
    #[test]
    fn a_compiler_warning_fails_the_build() {
        let warned = serde_json::json!({ "message": { "level": "warning", "rendered": "unused" } });
        let build = |messages: &[Value]| {
            let lines: Vec<_> = messages.iter().map(|message| format!("echo '{message}'")).collect();
            shell("build", &lines.join("\n")).command
        };
        let test = message(true, "src/lib.rs");
        let messages = [warned, test];
        let failure = built_without_warnings(build(&messages)).unwrap_err();
        assert!(failure.to_string().contains("unused"), "{failure}");
        assert_eq!(built_without_warnings(build(&messages[1..])).unwrap().len(), 1);
        assert_eq!(built(build(&messages)).unwrap().len(), 1, "a mutant may leave something unused");
    }

    #[test]
    fn the_longest_programs_start_first() {
        let sources = ["src/lib.rs", "tests/smoke.rs", "tests/backend/main.rs", "tests/conformance.rs"];
        let mut programs: Vec<_> = sources.iter().filter_map(|source| of_message(&message(true, source))).collect();
        programs.sort_by_key(Program::place);
        let names: Vec<_> = programs.iter().map(|program| program.name.split(' ').next_back()).collect();
        assert_eq!(names, sources.iter().rev().map(|source| Some(*source)).collect::<Vec<_>>());
    }

    #[test]
    fn all_programs_run_and_count_even_if_one_fails() {
        let mut summary = Summary::default();
        let failed = "echo 'test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured'; exit 101";
        let programs = vec![shell("one", failed), shell("two", PASSED), shell("three", PASSED)];
        let failure = run(programs, &mut summary).unwrap_err();
        assert_eq!(exit_code(&failure), 101);
        assert_eq!(summary.to_string(), "7 passed, 2 failed, 2 skipped");
        assert!(summary.failures().starts_with("one\n"), "{}", summary.failures());
        assert_eq!(summary.longest(9).len(), 3);
    }

    /// A program that ends before all cases have run, for example by `exit(0)` in a test, has failed.
    #[test]
    fn a_program_that_succeeds_without_a_result_has_failed() {
        for script in ["exit 0", "echo 'running 3 tests'; exit 0", "echo 'test result: o'; exit 0"] {
            let mut summary = Summary::default();
            let outcome = run(vec![shell("one", script), shell("two", PASSED)], &mut summary);
            assert!(outcome.is_err(), "{script}: {summary}");
        }
    }

    /// The first program is killed, and the second one does not start.
    #[test]
    fn a_program_that_was_killed_or_does_not_exist_has_failed() {
        let killed = shell("one", &format!("{PASSED}; kill -9 $$"));
        let missing = Program::new("two", Command::new("/no/such/program"));
        for program in [killed, missing] {
            assert!(run(vec![program, shell("three", PASSED)], &mut Summary::default()).is_err());
        }
    }
}
