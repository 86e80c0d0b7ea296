//! The handle of tokens.

use storagebox_core::{Consumed, Created, Discarded, Error, OpId, Result, TokenId, TokenStore};

use crate::handle::{all, checked, handle};

handle! {
    /// Tokens that a producer creates ahead and that are consumed once (article 2).
    ///
    /// The producer creates a message's token before it sends the message. A token that was never created cannot be told
    /// from one that was consumed: for ids that nobody creates, use [`Leases::run`](crate::Leases::run) or
    /// [`Records`](crate::Records).
    ///
    /// The promises are those of [`TokenStore`](crate::TokenStore). After any error or a dropped future, make the same call
    /// again, with the same `op`.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a token or an `op` that breaks its limit, before any I/O.
    ///
    /// # Example
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox::Result<()> {
    /// use storagebox::{Consumed, Store};
    ///
    /// let inbox = Store::open("memory:").await?.tokens("inbox")?;
    /// inbox.create(["message-7"]).await?;
    /// assert_eq!(inbox.consume("message-7", "worker-1").await?, Consumed::Now);
    /// assert_eq!(inbox.consume("message-7", "worker-1").await?, Consumed::Again);
    /// assert_eq!(inbox.consume("message-7", "worker-2").await?, Consumed::AlreadyGone);
    /// # Ok(()) }
    /// ```
    Tokens of TokenStore
}

impl Tokens {
    /// Creates tokens; those that live or are gone stay as they are (T-2, T-7, T-9).
    pub async fn create(
        &self,
        tokens: impl IntoIterator<Item: TryInto<TokenId, Error: Into<Error>>>,
    ) -> Result<Created> {
        self.part.create_tokens(&all(tokens)?).await
    }

    /// Returns whether the token lives (T-1, T-10).
    pub async fn exists(&self, token: impl TryInto<TokenId, Error: Into<Error>>) -> Result<bool> {
        self.part.exists(&checked(token)?).await
    }

    /// Consumes a token for this operation. Of all operations one gets `Now` (T-5), and its own retry `Again` (T-6).
    pub async fn consume(
        &self,
        token: impl TryInto<TokenId, Error: Into<Error>>,
        op: impl TryInto<OpId, Error: Into<Error>>,
    ) -> Result<Consumed> {
        self.part.consume(&checked(token)?, &checked(op)?).await
    }

    /// Ends tokens for nobody, known or not: a late `create` of them changes nothing (T-6, T-7).
    pub async fn discard(
        &self,
        tokens: impl IntoIterator<Item: TryInto<TokenId, Error: Into<Error>>>,
    ) -> Result<Discarded> {
        self.part.discard(&all(tokens)?).await
    }
}
