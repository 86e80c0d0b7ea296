//! Why the pipeline did not run, or did not come out even.

use std::io;

use storagebox::messages::{BoxError, ProcessError};

use crate::balance::Unbalanced;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Store(#[from] storagebox::Error),
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("the queues: {0}")]
    Queues(#[source] BoxError),
    #[error("the books of the bank and the carrier: {0}")]
    Books(#[from] sqlx::Error),
    #[error(transparent)]
    Server(#[from] storagebox_testkit::Failure),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Task(#[from] tokio::task::JoinError),
    #[error(
        "--transport takes a URL (postgres://, redis://, nats:// or amqp://), or `redis`, `postgres`, `nats` or \
         `rabbitmq` for a server of its own"
    )]
    NoTransport,
    #[error("--store takes the URL of a store that other processes see, and `memory:` is none")]
    MemoryStore,
    #[error("--name takes 1 to 32 letters, digits, `-` and `_`")]
    Name,
    #[error("a broker at a URL is not killed; name its kind for a server of its own, such as `--transport redis`")]
    ForeignBroker,
    #[error("stopped before the end")]
    Stopped,
    #[error("nothing has moved for {} s while it waited for {what}; the last words of the workers are:\n{log}", crate::wait::PATIENCE.as_secs())]
    Stuck { what: &'static str, log: String },
    #[error("{0}")]
    Unbalanced(Unbalanced),
    #[error(
        "{0} with the deduplication off: no order was paid or shipped more than once, so that this run proves nothing"
    )]
    NoneDoubled(&'static str),
}
