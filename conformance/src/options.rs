//! Options of a run of the suite.

use std::path::PathBuf;
use std::time::Duration;

use crate::harness::Harness;
use crate::part::Part;
use crate::stop::Stop;
use crate::suite::Selection;
use crate::world::Profile;

/// If this environment variable is `on`, the suite calls each store through a handle.
pub(crate) const HANDLES: &str = "STORAGEBOX_HANDLES";

/// Options of a run of the suite. Environment variables change them for one run (see the README).
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) profile: Profile,
    pub(crate) selection: Selection,
    pub(crate) parts: Vec<Part>,
    pub(crate) threads: Option<usize>,
    pub(crate) within: Option<Duration>,
    pub(crate) stop: Stop,
    pub(crate) seed: Option<u64>,
    pub(crate) runs: u64,
    pub(crate) handles: bool,
    pub(crate) slowest: usize,
    pub(crate) reports: Vec<PathBuf>,
}

impl Options {
    /// Creates options that run every case, each as thoroughly as the profile says.
    pub fn new(profile: Profile) -> Self {
        Self {
            profile,
            selection: Selection::Everything,
            parts: vec![],
            threads: None,
            within: None,
            stop: Stop::new(),
            seed: None,
            runs: 1,
            handles: false,
            slowest: 5,
            reports: vec![],
        }
    }

    /// Sets which cases are run. Defaults to [`Selection::Everything`].
    #[must_use]
    pub fn selection(mut self, selection: Selection) -> Self {
        self.selection = selection;
        self
    }

    /// Runs the cases of these parts only. Defaults to all parts.
    #[must_use]
    pub fn parts(mut self, parts: impl IntoIterator<Item = Part>) -> Self {
        self.parts = parts.into_iter().collect();
        self
    }

    /// Sets how many cases run at once. Defaults to twice the number of processors: half of a case is waiting.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    /// Sets how long a run may take. Cases that have not ended by then count as not run, and there is no verdict.
    /// Defaults to no limit.
    #[must_use]
    pub fn within(mut self, time: Duration) -> Self {
        self.within = Some(time);
        self
    }

    /// Sets the `Stop` that ends the run from outside. Defaults to none.
    #[must_use]
    pub fn stop(mut self, stop: &Stop) -> Self {
        self.stop = stop.clone();
        self
    }

    /// Sets the seed of all random choices. Defaults to a random seed, which the report shows.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Adds a file for the certificate, as [`Certificate::write`](crate::Certificate::write) writes it.
    #[must_use]
    pub fn report(mut self, path: impl Into<PathBuf>) -> Self {
        self.reports.push(path.into());
        self
    }

    /// Returns the number of cases that a run on this backend has.
    pub fn asked(&self, harness: &dyn Harness) -> usize {
        let declared = harness.declared();
        let cases = self.selection.cases().into_iter().filter(|case| self.has(case.part()));
        cases.filter(|case| case.ignored_by(&declared).is_none()).count()
    }

    /// Applies the environment variables that change a run.
    ///
    /// # Errors
    ///
    /// Returns a text that names the variable and its valid values.
    pub fn from_environment(mut self) -> Result<Self, String> {
        self.profile = self.profile.or_chosen()?;
        self.seed = number("STORAGEBOX_SEED")?.or(self.seed);
        self.runs = number("STORAGEBOX_RUNS")?.unwrap_or(self.runs).max(1);
        self.slowest = number("STORAGEBOX_SLOWEST")?.map_or(self.slowest, |most| most.try_into().unwrap_or(usize::MAX));
        self.within = number("STORAGEBOX_MINUTES")?.map(|most| Duration::from_secs(60 * most)).or(self.within);
        self.handles |= text(HANDLES).is_some_and(|value| value == "on");
        self.reports.extend(text("STORAGEBOX_REPORT").iter().flat_map(|paths| paths.split(',')).map(PathBuf::from));
        Ok(self)
    }

    pub(crate) fn cases_at_once(&self) -> usize {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.unwrap_or_else(|| 2 * processors())
    }

    /// Returns whether the cases of this part run.
    pub(crate) fn has(&self, part: Part) -> bool {
        self.parts.is_empty() || self.parts.contains(&part)
    }
}

impl Default for Options {
    /// Returns options that run every case, with the profile for stores whose calls cost little.
    fn default() -> Self {
        Self::new(Profile::QUICK)
    }
}

impl From<Profile> for Options {
    fn from(profile: Profile) -> Self {
        Self::new(profile)
    }
}

fn text(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|value| !value.is_empty())
}

fn number(variable: &str) -> Result<Option<u64>, String> {
    let wrong = |value: &str| format!("{variable}={value}: the value must be a whole number");
    text(variable).map(|value| value.parse().map_err(|_| wrong(&value))).transpose()
}
