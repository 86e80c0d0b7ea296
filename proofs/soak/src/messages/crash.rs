//! Workers that crash: their calls are dropped at any await point.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use storagebox_core::layer::{Call, Layer, Next, Response};
use storagebox_core::{Result, async_trait};
use tokio::task::yield_now;

/// About one in this number of calls crashes.
const EVERY: usize = 20;
/// The probability that a crash is planned among the first `2 * mean` await points of a call, where `mean` is the mean
/// number of await points per call. Other crashes are planned up to eight times as late.
const EARLY: f64 = 0.75;

#[derive(Default)]
pub(super) struct Crashes {
    calls: AtomicUsize,
    waits: AtomicUsize,
    crashed: AtomicUsize,
}

impl Crashes {
    /// Returns the answer of the call, or `None` if the call crashed.
    pub(super) async fn or<T>(&self, call: impl Future<Output = T>) -> Option<T> {
        let (point, mut waits, mut call) = (self.point(), 0, pin!(call));
        std::future::poll_fn(|context| match call.as_mut().poll(context) {
            Poll::Ready(answer) => {
                self.calls.fetch_add(1, Ordering::Relaxed);
                self.waits.fetch_add(waits, Ordering::Relaxed);
                Poll::Ready(Some(answer))
            }
            Poll::Pending if point == Some(waits) => {
                self.calls.fetch_add(1, Ordering::Relaxed);
                self.waits.fetch_add(waits, Ordering::Relaxed);
                self.crashed.fetch_add(1, Ordering::Relaxed);
                Poll::Ready(None)
            }
            Poll::Pending => {
                waits += 1;
                Poll::Pending
            }
        })
        .await
    }

    /// Returns the index of the await point at which the next call crashes, or `None` if the call does not crash.
    fn point(&self) -> Option<usize> {
        let of = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        let early = (2 * of(&self.waits)).div_ceil(of(&self.calls).max(1)).max(1);
        let latest = if fastrand::f64() < EARLY { early } else { 8 * early };
        let is_due = of(&self.crashed) * EVERY <= of(&self.calls);
        (is_due && fastrand::bool()).then(|| fastrand::usize(..latest))
    }
}

/// A layer that yields before and after each store call, so that a worker can crash there on any store.
#[derive(Debug)]
pub(super) struct Steps;

#[async_trait]
impl Layer for Steps {
    async fn call(&self, _call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        yield_now().await;
        let answered = next.run().await;
        yield_now().await;
        answered
    }
}
