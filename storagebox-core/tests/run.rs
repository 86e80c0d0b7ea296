//! Runs whose store fails.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

mod heard;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use storagebox::dedup::Begun;
use storagebox::parts::RunOptions;
use storagebox::time::{Timer, TokioTimer};
use storagebox::values::DedupId;
use storagebox::{
    Error, ErrorKind, MemoryStore, OpId, Payload, Ran, Result, Retention, Retry, async_trait,
    layer::{Call, Layer, LayeredPart, Next, Response},
    parts::{Backend, LeaseRepo, run, run_to_end},
};
use tokio::sync::{Mutex, Notify};
use tokio::task::AbortHandle;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// A layer that fails the first calls of an operation.
#[derive(Debug)]
struct Failing {
    operation: &'static str,
    kind: ErrorKind,
    failures: usize,
    calls: AtomicUsize,
}

impl Failing {
    /// Creates a layer that fails every attempt to record a result.
    fn to_record(kind: ErrorKind) -> Arc<Self> {
        Arc::new(Self { operation: "complete", kind, failures: usize::MAX, calls: AtomicUsize::new(0) })
    }
}

#[async_trait]
impl Layer for Failing {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        if call.operation() == self.operation && self.calls.fetch_add(1, Ordering::SeqCst) < self.failures {
            return Err(Error::new(self.kind, "as the test asked"));
        }
        next.run().await
    }
}

/// A layer that behaves like a store with one connection, which an extension of a lease holds for ever.
#[derive(Debug, Default)]
struct OneConnection(Mutex<()>);

#[async_trait]
impl Layer for OneConnection {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        if !["abort", "extend"].contains(&call.operation()) {
            return next.run().await;
        }
        let _connection = self.0.lock().await;
        if call.operation() == "extend" {
            return std::future::pending().await;
        }
        next.run().await
    }
}

/// A layer that answers `begin` with the lease of another runner, which has no time left and never ends.
#[derive(Debug, Default)]
struct NothingLeft(AtomicUsize);

#[async_trait]
impl Layer for NothingLeft {
    async fn call(&self, _: &Call<'_>, _: Next<'_>) -> Result<Response> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(Response::Begin(Begun::InFlight { remaining: Duration::ZERO }))
    }
}

fn behind(layer: Arc<dyn Layer>, leases: &Arc<dyn LeaseRepo>) -> LayeredPart<dyn LeaseRepo> {
    LayeredPart::new(Arc::clone(leases), layer)
}

fn jobs() -> Result<Arc<dyn LeaseRepo>> {
    MemoryStore::new().lease_repo(&"jobs".parse()?)
}

struct Warnings(Arc<AtomicUsize>);

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Regression: while another runner's lease had no time left, the runner called `begin` without a pause.
#[tokio::test(start_paused = true)]
async fn runner_waits_between_begin_calls_if_the_lease_has_no_time_left() -> Result<(), Box<dyn std::error::Error>> {
    let asked = Arc::<NothingLeft>::default();
    let leases = behind(Arc::<NothingLeft>::clone(&asked), &jobs()?);
    let options = RunOptions::default().wait(Duration::from_millis(50));
    let work = async |_fence| Ok::<_, Error>("done");
    let ran = run(&leases, &TokioTimer, &DedupId::new("invoice-7")?, &options, work).await?;
    assert_eq!(ran, Ran::InFlight { remaining: Duration::ZERO });
    let asked = asked.0.load(Ordering::SeqCst);
    assert!((2..=51).contains(&asked), "asked {asked} times in 50 ms");
    Ok(())
}

/// Within the length of one lease, the runner extends the lease three times, or tries eight times if the extensions
/// fail.
#[tokio::test(start_paused = true)]
async fn failed_lease_extensions_are_logged_and_retried() -> Result<(), Box<dyn std::error::Error>> {
    let (warnings, leases) = (Arc::<AtomicUsize>::default(), jobs()?);
    let calls = AtomicUsize::new(0);
    let failing = Failing { operation: "extend", kind: ErrorKind::Unavailable, failures: 7, calls };
    let troubled = behind(Arc::new(failing), &leases);
    let _told = heard::here(Warnings(Arc::clone(&warnings)));
    let (id, other) = (DedupId::new("invoice-7")?, OpId::new("other")?);
    let lease = Duration::from_secs(30);
    let work = async |_fence| {
        tokio::time::sleep(lease * 2).await;
        let begun = leases.begin(&id, &other, lease, None).await?;
        assert!(matches!(begun, Begun::InFlight { .. }), "{begun:?}");
        Ok::<_, Error>("sent")
    };
    let ran = run(&troubled, &TokioTimer, &id, &RunOptions::default().lease(lease), work).await?;
    assert_eq!(ran, Ran::Done(Payload::try_from("sent")?));
    assert_eq!(warnings.load(Ordering::SeqCst), 7);
    Ok(())
}

