//! The reasons why a row could not be measured.

use tokio::task::JoinError;

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("a call of the library failed: {0}")]
    Call(#[from] storagebox::Error),
    /// A take returned no new item, so the measured times would be too short.
    #[error("a take returned `{answer}` instead of a new item")]
    NotNew { answer: String },
    #[error("a task panicked or was cancelled: {0}")]
    Task(#[from] JoinError),
    #[error("the runtime did not start: {0}")]
    Runtime(#[source] std::io::Error),
    #[cfg(any(feature = "postgres", feature = "redis", feature = "sqlite"))]
    #[error("a call did no work and returned `{answer}`")]
    NoWork { answer: String },
    #[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis"))]
    #[error("no server is available: {0}")]
    Server(#[from] storagebox_testkit::Failure),
    /// The compared program is not available. The table shows the reason, and the row misses its target.
    #[cfg(feature = "dynamo")]
    #[error("the program to compare with (the floor) is not available: {0}")]
    NoFloor(storagebox_testkit::Failure),
    #[cfg(feature = "dynamo")]
    #[error("a DynamoDB request of the benchmark failed: {0}")]
    Request(String),
    #[cfg(feature = "dynamo")]
    #[error("the Python process of the benchmark failed: {0}")]
    Process(std::io::Error),
    #[cfg(feature = "redis")]
    #[error("a Redis command of the benchmark failed: {0}")]
    Command(#[from] redis::RedisError),
    #[cfg(feature = "redis")]
    #[error("the benchmark could not get a connection to Redis: {0}")]
    Pool(#[from] deadpool::managed::PoolError<redis::RedisError>),
    #[cfg(feature = "sqlite")]
    #[error("the folder of the database file could not be created: {0}")]
    Folder(#[source] std::io::Error),
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    #[error("an SQL statement of the benchmark failed: {0}")]
    Statement(#[from] sqlx::Error),
    #[cfg(feature = "postgres")]
    #[error("the benchmark could not get a connection to Postgres: {0}")]
    NoConnection(#[from] deadpool::managed::PoolError<sqlx::Error>),
}
