//! The one crash of a run, at any step of the client or the server.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use storagebox::layer::{Call, Layer, Next, Response};
use storagebox::{Result, async_trait};
use tokio::sync::Notify;

/// Counts the steps of a run, and simulates a crash at one step.
#[derive(Debug, Default)]
pub(crate) struct Crashes {
    at: Option<usize>,
    steps: AtomicUsize,
    happened: AtomicBool,
    is_over: AtomicBool,
    stop: Notify,
}

impl Crashes {
    pub(crate) fn at(step: usize) -> Arc<Self> {
        Arc::new(Self { at: Some(step), ..Self::default() })
    }

    pub(crate) fn happened(&self) -> bool {
        self.happened.load(Ordering::SeqCst)
    }

    /// Prevents a crash at any later step.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// Counts a step, and waits forever if the crash is at this step.
    pub(crate) async fn pass(&self) {
        let is_over = self.is_over.load(Ordering::SeqCst);
        if !is_over && self.at == Some(self.steps.fetch_add(1, Ordering::SeqCst)) {
            self.happened.store(true, Ordering::SeqCst);
            self.stop.notify_one();
            pending::<()>().await;
        }
    }

    /// Runs the work. Returns the output, or `None` if the crash has stopped the work.
    pub(crate) async fn run<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            output = work => Some(output),
            // With the work, its connections end, and so do the calls that the server handles for it.
            () = self.stop.notified() => None,
        }
    }
}

/// A layer that counts a step before and after each call of a store.
#[derive(Debug)]
pub(crate) struct CrashingStore(pub(crate) Arc<Crashes>);

#[async_trait]
impl Layer for CrashingStore {
    async fn call(&self, _: &Call<'_>, next: Next<'_>) -> Result<Response> {
        self.0.pass().await;
        let answer = next.run().await;
        self.0.pass().await;
        answer
    }
}
