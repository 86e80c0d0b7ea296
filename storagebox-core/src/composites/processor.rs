//! Processes each message once, without a window after which it could be processed again (article 2).

mod content;
mod guard;
mod handler;
mod missing_token;
mod outbox;
mod outcome;

use std::fmt;
use std::sync::Arc;

use crate::composites::listing::Listing;
use crate::contract::entity_ledger::{Commit, Committed, EntityLedger, EntryId, Opened, OutboxEntry};
use crate::contract::token_store::TokenStore;
use crate::values::error::{Error, ErrorKind, Result};
use crate::values::ids::{Ids, RandomIds};
use crate::values::message::{Decision, Message};
use crate::values::value::{Key, MessageId, OpId, Payload};

use content::Content;
use guard::{Guard, Guards};
use outbox::Outbox;

pub use handler::{BoxError, Dispatcher, Handler};
pub use missing_token::MissingToken;
pub use outcome::{Abandoned, Outcome, ProcessError};

/// The maximum number of times that one call tries to process its message.
const MAX_ROUNDS: usize = 64;

/// Processes messages: each changes its entity once and sends its own messages, which are processed once in turn.
///
/// A message carries a token, which its sender created before it sent the message. The token is consumed once the
/// message is processed, and from then on every copy is a duplicate, however late it arrives. Space is needed for
/// messages in progress, not for finished messages.
///
/// The processor does not depend on a queue: call [`process`](Processor::process) for each copy that is received,
/// acknowledge the copy after `Ok`, and have it redelivered after an error.
///
/// # Guarantees
///
/// - P-1 *once*: however many copies are processed, at once or years apart, the change of one run of the handler is
///   stored, and only that run's messages are sent.
/// - P-2 every copy of a message that is sent carries the same id and the same token, and its token exists before the
///   first copy is sent.
/// - P-3 after a crash at any step, the next copy, or [`resume`](Processor::resume), finishes what was begun: no
///   message that the stored run decided to send is lost.
/// - P-4 nothing is left of a finished message: neither its token, nor tokens of abandoned attempts, nor its entry.
///   Gone tokens are remembered for as long as operation ids are, and no longer.
/// - P-5 a message without a token is treated as its [policy](MissingToken) says.
///
/// Requirements: the token stores and the ledger lose nothing that they acknowledged, and remember operation ids for
/// longer than any call lasts; the sender creates the token before it sends the message; all copies of a message carry
/// the same token and change the same entity; the handler has no effect except its decision; and every processor that
/// finishes the messages of a ledger has the same `incoming` tokens.
///
/// # Cancel safety
///
/// Dropping a call at any point is the same as a crash after some step: have the message redelivered.
///
/// # Errors
///
/// After every error the message may be processed again. [`ProcessError::Store`] with the certainty `Unknown` means
/// that this call may have changed the entity; another copy may have done so in any case.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::{Arc, Mutex};
/// use storagebox::messages::{BoxError, Dispatcher, Outgoing};
/// use storagebox::{Decision, Message, Outcome, Payload, Store, async_trait};
///
/// #[derive(Default)]
/// struct Queue(Mutex<Vec<Outgoing>>);
///
/// #[async_trait]
/// impl Dispatcher for Queue {
///     async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
///         self.0.lock().unwrap().extend_from_slice(messages);
///         Ok(())
///     }
/// }
///
/// let (store, queue) = (Store::open("memory:").await?, Arc::new(Queue::default()));
/// let pay = async |_state: Option<Payload>, _order: Message| Ok(Decision::put("paid")?.send("shipping", "order-7")?);
/// let payments = store.processor("orders", pay)?.sends("orders", queue.clone())?.build()?;
///
/// payments.issue("order-7", [("payments", "1 book")]).await?;
/// let order = queue.0.lock().unwrap().remove(0);
/// let message = Message::new(order.id, "order-7", order.body)?.with_token(order.token);
/// assert_eq!(payments.process(&message).await?, Outcome::Processed { sent: 1 });
/// assert_eq!(payments.process(&message).await?, Outcome::Duplicate { cleaned: false });
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Processor {
    entities: Arc<dyn EntityLedger>,
    handler: Arc<dyn Handler>,
    guards: Guards,
    outbox: Outbox,
}

impl fmt::Debug for Processor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joins = self.entities.joins();
        f.debug_struct("Processor")
            .field("joins", &joins)
            .field("missing", &self.guards.missing)
            .finish_non_exhaustive()
    }
}

