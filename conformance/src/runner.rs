//! Runs cases: all of them as a test program, or one by one as values.

use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use futures_util::FutureExt;
use libtest_mimic::{Arguments, Failed, Trial};
use tokio::runtime::{Builder, Runtime};

use crate::case::{Case, Family};
use crate::clauses::CLAUSES;
use crate::failure::Failure;
use crate::handled::Handled;
use crate::harness::Harness;
use crate::link::dropped;
use crate::mistakes::Mistake;
use crate::progress::bounded;
use crate::report::Report;
use crate::suite::Selection;
use crate::world::{PROFILE, Profile, World};

/// What became of a case.
#[derive(Debug)]
pub enum Outcome {
    /// It held.
    Passed,
    /// It was not run, because the backend does not claim what it needs.
    Ignored(String),
    /// It did not hold.
    Failed(Failure),
}

/// Runs single cases against one harness.
pub struct Runner {
    harness: Arc<dyn Harness>,
    runtime: Runtime,
    profile: Profile,
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner").field("harness", &self.harness.name()).finish_non_exhaustive()
    }
}

impl Runner {
    /// A runner with threads of its own.
    ///
    /// # Errors
    ///
    /// The operating system's, if it has no threads to give.
    pub fn new(harness: impl Harness, profile: Profile) -> std::io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(4).enable_all().build()?;
        Ok(Self { harness: Arc::new(harness), runtime, profile })
    }

    /// Runs one case in a world of its own. Must not be called from inside a runtime.
    pub fn run(&self, case: &Case, seed: u64) -> Outcome {
        if let Some(reason) = self.harness.declared().ignores(case) {
            return Outcome::Ignored(reason.to_owned());
        }
        match self.runtime.block_on(self.verdict(case, seed)) {
            Ok(()) => Outcome::Passed,
            Err(failure) => Outcome::Failed(failure),
        }
    }

    async fn verdict(&self, case: &Case, seed: u64) -> Result<(), Failure> {
        let world = match case.family() {
            Family::Crash => World::alone(Arc::clone(&self.harness), seed, self.profile).await?,
            _ => World::fresh(Arc::clone(&self.harness), seed, self.profile).await?,
        };
        let run = AssertUnwindSafe(case.run(&world)).catch_unwind();
        let outcome = bounded(run).await?;
        outcome.unwrap_or_else(|_| Err(Failure::new("something panicked; the message is above")))
    }
}

/// The `main` of a backend's conformance test (`harness = false`): every case, as much of it as any run needs.
///
/// Takes the arguments of a test program (`--list`, a filter, `--exact` ...). `STORAGEBOX_SEED` replays a seed;
/// `STORAGEBOX_RUNS` repeats every case with that many seeds; `STORAGEBOX_PROFILE` (`quick`, `brief`, `smoke`) says how
/// much each does; `STORAGEBOX_SLOWEST` how many of the slowest are named in the end. With `STORAGEBOX_HANDLES=on` each
/// store is behind the retries and the deadline of a handle, as programs hold it.
pub fn run(harness: impl Harness) -> ExitCode {
    run_with(harness, Profile::QUICK, Selection::Everything)
}

/// As [`run`], with as much of each case as the profile says, and the selected cases alone. A backend that conforms is
/// tried so in its other set-ups: behind a pooler, over TLS, with other options.
pub fn run_with(harness: impl Harness, profile: Profile, selection: Selection) -> ExitCode {
    match std::env::var("STORAGEBOX_HANDLES").is_ok_and(|value| value == "on") {
        true => run_selected(Handled(harness), profile, selection),
        false => run_selected(harness, profile, selection),
    }
}

fn run_selected(harness: impl Harness, profile: Profile, selection: Selection) -> ExitCode {
    let name = harness.name();
    let declared = harness.declared();
    let runner = profile.or_chosen().and_then(|profile| {
        Runner::new(harness, profile).map_err(|error| format!("no threads to run the suite: {error}"))
    });
    let runner = match runner {
        Ok(runner) => Arc::new(runner),
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let cases = selection.cases();
    let (seed, runs) = (number("STORAGEBOX_SEED").unwrap_or_else(|| fastrand::Rng::new().u64(..)), runs());
    let report = Arc::new(Mutex::new(Report::of(selection, &declared)));
    let trials = cases
        .into_iter()
        .map(|case| trial(case, declared.ignores(&case), &runner, seed..seed.saturating_add(runs), &report))
        .collect();
    println!("storagebox conformance of {name}, {selection:?}, STORAGEBOX_SEED={seed}");
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials);
    if conclusion.num_passed + conclusion.num_failed > 0 {
        print!("{}", report.lock().unwrap_or_else(PoisonError::into_inner).render(&name, dropped()));
    }
    conclusion.exit_code()
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn runs() -> u64 {
    number("STORAGEBOX_RUNS").unwrap_or(1).max(1)
}

fn trial(
    case: Case,
    ignored: Option<&str>,
    runner: &Arc<Runner>,
    seeds: std::ops::Range<u64>,
    report: &Arc<Mutex<Report>>,
) -> Trial {
    let (runner, report) = (Arc::clone(runner), Arc::clone(report));
    #[allow(clippy::disallowed_methods, reason = "people ask how long a case takes; nothing depends on it")]
    let run = move || {
        let start = Instant::now();
        let outcome = seeds.clone().find_map(|seed| failed(&runner, &case, seed)).map_or(Ok(()), Err);
        let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
        report.enter(&case, outcome.is_ok(), start.elapsed());
        outcome
    };
    Trial::test(case.name(), run).with_ignored_flag(ignored.is_some()).with_kind(ignored.unwrap_or_default())
}

fn failed(runner: &Runner, case: &Case, seed: u64) -> Option<Failed> {
    match runner.run(case, seed) {
        Outcome::Passed | Outcome::Ignored(_) => None,
        Outcome::Failed(failure) => Some(Failed::from(lesson(&failure, case, seed))),
    }
}

/// What was promised and what happened, which line noticed, which mistakes broke this promise before, and how to see it
/// again.
fn lesson(failure: &Failure, case: &Case, seed: u64) -> String {
    let clause = case.clause();
    let promise = CLAUSES.iter().find(|known| known.id == clause).map_or("", |known| known.promise);
    let causes: String = Mistake::of(clause).map(|mistake| format!("\n  - {}", mistake.wrong)).collect();
    let causes = if causes.is_empty() { causes } else { format!("\nother stores that broke {clause}:{causes}") };
    let profile = std::env::var(PROFILE).map(|name| format!("{PROFILE}={name} ")).unwrap_or_default();
    let package = std::env::var("CARGO_PKG_NAME").map(|name| format!("-p {name} ")).unwrap_or_default();
    format!(
        "{failure}\n{clause} promises: {promise}\nnoticed at {}{causes}\n\
         replay: {profile}STORAGEBOX_SEED={seed} cargo test {package}--test {} -- --exact {}",
        failure.place(),
        program(),
        case.name()
    )
}

/// The name of this test program, as cargo knows it.
fn program() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    let file = path.file_stem().unwrap_or_default().to_string_lossy();
    file.rsplit_once('-').map_or(file.as_ref(), |(name, _hash)| name).to_owned()
}
