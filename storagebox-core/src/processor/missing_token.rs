//! What becomes of a message that carries no token.

use std::fmt;
use std::sync::Arc;

use crate::dedup_repo::DedupRepo;
use crate::time::Retention;

/// What becomes of a message that carries no token (P-5).
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum MissingToken {
    /// It is refused with [`ProcessError::NoToken`](crate::ProcessError::NoToken), before any I/O.
    #[default]
    Reject,
    /// It is processed each time that a copy comes, and more often after lost answers, though not while another copy is
    /// under way. Only for handlers whose effects may be repeated. A late acknowledgement of one copy may end the message
    /// while the next is under way: if that one's worker is killed, its entry stays among the
    /// pending ones, because no copy comes that would resume it.
    Unprotected,
    /// It is processed once for as long as its record is kept: article 1 in place of article 2, for senders that create
    /// no tokens. The repository must be used for nothing else.
    Dedup {
        /// The records, by message id.
        records: Arc<dyn DedupRepo>,
        /// How long each is kept.
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
