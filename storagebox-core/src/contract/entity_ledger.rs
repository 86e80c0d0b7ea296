//! Entities, each with an outbox of the messages that it has processed and not yet finished (article 2).

mod commit;

use async_trait::async_trait;

use crate::contract::dedup_repo::Version;
use crate::values::error::Result;
use crate::values::page::{Cursor, Page};
use crate::values::value::{Key, MessageId, Namespace, OpId, Payload, TokenId};

pub use commit::{Commit, Committed, EntityChange};

/// Entities that messages change. Each entity has an entry for every message that has changed it and whose own messages
/// are not all sent.
///
/// The [`Processor`](crate::Processor) is built on it. A program calls the processor, not the ledger.
///
/// # Guarantees
///
/// - E-1 a [`commit`](EntityLedger::commit) is a compare-and-set on the entity's version, and an entity without a
///   version is created only if it is still absent, because two copies of a message may be processed at once.
/// - E-2 a commit changes the entity and adds the entry in one step, and changes no other entry, because a crash
///   between the two would lose messages or process one twice.
/// - E-3 of all attempts of an entry at most one is chosen, because the copies of a message must carry one token.
/// - E-4 no attempt is registered after one is chosen, so that the worker that finishes the entry sees all of them.
/// - E-5 [`open`](EntityLedger::open) is a strong read of the entity, its entry and its token at one moment.
/// - E-6 a version never repeats for a key, also across a deletion, for as long as operation ids are remembered.
/// - E-7 [`remove`](EntityLedger::remove) is idempotent, and changes no later entry of the same message.
/// - E-8 *joined*: a commit also consumes and creates the tokens of the namespaces that the ledger [joins](Joins), in
///   the same step. If it does not commit, no token changes.
///
/// # Cancel safety
///
/// Every method is safe: after a dropped future the step is done, is not done, or is still in progress and done later.
///
/// # Errors
///
/// `Contention`, `Throttled` and `Unavailable` mean that nothing changed. After `OutcomeUnknown`, make the same call
/// again, or open the entity again and continue from there. A token of a namespace that the ledger does not join is
/// `InvalidInput`.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
/// use storagebox_core::{Backend, Commit, Committed, EntityChange, EntityLedger, Joins};
/// use storagebox_memory::MemoryStore;
///
/// let orders = MemoryStore::new().entity_ledger(&"orders".parse()?, &Joins::default())?;
/// let commit = Commit {
///     key: "order-7".parse()?,
///     message: "message-7".parse()?,
///     opened: None,
///     change: EntityChange::Put("paid".try_into()?),
///     attempt: "attempt-1".parse()?,
///     entry: Some("send the parcel".try_into()?),
///     consume: None,
///     create: vec![],
/// };
/// assert_eq!(orders.commit(&commit).await?, Committed::Committed);
/// assert_eq!(orders.open(&commit.key, &commit.message, None).await?.entry.map(|entry| entry.content), commit.entry);
/// # Ok(()) }
/// ```
#[async_trait]
pub trait EntityLedger: Send + Sync {
    /// Returns the entity, the message's entry and, for a ledger that joins the incoming tokens, whether the token is
    /// live (E-5).
    async fn open(&self, key: &Key, message: &MessageId, token: Option<&TokenId>) -> Result<Opened>;

    /// Changes the entity, if it still has the version that was opened, and adds the message's entry.
    ///
    /// # Guarantees
    ///
    /// - E-1, E-2, E-6, E-8 above.
    /// - A commit that is repeated with its `attempt` returns `Committed` while its entry exists, or while the token
    ///   that it consumed is remembered. Later the commit returns `Conflict`, for as long as operation ids are
    ///   remembered.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a commit that has no entry and consumes no token: its repetition would not be recognised.
    async fn commit(&self, commit: &Commit) -> Result<Committed>;

    /// Registers one more attempt of an entry, before the tokens of the attempt are created (E-4).
    async fn register(&self, entry: &EntryId, attempt: &OpId) -> Result<Registered>;

    /// Chooses a registered attempt, if none is chosen yet.
    ///
    /// # Guarantees
    ///
    /// - E-3 above. The call returns the entry as it is from now on, whichever attempt is chosen in it.
    async fn choose(&self, entry: &EntryId, attempt: &OpId) -> Result<Chosen>;

    /// Removes an entry, and returns whether there was one.
    ///
    /// # Guarantees
    ///
    /// - E-7 above. The version of the entity does not change.
    async fn remove(&self, entry: &EntryId) -> Result<bool>;

    /// Lists the entries of all entities in pages of at most `limit`, so that a program can
    /// [resume](crate::Processor::resume) the entries of crashed workers.
    ///
    /// # Guarantees
    ///
    /// - E-5: an entry that exists throughout the listing is listed exactly once.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the limit is 0 or the cursor cannot be read.
    async fn pending(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<EntryId>>;

    /// Returns the namespaces whose tokens a commit changes in the same step as the entity.
    fn joins(&self) -> Joins;
}

/// The namespaces of tokens that share a store with the entities (E-8). The default joins none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Joins {
    /// The tokens of the messages that the entities receive: a commit consumes the message's token.
    pub incoming: Option<Namespace>,
    /// The tokens of the messages that the entities send: a commit creates them.
    pub outgoing: Option<Namespace>,
}

/// An entity as it was at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// The version for the next commit; `None` if no commit was made to the entity, or if it has no state and no entry
    /// and was forgotten.
    pub version: Option<Version>,
    /// The state; `None` if the entity was never stored, or was deleted.
    pub state: Option<Payload>,
    /// The message's entry.
    pub entry: Option<OutboxEntry>,
    /// Whether the message's token was live; `None` if the ledger was not asked about a token.
    pub token_is_live: Option<bool>,
}

/// The outstanding work of a message that has changed its entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxEntry {
    /// The content that the processor stored with the commit: the messages to be sent. It never changes.
    pub content: Payload,
    /// The attempts to create the tokens of the messages, in the order of their registration.
    pub attempts: Vec<OpId>,
    /// The attempt whose tokens the messages carry, once it is chosen.
    pub chosen: Option<OpId>,
}

/// The id of an entry. A message that is processed again after its entry was removed gets another entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId {
    /// The entity.
    pub key: Key,
    /// The message.
    pub message: MessageId,
    /// The commit that added the entry: its first attempt.
    pub commit: OpId,
}

/// The outcome of [`EntityLedger::register`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "another attempt may have been chosen"]
pub enum Registered {
    /// The attempt is registered.
    Registered,
    /// An attempt was chosen before, and the entry no longer changes.
    Chosen(OutboxEntry),
    /// There is no entry: the message is finished.
    Gone,
}

/// The outcome of [`EntityLedger::choose`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "another attempt may have been chosen"]
pub enum Chosen {
    /// This attempt, or an earlier attempt, is chosen in this entry.
    Chosen(OutboxEntry),
    /// There is no entry in which the attempt is registered: the message is finished.
    Gone,
}
