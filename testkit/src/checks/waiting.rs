//! How a test waits, and how it stops waiting.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use storagebox_core::Result;
use tokio::time::{sleep, timeout};

use super::failed;

/// The time after which a test that waits in vain fails.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Repeats a check until it holds.
pub async fn until(what: &str, mut is_so: impl AsyncFnMut() -> Result<bool>) -> Result<()> {
    let looking = async {
        while !is_so().await? {
            sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    };
    timeout(TIMEOUT, looking).await.unwrap_or_else(|_| Err(failed(format_args!("waited too long for {what}"))))
}

/// Returns the output of the future. Drops the future and returns `None` if it waits more than `waits` times.
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
