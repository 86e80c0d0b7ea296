//! The reasons why a row could not be measured.

use tokio::task::JoinError;

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("a call of the library failed: {0}")]
    Call(#[from] storagebox::Error),
    /// A call did not do its work. The row fails, because its times would be too short.
    #[error("a call returned `{answer}` instead of a new item")]
    NotNew { answer: String },
    #[error("a task ended early: {0}")]
    Task(#[from] JoinError),
    #[error("the runtime did not start: {0}")]
    Runtime(#[source] std::io::Error),
    #[cfg(any(feature = "postgres", feature = "redis", feature = "sqlite"))]
    #[error("a call returned `{answer}` although it had work to do")]
    NoWork { answer: String },
    #[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis"))]
    #[error("there is no server: {0}")]
    Server(#[from] storagebox_testkit::Failure),
    /// The floor is not available. The table shows the reason, and the row misses its target.
    #[cfg(feature = "dynamo")]
    #[error("the floor is not available: {0}")]
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
    #[error("no folder could be created for a file: {0}")]
    Folder(#[source] std::io::Error),
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    #[error("a statement of the floor failed: {0}")]
    Statement(#[from] sqlx::Error),
    #[cfg(feature = "postgres")]
    #[error("the floor has no connection: {0}")]
    NoConnection(#[from] deadpool::managed::PoolError<sqlx::Error>),
}
