//! Messages: what an endpoint receives, what its handler decides, and what it sends.

use crate::contract::entity_ledger::EntityChange;
use crate::values::error::{Error, Result};
use crate::values::value::{Destination, Key, MessageId, Payload, TokenId};

/// One copy of a message that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The id, the same for all copies.
    pub id: MessageId,
    /// The token that the sender created for the message, the same for all copies. `None` for a message of a sender
    /// that creates none.
    pub token: Option<TokenId>,
    /// The entity that the message changes, the same for all copies.
    pub entity: Key,
    /// The body.
    pub body: Payload,
}

impl Message {
    /// Creates a message without a token.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for an id or a key that is empty, over 512 bytes or contains U+0000; `TooLarge` for a body over
    /// 256 KiB.
    pub fn new<I, K, B>(id: I, entity: K, body: B) -> Result<Self>
    where
        I: TryInto<MessageId>,
        K: TryInto<Key>,
        B: TryInto<Payload>,
        Error: From<I::Error> + From<K::Error> + From<B::Error>,
    {
        Ok(Self { id: id.try_into()?, token: None, entity: entity.try_into()?, body: body.try_into()? })
    }

    /// Adds the token that the message carries.
    #[must_use]
    pub fn with_token(mut self, token: TokenId) -> Self {
        self.token = Some(token);
        self
    }
}

/// The decision of a [`Handler`](crate::Handler): the change of the entity, and the messages to send.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "a decision takes effect when the handler returns it"]
pub struct Decision {
    /// The change of the entity.
    pub change: EntityChange,
    /// The messages to be sent, in their order.
    pub outputs: Vec<Output>,
}

impl Decision {
    /// Creates a decision that does not change the entity.
    pub fn keep() -> Self {
        Self::default()
    }

    /// Creates a decision that sets the entity's new state.
    ///
    /// # Errors
    ///
    /// `TooLarge` for more than 256 KiB.
    pub fn put<S>(state: S) -> Result<Self>
    where
        S: TryInto<Payload>,
        Error: From<S::Error>,
    {
        Ok(Self { change: EntityChange::Put(state.try_into()?), outputs: vec![] })
    }

    /// Creates a decision that deletes the entity.
    pub fn delete() -> Self {
        Self { change: EntityChange::Delete, outputs: vec![] }
    }

    /// Adds a message to be sent. All messages of one decision together may have about 256 KiB.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a destination that is empty, over 512 bytes or contains U+0000; `TooLarge` for a body over
    /// 256 KiB.
    pub fn send<D, B>(mut self, destination: D, body: B) -> Result<Self>
    where
        D: TryInto<Destination>,
        B: TryInto<Payload>,
        Error: From<D::Error> + From<B::Error>,
    {
        self.outputs.push(Output { destination: destination.try_into()?, body: body.try_into()? });
        Ok(self)
    }

    /// Returns whether the decision changes no entity and sends no message.
    pub(crate) fn has_no_effect(&self) -> bool {
        self.change == EntityChange::Keep && self.outputs.is_empty()
    }
}

/// A message that a handler sends. One destination receives it: for several, send several messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The destination.
    pub destination: Destination,
    /// The body.
    pub body: Payload,
}

/// A message on its way out. All copies of it carry the same id and the same token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The id.
    pub id: MessageId,
    /// The token, which exists before the message is sent.
    pub token: TokenId,
    /// The destination.
    pub destination: Destination,
    /// The body.
    pub body: Payload,
}
