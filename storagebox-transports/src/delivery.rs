//! One copy of a message, as a queue hands it out.

use std::time::Duration;

use async_trait::async_trait;
use storagebox_core::{BoxError, MessageId, Payload, TokenId};

/// The error text for a late call on a delivery: the message is finished, or another worker has the message.
#[cfg(any(feature = "postgres", feature = "redis-streams"))]
pub(crate) const STALE: &str = "the message is finished, or it was delivered again since";

/// One copy of a message, which belongs to this worker until its lease ends or it is settled.
///
/// # Cancel safety
///
/// Dropping a delivery, or the future of a call, loses nothing: the queue hands the message out again.
#[async_trait]
pub trait Delivery: Send + Sync + 'static {
    /// Returns the message that was received.
    ///
    /// # Errors
    ///
    /// Returns [`Malformed`] for a copy that is no message of storagebox. Such a copy is parked.
    fn received(&self) -> Result<&Received, Malformed>;

    /// Returns how often the queue reports that it has handed out the message, including this time. The number is a
    /// hint: some queues count wrongly after a restart, and some do not count at all and return 1.
    fn attempt(&self) -> u32;

    /// Returns `None` unless an earlier delivery of the message ended without a settlement: its worker died, or its
    /// lease ran out. Otherwise returns how many [lone runs](Self::begin_alone) in a row ended in this way. The loop
    /// runs such a message alone, and parks it after [too many](crate::ConsumeOptions::park_after) of these runs.
    ///
    /// The number must count nothing else: a message that only waited beside a message that kills its workers must not
    /// be parked for that. A queue that cannot distinguish these two messages returns `None`, as the default does, and
    /// the loop never parks such a message. A delivery that wraps another delivery forwards this call and
    /// [`begin_alone`](Self::begin_alone).
    fn lapsed(&self) -> Option<u32> {
        None
    }

    /// Records in the queue that the message is about to run alone, so that [`lapsed`](Self::lapsed) counts this run if
    /// no settlement follows. Any settlement ends the count.
    ///
    /// # Cancel safety
    ///
    /// Safe. A call that was dropped may have counted a run that did not begin.
    ///
    /// # Errors
    ///
    /// Returns any error of the queue. The message is not run then.
    async fn begin_alone(&self) -> Result<(), BoxError> {
        Ok(())
    }

    /// Asks the queue not to hand the message out again for the time `lease` from now on.
    ///
    /// # Errors
    ///
    /// Returns any error of the queue. The message may belong to another worker by now, which does no harm.
    async fn extend(&self, lease: Duration) -> Result<(), BoxError>;

    /// Settles the message. The loop makes this call once per delivery, while no extension is in progress.
    ///
    /// # Errors
    ///
    /// Returns any error of the queue. The message may come again, which does no harm.
    async fn settle(&self, settle: Settle) -> Result<(), BoxError>;
}

/// The content of a copy of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The id, the same for all copies.
    pub id: MessageId,
    /// The token, the same for all copies. `None` for a message of a sender that creates none.
    pub token: Option<TokenId>,
    /// The body.
    pub body: Payload,
}

/// The settlement of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settle {
    /// The message is finished: the queue forgets this copy.
    Ack,
    /// The queue delivers the message again, not before the time `after` has passed.
    Retry {
        /// The pause. Queues that cannot wait hand the message out at once.
        after: Duration,
    },
    /// The message is set aside, where people can examine it and send it again.
    Park,
}

/// The reason why a copy is no message of storagebox.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a message of storagebox: {0}")]
pub struct Malformed(pub String);
