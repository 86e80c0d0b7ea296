//! Work that runs once per id while its result is kept, and never twice at the same time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use storagebox::{Dedup, Ran, Result, Retention, RunError, Store};
use tokio::time::{Instant, sleep};

use super::{Lately, Shared, wrong};
use crate::caller::{Caller, Wrong};

/// The number of ids that all callers share.
const IDS: u32 = 40;
/// The duration of a lease, much longer than the work.
const LEASE: Duration = Duration::from_secs(20);
/// The time for which a result is kept.
const KEPT: Duration = Duration::from_secs(5);
const WORK: Duration = Duration::from_millis(20);

/// The state of each id: whether work is in progress, and the results that callers tried to record.
#[derive(Debug, Default)]
pub(crate) struct Known(Mutex<HashMap<String, Id>>);

#[derive(Debug, Default)]
struct Id {
    running: bool,
    /// The time at which the work of the last recorded result ended.
    done: Option<Instant>,
    results: Lately,
}

/// A guard that marks the work of an id as in progress until the guard is dropped.
struct Running<'a> {
    known: &'a Known,
    id: &'a str,
}

impl Known {
    fn all(&self) -> MutexGuard<'_, HashMap<String, Id>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin<'a>(&'a self, id: &'a str, result: &[u8]) -> Result<Running<'a>, Wrong> {
        let mut all = self.all();
        let known = all.entry(id.to_owned()).or_default();
        if known.running {
            return Err(format!("{id} ran twice at once"));
        }
        if known.done.as_ref().is_some_and(|done| done.elapsed() < KEPT) {
            return Err(format!("{id} ran again while its result was kept"));
        }
        known.running = true;
        known.results.add(result);
        Ok(Running { known: self, id })
    }

    fn recorded(&self, id: &str, done: Instant) {
        if let Some(known) = self.all().get_mut(id) {
            known.done = Some(done);
        }
    }

    /// Returns whether `result` is one of the last results that callers tried to record for the id.
    fn has(&self, id: &str, result: &[u8]) -> bool {
        self.all().get(id).is_some_and(|known| known.results.has(result))
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(known) = self.known.all().get_mut(self.id) {
            known.running = false;
        }
    }
}

pub(super) struct Runs {
    dedup: Dedup,
    shared: Arc<Shared>,
}

impl Runs {
    pub(super) fn of(store: &Store, shared: &Arc<Shared>) -> Result<Self> {
        Ok(Self { dedup: store.dedup("soak-runs")?, shared: Arc::clone(shared) })
    }

    pub(super) async fn one(&self, caller: &mut Caller) -> Result<(), Wrong> {
        let (id, result) = (format!("soak-run-{}", fastrand::u32(..IDS)), caller.fresh());
        let (runs, mut done) = (&self.shared.runs, None);
        let work = async |_fence| {
            let _running = runs.begin(&id, result.as_bytes())?;
            sleep(WORK).await;
            done = Some(Instant::now());
            Ok::<_, Wrong>(result.clone())
        };
        match self.dedup.run(id.as_str(), work).lease(LEASE).keep(Retention::For(KEPT)).await {
            Ok(Ran::Done(kept)) if kept.as_bytes() == result.as_bytes() => {
                runs.recorded(&id, done.ok_or("the answer is `Done`, but the work did not run")?);
            }
            Ok(Ran::Replayed(kept)) if runs.has(&id, kept.as_bytes()) => {}
            Ok(Ran::InFlight { .. }) => {}
            // The reply to the recording was lost, and a retry came after the result had expired.
            Ok(Ran::Fenced) if done.is_some_and(|done: Instant| done.elapsed() >= KEPT) => {}
            Ok(other) => return Err(wrong("run", other)),
            Err(RunError::Work(wrong)) => return Err(wrong),
            // The work may have been done, and is repeated once its lease has lapsed.
            Err(RunError::Store(error)) if error.is_retryable() => {
                caller.tally.failed();
                return Ok(());
            }
            Err(RunError::Store(error)) => return Err(format!("run: {error}")),
        }
        caller.tally.answered();
        Ok(())
    }
}