impl Processor {
    /// Creates a processor. The senders create the tokens of this endpoint's messages in `incoming`; if the ledger
    /// joins incoming tokens, it is the namespace that the ledger joins. All processors of one ledger must have the
    /// same `incoming`: a processor with another one takes live tokens for consumed tokens, and loses messages.
    pub fn new(
        entities: Arc<dyn EntityLedger>,
        incoming: Arc<dyn TokenStore>,
        handler: impl Handler + 'static,
    ) -> Self {
        let outbox = Outbox::new(Arc::clone(&entities), Arc::new(RandomIds));
        let guards = Guards { incoming, missing: MissingToken::default() };
        Self { entities, handler: Arc::new(handler), guards, outbox }
    }

    /// Sets where messages are sent, and where their tokens are created: in the namespace that their receivers read. If
    /// the ledger joins outgoing tokens, `tokens` is the namespace that it joins. Without `sends`, a message whose
    /// handler sends something is `Misconfigured`.
    #[must_use]
    pub fn sends(mut self, tokens: Arc<dyn TokenStore>, dispatcher: Arc<dyn Dispatcher>) -> Self {
        self.outbox.route = Some(outbox::Route { tokens, dispatcher });
        self
    }

    /// Sets what becomes of a message without a token. Defaults to [`MissingToken::Reject`].
    #[must_use]
    pub fn without_token(mut self, policy: MissingToken) -> Self {
        self.guards.missing = policy;
        self
    }

    /// Sets the source of the ids of attempts, messages and tokens. Defaults to [`RandomIds`].
    #[must_use]
    pub fn ids(mut self, ids: Arc<dyn Ids>) -> Self {
        self.outbox.ids = ids;
        self
    }

    /// Processes one copy of a message.
    ///
    /// # Guarantees
    ///
    /// - P-1 to P-5 above.
    ///
    /// # Cancel safety
    ///
    /// Safe. Have the message redelivered.
    ///
    /// # Errors
    ///
    /// See [`ProcessError`]. `Contention` if other messages changed the entity 64 times during the call.
    pub async fn process(&self, message: &Message) -> Result<Outcome, ProcessError> {
        let guard = Guard::of(message, &self.guards.missing)?;
        for round in 0..MAX_ROUNDS {
            if let Some(outcome) = after_rounds(round, self.round(message, &guard).await)? {
                return Ok(outcome);
            }
        }
        after_rounds(MAX_ROUNDS, Err(contention(message).into()))
    }

    /// Finishes a message whose worker crashed, without the message: for an entry that `pending` lists. Returns `None`
    /// if there is no entry.
    ///
    /// # Guarantees
    ///
    /// - P-3 above. Workers that are still at work on the message are not disturbed.
    ///
    /// # Cancel safety
    ///
    /// Safe. Resume again.
    ///
    /// # Errors
    ///
    /// See [`ProcessError`].
    pub async fn resume(&self, entity: &Key, message: &MessageId) -> Result<Option<Outcome>, ProcessError> {
        let opened = self.entities.open(entity, message, None).await?;
        let Some(entry) = opened.entry else { return Ok(None) };
        let begun = Begun::of(entity, message, entry)?;
        let is_open = begun.content.guard.is_open(message, &self.guards).await?;
        self.finish(begun, is_open).await.map(Some)
    }

    /// Gives up a message that will not be processed, such as one that its handler always refuses, so that its token
    /// does not stay for ever. From then on every copy of it is a duplicate; under [`MissingToken::Dedup`], for as long
    /// as its record is kept.
    ///
    /// # Guarantees
    ///
    /// - P-1, P-4 above. A message that has changed its entity is not given up.
    ///
    /// # Cancel safety
    ///
    /// Safe. Abandon again.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a message that is not protected. See also [`ProcessError`].
    pub async fn abandon(&self, message: &Message) -> Result<Abandoned, ProcessError> {
        let guard = Guard::of(message, &self.guards.missing)?;
        if guard == Guard::Open {
            return Err(Error::invalid("message", "carries no token, so its copies cannot be recognised").into());
        }
        for round in 0..MAX_ROUNDS {
            if let Some(abandoned) = after_rounds(round, self.abandon_round(message, &guard).await)? {
                return Ok(abandoned);
            }
        }
        after_rounds(MAX_ROUNDS, Err(contention(message).into()))
    }

    /// Tries once to give up the message. Returns `None` if another message or a copy was committed meanwhile.
    async fn abandon_round(&self, message: &Message, guard: &Guard) -> Result<Option<Abandoned>, ProcessError> {
        let (opened, is_open) = self.open(message, guard).await?;
        if let Some(entry) = opened.entry {
            return self.abandon_begun(message, entry).await.map(Some);
        }
        if !is_open {
            return Ok(Some(Abandoned::AlreadyOver));
        }
        let stored = self.store(message, guard, &opened, Decision::keep()).await?;
        Ok(stored.map(|_| Abandoned::Abandoned))
    }

