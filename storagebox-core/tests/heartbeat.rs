//! The task that extends the lease of a run.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

mod heard;

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use storagebox::dedup::Begun;
use storagebox::layer::{Call, Layer, LayeredPart, Next, Policy, Response};
use storagebox::parts::{Backend, LeaseRepo, RunOptions, run_to_end, run_with_heartbeat};
use storagebox::time::TokioTimer;
use storagebox::values::DedupId;
use storagebox::{Error, ErrorKind, MemoryStore, OpId, Ran, Result, Store, async_trait};
use tokio::sync::Notify;
use tracing::{Span, info_span};

const ID: &str = "customer-7:secret";

fn id() -> DedupId {
    DedupId::new(ID).unwrap()
}

/// A layer that sends a message on the channel after each extension of a lease.
#[derive(Debug)]
struct Extends(Mutex<Sender<()>>);

#[async_trait]
impl Layer for Extends {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let answered = next.run().await?;
        if call.operation() == "extend" {
            let _unheard = self.0.lock().unwrap().send(());
        }
        Ok(answered)
    }
}

/// Regression: the heartbeat ran on the same thread as the work. If the work blocked that thread, the run lost its
/// lease.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_whose_work_blocks_its_thread_keeps_its_lease() {
    let (sender, extended) = channel();
    let store = Store::new(MemoryStore::new()).layer(Extends(Mutex::new(sender)));
    let payments = store.dedup("payments").unwrap();
    let again = payments.clone();
    let work = async move |_fence| {
        for beat in 0..4 {
            extended.recv_timeout(Duration::from_secs(30)).map_err(|_| format!("no heartbeat after {beat}"))?;
        }
        Ok::<_, String>("sent")
    };
    // The work runs on a worker thread of the runtime; the test's own thread is not one.
    let ran = tokio::spawn(async move { payments.run(ID, work).lease(Duration::from_secs(3)).await }).await.unwrap();
    assert!(matches!(ran, Ok(Ran::Done(_))), "{ran:?}");
    let ran = again.run(ID, async |_| Ok::<_, Error>("twice")).await;
    assert!(matches!(ran, Ok(Ran::Replayed(_))), "{ran:?}");
}

/// A layer that never answers an extension, and notifies the test when an extension begins and when it is dropped.
#[derive(Debug, Default)]
struct Silent {
    begun: Notify,
    dropped: Arc<Notify>,
}

struct Drops(Arc<Notify>);

impl Drop for Drops {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[async_trait]
impl Layer for Silent {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        if call.operation() != "extend" {
            return next.run().await;
        }
        let _drops = Drops(Arc::clone(&self.dropped));
        self.begun.notify_one();
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn the_heartbeat_ends_when_its_run_is_dropped() {
    let silent = Arc::new(Silent::default());
    let leases = MemoryStore::new().lease_repo(&"jobs".parse().unwrap()).unwrap();
    let part: Arc<dyn LeaseRepo> = Arc::new(LayeredPart::new(leases, Arc::clone(&silent) as _));
    let (id, options) = (id(), RunOptions::default());
    let work = async |_| std::future::pending::<Result<&str>>().await;
    let running = run_with_heartbeat(part, TokioTimer, tokio::spawn, &id, &options, work);
    tokio::select! {
        ran = running => panic!("work without an end came to its end: {ran:?}"),
        () = silent.begun.notified() => {}
    }
    silent.dropped.notified().await;
}

#[tokio::test(start_paused = true)]
async fn work_is_dropped_when_the_heartbeat_finds_another_runner() {
    let store = MemoryStore::new();
    let leases = store.lease_repo(&"jobs".parse().unwrap()).unwrap();
    let (id, options, other) = (id(), RunOptions::default(), OpId::new("other").unwrap());
    let work = async |_| std::future::pending::<Result<&str>>().await;
    let lost = Arc::new(Lost);
    let part: Arc<dyn LeaseRepo> = Arc::new(LayeredPart::new(Arc::clone(&leases), lost as _));
    let ran = run_with_heartbeat(part, TokioTimer, tokio::spawn, &id, &options, work).await;
    assert!(matches!(ran, Ok(Ran::Fenced)), "{ran:?}");
    let begun = leases.begin(&id, &other, Duration::from_secs(1), None).await.unwrap();
    assert!(matches!(begun, Begun::InFlight { .. }), "{begun:?}");
}

/// A layer that answers every extension with `Fenced`.
#[derive(Debug)]
struct Lost;

#[async_trait]
impl Layer for Lost {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        match call.operation() {
            "extend" => Ok(Response::ExtendLease(storagebox::dedup::LeaseExtended::Fenced)),
            _ => next.run().await,
        }
    }
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Regression: without a name of the backend, the error in the warning began with `extend: : outcome unknown`.
#[tokio::test(start_paused = true)]
async fn warning_about_a_failed_extension_does_not_show_the_id() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    let _logged = heard::here(subscriber);
    let leases = MemoryStore::new().lease_repo(&"jobs".parse().unwrap()).unwrap();
    let silent: Arc<dyn LeaseRepo> = Arc::new(LayeredPart::new(leases, Arc::new(Silent::default()) as _));
    let deadline = Policy { retry: None, deadline: Some(Duration::from_secs(1)), timer: Arc::new(TokioTimer) };
    let part: Arc<dyn LeaseRepo> = Arc::new(LayeredPart::new(silent, Arc::new(deadline) as _));
    let options = RunOptions::default().lease(Duration::from_secs(30));
    let work = async |_| {
        tokio::time::sleep(Duration::from_secs(15)).await;
        Ok::<_, Error>("sent")
    };
    let ran = run_with_heartbeat(part, TokioTimer, tokio::spawn, &id(), &options, work).await;
    assert!(matches!(ran, Ok(Ran::Done(_))), "{ran:?}");
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(text.contains("was not extended") && !text.contains(ID) && !text.contains(": :"), "{text}");
    assert!(text.contains("extend: outcome unknown") && text.contains("id_bytes=17"), "{text}");
}

#[test]
fn the_text_of_an_error_leaves_out_an_empty_name_of_a_backend() {
    let error = Error::new(ErrorKind::Unavailable, "it is closed").on("").during("extend");
    assert_eq!(error.backend(), None);
    assert!(!error.to_string().contains(": :"), "{error}");
}

#[tokio::test]
async fn run_to_end_does_its_work_in_the_span_of_the_caller() {
    let _logged = heard::here(tracing_subscriber::registry());
    let leases = MemoryStore::new().lease_repo(&"jobs".parse().unwrap()).unwrap();
    let (id, options) = (id(), RunOptions::default());
    let work = async |_| Ok::<_, Error>(Span::current().metadata().map_or("none", |span| span.name()));
    let running = {
        let _request = info_span!("request").entered();
        // The task starts at the first poll, in the span of the poll.
        let mut running = Box::pin(run_to_end(leases, TokioTimer, tokio::spawn, &id, &options, work));
        let polled = polled_once(&mut running).await;
        assert!(polled.is_none());
        running
    };
    let ran = running.await;
    assert!(matches!(&ran, Ok(Ran::Done(span)) if span.as_bytes() == b"request"), "{ran:?}");
}

async fn polled_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    std::future::poll_fn(|context| match std::pin::Pin::new(&mut *future).poll(context) {
        std::task::Poll::Ready(output) => std::task::Poll::Ready(Some(output)),
        std::task::Poll::Pending => std::task::Poll::Ready(None),
    })
    .await
}
