//! False alarms: repeated whole runs of the suite, while threads that never pause use up the cores. The backends run
//! concurrently, so each also competes with the suites and servers of the others. No run has a fault, so a case that
//! fails there fails by chance.

use std::hint;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use crate::command::{cargo, heard};
use crate::failure::Failure;
use crate::install;
use crate::programs::{Program, built};
use crate::steps::step;
use crate::summary::Summary;

/// The number of threads that never pause.
const BUSY: usize = 4;

/// The number of runs per backend. A store in memory ends its run in seconds.
const RUNS: [(&str, usize); 5] = [("memory", 300), ("sqlite", 10), ("postgres", 10), ("redis", 10), ("dynamo", 10)];

/// The backend whose server is not among the system's packages.
const NEEDS_DYNOXIDE: &str = "dynamo";

pub(crate) fn run(wanted: Option<&str>) -> Result<(), Failure> {
    let chosen: Vec<_> = RUNS.into_iter().filter(|(backend, _)| wanted.is_none_or(|name| name == *backend)).collect();
    if chosen.is_empty() {
        let backends = RUNS.map(|(backend, _)| backend).join(", ");
        return Err(Failure::NoBackend { name: wanted.unwrap_or_default().to_owned(), backends });
    }
    let suites = suites(&chosen)?;
    let alarms = AtomicUsize::new(0);
    beside_busy_threads(|| {
        thread::scope(|scope| {
            for suite in &suites {
                scope.spawn(|| alarms.fetch_add(suite.alarms(), Ordering::Relaxed));
            }
        });
    });
    match alarms.into_inner() {
        0 => Ok(()),
        alarms => Err(Failure::Alarms { alarms }),
    }
}

/// Builds the suites of these backends in one build.
fn suites(chosen: &[(&'static str, usize)]) -> Result<Vec<Suite>, Failure> {
    if chosen.iter().any(|(backend, _)| *backend == NEEDS_DYNOXIDE) {
        step("dynoxide (some minutes, once)", install::dynoxide)?;
    }
    // Builds for the whole workspace, so that cargo reuses what the gate has built.
    let build = cargo(["test", "--locked", "--workspace", "--test", "conformance"]);
    let mut programs: Vec<_> = built(build)?.into_iter().map(Program::parts).collect();
    chosen.iter().map(|chosen| Suite::of(*chosen, &mut programs)).collect()
}

fn package(backend: &str) -> String {
    format!("storagebox-{backend}")
}

/// The suite of one backend.
struct Suite {
    backend: &'static str,
    runs: usize,
    executable: PathBuf,
    folder: PathBuf,
}

impl Suite {
    /// Removes the suite's program from the list of built programs.
    fn of((backend, runs): (&'static str, usize), programs: &mut Vec<(PathBuf, PathBuf)>) -> Result<Self, Failure> {
        let package = package(backend);
        let own = programs.iter().position(|(_, folder)| folder.ends_with(&package));
        let (executable, folder) = programs.swap_remove(own.ok_or(Failure::NotBuilt { test: package })?);
        Ok(Self { backend, runs, executable, folder })
    }

    /// Runs the suite repeatedly, and returns the number of failed runs.
    fn alarms(&self) -> usize {
        let run = |number: &usize| is_alarm(&format!("{} {number}/{}", self.backend, self.runs), self.command());
        (1..=self.runs).filter(run).count()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command
    }
}

/// Runs a suite once. Returns whether the run failed, and then prints its output.
fn is_alarm(name: &str, suite: Command) -> bool {
    let (mut summary, mut lines, start) = (Summary::default(), Vec::new(), Instant::now());
    let ran = heard(suite, |line| {
        summary.hear(line);
        lines.push(line.to_owned());
    });
    let is_alarm = ran.is_err() || !summary.is_passed();
    lines.extend(ran.err().map(|failure| failure.to_string()));
    let (outcome, lines) = if is_alarm { ("FAILED", lines.join("\n") + "\n") } else { ("ok", String::new()) };
    // One call of `print!`, because the other backends print too.
    print!("{name:<34} {outcome:<6} {:7.1} s  {summary}\n{lines}", start.elapsed().as_secs_f64());
    is_alarm
}

fn beside_busy_threads<T>(work: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..BUSY {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    hint::spin_loop();
                }
            });
        }
        let _over = Over(&over);
        work()
    })
}

/// Ends the busy threads when it is dropped, even if the work panics.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alarm(script: &str) -> bool {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        is_alarm("one", command)
    }

    #[test]
    fn a_run_that_fails_or_says_nothing_of_its_cases_is_an_alarm() {
        assert!(!alarm("echo 'test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured'"));
        assert!(alarm("echo 'test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured'; exit 101"));
        assert!(alarm("exit 0"));
    }

    #[test]
    fn the_busy_threads_end_with_the_work() {
        assert_eq!(beside_busy_threads(|| 7), 7);
    }

    #[test]
    fn each_backend_runs_its_own_suite() {
        let built = |name: &str| (PathBuf::from(format!("/w/target/{name}-0123")), PathBuf::from(format!("/w/{name}")));
        let mut programs = vec![built("storagebox-redis"), built("storagebox-memory")];
        let suite = Suite::of(("memory", 2), &mut programs).unwrap();
        assert_eq!(suite.command().get_program(), "/w/target/storagebox-memory-0123");
        assert!(matches!(Suite::of(("memory", 2), &mut programs), Err(Failure::NotBuilt { .. })));
    }

    #[test]
    fn each_run_that_fails_is_counted() {
        let suite = Suite { backend: "memory", runs: 3, executable: "/bin/false".into(), folder: "/".into() };
        assert_eq!(suite.alarms(), 3);
    }

    #[test]
    fn a_backend_that_is_not_there_is_named() {
        let failure = run(Some("oracle")).unwrap_err().to_string();
        assert_eq!(failure, "there is no backend `oracle`; there are memory, sqlite, postgres, redis, dynamo");
    }
}
