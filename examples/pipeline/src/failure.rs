//! The reasons why a run fails.

use storagebox::messages::{BoxError, ProcessError};

use crate::imbalance::Imbalance;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Store(#[from] storagebox::Error),
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("the transport failed: {0}")]
    Transport(#[from] BoxError),
    #[error("cannot use the SQLite file of the external services (bank and carrier): {0}")]
    Books(#[from] sqlx::Error),
    #[error(transparent)]
    Server(#[from] storagebox_testkit::Failure),
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Task(#[from] tokio::task::JoinError),
    #[error(
        "--transport takes a URL (postgres://, redis://, nats:// or amqp://), or `redis`, `postgres`, `nats` or \
         `rabbitmq` to start a server"
    )]
    NoTransport,
    #[error("--store needs a store that other processes can reach, so `memory:` is refused")]
    MemoryStore,
    #[error("--name takes 1 to 32 letters, digits, `-` and `_`")]
    Name,
    #[error("--kill-broker needs a broker that the run starts, for example with `--transport redis`")]
    ForeignBroker,
    #[error("the run was interrupted by Ctrl-C")]
    Interrupted,
    #[error("no worker has reported an event for {seconds} s; the log of the workers ends with:\n{log}")]
    Stuck { seconds: u64, log: String },
    #[error(transparent)]
    Imbalance(#[from] Imbalance),
    #[error("no order was paid or shipped more than once with the deduplication off, so this run proves nothing")]
    NoRepetitions,
}
