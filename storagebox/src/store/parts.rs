//! The parts of a store, by name.

use std::sync::Arc;

use storagebox_core::{Deduplicator, Handler, Namespace, OneTimeTokens, OrderedOptions, Result, Strategy};

use super::Store;
use crate::handles::{Bank, Counters, Dedup, IntoValue, OrderedValues, ProcessorBuilder, Tokens, all};
use crate::policy::bounding;

/// Opens the parts of a store.
///
/// # Errors
///
/// Returns `InvalidInput` if a name is empty, is over 512 bytes or contains U+0000. Returns `Unsupported` if the
/// backend does not have the part.
impl Store {
    /// Opens the bank of this name.
    pub fn bank(&self, name: impl IntoValue<Namespace>) -> Result<Bank> {
        let name = name.into_value()?;
        let part = self.backend.item_bank(&name)?;
        Ok(Bank::new(name, part))
    }

    /// Opens the deduplication of this name: its runs, and the records of their results. A backend may have records
    /// without leases; then the runs return `Unsupported`.
    pub fn dedup(&self, name: impl IntoValue<Namespace>) -> Result<Dedup> {
        Dedup::open(&self.backend, &bounding(&self.policy, &self.inner), name.into_value()?, &self.policy)
    }

    /// Opens the tokens of this name.
    pub fn tokens(&self, name: impl IntoValue<Namespace>) -> Result<Tokens> {
        let name = name.into_value()?;
        let part = self.backend.token_store(&name)?;
        Ok(Tokens::new(name, part))
    }

    /// Opens the one-time tokens of this name, for links that people open. The tokens and the deduplication of the name
    /// must be used for nothing else.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox::Result<()> {
    /// use std::time::Duration;
    /// use storagebox::Store;
    /// use storagebox::tokens::Peeked;
    ///
    /// let store = Store::open("memory:").await?;
    /// let links = store.one_time_tokens("sign-in")?.replay(Duration::from_secs(600))?;
    /// links.create(["hash-of-the-link"]).await?;
    /// assert_eq!(links.peek("hash-of-the-link").await?, Peeked::Live);
    /// # Ok(()) }
    /// ```
    pub fn one_time_tokens(&self, name: impl IntoValue<Namespace>) -> Result<OneTimeTokens> {
        let name = name.into_value()?;
        let tokens = self.backend.token_store(&name)?;
        Ok(OneTimeTokens::new(tokens, self.backend.lease_repo(&name)?, self.backend.dedup_repo(&name)?))
    }

    /// Begins a processor of the messages that change the entities of this name. It processes each message once,
    /// whenever and however often copies of the message arrive.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use storagebox::{Decision, Message, Outcome, Payload, Store};
    ///
    /// let store = Store::open("memory:").await?;
    /// let pay = async |_paid: Option<Payload>, order: Message| Ok(Decision::put(order.body)?);
    /// let payments = store.processor("payments", pay)?.build()?;
    ///
    /// // The sender creates the token, and then sends the message with it.
    /// store.tokens("payments")?.create(["token-7"]).await?;
    /// let message = Message::new("message-7", "order-7", "12 euros")?.with_token("token-7".parse()?);
    ///
    /// assert_eq!(payments.process(&message).await?, Outcome::Processed { sent: 0 });
    /// assert_eq!(payments.process(&message).await?, Outcome::Duplicate { cleaned: false });
    /// assert_eq!(payments.state("order-7").await?, Some("12 euros".try_into()?));
    /// # Ok(()) }
    /// ```
    pub fn processor<H: Handler + 'static>(
        &self,
        entities: impl IntoValue<Namespace>,
        handler: H,
    ) -> Result<ProcessorBuilder<H>> {
        Ok(ProcessorBuilder::new(Arc::clone(&self.backend), entities.into_value()?, handler))
    }

    /// Opens the counters of this name with the default [`Strategy`].
    pub fn counters(&self, name: impl IntoValue<Namespace>) -> Result<Counters> {
        self.counters_with(name, Strategy::default())
    }

    /// Opens the counters of this name with a strategy. Counters keep the strategy that they were created with (S-4).
    /// Another strategy returns `Misconfigured`, at the latest from the first call.
    pub fn counters_with(&self, name: impl IntoValue<Namespace>, strategy: Strategy) -> Result<Counters> {
        Counters::open(&*self.backend, name.into_value()?, strategy)
    }

    /// Opens the ordered values of this name with the default [`OrderedOptions`]: their stamps are times in
    /// milliseconds, at most a day ahead of the store's clock.
    pub fn ordered(&self, name: impl IntoValue<Namespace>) -> Result<OrderedValues> {
        self.ordered_with(name, OrderedOptions::default())
    }

    /// Opens the ordered values of this name with options. Ordered values keep the options that they were created with
    /// (S-4). Other options return `Misconfigured`, at the latest from the first call.
    pub fn ordered_with(&self, name: impl IntoValue<Namespace>, options: OrderedOptions) -> Result<OrderedValues> {
        let name = name.into_value()?;
        let part = self.backend.ordered_store(&name, options)?;
        Ok(OrderedValues::new(name, part))
    }

    /// Opens a deduplicator over banks of this store. It stores its own records under the name given as `records`.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox::Result<()> {
    /// use storagebox::Store;
    ///
    /// let store = Store::open("memory:").await?;
    /// store.bank("friday")?.add(["seat-50"]).await?;
    /// let seats = store.deduplicator("students", ["monday", "friday"])?;
    ///
    /// assert!(seats.assign("ada", "monday").await?.item().is_none());
    /// assert!(seats.assign("ada", "friday").await?.item().is_some());
    /// # Ok(()) }
    /// ```
    pub fn deduplicator(
        &self,
        records: impl IntoValue<Namespace>,
        banks: impl IntoIterator<Item: IntoValue<Namespace>>,
    ) -> Result<Deduplicator> {
        let records = self.backend.dedup_repo(&records.into_value()?)?;
        all::<Namespace>(banks)?.into_iter().try_fold(Deduplicator::new(records), |deduplicator, name| {
            let bank = self.backend.item_bank(&name)?;
            deduplicator.bank(name, bank)
        })
    }
}
