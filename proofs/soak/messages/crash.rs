//! Workers that crash: their calls are dropped at any point at which they wait.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use storagebox_core::layer::{Answered, Call, Layer, Next};
use storagebox_core::{Result, async_trait};
use tokio::task::yield_now;

/// One call in so many gets a point at which it crashes. The point may come up to twice as late as calls last, so about
/// half of them end before theirs: one call in twenty crashes.
const CHOSEN: u32 = 10;

/// How often calls wait, so that every point of a call is as likely as every other.
#[derive(Default)]
pub(super) struct Crashes {
    calls: AtomicUsize,
    waits: AtomicUsize,
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
            Poll::Pending => {
                waits += 1;
                if point == Some(waits) { Poll::Ready(None) } else { Poll::Pending }
            }
        })
        .await
    }

    fn point(&self) -> Option<usize> {
        let [calls, waits] = [&self.calls, &self.waits].map(|count| count.load(Ordering::Relaxed));
        let latest = (2 * waits).div_ceil(calls.max(1)).max(1);
        (fastrand::u32(..CHOSEN) == 0).then(|| fastrand::usize(1..=latest))
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
