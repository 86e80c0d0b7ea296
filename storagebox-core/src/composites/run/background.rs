//! A run whose lease is extended by a separate task.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_channel::oneshot;
use tracing::instrument::{Instrument, WithSubscriber};

use super::runner::{Heartbeat, Runner};
use super::{Ran, RunError, RunOptions, through};
use crate::backend::race::first_of;
use crate::contract::lease_repo::{Fence, Lease, LeaseRepo};
use crate::values::error::Result;
use crate::values::time::Timer;
use crate::values::value::DedupId;

/// Runs like [`run`](crate::run()), but a separate task extends the lease. On a runtime with several threads, the lease
/// therefore stays alive while the work blocks its thread, as long as another thread of the runtime is free.
///
/// `spawn` starts the task, as `tokio::spawn` does. The handle that it returns is kept until the run ends.
///
/// # Guarantees
///
/// The guarantees of [`run`](crate::run()).
///
/// # Cancel safety
///
/// As for [`run`](crate::run()). The task ends with the future.
///
/// # Errors
///
/// The errors of [`run`](crate::run()).
///
/// # Example
///
/// ```
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use storagebox::parts::RunOptions;
/// use storagebox::time::TokioTimer;
/// use storagebox::values::DedupId;
/// use storagebox::{Error, MemoryStore, Payload, Ran};
/// use storagebox::parts::{Backend, run_with_heartbeat};
///
/// let jobs = MemoryStore::new().lease_repo(&"jobs".parse()?)?;
/// let (id, options) = (DedupId::new("invoice-7")?, RunOptions::default());
/// let send = async |_fence| Ok::<_, Error>("sent");
///
/// let ran = run_with_heartbeat(jobs, TokioTimer, tokio::spawn, &id, &options, send).await?;
/// assert_eq!(ran, Ran::Done(Payload::try_from("sent")?));
/// # Ok(()) }
/// ```
pub fn run_with_heartbeat<'a, S, F, Fut, T, E>(
    repo: Arc<dyn LeaseRepo>,
    timer: impl Timer + 'static,
    spawn: impl FnOnce(Task) -> S + Send + 'static,
    id: &'a DedupId,
    options: &'a RunOptions,
    work: F,
) -> impl Future<Output = Result<Ran, RunError<E>>>
where
    S: Send + 'static,
    F: FnOnce(Fence) -> Fut + Send,
    Fut: Future<Output = Result<T, E>> + Send,
    T: Into<Bytes>,
{
    let timer: Arc<dyn Timer> = Arc::new(timer);
    let background = Background { repo: Arc::clone(&repo), timer: Arc::clone(&timer), spawn: Box::new(spawn) };
    async move {
        let runner = Runner { repo: &*repo, timer: &*timer, options };
        through(&runner, id, background, work).await
    }
}

pub(super) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

// A trait, because the compiler does not accept a future that holds a generic closure over a `Task` as `Send`.
trait Spawns: Send {
    fn spawn(self: Box<Self>, task: Task) -> Box<dyn Send>;
}

impl<P, S> Spawns for P
where
    P: FnOnce(Task) -> S + Send,
    S: Send + 'static,
{
    fn spawn(self: Box<Self>, task: Task) -> Box<dyn Send> {
        Box::new(self(task))
    }
}

/// A heartbeat that extends the lease from a separate task.
struct Background {
    repo: Arc<dyn LeaseRepo>,
    timer: Arc<dyn Timer>,
    spawn: Box<dyn Spawns>,
}

impl Heartbeat for Background {
    async fn keep_alive(self, runner: &Runner<'_>, lease: &Lease, age: Duration, begun: oneshot::Sender<()>) {
        let (own, options) = (lease.clone(), runner.options.clone());
        // `_stop` is dropped with this future, which ends the task.
        let (_stop, stopped) = oneshot::channel::<()>();
        let (ends, end) = oneshot::channel();
        let Self { repo, timer, spawn } = self;
        let task = async move {
            // The work may block this thread only after the task has been polled: a task that was just spawned may wait
            // in a queue that no other thread reads.
            let _unheard = begun.send(());
            let beats = Runner { repo: &*repo, timer: &*timer, options: &options };
            let lost = async {
                beats.extend_until_lost(&own, age).await;
                let _unheard = ends.send(());
            };
            first_of(stopped, lost).await;
        };
        let _handle = spawn.spawn(Box::pin(task.in_current_span().with_current_subscriber()));
        if end.await.is_err() {
            // The runtime ended the task, or the task panicked.
            runner.extend_until_lost(lease, Duration::MAX).await;
        }
    }
}
