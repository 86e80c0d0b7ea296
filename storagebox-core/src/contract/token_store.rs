//! Tokens: a present token means *not yet processed*, an absent token means done (article 2).

use async_trait::async_trait;

use crate::values::error::Result;
use crate::values::value::{OpId, TokenId};

/// A set of tokens that are created ahead and consumed once.
///
/// The producer creates a message's token *before* it sends the message, and sends the message only after `create` was
/// acknowledged. A token that was never created looks the same as a token that is done: its consumer gets
/// [`AlreadyGone`](Consumed::AlreadyGone) and drops the message for ever. For ids that nobody creates ahead, such as
/// another system's message ids or a request's idempotency key, use [`run`](crate::run()) or
/// [`DedupRepo::record`](crate::DedupRepo::record), which let the first caller do the work.
///
/// # Guarantees
///
/// - T-1 *linearizable* for each token, because a stale "present" processes a message twice and a stale "absent" loses
///   it.
/// - T-2 a token whose `create` was acknowledged is durable and visible to every reader.
/// - T-3 after an error any part of a batch may exist now or later.
/// - T-4 live tokens do not expire, because an expired token would silently lose its message.
/// - T-7 *no resurrection*: a call that arrives late does not create a consumed or discarded token again, for as long
///   as operation ids are remembered.
/// - T-10 absent is an answer; an error never becomes this answer.
///
/// # Cancel safety
///
/// Every method is safe: after a dropped future the step of each token is done, is not done, or is still in progress
/// and done later, never half of it. Call again, as after `OutcomeUnknown`.
///
/// # Errors
///
/// `Contention`, `Throttled` and `Unavailable` mean that nothing changed. After `OutcomeUnknown`, make the same call
/// again.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use storagebox_core::{Backend, Consumed, OpId, TokenId, TokenStore};
/// use storagebox_memory::MemoryStore;
///
/// let tokens = MemoryStore::new().token_store(&"inbox".parse()?)?;
/// let token = TokenId::new("message-7")?;
/// tokens.create_tokens(std::slice::from_ref(&token)).await?;
///
/// let (mine, other) = (OpId::new("worker-1")?, OpId::new("worker-2")?);
/// assert_eq!(tokens.consume(&token, &mine).await?, Consumed::Now);
/// assert_eq!(tokens.consume(&token, &mine).await?, Consumed::Again);
/// assert_eq!(tokens.consume(&token, &other).await?, Consumed::AlreadyGone);
/// # Ok(()) }
/// ```
#[async_trait]
pub trait TokenStore: Send + Sync {
    /// Creates tokens. Tokens that are already live or gone do not change.
    ///
    /// # Guarantees
    ///
    /// - T-2, T-3, T-7 above.
    /// - T-8 any number of tokens, including none; not atomic as a whole.
    /// - T-9 a live token does not change.
    ///
    /// # Cancel safety
    ///
    /// Safe. Any part may have been created; create again.
    ///
    /// # Errors
    ///
    /// `OutcomeUnknown` if any part may have been created.
    async fn create_tokens(&self, tokens: &[TokenId]) -> Result<Created>;

    /// Returns whether the token is live.
    ///
    /// # Guarantees
    ///
    /// - T-1, T-10: a strong read.
    async fn exists(&self, token: &TokenId) -> Result<bool>;

    /// Consumes, for this operation, a token that was created before.
    ///
    /// # Guarantees
    ///
    /// - T-5 of all operations that consume a token, however many at once, exactly one gets `Now`. An unknown token
    ///   returns `AlreadyGone`, not an error, and leaves no trace: a rejection is not remembered.
    /// - T-6 the winner's own retry, recognised by its `op`, returns `Again`.
    async fn consume(&self, token: &TokenId, op: &OpId) -> Result<Consumed>;

    /// Ends tokens without an operation.
    ///
    /// # Guarantees
    ///
    /// - T-6 idempotent.
    /// - T-7 an unknown token is fenced: a late `create_tokens` of that token has no effect.
    ///
    /// # Cancel safety
    ///
    /// Safe. Any part may have been discarded; discard again.
    ///
    /// # Errors
    ///
    /// `OutcomeUnknown` if any part may have been discarded.
    async fn discard(&self, tokens: &[TokenId]) -> Result<Discarded>;
}

/// The result of `create`, in distinct tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Created {
    /// Tokens that are new and now live.
    pub created: u64,
    /// Tokens that were already live.
    pub already_live: u64,
    /// Tokens that were consumed or discarded before, which do not change.
    pub gone: u64,
}

/// The outcome of `consume` on a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "another operation may have consumed the token"]
pub enum Consumed {
    /// This call consumed the token.
    Now,
    /// This operation consumed the token before.
    Again,
    /// The token is not live: another operation ended it, *or it was never created*. A message may be dropped on this
    /// answer only if its producer created the token before it sent the message; for other ids use
    /// [`run`](crate::run()).
    AlreadyGone,
}

/// The result of `discard`, in distinct tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discarded {
    /// Tokens that were live and are now gone.
    pub discarded: u64,
    /// Tokens that were not live; they are now fenced.
    pub already_gone: u64,
}
