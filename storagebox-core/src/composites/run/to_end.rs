//! A run that does not depend on its caller.

use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_channel::oneshot;
use tracing::instrument::{Instrument, WithSubscriber};

use super::runner::to_its_end;
use super::{Ran, RunError, RunOptions, run_with_heartbeat};
use crate::contract::lease_repo::{Fence, LeaseRepo};
use crate::values::error::{Error, Result};
use crate::values::time::Timer;
use crate::values::value::DedupId;

/// Runs like [`run_with_heartbeat`], in a separate task: the run continues when its caller is dropped, for example when
/// a client of a web server disconnects. The next caller with the same id gets its result.
///
/// `spawn` starts this task and the task of the heartbeat, as `tokio::spawn` does. The handle that it returns is kept
/// until the task ends, so a runtime that cancels a task when its handle is dropped, such as `smol`, needs no `detach`.
///
/// # Guarantees
///
/// The guarantees of [`run`](crate::run()). The task has the tracing span of the caller.
///
/// # Cancel safety
///
/// Dropping the future ends only the waiting: the work continues and its result is recorded. If the runtime ends, the
/// work ends too, and the lease lapses.
///
/// # Errors
///
/// The errors of [`run`](crate::run()); `OutcomeUnknown` if the task was ended before the work. A panic of the work
/// continues in the caller.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use storagebox::time::TokioTimer;
/// use storagebox::values::DedupId;
/// use storagebox::{Error, MemoryStore, Payload, Ran, parts::{Backend, RunOptions, run_to_end}};
///
/// let jobs = MemoryStore::new().lease_repo(&"jobs".parse()?)?;
/// let (id, options) = (DedupId::new("invoice-7")?, RunOptions::default());
/// let send = async |_fence| Ok::<_, Error>("sent");
///
/// let ran = run_to_end(jobs, TokioTimer, tokio::spawn, &id, &options, send).await?;
/// assert_eq!(ran, Ran::Done(Payload::try_from("sent")?));
/// # Ok(()) }
/// ```
pub async fn run_to_end<S, F, Fut, T, E>(
    repo: Arc<dyn LeaseRepo>,
    timer: impl Timer + 'static,
    spawn: impl Fn(Pin<Box<dyn Future<Output = ()> + Send>>) -> S + Send + Sync + 'static,
    id: &DedupId,
    options: &RunOptions,
    work: F,
) -> Result<Ran, RunError<E>>
where
    S: Send + 'static,
    F: FnOnce(Fence) -> Fut + Send + 'static,
    Fut: Future<Output = Result<T, E>> + Send + 'static,
    T: Into<Bytes>,
    E: Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    let (id, options) = (id.clone(), options.clone());
    let spawn = Arc::new(spawn);
    let beside = Arc::clone(&spawn);
    let task = async move {
        let heartbeat = move |task| beside(task);
        let ran = to_its_end(run_with_heartbeat(repo, timer, heartbeat, &id, &options, work)).await;
        // The send fails if the caller was dropped; the store has the result.
        let _unread = reply.send(ran);
    };
    start(&*spawn, task.in_current_span().with_current_subscriber());
    match answer.await {
        Ok(Ok(ran)) => ran,
        Ok(Err(panic)) => resume_unwind(panic),
        Err(oneshot::Canceled) => Err(Error::unknown("the runtime ended the task of the run").into()),
    }
}

/// Starts the task.
fn start<S: Send + 'static>(
    spawn: impl FnOnce(Pin<Box<dyn Future<Output = ()> + Send>>) -> S,
    task: impl Future<Output = ()> + Send + 'static,
) {
    // The task keeps its own handle, because dropping the handle might cancel the task.
    let handle = Arc::new(Mutex::new(None));
    let own = Arc::clone(&handle);
    let spawned = spawn(Box::pin(async move {
        let _until_the_end = own;
        task.await;
    }));
    *handle.lock().unwrap_or_else(PoisonError::into_inner) = Some(spawned);
}
