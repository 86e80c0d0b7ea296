//! The suite as a test program.

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use crate::case::Case;
use crate::certificate::{Certificate, End, Entry};
use crate::failure::{Failure, FailureKind};
use crate::handled::Handled;
use crate::harness::Harness;
use crate::lesson::lesson;
use crate::neighbour::is_neighbour;
use crate::options::Options;
use crate::runner::{Outcome, Runner};
use crate::stop::Over;

/// Separates the filters of one argument.
const COMMA: char = ',';

/// The `main` of a backend's conformance test (`harness = false`). Runs every case, with the default profile.
///
/// Accepts the arguments of a test program (`--list`, a filter, `--exact` ...). Separate several filters by commas. The
/// README lists the environment variables.
pub fn run(harness: impl Harness) -> ExitCode {
    run_with(harness, Options::default())
}

/// Runs the suite as [`run`] does, with options. Use [`Selection::Smoke`](crate::Selection::Smoke) to try a conforming
/// backend in its other set-ups: behind a pooler, over TLS, with other options.
pub fn run_with(harness: impl Harness, options: impl Into<Options>) -> ExitCode {
    if is_neighbour() {
        return unopened();
    }
    let run = options.into().from_environment().and_then(|options| match options.handles {
        true => Run::new(Handled(harness), options),
        false => Run::new(harness, options),
    });
    match run {
        Ok(run) => run.test_program(),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Reports that `main` did not call `neighbour` in a process that the suite has started as a neighbour.
fn unopened() -> ExitCode {
    // The process must end here. It would otherwise run the suite again.
    eprintln!(
        "the `main` of this test must begin with `storagebox_conformance::neighbour`, or declare `without_processes`"
    );
    ExitCode::FAILURE
}

/// Certifies a backend from a program: runs the cases, calls the observer with each case when it ends, and returns the
/// certificate. Must not be called from inside a runtime. A store that blocks its thread for ever blocks this call.
///
/// # Errors
///
/// Returns a text if the operating system cannot create threads.
pub fn certify(
    harness: impl Harness,
    options: impl Into<Options>,
    observe: impl Fn(&Case, &End) + Sync,
) -> Result<Certificate, String> {
    let options = options.into();
    match options.handles {
        true => Run::new(Handled(harness), options).map(|run| run.certificate(&observe)),
        false => Run::new(harness, options).map(|run| run.certificate(&observe)),
    }
}

struct Run {
    runner: Runner,
    options: Options,
    seed: u64,
    over: Over,
    certificate: Mutex<Certificate>,
    /// Whether the process exists for this run.
    is_program: bool,
}

impl Run {
    fn new(harness: impl Harness, options: Options) -> Result<Self, String> {
        let seed = options.seed.unwrap_or_else(|| fastrand::Rng::new().u64(..));
        let certificate = Certificate::of(harness.name(), options.clone(), seed, &harness.declared());
        let runner = Runner::new(harness, options.profile);
        let runner = runner.map_err(|error| format!("the threads of the suite cannot be created: {error}"))?;
        let over = Over::new(options.stop.clone(), options.within);
        Ok(Self { runner, options, seed, over, certificate: Mutex::new(certificate), is_program: false })
    }

    fn test_program(mut self) -> ExitCode {
        self.is_program = true;
        let mut arguments = Arguments::from_args();
        arguments.test_threads = arguments.test_threads.or(Some(self.options.cases_at_once()));
        let run = Arc::new(self);
        let mut trials = trials(&run);
        if let Some(filters) = arguments.filter.take_if(|filter| filter.contains(COMMA)) {
            trials.retain(|trial| matches(trial.name(), &filters, arguments.exact));
        }
        let Options { selection, reports, .. } = &run.options;
        println!("storagebox conformance of {}, {selection:?}, STORAGEBOX_SEED={}", run.entered().name(), run.seed);
        let conclusion = libtest_mimic::run(&arguments, trials);
        let certificate = run.entered();
        if conclusion.num_passed + conclusion.num_failed > 0 {
            print!("{}", certificate.to_text());
            if let Some(error) = reports.iter().find_map(|path| certificate.write(path).err()) {
                eprintln!("the report was not written: {error}");
                return ExitCode::FAILURE;
            }
        }
        conclusion.exit_code()
    }

    fn certificate(self, observe: &(impl Fn(&Case, &End) + Sync)) -> Certificate {
        let next = Mutex::new(self.numbered().into_iter());
        std::thread::scope(|scope| {
            for _ in 0..self.options.cases_at_once() {
                scope.spawn(|| {
                    while let Some((number, case)) = take(&next) {
                        observe(&case, &self.end(number, &case));
                    }
                });
            }
        });
        self.certificate.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the cases to run, with their numbers. Cases whose failures are easy to read come first.
    fn numbered(&self) -> Vec<(usize, Case)> {
        let certificate = self.entered();
        let entries = certificate.entries().iter().enumerate();
        let chosen = entries.filter(|(_, entry)| entry.end == End::NotRun && self.options.has(entry.case.part()));
        let mut chosen: Vec<_> = chosen.map(|(number, entry)| (number, entry.case)).collect();
        chosen.sort_by_key(|(_, case)| case.plainness());
        chosen
    }

    fn entered(&self) -> std::sync::MutexGuard<'_, Certificate> {
        self.certificate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a case and records its result in the certificate.
    #[allow(clippy::disallowed_methods, reason = "people ask how long a case takes; nothing depends on it")]
    fn end(&self, number: usize, case: &Case) -> End {
        if self.over.is_now() {
            return End::NotRun;
        }
        let start = Instant::now();
        let end = self.tried(case);
        self.entered().enter(number, end.clone(), start.elapsed());
        end
    }

    /// Runs a case with one seed after another until it fails or no seed is left.
    fn tried(&self, case: &Case) -> End {
        let mut seeds = self.seed..self.seed.saturating_add(self.options.runs);
        let run = match self.is_program {
            true => Runner::run_watched,
            false => Runner::run_until,
        };
        let ended = seeds.find_map(|seed| match run(&self.runner, &self.over, case, seed) {
            Some(Outcome::Failed(failure)) => Some(end_of(&failure, case, seed)),
            Some(Outcome::Ignored(reason)) => Some(End::Ignored(reason)),
            Some(Outcome::Passed) => None,
            None => Some(End::NotRun),
        });
        ended.unwrap_or(End::Held)
    }
}

fn end_of(failure: &Failure, case: &Case, seed: u64) -> End {
    match failure.kind() {
        FailureKind::Undecided => End::Undecided(failure.to_string()),
        FailureKind::Broken | FailureKind::Unfinished => End::Failed(lesson(failure, case, seed)),
    }
}

fn take<T>(next: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    next.lock().unwrap_or_else(PoisonError::into_inner).next()
}

/// Creates a trial for each case. Cases whose failures are easy to read come first. The kind of an ignored trial is the
/// reason why its case is ignored.
fn trials(run: &Arc<Run>) -> Vec<Trial> {
    let certificate = run.entered();
    let entries = certificate.entries().iter().enumerate().filter(|(_, entry)| run.options.has(entry.case.part()));
    let mut entries: Vec<_> = entries.collect();
    entries.sort_by_key(|(_, entry)| entry.case.plainness());
    let trial = |(number, entry): (usize, &Entry)| {
        let (run, case, name) = (Arc::clone(run), entry.case, entry.case.name());
        let within = run.options.within;
        let ended = move || told(&case, run.end(number, &case));
        match &entry.end {
            End::Ignored(reason) => {
                Trial::test(name, move || asked(ended(), within)).with_ignored_flag(true).with_kind(reason)
            }
            _ => Trial::ignorable_test(name, move || result(ended(), within)),
        }
    };
    entries.into_iter().map(trial).collect()
}

/// Prints the failure of a case at once, and returns `end` unchanged.
fn told(case: &Case, end: End) -> End {
    if let End::Failed(why) = &end {
        // A long run may be killed before its report.
        eprintln!("---- {} ----\n{why}\n", case.name());
    }
    end
}

/// Returns the result of a case that the harness declares to leave out, and that the caller asked for.
fn asked(end: End, within: Option<Duration>) -> Result<(), Failed> {
    match result(end, within)? {
        Completion::Completed => Ok(()),
        // A case that was not run has not passed.
        Completion::Ignored { reason } => Err(format!("not run: {}", reason.unwrap_or_default()).into()),
    }
}

fn result(end: End, within: Option<Duration>) -> Result<Completion, Failed> {
    match end {
        End::Held => Ok(Completion::Completed),
        End::Failed(why) => Err(why.into()),
        End::Undecided(why) => Err(format!("undecided: {why}").into()),
        // Only the sandbox shows that its clock cannot be moved.
        End::Ignored(reason) => Ok(Completion::ignored_with(reason)),
        End::NotRun => Err(within.map_or("not run: the run was ended".into(), over)),
    }
}

fn over(within: Duration) -> Failed {
    format!("not run to its end: the time limit of the run, {} s, was over", within.as_secs()).into()
}

fn matches(name: &str, filters: &str, exact: bool) -> bool {
    let mut filters = filters.split(COMMA).map(str::trim).filter(|filter| !filter.is_empty());
    filters.any(|filter| if exact { name == filter } else { name.contains(filter) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_that_was_not_run_has_not_passed() {
        let ignored = || End::Ignored("no server".to_owned());
        assert!(matches!(result(End::Held, None), Ok(Completion::Completed)) && asked(End::Held, None).is_ok());
        assert!(matches!(result(ignored(), None), Ok(Completion::Ignored { .. })) && asked(ignored(), None).is_err());
        let [busy, wrong] = ["too busy", "it broke"].map(str::to_owned);
        for end in [End::NotRun, End::Undecided(busy), End::Failed(wrong)] {
            assert!(result(end, None).is_err());
        }
    }

    #[test]
    fn a_case_fails_unless_the_machine_was_too_slow_for_it() {
        let case = crate::suite::cases()[0];
        let busy = Failure::too_late(20, Duration::from_millis(250));
        let why = "the machine is too busy for this case: 20 reads came 250ms late or later";
        assert_eq!(end_of(&busy, &case, 1), End::Undecided(why.to_owned()));
        for failure in [Failure::new("it broke"), Failure::unfinished("it panicked")] {
            assert!(matches!(end_of(&failure, &case, 1), End::Failed(_)), "{failure}");
        }
    }

    #[test]
    fn several_filters_are_separated_by_commas() {
        let name = "item_bank::IB-3::same_claim_same_item";
        assert!(matches(name, "IB-7, IB-3", false) && !matches(name, "IB-7,T-1", false));
        assert!(matches(name, &format!("x,{name}"), true) && !matches(name, "IB-3,", true));
    }
}
