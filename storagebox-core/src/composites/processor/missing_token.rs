//! The policy for messages without a token.

use std::fmt;
use std::sync::Arc;

use crate::contract::dedup_repo::DedupRepo;
use crate::values::time::Retention;

/// The policy for messages without a token (P-5).
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum MissingToken {
    /// The message is refused with [`ProcessError::NoToken`](crate::ProcessError::NoToken), before any I/O.
    #[default]
    Reject,
    /// The message is processed for each copy that arrives, and more often if answers are lost, but not while another
    /// copy is in progress. This is only for handlers whose effects may be repeated. A late acknowledgement of one copy
    /// may end the message while the next copy is in progress. If the worker of the next copy is then killed, its entry
    /// stays pending, because no further copy arrives to resume the entry.
    Unprotected,
    /// The message is processed once for as long as its record is kept (article 1 instead of article 2). This is for
    /// senders that create no tokens. The repository must be used for nothing else.
    Dedup {
        /// The records, by message id.
        records: Arc<dyn DedupRepo>,
        /// How long each record is kept.
        retention: Retention,
    },
}

impl fmt::Debug for MissingToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reject => f.write_str("Reject"),
            Self::Unprotected => f.write_str("Unprotected"),
            Self::Dedup { retention, .. } => {
                f.debug_struct("Dedup").field("retention", retention).finish_non_exhaustive()
            }
        }
    }
}
