//! Builds a backend's tests in the patched copy, and runs one case.

use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::catalogue::{Catalogue, Mutant};
use super::source::Source;
use crate::command::{cargo, not_started, shown};
use crate::failure::ChildFailure;
use crate::programs::{Program, built};
use crate::summary::Summary;
use crate::workspace;

/// The time after which a case is killed. The suite itself ends a case without progress much earlier.
const LONGEST: Duration = Duration::from_secs(900);
const PAUSE: Duration = Duration::from_millis(20);

/// The folder in which the mutants of one backend are built and run.
#[derive(Debug)]
pub(super) struct Bench {
    source: Source,
    folder: PathBuf,
    package: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    /// The case failed with this message.
    Failed(String),
    /// The result of the case is unknown, for this reason.
    Unclear(String),
}

impl Verdict {
    /// Returns the word for this result in the table of mutants.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Passed => "SURVIVED",
            Self::Failed(_) => "caught",
            Self::Unclear(_) => "UNCLEAR",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => f.write_str("it passed"),
            Self::Failed(words) | Self::Unclear(words) => f.write_str(words),
        }
    }
}

impl Bench {
    /// Creates the copy of the workspace. The copy and its build stay for the next run, which builds only what has
    /// changed.
    pub(super) fn of(catalogue: &Catalogue) -> Result<Self> {
        let folder = workspace::builds()?.join("mutants").join(&catalogue.backend);
        let source = Source::copied(folder.join("source"))?;
        Ok(Self { source, folder, package: catalogue.package() })
    }

    /// Builds a test program and shows cargo's progress, because the first build takes minutes.
    pub(super) fn built_shown(&self, test: &str) -> Result<Program> {
        let mut build = self.cargo(test);
        build.arg("--no-run");
        shown(build)?;
        self.built(test)
    }

    /// Runs a case in the unpatched copy.
    pub(super) fn without_patch(&self, program: &Program, case: &str) -> Result<Verdict> {
        self.run(program, "without_patch", case, 1)
    }

    /// Runs the mutant's case in the copy with the mutant's patch.
    pub(super) fn with_patch(&self, mutant: &Mutant) -> Result<Verdict> {
        self.source.patched(mutant, || match self.built(&mutant.test) {
            Ok(program) => self.run(&program, &mutant.name, &mutant.case, mutant.runs),
            Err(error) => {
                let ChildFailure { output, .. } = error.downcast()?;
                workspace::write(self.log(&mutant.name), output)?;
                Ok(Verdict::Unclear("it does not compile".to_owned()))
            }
        })
    }

    fn run(&self, program: &Program, name: &str, case: &str, runs: u32) -> Result<Verdict> {
        let mut command = program.command();
        command.args(["--exact", case]).env("STORAGEBOX_RUNS", runs.to_string());
        let log = self.log(name);
        workspace::write(&log, "")?;
        let ended = ended(command, &log)?;
        let output = fs::read(&log)?;
        Ok(ended.map_or_else(
            || Verdict::Unclear(format!("it did not end within {LONGEST:?}")),
            |_| judged(&String::from_utf8_lossy(&output)),
        ))
    }

    fn built(&self, test: &str) -> Result<Program> {
        built(self.cargo(test))?.pop().with_context(|| format!("cargo built no test program of {test}"))
    }

    /// Returns the command for an incremental build without debug information.
    fn cargo(&self, test: &str) -> Command {
        let mut command = cargo(["test", "--locked", "-p", &self.package]);
        match test {
            "lib" => command.arg("--lib"),
            _ => command.args(["--test", test]),
        };
        command.current_dir(self.source.folder()).env("CARGO_TARGET_DIR", self.folder.join("build"));
        command.env("CARGO_INCREMENTAL", "1").env("CARGO_PROFILE_DEV_DEBUG", "0");
        command
    }

    fn log(&self, name: &str) -> PathBuf {
        self.folder.join("logs").join(name).with_extension("log")
    }
}

/// Runs a command whose output goes to a file. Returns `None` if the command had to be killed.
fn ended(mut command: Command, log: &Path) -> Result<Option<ExitStatus>> {
    let file = File::create(log).with_context(|| log.display().to_string())?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    let start = Instant::now();
    let mut child = command.spawn().with_context(|| not_started(&command))?;
    while start.elapsed() < LONGEST {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(PAUSE);
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// Returns the result of a run, whose summary must be of exactly one case.
fn judged(log: &str) -> Verdict {
    let mut summary = Summary::default();
    log.lines().for_each(|line| summary.hear(line));
    match summary.of_one() {
        Some(true) => Verdict::Passed,
        Some(false) => failed(first_words(log)),
        None => Verdict::Unclear(format!("the summary does not count exactly one case: {summary}")),
    }
}

fn failed(words: String) -> Verdict {
    // The suite begins the message of a case for which the machine was too slow with this word.
    if words.starts_with("undecided: ") { Verdict::Unclear(words) } else { Verdict::Failed(words) }
}

/// Returns the first line of a failure's message.
fn first_words(log: &str) -> String {
    // The suite and the test harness both print the message below a line of dashes.
    let below = log.lines().skip_while(|line| !line.starts_with("---- ")).skip(1);
    let is_said = |line: &&str| !line.trim().is_empty() && !line.starts_with("thread '");
    below.into_iter().find(is_said).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OK: &str = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured";
    const FAILED: &str = "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured";

    #[test]
    fn a_verdict_comes_from_the_summary_and_the_first_message() {
        assert_eq!(judged(OK), Verdict::Passed);
        let suite = format!("---- item_bank::IB-1::one ----\nthe item is Free\nnoticed at a.rs\n{FAILED}");
        assert_eq!(judged(&suite), Verdict::Failed("the item is Free".to_owned()));
        let test = format!("---- one stdout ----\n\nthread 'one' panicked at a.rs:1:2:\nassertion failed: x\n{FAILED}");
        assert_eq!(judged(&test), Verdict::Failed("assertion failed: x".to_owned()));
    }

    #[test]
    fn a_case_for_which_the_machine_was_too_slow_catches_no_mutant() {
        let said = "undecided: the machine is too busy for this case";
        let log = format!("---- item_bank::IB-6::ends ----\n{said}\n{FAILED}");
        assert_eq!(judged(&log), Verdict::Unclear(said.to_owned()));
    }

    /// Without a summary of exactly one case it is unknown whether the case ran.
    #[test]
    fn the_verdict_is_unclear_without_a_summary_of_one_case() {
        for said in ["", "no server", "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured"] {
            assert!(matches!(judged(said), Verdict::Unclear(_)), "{said}");
        }
        let ignored = "test result: ok. 0 passed; 0 failed; 1 ignored; 0 measured";
        assert!(matches!(judged(ignored), Verdict::Unclear(_)));
    }

    #[test]
    fn the_output_of_a_command_goes_to_its_log() {
        let folder = storagebox_testkit::Folder::new("xtask-log").unwrap();
        let (log, mut shell) = (folder.path().join("one.log"), Command::new("sh"));
        shell.args(["-c", "echo one; echo two >&2; exit 3"]);
        assert_eq!(ended(shell, &log).unwrap().and_then(|status| status.code()), Some(3));
        assert_eq!(fs::read_to_string(log).unwrap(), "one\ntwo\n");
    }
}
