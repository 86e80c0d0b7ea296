//! The handle of tokens.

use storagebox_core::{Consumed, Created, Discarded, Result, TokenId, TokenStore};

use crate::handles::{IntoValue, Operation, all, handle};

handle! {
    /// Tokens that a producer creates in advance and that are consumed once (article 2).
    ///
    /// The producer creates the token of a message before it sends the message. A token that was never created looks
    /// the same as a consumed token. For ids that no producer creates, use [`Dedup`](crate::Dedup).
    ///
    /// [`TokenStore`](crate::parts::TokenStore) lists the guarantees. After any error or a dropped future, make the
    /// same call again, with the same operation.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if a token or an operation breaks its limit, before any I/O.
    ///
    /// # Example
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox::Result<()> {
    /// use storagebox::{Consumed, Store};
    ///
    /// let inbox = Store::open("memory:").await?.tokens("inbox")?;
    /// inbox.create(["message-7"]).await?;
    /// assert_eq!(inbox.consume("message-7").by("worker-1").await?, Consumed::Now);
    /// assert_eq!(inbox.consume("message-7").by("worker-1").await?, Consumed::Again);
    /// assert_eq!(inbox.consume("message-7").by("worker-2").await?, Consumed::AlreadyGone);
    /// # Ok(()) }
    /// ```
    Tokens of TokenStore
}

impl Tokens {
    pub(crate) fn part(&self) -> std::sync::Arc<dyn TokenStore> {
        std::sync::Arc::clone(&self.part)
    }
}

impl<P: TokenStore + ?Sized> Tokens<P> {
    /// Creates tokens. Tokens that exist or are gone stay unchanged (T-2, T-7, T-9).
    pub async fn create(&self, tokens: impl IntoIterator<Item: IntoValue<TokenId>>) -> Result<Created> {
        self.part.create_tokens(&all(tokens)?).await
    }

    /// Returns whether the token exists (T-1, T-10).
    pub async fn exists(&self, token: impl IntoValue<TokenId>) -> Result<bool> {
        self.part.exists(&token.into_value()?).await
    }

    /// Prepares to consume a token. Of all operations, one gets `Now` (T-5), and its own retry gets `Again` (T-6).
    /// [`by`](Operation::by) names the operation and consumes the token.
    pub fn consume(&self, token: impl IntoValue<TokenId>) -> Operation<'_, Consumed> {
        let token = token.into_value();
        Operation::new(move |op| Box::pin(async move { self.part.consume(&token?, &op).await }))
    }

    /// Ends tokens without consuming them, whether or not they exist. A late `create` of these tokens changes nothing
    /// (T-6, T-7).
    pub async fn discard(&self, tokens: impl IntoIterator<Item: IntoValue<TokenId>>) -> Result<Discarded> {
        self.part.discard(&all(tokens)?).await
    }
}
