//! Tasks of calls. A caller may poll a future once and then neither poll nor drop it. A connection inside that future
//! would be blocked for all others, so calls run in tasks of their own.

use storagebox_core::{Error, Result};
use tokio::task::JoinSet;

use super::call::BoxFuture;

/// Runs the work in its own task. Dropping the returned future stops the task.
pub(crate) fn spawn_detached<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> BoxFuture<'static, Result<T>> {
    Box::pin(async {
        // A `JoinSet` aborts its tasks when it is dropped.
        let mut task = JoinSet::new();
        task.spawn(work);
        match task.join_next().await {
            Some(Ok(done)) => done,
            Some(Err(_)) | None => Err(stopped()),
        }
    })
}

pub(super) fn stopped() -> Error {
    Error::unknown("the task that made the call was stopped").on("sqlite")
}
