//! A commit: the changes of one message.

use super::Joins;
use crate::contract::dedup_repo::Version;
use crate::values::error::{Error, Result};
use crate::values::value::{Key, MessageId, OpId, Payload, TokenId};

/// The changes that [`EntityLedger::commit`](super::EntityLedger::commit) makes in one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The entity.
    pub key: Key,
    /// The message that changes it.
    pub message: MessageId,
    /// The version that was opened; `None` if there was none.
    pub opened: Option<Version>,
    /// The change of the state.
    pub change: EntityChange,
    /// The id of this commit, the same for its repetitions. It is also the first attempt of the entry.
    pub attempt: OpId,
    /// The content of the message's entry; `None` if nothing is left to do after the commit.
    pub entry: Option<Payload>,
    /// The message's token, which is consumed in the same step.
    pub consume: Option<TokenId>,
    /// The tokens of the messages to be sent, which are created in the same step. If there are any, the entry's first
    /// attempt is chosen as well.
    pub create: Vec<TokenId>,
}

/// The change of an entity's state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EntityChange {
    /// The state does not change.
    #[default]
    Keep,
    /// This payload becomes the state.
    Put(Payload),
    /// The entity is deleted. Its version is kept for as long as operation ids are remembered (E-6).
    Delete,
}

/// The outcome of [`EntityLedger::commit`](super::EntityLedger::commit).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "another copy of the message may have been first"]
pub enum Committed {
    /// The change and the entry are stored.
    Committed,
    /// The entity has another version now, so this commit will not change it any more (E-6), or the message has an
    /// entry of another commit. If this commit is a repetition, an earlier attempt may have changed the entity.
    Conflict,
    /// The message's token is not live: another copy of the message was first.
    TokenGone,
}

impl Commit {
    /// Checks that the ledger can make this commit in one step and recognise it again, for backends.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a token of a namespace that the ledger does not join, for tokens without an entry, and for a
    /// commit that neither adds an entry nor consumes a token.
    pub fn checked(&self, joins: &Joins) -> Result<()> {
        if self.consume.is_some() && joins.incoming.is_none() {
            return Err(Error::invalid("consume", "names a token, but the ledger was opened without incoming tokens"));
        }
        if !self.create.is_empty() && joins.outgoing.is_none() {
            return Err(Error::invalid("create", "names tokens, but the ledger was opened without outgoing tokens"));
        }
        if self.entry.is_none() && !self.create.is_empty() {
            return Err(Error::invalid("entry", "is missing; a commit that creates tokens needs an entry"));
        }
        if self.entry.is_none() && self.consume.is_none() {
            return Err(Error::invalid("entry", "is missing; a commit that consumes no token needs an entry"));
        }
        Ok(())
    }
}
