//! Looks for false alarms: runs the whole suite repeatedly, while busy threads use up the cores. The backends run
//! concurrently, so each suite also competes with the suites and servers of the other backends. No store has a fault,
//! so each failed run is a false alarm.

use std::hint;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, bail, ensure};

use crate::command::cargo;
use crate::install;
use crate::programs::{Program, built};
use crate::steps::step;

/// The number of threads that keep the processors busy.
const BUSY: usize = 4;

/// The number of runs of each backend's suite. A run in memory takes only seconds.
const RUNS: [(&str, usize); 5] = [("memory", 300), ("sqlite", 10), ("postgres", 10), ("redis", 10), ("dynamo", 10)];

/// The backend whose server, dynoxide, is installed with cargo and not as a package of the system.
const NEEDS_DYNOXIDE: &str = "dynamo";

pub(crate) fn run(wanted: Option<&str>) -> Result<()> {
    let chosen: Vec<_> = RUNS.into_iter().filter(|(backend, _)| wanted.is_none_or(|name| name == *backend)).collect();
    if chosen.is_empty() {
        let backends = RUNS.map(|(backend, _)| backend).join(", ");
        bail!("there is no backend `{}`; there are {backends}", wanted.unwrap_or_default());
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
    let alarms = alarms.into_inner();
    ensure!(alarms == 0, "{alarms} runs of the suite failed, although no store had a fault");
    Ok(())
}

/// Builds the suites of these backends in one build.
fn suites(chosen: &[(&'static str, usize)]) -> Result<Vec<Suite>> {
    if chosen.iter().any(|(backend, _)| *backend == NEEDS_DYNOXIDE) {
        step("dynoxide (some minutes, once)", install::dynoxide)?;
    }
    // Builds for the whole workspace, so that cargo reuses what the gate has built.
    let mut programs = built(cargo(["test", "--locked", "--workspace", "--test", "conformance"]))?;
    chosen.iter().map(|chosen| Suite::of(*chosen, &mut programs)).collect()
}

struct Suite {
    backend: &'static str,
    runs: usize,
    program: Program,
}

impl Suite {
    /// Creates the suite of a backend, and removes the backend's program from `programs`.
    fn of((backend, runs): (&'static str, usize), programs: &mut Vec<Program>) -> Result<Self> {
        let own = programs.iter().position(|program| program.is_of(&format!("storagebox-{backend}")));
        let own = own.with_context(|| format!("cargo built no suite of storagebox-{backend}"))?;
        Ok(Self { backend, runs, program: programs.swap_remove(own) })
    }

    /// Runs the suite repeatedly, and returns the number of failed runs.
    fn alarms(&self) -> usize {
        let once = |number| Program::new(format!("{} {number}/{}", self.backend, self.runs), self.program.command());
        (1..=self.runs).filter(|number| is_alarm(once(*number))).count()
    }
}

/// Runs a suite once. If the run fails, prints its output and returns true.
fn is_alarm(suite: Program) -> bool {
    let ran = suite.run();
    let (outcome, output) = match &ran.outcome {
        Ok(()) => ("ok", String::new()),
        Err(error) => ("FAILED", format!("{}{error:#}\n", ran.lines)),
    };
    // One call of `print!`, because the other backends print too.
    print!("{:<34} {outcome:<6} {:7.1} s  {}\n{output}", ran.name, ran.took.as_secs_f64(), ran.summary);
    ran.outcome.is_err()
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

/// Ends the busy threads when this value is dropped, even if the work panics.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn shell(name: &str, script: &str) -> Program {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Program::new(name, command)
    }

    #[test]
    fn a_run_that_fails_or_prints_no_result_is_an_alarm() {
        let alarm = |script| is_alarm(shell("one", script));
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
        let built = |name: &str| Program::new(format!("{name} tests/conformance.rs"), Command::new("/bin/false"));
        let mut programs = vec![built("storagebox-redis"), built("storagebox-memory")];
        let suite = Suite::of(("memory", 3), &mut programs).unwrap();
        assert!(suite.program.is_of("storagebox-memory"));
        assert_eq!(suite.alarms(), 3, "each run that fails is counted");
        assert!(Suite::of(("memory", 3), &mut programs).is_err());
    }

    #[test]
    fn an_unknown_backend_is_named_in_the_error() {
        let failure = run(Some("oracle")).unwrap_err().to_string();
        assert_eq!(failure, "there is no backend `oracle`; there are memory, sqlite, postgres, redis, dynamo");
    }
}
