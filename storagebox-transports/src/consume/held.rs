//! A delivery whose lease is extended while the loop holds it.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::BoxError;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tracing::debug;

use crate::delivery::{Delivery, Settle};

/// The number of extensions within the length of one lease.
const EXTENSIONS: u32 = 3;

/// The shortest period of a tokio timer.
const SHORTEST: Duration = Duration::from_millis(1);

pub(super) struct Held<D> {
    delivery: Arc<D>,
    lease: Duration,
    keeper: Keeper,
}

pub(super) struct Settled {
    pub(super) result: Result<(), BoxError>,
    pub(super) failed_extensions: u64,
}

impl<D: Delivery> Held<D> {
    pub(super) fn new(delivery: D, lease: Duration) -> Self {
        let delivery = Arc::new(delivery);
        let keeper = Keeper::start(Arc::clone(&delivery), lease);
        Self { delivery, lease, keeper }
    }

    pub(super) fn delivery(&self) -> &D {
        &self.delivery
    }

    /// Returns whether an earlier worker may have crashed because of the message.
    pub(super) fn is_suspect(&self) -> bool {
        self.delivery.lapsed().is_some()
    }

    pub(super) fn lease(&self) -> Duration {
        self.lease
    }

    pub(super) async fn begin_alone(&self) -> Result<(), BoxError> {
        timeout(self.lease, self.delivery.begin_alone()).await?
    }

    /// Stops the extensions and settles the message. Waits at most one lease for the queue's answer.
    pub(super) async fn settle(self, settle: Settle) -> Settled {
        // The next message of the entity waits meanwhile.
        let failed_extensions = self.keeper.stop().await;
        let answer = timeout(self.lease, self.delivery.settle(settle)).await;
        let result = answer.unwrap_or_else(|_| Err("the queue did not answer".into()));
        if let Err(error) = &result {
            debug!(%error, ?settle, "a delivery was not settled; it may come again");
        }
        Settled { result, failed_extensions }
    }
}

/// A separate task that extends the lease, so that a handler that never yields does not stop the extensions.
struct Keeper {
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<u64>,
}

impl Keeper {
    fn start<D: Delivery>(delivery: Arc<D>, lease: Duration) -> Self {
        let (stop, stopped) = oneshot::channel();
        Self { stop: Some(stop), task: tokio::spawn(keep(delivery, lease, stopped)) }
    }

    /// Stops the task after the extension in progress. Returns the number of failed extensions.
    async fn stop(mut self) -> u64 {
        // A dropped extension could reach the queue after the settlement.
        drop(self.stop.take());
        (&mut self.task).await.unwrap_or_default()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Extends the lease again and again until `stopped` resolves. Returns the number of failed extensions.
async fn keep<D: Delivery>(delivery: Arc<D>, lease: Duration, mut stopped: oneshot::Receiver<()>) -> u64 {
    let every = (lease / EXTENSIONS).max(SHORTEST);
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick comes at once.
    ticks.tick().await;
    let mut failed = 0;
    loop {
        tokio::select! {
            biased;
            _ = &mut stopped => return failed,
            _ = ticks.tick() => failed += u64::from(!extend(delivery.as_ref(), lease, every).await),
        }
    }
}

/// Extends the lease once. Returns whether the queue confirmed the extension within `patience`.
async fn extend(delivery: &impl Delivery, lease: Duration, patience: Duration) -> bool {
    match timeout(patience, delivery.extend(lease)).await {
        Ok(Ok(())) => true,
        Ok(Err(error)) => {
            debug!(%error, "a lease was not extended");
            false
        }
        Err(_) => {
            debug!("the queue did not confirm the extension of a lease");
            false
        }
    }
}
