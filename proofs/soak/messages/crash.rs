//! Workers that crash.

use std::pin::pin;
use std::task::Poll;

/// Drops the call when it waits for the so manyth time; nothing then, and its answer otherwise.
pub(super) async fn after<T>(polls: Option<usize>, call: impl Future<Output = T>) -> Option<T> {
    let (mut call, mut left) = (pin!(call), polls);
    std::future::poll_fn(|context| match (call.as_mut().poll(context), &mut left) {
        (Poll::Ready(answer), _) => Poll::Ready(Some(answer)),
        (Poll::Pending, Some(0 | 1)) => Poll::Ready(None),
        (Poll::Pending, Some(left)) => {
            *left -= 1;
            Poll::Pending
        }
        (Poll::Pending, None) => Poll::Pending,
    })
    .await
}