    /// Finishes the message if its entry has no messages to send, and otherwise returns `Pending`.
    async fn abandon_begun(&self, message: &Message, entry: OutboxEntry) -> Result<Abandoned, ProcessError> {
        let begun = Begun::of(&message.entity, &message.id, entry)?;
        // An entry without messages may also come from an `abandon` that did not return.
        if !begun.content.outputs.is_empty() {
            return Ok(Abandoned::Pending);
        }
        self.settle(&begun.id, &begun.content, begun.entry, false).await.map_err(ProcessError::after_a_commit)?;
        Ok(Abandoned::AlreadyOver)
    }

    /// Sends the first messages of a chain, from a program that does not process a message itself. A repetition with
    /// the same `op` sends the same messages with the same tokens, so each is processed once for as long as operation
    /// ids are remembered. Returns the number of messages sent.
    ///
    /// # Guarantees
    ///
    /// - P-2 above.
    ///
    /// # Cancel safety
    ///
    /// Safe. Issue again with the same `op` and the same messages.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if `op`, a hyphen and the number of a message have more than 512 bytes together. See also
    /// [`ProcessError`].
    pub async fn issue<O, D, B>(&self, op: O, messages: impl IntoIterator<Item = (D, B)>) -> Result<usize, ProcessError>
    where
        O: TryInto<OpId>,
        D: TryInto<crate::Destination>,
        B: TryInto<Payload>,
        Error: From<O::Error> + From<D::Error> + From<B::Error>,
    {
        let op = op.try_into().map_err(Error::from)?;
        let mut decision = Decision::keep();
        for (destination, body) in messages {
            decision = decision.send(destination, body)?;
        }
        self.outbox.issue(&op, decision.outputs).await
    }

    /// Returns the state of an entity, or `None` if it has none. Only messages change it.
    ///
    /// # Guarantees
    ///
    /// - E-5: it is the state of the last message that changed the entity.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the key breaks its limit.
    pub async fn state<K>(&self, entity: K) -> Result<Option<Payload>>
    where
        K: TryInto<Key>,
        Error: From<K::Error>,
    {
        // An entity is opened for a message, and no message has an entry under this id.
        let no_message = MessageId::new("-")?;
        let entity = entity.try_into().map_err(Error::from)?;
        Ok(self.entities.open(&entity, &no_message, None).await?.state)
    }

