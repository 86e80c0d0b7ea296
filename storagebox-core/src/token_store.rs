//! Tokens: present means *not yet processed*, gone means done (article 2).

use async_trait::async_trait;

use crate::error::{Error, Result};
use crate::value::{OpId, TokenId};

/// A set of tokens that are made ahead and consumed once.
///
/// The producer creates a message's token *before* it sends the message, and sends it only after `create` was acknowledged.
/// A token that was never created cannot be told from one that is done: its consumer is answered
/// [`AlreadyGone`](Consumed::AlreadyGone) and drops the message for ever. For ids that nobody creates, such as another system's
/// message ids or a request's idempotency key, use [`run`](crate::run()) or [`DedupRepo::record`](crate::DedupRepo::record), which
/// take the first to come for the one that does it.
///
/// # Guarantees
///
/// - T-1 *linearizable* for each token, because a stale "present" processes twice and a stale "absent" loses.
/// - T-2 what `create` acknowledged is durable and seen by every reader.
/// - T-3 after an error any part of a batch may exist now or later.
/// - T-4 live tokens do not expire, because an expired one would silently lose its message.
/// - T-7 *no resurrection*: a token that was consumed or discarded is not created again by a call that lands late,
///   for as long as operation ids are remembered.
/// - T-10 absent is an answer; an error is never turned into it.
///
/// # Cancel safety
///
/// Every method is safe: a dropped future leaves each token's step wholly done or not done. Call again.
///
/// # Errors
///
/// `Contention`, `Throttled` and `Unavailable` changed nothing; `OutcomeUnknown` asks for the same call again.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use storagebox_core::{BackendExt, Consumed, OpId, TokenId, TokenStore};
/// use storagebox_memory::MemoryStore;
///
/// let tokens = MemoryStore::new().tokens("inbox")?;
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
    /// Makes tokens; those that live already or are gone are left as they are.
    ///
    /// # Guarantees
    ///
    /// - T-2, T-3, T-7 above.
    /// - T-8 any number of tokens, none included; not atomic as a whole.
    /// - T-9 a live token is not changed.
    ///
    /// # Cancel safety
    ///
    /// Safe. Any part may have been created; create again.
    ///
    /// # Errors
    ///
    /// `OutcomeUnknown` if any part may have been created.
    async fn create_tokens(&self, tokens: &[TokenId]) -> Result<Created>;

    /// Whether the token lives.
    ///
    /// # Guarantees
    ///
    /// - T-1, T-10: a strong read.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    ///
    /// # Errors
    ///
    /// None but the store's own.
    async fn exists(&self, token: &TokenId) -> Result<bool>;

    /// Ends a token that was created ahead, for this operation.
    ///
    /// # Guarantees
    ///
    /// - T-5 of all operations that consume a token, however many at once, one gets `Now`; an unknown token is
    ///   `AlreadyGone`, not an error, and no trace is left of it: a rejection is not remembered.
    /// - T-6 the winner's own retry, known by its `op`, is `Again`.
    ///
    /// # Cancel safety
    ///
    /// Safe. Consume again with the same `op`.
    ///
    /// # Errors
    ///
    /// None but the store's own.
    async fn consume(&self, token: &TokenId, op: &OpId) -> Result<Consumed>;

    /// Ends tokens for nobody.
    ///
    /// # Guarantees
    ///
    /// - T-6 idempotent.
    /// - T-7 an unknown token is fenced as well: a `create` of it that lands later has no effect.
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

/// Sugar for every [`TokenStore`].
pub trait TokenStoreExt: TokenStore {
    /// Makes one token out of any text.
    ///
    /// # Guarantees
    ///
    /// Those of [`create_tokens`](TokenStore::create_tokens).
    ///
    /// # Cancel safety
    ///
    /// Safe. Create again.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the token is empty, over 512 bytes or holds U+0000.
    fn create<T>(&self, token: T) -> impl Future<Output = Result<Created>> + Send
    where
        T: TryInto<TokenId>,
        Error: From<T::Error>,
    {
        let token = token.try_into().map_err(Error::from);
        async move { self.create_tokens(&[token?]).await }
    }
}

impl<S: TokenStore + ?Sized> TokenStoreExt for S {}

/// What [`TokenStore::create_tokens`] did, in distinct tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Created {
    /// New and live now.
    pub created: u64,
    /// Live before.
    pub already_live: u64,
    /// Consumed or discarded before, and left so.
    pub gone: u64,
}

/// The outcome of [`TokenStore::consume`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "another operation may have consumed the token"]
pub enum Consumed {
    /// This call ended the token.
    Now,
    /// This operation ended it before.
    Again,
    /// It does not live: another ended it, *or it was never created*. A message may be dropped on this answer only if its
    /// producer created the token before it sent the message; for other ids use [`run`](crate::run()).
    AlreadyGone,
}

/// What [`TokenStore::discard`] did, in distinct tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discarded {
    /// Live before, gone now.
    pub discarded: u64,
    /// Not live before; fenced now.
    pub already_gone: u64,
}
