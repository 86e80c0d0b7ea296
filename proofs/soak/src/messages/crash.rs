//! Workers that crash: their calls are dropped at any point at which they wait.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use storagebox_core::layer::{Answered, Call, Layer, Next};
use storagebox_core::{Result, async_trait};
use tokio::task::yield_now;

/// One call in so many crashes.
const EVERY: usize = 20;
/// Of the calls that are to crash, so many do so within twice the mean of what calls wait. The points of the others are
/// up to eight times as late as that, where few calls ever come.
const EARLY: f64 = 0.75;

/// How many calls there were, how often they waited and how many of them crashed.
#[derive(Default)]
pub(super) struct Crashes {
    calls: AtomicUsize,
    waits: AtomicUsize,
    crashed: AtomicUsize,
}

impl Crashes {
    /// The answer of the call; nothing where it was dropped.
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

    /// The wait in which the next call crashes, if one is due and comes so far.
    fn point(&self) -> Option<usize> {
        let of = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        let early = (2 * of(&self.waits)).div_ceil(of(&self.calls).max(1)).max(1);
        let latest = if fastrand::f64() < EARLY { early } else { 8 * early };
        let is_due = of(&self.crashed) * EVERY <= of(&self.calls);
        (is_due && fastrand::bool()).then(|| fastrand::usize(..latest))
    }
}

/// Waits before each step and after it: a worker may crash there, also where a store never lets it wait.
#[derive(Debug)]
pub(super) struct Steps;

#[async_trait]
impl Layer for Steps {
    async fn around(&self, _call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        yield_now().await;
        let answered = next.call().await;
        yield_now().await;
        answered
    }
}