/// The heartbeat holds the only connection, so the run must end the heartbeat before the run aborts the lease.
#[tokio::test(start_paused = true)]
async fn lease_is_given_back_if_the_work_fails_during_a_heartbeat() -> Result<(), Box<dyn std::error::Error>> {
    let leases = jobs()?;
    let alone = behind(Arc::new(OneConnection::default()), &leases);
    let (id, other) = (DedupId::new("invoice-7")?, OpId::new("other")?);
    let lease = Duration::from_secs(30);
    let work = async |_fence| {
        tokio::time::sleep(lease / 2).await;
        Err::<&str, _>(Error::unknown("as the test asked"))
    };
    let options = RunOptions::default().lease(lease);
    let ran = tokio::time::timeout(lease * 20, run(&alone, &TokioTimer, &id, &options, work)).await?;
    assert!(ran.is_err(), "{ran:?}");
    let begun = leases.begin(&id, &other, lease, None).await?;
    assert!(matches!(begun, Begun::Started(_)), "{begun:?}");
    Ok(())
}

/// An error with the certainty `NotApplied` would let the caller repeat the work.
#[tokio::test(start_paused = true)]
async fn failure_to_record_done_work_has_certainty_unknown() -> Result<(), Box<dyn std::error::Error>> {
    for kind in [ErrorKind::Unavailable, ErrorKind::Throttled, ErrorKind::Contention, ErrorKind::Denied] {
        let leases = behind(Failing::to_record(kind), &jobs()?);
        let (id, options) = (DedupId::new("invoice-7")?, RunOptions::default());
        let work = async |_fence| Ok::<_, Error>("done");
        match run(&leases, &TokioTimer, &id, &options, work).await {
            Err(storagebox::RunError::Store(error)) => {
                assert_eq!(error.certainty(), storagebox::Certainty::Unknown, "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
    Ok(())
}

/// A task handle that cancels its task when the handle is dropped, as in some runtimes.
struct Cancels(AbortHandle);

impl Drop for Cancels {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Regression: the run dropped the handle of its task, and the runtime then cancelled the task.
#[tokio::test]
async fn run_to_end_continues_its_work_if_the_task_handle_is_dropped() {
    let jobs = jobs().unwrap();
    let (id, options) = (DedupId::new("job").unwrap(), RunOptions::default());
    let (begun, may_end) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (begins, ends) = (Arc::clone(&begun), Arc::clone(&may_end));
    let work = async move |_| {
        begins.notify_one();
        ends.notified().await;
        Ok::<_, Error>("result")
    };
    let spawn = |task| Cancels(tokio::spawn(task).abort_handle());
    let mut running = Box::pin(run_to_end(Arc::clone(&jobs), TokioTimer, spawn, &id, &options, work));
    tokio::select! {
        ran = &mut running => panic!("work that may not end came to its end: {ran:?}"),
        () = begun.notified() => {}
    }
    // The caller stops waiting.
    drop(running);
    may_end.notify_one();
    let waiting = RunOptions::default().wait(Duration::from_secs(10));
    let next = run(&*jobs, &TokioTimer, &id, &waiting, async |_| Ok::<_, Error>("second")).await.unwrap();
    assert_eq!(next, Ran::Replayed(Payload::try_from("result").unwrap()));
}

/// The work cannot be done again, so the run uses the default pauses if the policy has none.
#[tokio::test(start_paused = true)]
async fn result_is_recorded_with_default_pauses_if_the_policy_has_none() -> Result<()> {
    let failing = Failing::to_record(ErrorKind::Unavailable);
    let jobs = behind(Arc::clone(&failing) as _, &jobs()?);
    let retry = Retry { first_delay: Duration::ZERO, ..Retry::default() };
    let options = RunOptions::default().retry(retry).record_within(Duration::from_secs(60));
    let id = DedupId::new("job-1")?;
    let ran = run(&jobs, &TokioTimer, &id, &options, async |_| Ok::<_, Error>("done")).await;
    assert!(ran.is_err());
    assert!((60..100).contains(&failing.calls.load(Ordering::SeqCst)), "{failing:?}");
    Ok(())
}

/// A timer that never waits: `sleep` only advances the time.
#[derive(Debug, Default)]
struct Jumps(AtomicUsize);

#[async_trait]
impl Timer for Jumps {
    fn now(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::SeqCst) as u64)
    }

    async fn sleep(&self, duration: Duration) {
        self.0.fetch_add(duration.as_millis() as usize, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn work_continues_if_the_timer_never_waits() -> Result<()> {
    let jobs = jobs()?;
    let work = async |_| {
        tokio::task::yield_now().await;
        Ok::<_, Error>("done")
    };
    let ran = run(&*jobs, &Jumps::default(), &DedupId::new("job-1")?, &RunOptions::default(), work).await;
    assert!(matches!(ran, Ok(Ran::Done(_))), "{ran:?}");
    Ok(())
}

/// A layer that delays the answer to the first `begin` and then loses it.
#[derive(Debug)]
struct LosesBegin(Duration, AtomicUsize);

#[async_trait]
impl Layer for LosesBegin {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let answered = next.run().await?;
        if call.operation() == "begin" && self.1.fetch_add(1, Ordering::SeqCst) == 0 {
            TokioTimer.sleep(self.0).await;
            return Err(Error::unknown("the answer was lost, as the test asked"));
        }
        Ok(answered)
    }
}

/// Works for the length of two leases, and checks each second that no other runner gets a lease.
async fn works_alone(leases: &dyn LeaseRepo, id: &DedupId, lease: Duration) -> Result<&'static str> {
    for number in 0..2 * lease.as_secs() {
        TokioTimer.sleep(Duration::from_secs(1)).await;
        let begun = leases.begin(id, &OpId::new(format!("other-{number}"))?, lease, None).await?;
        assert!(matches!(begun, Begun::InFlight { .. }), "after {number} s: {begun:?}");
    }
    Ok("sent")
}

/// The run does not know the age of the lease that it resumes, so it extends the lease at once.
#[tokio::test(start_paused = true)]
async fn lease_that_is_resumed_near_its_end_is_extended_in_time() -> Result<()> {
    let (leases, id, worker) = (jobs()?, DedupId::new("invoice-7")?, OpId::new("worker-3")?);
    let lease = Duration::from_secs(30);
    assert!(matches!(leases.begin(&id, &worker, lease, None).await?, Begun::Started(_)));
    TokioTimer.sleep(lease - Duration::from_secs(2)).await;
    let options = RunOptions::default().lease(lease).take_up(worker);
    let ran = run(&*leases, &TokioTimer, &id, &options, async |_| works_alone(&*leases, &id, lease).await).await;
    assert!(matches!(ran, Ok(Ran::Done(_))), "{ran:?}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn lease_is_extended_in_time_if_the_first_answer_was_lost() -> Result<()> {
    let (leases, id, lease) = (jobs()?, DedupId::new("invoice-7")?, Duration::from_secs(30));
    let loses = LosesBegin(lease - Duration::from_secs(2), AtomicUsize::new(0));
    let slow = behind(Arc::new(loses), &leases);
    let options = RunOptions::default().lease(lease);
    let ran = run(&slow, &TokioTimer, &id, &options, async |_| works_alone(&*leases, &id, lease).await).await;
    assert!(matches!(ran, Ok(Ran::Done(_))), "{ran:?}");
    Ok(())
}

/// A layer that loses the reply of the first attempt to record a result, and makes the next attempt 70 seconds later.
#[derive(Debug, Default)]
struct LateRecord(AtomicUsize);

#[async_trait]
impl Layer for LateRecord {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        if call.operation() != "complete" {
            return next.run().await;
        }
        if self.0.fetch_add(1, Ordering::SeqCst) == 0 {
            let _ = next.run().await?;
            return Err(Error::unknown("lost"));
        }
        TokioTimer.sleep(Duration::from_secs(70)).await;
        next.run().await
    }
}

/// Regression: the run was `Fenced`, which says that its result was not recorded.
#[tokio::test(start_paused = true)]
async fn result_that_expired_before_its_recording_was_confirmed_is_a_doubt() -> Result<(), Box<dyn std::error::Error>> {
    let leases = behind(Arc::<LateRecord>::default(), &jobs()?);
    let id = DedupId::new("invoice-7")?;
    let work = async |_fence| Ok::<_, Error>("done");
    for (keep, is_doubt) in [(Retention::For(Duration::from_secs(60)), true), (Retention::Forever, false)] {
        let options = RunOptions::default().retention(keep);
        let ran = run(&leases, &TokioTimer, &id, &options, work).await;
        assert_eq!(ran.is_err(), is_doubt, "{ran:?}");
    }
    Ok(())
}
