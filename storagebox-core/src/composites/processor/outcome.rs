//! The outcomes of processing a message.

use super::handler::BoxError;
use crate::values::error::Error;

/// The outcome of [`Processor::process`](super::Processor::process). The copy may be acknowledged after each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "`Duplicate` may also mean that the token was lost"]
pub enum Outcome {
    /// This call changed the entity.
    Processed {
        /// The number of messages that this call sent. It is 0 if another worker sent the messages first.
        sent: usize,
    },
    /// The handler decided to change nothing and to send nothing.
    NoEffect,
    /// The message was committed before, and this call finished it.
    Resumed {
        /// The number of messages that this call sent. It is 0 if another worker sent the messages first.
        sent: usize,
    },
    /// The message was finished before, *or its token was never created or was lost*. Count the duplicates: if there
    /// are more duplicates than redeliveries, messages are dropped.
    Duplicate {
        /// Whether this call removed the entry that a crash had left.
        cleaned: bool,
    },
}

/// The outcome of [`Processor::abandon`](super::Processor::abandon).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a message that has changed its entity cannot be abandoned"]
pub enum Abandoned {
    /// The message is given up: every copy of it is a duplicate from now on.
    Abandoned,
    /// The message has changed its entity and has messages to send. [Resume](super::Processor::resume) it.
    Pending,
    /// The message was processed or given up before, or its token was never created.
    AlreadyOver,
}

/// The reason why a message was not processed. The message may be processed again after each of them.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// A store failed.
    #[error(transparent)]
    Store(#[from] Error),
    /// The handler failed; nothing changed.
    #[error("the handler failed: {0}")]
    Handler(#[source] BoxError),
    /// Some messages may not have been sent. After [`issue`](super::Processor::issue), issue the messages again. After
    /// any other call, the incoming message has changed its entity: process or [resume](super::Processor::resume) the
    /// message again, and the call sends its messages.
    #[error("not all messages were sent: {0}")]
    Dispatch(#[source] BoxError),
    /// The message carries no token, and the [policy](super::MissingToken) rejects such messages.
    #[error("the message carries no token; let its sender create one, or choose another policy for such messages")]
    NoToken,
}

impl ProcessError {
    /// Marks the error as unresolved, because this call may have changed the entity before it failed.
    pub(super) fn after_a_commit(self) -> Self {
        match self {
            Self::Store(error) => Self::Store(error.after_unresolved()),
            other => other,
        }
    }
}
