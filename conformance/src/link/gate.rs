//! Points at which a future can be dropped, and the hand that drops it there.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// Pends once, if the link is gated.
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

/// Polls the future until it has pended `pends` times, then drops it. `None` if it was dropped.
pub(crate) async fn drop_after<T>(future: impl Future<Output = T> + Send, pends: usize) -> Option<T> {
    let mut future: Pin<Box<dyn Future<Output = T> + Send>> = Box::pin(future);
    let mut left = pends;
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if left == 0 => Poll::Ready(None),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}

/// How often the future pends until it is ready, and what it answers.
pub(crate) async fn polls<T>(future: impl Future<Output = T> + Send) -> (usize, T) {
    let mut future: Pin<Box<dyn Future<Output = T> + Send>> = Box::pin(future);
    let mut pends = 0;
    let output = poll_fn(|context| {
        let polled = future.as_mut().poll(context);
        pends += usize::from(polled.is_pending());
        polled
    })
    .await;
    (pends, output)
}