    /// Lists the messages that have changed their entities and are not finished. Entries that stay belong to workers
    /// that crashed: [`resume`](Processor::resume) them.
    ///
    /// # Guarantees
    ///
    /// - E-5: an entry that exists throughout the listing is listed exactly once.
    pub fn pending(&self) -> Listing<'_, EntryId> {
        Listing::new(move |after, limit| Box::pin(async move { self.entities.pending(after.as_ref(), limit).await }))
    }

    /// Tries once to process the message. Returns `None` if another message or another copy was committed meanwhile.
    async fn round(&self, message: &Message, guard: &Guard) -> Result<Option<Outcome>, ProcessError> {
        let (mut opened, is_open) = self.open(message, guard).await?;
        if opened.entry.is_none() && is_open {
            return self.handle(message, guard, opened).await;
        }
        if opened.entry.is_none() && opened.token_is_live.is_none() {
            // The token was consumed after the entity was read. Another worker may have added an entry in between.
            opened = self.entities.open(&message.entity, &message.id, None).await?;
        }
        let Some(entry) = opened.entry else { return Ok(Some(Outcome::Duplicate { cleaned: false })) };
        let begun = Begun::of(&message.entity, &message.id, entry)?;
        let by = &begun.content.guard;
        let is_open = if by == guard { is_open } else { by.is_open(&message.id, &self.guards).await? };
        self.finish(begun, is_open).await.map(Some)
    }

    /// Reads the entity and then the guard. Returns the entity, and whether the message is still to be processed.
    async fn open(&self, message: &Message, guard: &Guard) -> Result<(Opened, bool), ProcessError> {
        // The order matters. If the message is open after the read, no worker finished it before the read, and any
        // later change of the entity makes the commit conflict.
        let joined = guard.token().filter(|_| self.entities.joins().incoming.is_some());
        let opened = self.entities.open(&message.entity, &message.id, joined).await?;
        let is_open = match opened.token_is_live {
            Some(is_live) => is_live,
            None => guard.is_open(&message.id, &self.guards).await?,
        };
        Ok((opened, is_open))
    }

    async fn handle(&self, message: &Message, guard: &Guard, opened: Opened) -> Result<Option<Outcome>, ProcessError> {
        let decision = self.handler.handle(opened.state.clone(), message).await.map_err(ProcessError::Handler)?;
        let has_no_effect = decision.has_no_effect();
        let sent = self.store(message, guard, &opened, decision).await?;
        Ok(sent.map(|sent| if has_no_effect { Outcome::NoEffect } else { Outcome::Processed { sent } }))
    }

    /// Commits a decision and finishes the message. Returns how many messages this call sent, or `None` if another
    /// message or another copy was committed meanwhile.
    async fn store(
        &self,
        message: &Message,
        guard: &Guard,
        opened: &Opened,
        decision: Decision,
    ) -> Result<Option<usize>, ProcessError> {
        let (commit, content) = self.commit(message, guard, opened, decision)?;
        // A decision without an effect is committed as well. If only its token were consumed, another copy could commit
        // an effect after that, and its entry would look as if all its messages had been sent.
        match self.entities.commit(&commit).await? {
            Committed::Committed => {}
            Committed::Conflict | Committed::TokenGone => return Ok(None),
        }
        let Some(stored) = commit.entry else { return Ok(Some(0)) };
        let chosen = (!commit.create.is_empty()).then(|| commit.attempt.clone());
        let entry = OutboxEntry { content: stored, attempts: vec![commit.attempt.clone()], chosen };
        let id = EntryId { key: commit.key, message: commit.message, commit: commit.attempt };
        self.settle(&id, &content, entry, true).await.map(Some).map_err(ProcessError::after_a_commit)
    }

    fn commit(
        &self,
        message: &Message,
        guard: &Guard,
        opened: &Opened,
        decision: Decision,
    ) -> Result<(Commit, Content), ProcessError> {
        let joins = self.entities.joins();
        let consume = guard.token().filter(|_| joins.incoming.is_some()).cloned();
        let attempt = OpId::new(self.outbox.ids.fresh())?;
        let guard = if consume.is_some() { Guard::Open } else { guard.clone() };
        let content = self.outbox.content(guard, &attempt, decision.outputs)?;
        let creates = joins.outgoing.is_some();
        let create = if creates { content.tokens(&attempt)? } else { vec![] };
        let is_over = consume.is_some() && content.outputs.is_empty();
        let entry = if is_over { None } else { Some(content.encode()?) };
        let (key, message, opened) = (message.entity.clone(), message.id.clone(), opened.version);
        Ok((Commit { key, message, opened, change: decision.change, attempt, entry, consume, create }, content))
    }

    /// Finishes a message that has an entry. Sends the messages of the entry if the guard is open, and removes the
    /// entry.
    async fn finish(&self, begun: Begun, is_open: bool) -> Result<Outcome, ProcessError> {
        let Begun { id, content, entry } = begun;
        if !is_open {
            let cleaned = self.entities.remove(&id).await?;
            return Ok(Outcome::Duplicate { cleaned });
        }
        let sent = self.settle(&id, &content, entry, false).await;
        sent.map(|sent| Outcome::Resumed { sent }).map_err(ProcessError::after_a_commit)
    }

    /// Sends the messages, closes the guard and removes the entry, in this order. Returns how many messages this call
    /// sent, which is 0 if another worker has finished the message meanwhile.
    async fn settle(
        &self,
        id: &EntryId,
        content: &Content,
        entry: OutboxEntry,
        is_own: bool,
    ) -> Result<usize, ProcessError> {
        let Some(sent) = self.outbox.send(id, content, entry, is_own).await? else { return Ok(0) };
        content.guard.close(&id.message, &id.commit, &self.guards).await?;
        self.entities.remove(id).await?;
        Ok(sent)
    }
}

/// The entry of a message that has changed its entity.
struct Begun {
    id: EntryId,
    content: Content,
    entry: OutboxEntry,
}

impl Begun {
    fn of(entity: &Key, message: &MessageId, entry: OutboxEntry) -> Result<Self> {
        let content = Content::decode(&entry.content, message)?;
        let commit = entry.attempts.first().cloned();
        let commit =
            commit.ok_or_else(|| Error::corrupt(format_args!("the entry of {message:?}"), "it has no commit"))?;
        Ok(Self { id: EntryId { key: entity.clone(), message: message.clone(), commit }, content, entry })
    }
}

/// Returns what a call that has tried this many rounds before returns.
fn after_rounds<T>(rounds: usize, outcome: Result<T, ProcessError>) -> Result<T, ProcessError> {
    // A commit that was repeated after a lost answer returns `Conflict` although it was applied.
    if rounds == 0 { outcome } else { outcome.map_err(ProcessError::after_a_commit) }
}

fn contention(message: &Message) -> Error {
    Error::new(ErrorKind::Contention, "other messages kept changing the entity").with("entity", &message.entity)
}
