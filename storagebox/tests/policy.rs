//! How handles retry calls, and which errors their callers see.
#![cfg(feature = "memory")]
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use storagebox::dedup::Begun;
use storagebox::layer::{Call, Layer, Next, Response};
use storagebox::memory::MemoryTransaction;
use storagebox::time::{Timer, TokioTimer};
use storagebox::transactions::CommitState;
use storagebox::{
    Bank, Certainty, Counters, Dedup, Error, ErrorKind, MemoryStore, OrderedValues, Ran, Result, Retention, Retry,
    Store, Strategy, Taken, Tokens, async_trait,
};

/// Loses the first replies, and counts the attempts.
#[derive(Debug)]
struct Loses {
    first: usize,
    attempts: AtomicUsize,
}

impl Loses {
    fn first(first: usize) -> Arc<Self> {
        Arc::new(Self { first, attempts: AtomicUsize::new(0) })
    }

    fn attempts(&self) -> usize {
        self.attempts.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Layer for Loses {
    async fn call(&self, _: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let answered = next.run().await?;
        if self.attempts.fetch_add(1, Ordering::SeqCst) < self.first {
            return Err(Error::unknown("the reply was lost, as the test asked"));
        }
        Ok(answered)
    }
}

/// Loses the first `self.0` replies to `complete`.
#[derive(Debug)]
struct LosesCompletions(AtomicUsize);

#[async_trait]
impl Layer for LosesCompletions {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let answered = next.run().await?;
        let one_less = |left: usize| left.checked_sub(1);
        match call.operation() == "complete"
            && self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok()
        {
            true => Err(Error::unknown("the reply was lost, as the test asked")),
            false => Ok(answered),
        }
    }
}

#[derive(Debug)]
struct Silent;

#[async_trait]
impl Layer for Silent {
    async fn call(&self, _: &Call<'_>, _: Next<'_>) -> Result<Response> {
        pending().await
    }
}

fn losing(first: usize) -> (Store, Arc<Loses>) {
    let loses = Loses::first(first);
    (Store::new(MemoryStore::new()).layer(Arc::clone(&loses)), loses)
}

#[tokio::test(start_paused = true)]
async fn a_call_is_repeated_and_a_layer_sees_each_attempt() -> Result<()> {
    let (store, loses) = losing(5);
    assert_eq!(store.bank("vouchers")?.counts().await?.total(), 0);
    assert_eq!(loses.attempts(), 6);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_lost_reply_is_an_error_only_without_retry() -> Result<()> {
    let (store, _) = losing(1);
    let vouchers = store.without_retry().bank("vouchers")?;
    assert!(vouchers.add(["SAVE-10"]).await.is_err());
    let (store, _) = losing(2);
    let vouchers = store.bank("vouchers")?;
    vouchers.add(["SAVE-10"]).await?;
    assert!(matches!(vouchers.assign("ada").await?, Taken::New(_)));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn attempts_are_limited_by_the_retry_policy() -> Result<()> {
    for (retry, expected) in
        [(Some(Retry::default()), 6), (Some(Retry { attempts: 3, ..Retry::default() }), 3), (None, 1)]
    {
        let (store, loses) = losing(usize::MAX);
        let store = match retry {
            Some(retry) => store.with_retry(retry),
            None => store.without_retry(),
        };
        let error = store.bank("vouchers")?.assign("ada").await.unwrap_err();
        assert_eq!((error.kind(), loses.attempts()), (ErrorKind::OutcomeUnknown, expected));
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_atomic_change_is_not_retried_after_a_lost_reply() -> Result<()> {
    let (store, loses) = losing(1);
    let hits = store.counters_with("hits", Strategy::Atomic)?;
    assert!(!hits.add("page", 1).by("visit-1").await.unwrap_err().is_retryable());
    assert_eq!((loses.attempts(), hits.value("page").await?), (1, 1));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_call_ends_at_the_default_or_the_configured_deadline() -> Result<()> {
    let store = Store::new(MemoryStore::new()).layer(Silent);
    for (store, expected) in [
        (store.clone(), Some(30)),
        (store.clone().with_deadline(Duration::from_secs(5)), Some(5)),
        (store.clone().without_retry(), Some(30)),
        (store.without_deadline().with_timer(TokioTimer), None),
    ] {
        let (bank, begun) = (store.bank("vouchers")?, tokio::time::Instant::now());
        let answer = tokio::time::timeout(Duration::from_secs(3_600), bank.assign("ada")).await.ok();
        let waited = answer.map(|answer| (answer.unwrap_err().kind(), begun.elapsed().as_secs()));
        assert_eq!(waited, expected.map(|seconds| (ErrorKind::OutcomeUnknown, seconds)));
    }
    Ok(())
}

/// A run makes six attempts, as any call does, and its handle adds no retries.
#[tokio::test(start_paused = true)]
async fn a_run_retries_its_calls_by_the_policy_of_the_store() -> Result<(), Box<dyn std::error::Error>> {
    let work = async |_fence| Ok::<_, Error>("done");
    let (store, loses) = losing(usize::MAX);
    let ran = store.dedup("jobs")?.run("job-1", work).await;
    assert!(ran.is_err());
    assert_eq!(loses.attempts(), 6);
    let (store, _) = losing(2);
    let ran = store.dedup("jobs")?.run("job-1", work).await?;
    assert!(matches!(ran, Ran::Done(_)));
    let (store, _) = losing(1);
    let lease = store.dedup("jobs")?.begin("job-1").by("worker-1").await?;
    assert!(matches!(lease, Begun::Started(_)));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_run_without_retry_begins_once() -> Result<()> {
    let (store, loses) = losing(usize::MAX);
    let ran = store.without_retry().dedup("jobs")?.run("job-1", async |_fence| Ok::<_, Error>("done")).await;
    assert!(ran.is_err());
    assert_eq!(loses.attempts(), 1);
    Ok(())
}

/// The run must not do its work again, so it retries recording the result although the store does not retry.
#[tokio::test(start_paused = true)]
async fn a_run_without_retry_still_retries_recording_its_result() -> Result<(), Box<dyn std::error::Error>> {
    let loses = Arc::new(LosesCompletions(AtomicUsize::new(3)));
    let store = Store::new(MemoryStore::new()).layer(loses).without_retry();
    let ran = store.dedup("jobs")?.run("job-1", async |_fence| Ok::<_, Error>("done")).await?;
    assert!(matches!(ran, Ran::Done(_)), "{ran:?}");
    Ok(())
}

/// The store never answers, so the only attempt of the run ends at the deadline.
#[tokio::test(start_paused = true)]
async fn a_run_on_a_silent_store_fails_at_the_deadline() -> Result<()> {
    let store = Store::new(MemoryStore::new()).layer(Silent).with_deadline(Duration::from_secs(5));
    let (leases, begun) = (store.without_retry().dedup("jobs")?, tokio::time::Instant::now());
    let run = leases.run("job-1", async |_fence| Ok::<_, Error>("done"));
    let ran = tokio::time::timeout(Duration::from_secs(3_600), run).await;
    assert!(matches!(ran, Ok(Err(_))), "{ran:?}");
    assert_eq!(begun.elapsed().as_secs(), 5);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_store_used_as_a_backend_retries_calls() -> Result<()> {
    let (store, loses) = losing(1);
    store.as_backend().ping().await?;
    assert_eq!(loses.attempts(), 2);
    Ok(())
}

fn is_handle<T: Clone + std::fmt::Debug + Send + Sync + 'static>() {}

fn is_send<T: Send>(value: T) -> T {
    value
}

#[tokio::test]
async fn handles_implement_send_and_their_debug_shows_only_names() -> Result<()> {
    is_handle::<Store>();
    is_handle::<(Bank, Dedup, Tokens, Counters, OrderedValues)>();
    let store = Store::from(MemoryStore::new());
    let (bank, stock) = (store.bank("vouchers")?, store.counters("stock")?);
    assert!(is_send(bank.add(vec![String::from("SAVE-10")])).await.is_ok());
    assert!(is_send(bank.assign("ada")).await.is_ok());
    assert!(is_send(stock.add("red-shoes", 1).by("delivery-1")).await.is_ok());
    let work = async |_fence| Ok::<_, Error>("done");
    assert!(is_send(store.dedup("jobs")?.run("job-1", work).into_future()).await.is_ok());
    assert_eq!(format!("{bank:?}"), "Bank { name: \"vouchers\", .. }");
    assert_eq!(
        format!("{:?}", store.without_retry().without_deadline()),
        "Store { backend: \"memory\", retry: None, deadline: None, .. }"
    );
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_error_after_all_retries_names_the_call() -> Result<()> {
    let (store, _) = losing(usize::MAX);
    let error = store.bank("vouchers")?.assign("ada").await.unwrap_err();
    assert_eq!((error.operation(), error.backend()), (Some("take"), Some("memory")));
    Ok(())
}

/// The reply to a take from an empty bank is lost. The retry returns `Empty`, because the lost attempt is void (ER-5).
#[tokio::test(start_paused = true)]
async fn retry_of_a_lost_assign_on_an_empty_bank_returns_empty() -> Result<()> {
    let (store, loses) = losing(1);
    assert_eq!(store.bank("vouchers")?.assign("ada").await?, Taken::Empty);
    assert_eq!(loses.attempts(), 2);
    Ok(())
}

/// Fails every call at once.
#[derive(Debug, Default)]
struct Refuses(AtomicUsize);

#[async_trait]
impl Layer for Refuses {
    async fn call(&self, _: &Call<'_>, _: Next<'_>) -> Result<Response> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Err(Error::new(ErrorKind::Unavailable, "as the test asked"))
    }
}

/// The policy limits neither the attempts nor their rate, so only the deadline can end the call. Every attempt was
/// surely refused, so the call was, too.
#[tokio::test]
async fn retries_without_a_limit_end_at_the_deadline() -> Result<()> {
    let refuses = Arc::new(Refuses::default());
    let retry = Retry { attempts: usize::MAX, first_delay: Duration::ZERO, max_delay: Duration::ZERO };
    let store = Store::new(MemoryStore::new()).layer(Arc::clone(&refuses)).with_retry(retry);
    let store = store.with_deadline(Duration::from_millis(10));
    let error = store.bank("vouchers")?.assign("ada").await.unwrap_err();
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Unavailable, Certainty::NotApplied));
    assert!(refuses.0.load(Ordering::SeqCst) > 1);
    Ok(())
}

/// Fails each attempt after ten seconds, as a backend does that finds no connection within its call timeout. Loses the
/// attempt with this number.
#[derive(Debug)]
struct Slow(usize, AtomicUsize);

#[async_trait]
impl Layer for Slow {
    async fn call(&self, _: &Call<'_>, _: Next<'_>) -> Result<Response> {
        TokioTimer.sleep(Duration::from_secs(10)).await;
        let is_lost = self.1.fetch_add(1, Ordering::SeqCst) == self.0;
        Err(if is_lost { Error::unknown("lost") } else { Error::new(ErrorKind::Contention, "no connection") })
    }
}

/// Regression: the deadline cut off the third of three attempts that could not be sent, so the call was a doubt.
#[tokio::test(start_paused = true)]
async fn deadline_makes_no_doubt_of_refused_attempts() -> Result<()> {
    for (lost, attempts, expected) in [(usize::MAX, 2, Certainty::NotApplied), (0, 2, Certainty::Unknown)] {
        let slow = Arc::new(Slow(lost, AtomicUsize::new(0)));
        let store = Store::new(MemoryStore::new()).layer(Arc::clone(&slow));
        let error = store.bank("vouchers")?.assign("ada").await.unwrap_err();
        assert_eq!((error.certainty(), slow.1.load(Ordering::SeqCst)), (expected, attempts), "{error}");
    }
    Ok(())
}

/// Never answers the first call of the operation `self.0`.
#[derive(Debug)]
struct SilentOnce(&'static str, AtomicUsize);

#[async_trait]
impl Layer for SilentOnce {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        if call.operation() == self.0 && self.1.fetch_add(1, Ordering::SeqCst) == 0 {
            return pending().await;
        }
        next.run().await
    }
}

/// A run abandons an unanswered heartbeat after a third of the lease, in time for another heartbeat.
#[tokio::test(start_paused = true)]
async fn a_lease_outlives_a_heartbeat_without_an_answer() -> Result<()> {
    let memory = MemoryStore::new();
    let jobs = Store::new(memory.clone()).layer(SilentOnce("extend", AtomicUsize::new(0))).dedup("jobs")?;
    let work = async |_| {
        TokioTimer.sleep(Duration::from_secs(60)).await;
        Ok::<_, Error>("first")
    };
    let second = async {
        TokioTimer.sleep(Duration::from_secs(31)).await;
        Store::new(memory).dedup("jobs")?.run("invoice-7", async |_| Ok::<_, Error>("second")).await
    };
    let (first, second) = tokio::join!(jobs.run("invoice-7", work), second);
    assert!(matches!(second, Ok(Ran::InFlight { .. })), "{second:?}");
    assert!(matches!(first, Ok(Ran::Done(_))), "{first:?}");
    Ok(())
}

/// Fails the first `self.0` attempts to record a result.
#[derive(Debug)]
struct RefusesResults(AtomicUsize);

#[async_trait]
impl Layer for RefusesResults {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let one_less = |left: usize| left.checked_sub(1);
        match call.operation() == "complete"
            && self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok()
        {
            true => Err(Error::new(ErrorKind::Unavailable, "as the test asked")),
            false => next.run().await,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn recording_a_result_is_retried_although_calls_are_not_retried() -> Result<()> {
    let store = Store::new(MemoryStore::new()).layer(RefusesResults(AtomicUsize::new(3)));
    let jobs = store.with_retry(Retry::NEVER).dedup("jobs")?;
    let ran = jobs.run("invoice-7", async |_| Ok::<_, Error>("charged")).await;
    assert!(matches!(ran, Ok(Ran::Done(_))), "{ran:?}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn recording_a_result_is_retried_no_longer_than_its_limit() -> Result<()> {
    let store = Store::new(MemoryStore::new()).layer(RefusesResults(AtomicUsize::new(usize::MAX)));
    let hour = Duration::from_secs(3_600);
    let retry = Retry { attempts: 2, first_delay: hour, max_delay: hour };
    let before = TokioTimer.now();
    let jobs = store.dedup("jobs")?;
    let run = jobs.run("invoice-7", async |_| Ok::<_, Error>("charged"));
    let ran = run.retry(retry).record_within(Duration::from_secs(10)).await;
    assert!(ran.is_err());
    assert_eq!((TokioTimer.now() - before).as_secs(), 10);
    Ok(())
}

#[test]
fn timer_advances_after_a_paused_runtime_advanced_its_clock() {
    let of =
        |is_paused| tokio::runtime::Builder::new_current_thread().enable_all().start_paused(is_paused).build().unwrap();
    of(true).block_on(async { TokioTimer.sleep(Duration::from_secs(3_600)).await });
    let moves_on = of(false).block_on(async {
        let before = TokioTimer.now();
        TokioTimer.sleep(Duration::from_millis(1)).await;
        TokioTimer.now() > before
    });
    assert!(moves_on);
}

#[tokio::test]
async fn debug_of_a_page_does_not_show_the_item_in_its_cursor() -> Result<()> {
    let bank = Store::new(MemoryStore::new()).bank("vouchers")?;
    bank.add(["SECRET-1", "SECRET-2"]).await?;
    assert!(!format!("{:?}", bank.list().page(None, 1).await?).contains("SECRET"));
    Ok(())
}

#[derive(Debug)]
struct DeniesTakes;

#[async_trait]
impl Layer for DeniesTakes {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        match call.operation() {
            "take" => Err(Error::new(ErrorKind::Denied, "as the test asked")),
            _ => next.run().await,
        }
    }
}

fn denied_takes(store: &Store) -> Store {
    store.clone().layer(DeniesTakes)
}

/// Whether `recover` reads a damaged record before or after the others, it finishes the others.
#[tokio::test]
async fn recovery_goes_past_records_that_cannot_be_finished() -> Result<()> {
    let store = Store::new(MemoryStore::new());
    store.bank("vouchers")?.add((0..20).map(|number| format!("SAVE-{number}"))).await?;
    let denied = denied_takes(&store).deduplicator("given", ["vouchers"])?;
    for number in 0..20 {
        assert!(denied.assign(format!("customer-{number}"), "vouchers").await.is_err());
    }
    let _ = store.dedup("given")?.record("damaged", "by hand").keep(Retention::Forever).by("a stranger").await?;
    let recovery = store.deduplicator("given", ["vouchers"])?.recover(None, 100).await?;
    assert_eq!((recovery.seen, recovery.finished), (21, 20));
    assert_eq!(recovery.failed.iter().map(Error::kind).collect::<Vec<_>>(), [ErrorKind::Corrupt]);
    let other_banks = store.deduplicator("other", ["vouchers", "tickets"])?;
    assert!(denied_takes(&store).deduplicator("other", ["tickets"])?.assign("ada", "tickets").await.is_err());
    let unknown_bank = store.deduplicator("other", ["vouchers"])?.recover(None, 1).await?;
    assert_eq!(unknown_bank.failed.iter().map(Error::kind).collect::<Vec<_>>(), [ErrorKind::InvalidInput]);
    assert_eq!(other_banks.recover(None, 1).await?.given_up, 1);
    Ok(())
}

/// While the transaction is open, `settle` returns `Contention` without a retry.
#[tokio::test(start_paused = true)]
async fn call_of_settle_on_an_open_transaction_returns_at_once() -> Result<()> {
    let backend = MemoryStore::new();
    let store = Store::new(backend.clone());
    let mut transaction = MemoryTransaction::begin();
    let receipt = store.within(&mut transaction)?.receipt().await?;
    let asked = tokio::time::Instant::now();
    let error = store.settle(&receipt).await.unwrap_err();
    assert_eq!((error.kind(), asked.elapsed()), (ErrorKind::Contention, Duration::ZERO));
    transaction.commit()?;
    let loses = Loses::first(1);
    let store = Store::new(backend).layer(Arc::clone(&loses));
    assert_eq!(store.settle(&receipt).await?, CommitState::Committed);
    assert_eq!(loses.attempts(), 2);
    Ok(())
}
