//! False alarms: whole runs of the suite, again and again, while threads that never pause take the cores from it. No
//! run has a fault, so a case that fails there fails by chance.

use std::hint;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::command::{cargo, heard};
use crate::failure::Failure;
use crate::install;
use crate::programs::built;
use crate::steps::step;
use crate::summary::Summary;

/// Threads that never pause.
const BUSY: usize = 4;

/// How many runs each backend gets: a store in memory ends its run in seconds.
const RUNS: [(&str, usize); 5] = [("memory", 300), ("sqlite", 10), ("postgres", 10), ("redis", 10), ("dynamo", 10)];

/// The backend whose server is not among the system's packages.
const NEEDS_DYNOXIDE: &str = "dynamo";

pub(crate) fn run(wanted: Option<&str>) -> Result<(), Failure> {
    let chosen: Vec<_> = RUNS.iter().filter(|(backend, _)| wanted.is_none_or(|name| name == *backend)).collect();
    if chosen.is_empty() {
        let backends = RUNS.map(|(backend, _)| backend).join(", ");
        return Err(Failure::NoBackend { name: wanted.unwrap_or_default().to_owned(), backends });
    }
    let alarms =
        chosen.into_iter().map(|(backend, runs)| of_backend(backend, *runs)).sum::<Result<usize, Failure>>()?;
    if alarms == 0 { Ok(()) } else { Err(Failure::Alarms { alarms }) }
}

/// How many runs of this backend's suite failed.
fn of_backend(backend: &str, runs: usize) -> Result<usize, Failure> {
    if backend == NEEDS_DYNOXIDE {
        step("dynoxide (some minutes, once)", install::dynoxide)?;
    }
    let package = format!("storagebox-{backend}");
    let programs = built(cargo(["test", "--locked", "-p", &package, "--test", "conformance"]))?;
    let (executable, folder) = programs.into_iter().next().ok_or(Failure::NotBuilt { test: package })?.parts();
    let suite = || {
        let mut suite = Command::new(&executable);
        suite.current_dir(&folder).env("CARGO_MANIFEST_DIR", &folder);
        suite
    };
    Ok(beside_busy_threads(|| {
        (1..=runs).filter(|number| is_alarm(&format!("{backend} {number}/{runs}"), suite())).count()
    }))
}

/// Whether this run of the suite failed; then its lines are shown.
fn is_alarm(name: &str, suite: Command) -> bool {
    let (mut summary, mut lines) = (Summary::default(), Vec::new());
    let outcome = step(name, || {
        heard(suite, |line| {
            summary.hear(line);
            lines.push(line.to_owned());
        })?;
        match summary.is_passed() {
            true => Ok(summary.to_string()),
            false => Err(Failure::NoResult { program: name.to_owned() }),
        }
    });
    if let Err(failure) = &outcome {
        println!("{}\n{failure}", lines.join("\n"));
    }
    outcome.is_err()
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

/// Ends the busy threads with itself, also where the work panics.
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
    fn a_backend_that_is_not_there_is_named() {
        let failure = run(Some("oracle")).unwrap_err().to_string();
        assert_eq!(failure, "there is no backend `oracle`; there are memory, sqlite, postgres, redis, dynamo");
    }
}
