//! Points at which a future can be dropped, and a function that drops it there.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

/// The number of futures that this process has dropped before they finished.
static DROPPED: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn dropped() -> usize {
    DROPPED.load(Ordering::Relaxed)
}

/// Waits for one more poll if `gated` is true.
pub(super) async fn once(gated: bool) {
    let mut passed = !gated;
    poll_fn(|context| {
        if passed {
            return Poll::Ready(());
        }
        passed = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Polls the future until it has been pending `pends` times, and drops the future when it is pending once more. Returns
/// `None` for a dropped future.
pub(crate) async fn drop_after<T>(future: impl Future<Output = T> + Send, pends: usize) -> Option<T> {
    let mut future: Pin<Box<dyn Future<Output = T> + Send>> = Box::pin(future);
    let mut left = pends;
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if left == 0 => {
            DROPPED.fetch_add(1, Ordering::Relaxed);
            Poll::Ready(None)
        }
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}
