//! How a test waits, and how it stops waiting.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use storagebox_core::Result;
use tokio::time::{sleep, timeout};

use super::failed;

/// A test that waits in vain fails in the end.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Looks again and again until it is so.
///
/// # Errors
///
/// What the look fails with, or that the time is over.
pub async fn until(what: &str, mut is_so: impl AsyncFnMut() -> Result<bool>) -> Result<()> {
    let looking = async {
        while !is_so().await? {
            sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    };
    timeout(TIMEOUT, looking).await.unwrap_or_else(|_| Err(failed(format_args!("in vain: {what}"))))
}

/// The answer, unless the future had to wait once more than so often: then it is dropped.
pub async fn drop_after<T>(waits: usize, future: impl Future<Output = T>) -> Option<T> {
    let (mut future, mut waited) = (pin!(future), 0);
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(answer) => Poll::Ready(Some(answer)),
        Poll::Pending if waited == waits => Poll::Ready(None),
        Poll::Pending => {
            waited += 1;
            Poll::Pending
        }
    })
    .await
}
