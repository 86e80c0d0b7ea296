//! Calls beside a transaction that the suite keeps open. Only the time tells a call that waits for the transaction from
//! a call that does not.

use std::future::Future;
use std::time::Duration;

use storagebox_core::Result;

use crate::failure::Failure;

/// More than a call takes that waits for nobody.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

const PAUSE: Duration = Duration::from_millis(10);

/// Makes a call, and repeats it after retryable errors. Returns `None` if there is no answer within the time `limit`.
#[allow(clippy::disallowed_methods, reason = "what is held up is held up for real")]
pub(crate) async fn answered_within<T, Fut>(
    limit: Duration,
    call: impl Fn() -> Fut + Send + Sync,
) -> Result<Option<T>, Failure>
where
    T: Send,
    Fut: Future<Output = Result<T>> + Send,
{
    let answered = async {
        loop {
            match call().await {
                Err(error) if error.is_retryable() => tokio::time::sleep(PAUSE).await,
                answer => return answer,
            }
        }
    };
    Ok(tokio::time::timeout(limit, answered).await.ok().transpose()?)
}
