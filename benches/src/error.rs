//! The reasons why a row could not be measured.

use tokio::task::JoinError;

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("a call of the library failed: {0}")]
    Call(#[from] storagebox::Error),
    /// A side that does not do its work must not look fast.
    #[error("a call answered `{answer}` where a new item was due")]
    NotNew { answer: String },
    #[error("a task ended early: {0}")]
    Task(#[from] JoinError),
    #[error("the runtime did not start: {0}")]
    Runtime(#[source] std::io::Error),
    #[cfg(any(feature = "postgres", feature = "redis", feature = "sqlite"))]
    #[error("a call answered `{answer}` where it had work to do")]
    NoWork { answer: String },
    #[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis"))]
    #[error("there is no server: {0}")]
    Server(#[from] storagebox_testkit::Failure),
    /// The floor is missing. The row says so, and misses its target.
    #[cfg(feature = "dynamo")]
    #[error("the floor cannot be had: {0}")]
    NoFloor(storagebox_testkit::Failure),
    #[cfg(feature = "dynamo")]
    #[error("a request of the floor failed: {0}")]
    Request(String),
    #[cfg(feature = "dynamo")]
    #[error("the floor's process failed: {0}")]
    Process(std::io::Error),
    #[cfg(feature = "redis")]
    #[error("a command of the floor failed: {0}")]
    Command(#[from] redis::RedisError),
    #[cfg(feature = "redis")]
    #[error("the floor's pool has no connection: {0}")]
    Pool(#[from] deadpool::managed::PoolError<redis::RedisError>),
    #[cfg(feature = "sqlite")]
    #[error("there is no folder for a file: {0}")]
    Folder(#[source] std::io::Error),
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    #[error("a statement of the floor failed: {0}")]
    Statement(#[from] sqlx::Error),
    #[cfg(feature = "postgres")]
    #[error("the floor has no connection: {0}")]
    NoConnection(#[from] deadpool::managed::PoolError<sqlx::Error>),
}
