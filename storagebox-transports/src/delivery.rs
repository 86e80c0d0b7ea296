//! One copy of a message, as a queue hands it out.

use std::time::Duration;

use async_trait::async_trait;
use storagebox_core::{BoxError, MessageId, Payload, TokenId};

/// What a queue says of a receipt that is over.
#[cfg(any(feature = "postgres", feature = "redis-streams"))]
pub(crate) const STALE: &str = "the message is over, or it was handed out again since";

/// One copy of a message, which is this worker's until its lease ends or it is settled.
///
/// # Cancel safety
///
/// Dropping it, or any of its calls, loses nothing: the queue hands the message out again.
#[async_trait]
pub trait Delivery: Send + Sync + 'static {
    /// Returns what was received.
    ///
    /// # Errors
    ///
    /// [`Malformed`] for a copy that is no message of storagebox. It is parked.
    fn received(&self) -> Result<&Received, Malformed>;

    /// Returns how often the queue says that it has handed the message out, this time included. It is a hint: some
    /// queues count wrongly after a restart, and some do not count at all and return 1.
    fn attempt(&self) -> u32;

    /// Returns `None` unless an earlier delivery of the message ended without a settlement: its worker died, or its
    /// lease ran out. Otherwise it returns how many [lone runs](Self::begin_alone) in a row ended so. The loop runs such
    /// a message alone, and parks it after [too many](crate::ConsumeOptions::park_after) of them.
    ///
    /// The number must count nothing else: a message that only waited beside one that kills its workers must not be
    /// parked for it. A queue that cannot tell returns `None`, as the default does, and never has such a message parked.
    /// A delivery that wraps another one passes this call and the next one on.
    fn lapsed(&self) -> Option<u32> {
        None
    }

    /// Notes in the queue that the message is about to run alone, so that [`lapsed`](Self::lapsed) counts this run if
    /// nobody settles it. Any settlement ends the count.
    ///
    /// # Cancel safety
    ///
    /// Safe. A call that was dropped may have counted a run that did not begin.
    ///
    /// # Errors
    ///
    /// Any error of the queue. The message is not run then.
    async fn begin_alone(&self) -> Result<(), BoxError> {
        Ok(())
    }

    /// Asks the queue to hand the message out to nobody else for so long, from now on.
    ///
    /// # Errors
    ///
    /// Any error of the queue. The message may be somebody else's by now, which does no harm.
    async fn extend(&self, lease: Duration) -> Result<(), BoxError>;

    /// Says what becomes of the message. It is called once, and no extension is under way then.
    ///
    /// # Errors
    ///
    /// Any error of the queue. The message may come again, which does no harm.
    async fn settle(&self, settle: Settle) -> Result<(), BoxError>;
}

/// What a copy of a message holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The id, the same for all copies.
    pub id: MessageId,
    /// The token, the same for all copies. `None` for a message of a sender that creates none.
    pub token: Option<TokenId>,
    /// The body.
    pub body: Payload,
}

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settle {
    /// It is over: the queue forgets this copy.
    Ack,
    /// It comes again, at the earliest after so long.
    Retry {
        /// How long. Queues that cannot wait hand it out at once.
        after: Duration,
    },
    /// It is set aside, where people look and from where it can be sent again.
    Park,
}

/// Why a copy is no message of storagebox.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no message of storagebox: {0}")]
pub struct Malformed(pub String);
