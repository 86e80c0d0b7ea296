//! Concurrent futures in one task: a race of two, and a yield for loops.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// Yields once, so that the other futures of the task are polled. A loop that might never wait must call this function.
pub(crate) async fn let_others_on() {
    let mut has_waited = false;
    poll_fn(|context| {
        if has_waited {
            return Poll::Ready(());
        }
        has_waited = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

pub(crate) enum First<L, R> {
    Left(L),
    Right(R),
}

/// Returns the output of the future that ends first, or of `left` if both are ready. Drops the other future.
pub(crate) async fn first_of<L, R>(left: impl Future<Output = L>, right: impl Future<Output = R>) -> First<L, R> {
    let (mut left, mut right) = (pin!(left), pin!(right));
    poll_fn(|context| poll_both(left.as_mut(), right.as_mut(), context)).await
}

fn poll_both<L, R>(
    left: Pin<&mut impl Future<Output = L>>,
    right: Pin<&mut impl Future<Output = R>>,
    context: &mut Context<'_>,
) -> Poll<First<L, R>> {
    if let Poll::Ready(output) = left.poll(context) {
        return Poll::Ready(First::Left(output));
    }
    right.poll(context).map(First::Right)
}
