//! Tasks of calls. A future that its caller has may be polled and then left, neither driven nor dropped: a connection
//! in it would be nobody's, and nobody else's.

use storagebox_core::{Error, Result};
use tokio::task::JoinSet;

use super::call::BoxFuture;

/// Does it in a task of its own, for as long as anybody waits for it.
pub(crate) fn spawn_detached<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> BoxFuture<'static, Result<T>> {
    Box::pin(async {
        // It ends its task when it is dropped.
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
