//! The client: one transaction per write and one statement per read. Each runs in its own task.

mod call;
mod connections;
mod fairness;
mod file;
pub(crate) mod integrity;
mod joined;
mod library;
pub(crate) mod log;
mod namespaces;
mod opened;
mod pauses;
mod readers;
mod step;
mod store_info;
mod task;
mod texts;
mod writer;
mod writer_slot;

use std::sync::Arc;

use sqlx::SqliteConnection;
use storagebox_core::backend::OpenNamespaces;
use storagebox_core::{Combined, Combiner, Result};
use tokio::time::timeout;

use crate::clock::Micros;
use crate::config::Settings;
use crate::error;

pub(crate) use call::{BoxFuture, Call, Make, Once};
pub(crate) use connections::Connections;
pub(crate) use file::is_denied;
pub(crate) use joined::OpenTransaction;
pub(crate) use library::check_writable;
pub(crate) use namespaces::{Kind, OpenNamespace};
pub(crate) use pauses::Pauses;
pub(crate) use step::{Ask, Step};
pub(crate) use store_info::{FORMAT, STORE, STORE_INFO, StoreInfo, VERSION, has_tables, store_info, version};
pub(crate) use task::spawn_detached;
pub(crate) use texts::Texts;

use call::{Job, Withdrawn};
use joined::Joined;
use writer::Work;

/// The most calls in one transaction.
const MOST: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Batching {
    /// The call may share its transaction with calls that wait at the same time.
    Shared,
    /// The call has its own transaction, because it takes long.
    Alone,
}

pub(crate) struct Client {
    inner: Arc<Inner>,
    combiner: Option<Arc<Combiner<Work>>>,
    /// The caller's transaction in which all calls run, if this client is joined to one.
    joined: Option<Joined>,
}

/// The part of the client that the tasks of its calls share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) connections: Connections,
    pub(crate) settings: Settings,
    /// Records, by kind, name and options, whether a committed call has opened a namespace.
    namespaces: OpenNamespaces,
}

impl Inner {
    pub(crate) fn now(&self) -> Micros {
        Micros::of(&*self.settings.clock)
    }
}

impl Client {
    pub(crate) fn new(connections: Connections, settings: Settings) -> Arc<Self> {
        let inner = Arc::new(Inner { connections, settings, namespaces: OpenNamespaces::default() });
        let combiner = inner.settings.combining.then(|| {
            let inner = Arc::clone(&inner);
            let together = move |works: Vec<Work>| Box::pin(writer::together(Arc::clone(&inner), works)) as _;
            // The file takes one writer at a time: a second batch would only wait for the first one.
            Combiner::of_tasks(MOST, Box::new(together), Box::new(writer::spawner))
        });
        Arc::new(Self { inner, combiner, joined: None })
    }

    /// Returns a client of the same store whose calls run within the caller's transaction.
    pub(crate) fn within<'t>(&self, connection: &'t mut SqliteConnection) -> (Arc<Self>, OpenTransaction<'t>) {
        let (joined, transaction) = joined::join(connection, &self.inner);
        (Arc::new(Self { inner: Arc::clone(&self.inner), combiner: None, joined: Some(joined) }), transaction)
    }

    /// Returns whether the calls run within a transaction of the caller.
    pub(crate) fn is_joined(&self) -> bool {
        self.joined.is_some()
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    pub(crate) fn connections(&self) -> &Connections {
        &self.inner.connections
    }

    /// Makes a call in a transaction that other calls may share. A call that does not begin in time, or that its caller
    /// drops before it begins, is not made.
    pub(crate) fn write<A, T>(
        &self,
        operation: &'static str,
        batching: Batching,
        call: Call<A, T>,
    ) -> BoxFuture<'_, Result<T>>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        // Boxed to keep compile times short: each method of a trait would otherwise contain the whole future.
        Box::pin(async move {
            let call = Arc::new(call);
            let job = Arc::clone(&call) as Arc<dyn Job>;
            let made = match &self.joined {
                Some(joined) => joined.write(job).await,
                None => self.in_time(job, batching).await,
            };
            let answer = made.and_then(|()| call.answer());
            answer.map_err(|error| error.during(operation))
        })
    }

    async fn in_time(&self, job: Arc<dyn Job>, batching: Batching) -> Result<()> {
        let withdrawn = Withdrawn::when_dropped(Arc::clone(&job));
        let limit = self.settings().options.call_timeout;
        let answer = timeout(limit, self.made(job, batching)).await;
        match answer {
            Ok(answer) => answer,
            Err(_) if withdrawn.now() => Err(error::not_begun(limit)),
            Err(_) => Err(error::not_ended(limit)),
        }
    }

    async fn made(&self, job: Arc<dyn Job>, batching: Batching) -> Result<()> {
        let alone = |lost| alone(Arc::clone(&self.inner), Arc::clone(&job), lost);
        match self.combiner.as_ref().filter(|_| batching == Batching::Shared) {
            Some(combiner) => combiner.call(Work::new(Arc::clone(&job)), alone).await,
            None => alone(false).await,
        }
    }
}

/// Makes one call in its own transaction and task. If an earlier task of the call was stopped (`lost`) and may have
/// applied the call, returns an error instead.
async fn alone(inner: Arc<Inner>, job: Arc<dyn Job>, lost: bool) -> Result<()> {
    if lost && job.progress().may_have_ended() {
        return Err(task::stopped());
    }
    job.progress().wait_again();
    let made = tokio::spawn(async move { writer::make(&inner, &[job]).await.pop() }).await;
    match made {
        Ok(Some(Combined::Answer(answer))) => answer,
        Ok(Some(Combined::RunAlone | Combined::Lost) | None) | Err(_) => Err(task::stopped()),
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("inner", &self.inner).finish_non_exhaustive()
    }
}
