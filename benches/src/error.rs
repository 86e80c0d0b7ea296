//! Why a row could not be measured.

use tokio::task::JoinError;

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("a call of the library failed: {0}")]
    Call(#[from] storagebox::Error),
    /// A side that does less than its work must not look fast.
    #[error("a call answered `{answer}` where a new item was due")]
    NotNew { answer: String },
    #[error("a task ended early: {0}")]
    Task(#[from] JoinError),
    #[error("the runtime did not start: {0}")]
    Runtime(#[source] std::io::Error),
}
