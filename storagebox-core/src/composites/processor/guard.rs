//! Guards. A guard says whether a message is still to be processed, and is closed once the message is finished.

use std::sync::Arc;

use super::missing_token::MissingToken;
use super::outcome::ProcessError;
use crate::contract::token_store::TokenStore;
use crate::values::error::{Error, Result};
use crate::values::message::Message;
use crate::values::value::{DedupId, MessageId, OpId, Payload, TokenId};

/// The token or the record that shows whether a message is still to be processed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    /// The message is unprotected, or the commit that changes its entity consumes its token.
    Open,
    /// A token. The message is open while the token exists.
    Token(TokenId),
    /// A record of the message's id. The message is open while the record does not exist.
    Record,
}

/// The stores that hold the tokens and the records of the guards.
#[derive(Clone)]
pub(super) struct Guards {
    pub(super) incoming: Arc<dyn TokenStore>,
    pub(super) missing: MissingToken,
}

impl Guard {
    pub(super) fn of(message: &Message, missing: &MissingToken) -> Result<Self, ProcessError> {
        match (&message.token, missing) {
            (Some(token), _) => Ok(Self::Token(token.clone())),
            (None, MissingToken::Reject) => Err(ProcessError::NoToken),
            (None, MissingToken::Unprotected) => Ok(Self::Open),
            (None, MissingToken::Dedup { retention, .. }) => {
                retention.checked()?;
                Ok(Self::Record)
            }
        }
    }

    pub(super) fn token(&self) -> Option<&TokenId> {
        match self {
            Self::Token(token) => Some(token),
            Self::Open | Self::Record => None,
        }
    }

    pub(super) async fn is_open(&self, message: &MessageId, guards: &Guards) -> Result<bool> {
        match (self, &guards.missing) {
            (Self::Open, _) => Ok(true),
            (Self::Token(token), _) => guards.incoming.exists(token).await,
            (Self::Record, MissingToken::Dedup { records, .. }) => {
                Ok(records.get(&recorded(message)?).await?.is_none())
            }
            (Self::Record, _) => Err(policy_changed()),
        }
    }

    /// Closes the guard. All workers that finish an entry must pass the same `op`, so that repeating the call changes
    /// nothing.
    pub(super) async fn close(&self, message: &MessageId, op: &OpId, guards: &Guards) -> Result<()> {
        match (self, &guards.missing) {
            (Self::Open, _) => Ok(()),
            (Self::Token(token), _) => guards.incoming.consume(token, op).await.map(drop),
            (Self::Record, MissingToken::Dedup { records, retention }) => {
                records.record(&recorded(message)?, &Payload::default(), op, *retention).await.map(drop)
            }
            (Self::Record, _) => Err(policy_changed()),
        }
    }
}

fn recorded(message: &MessageId) -> Result<DedupId> {
    DedupId::new(message.as_str())
}

fn policy_changed() -> Error {
    Error::misconfigured(
        "policy for messages without a token",
        "is no longer Dedup, but a message accepted under Dedup is unfinished; set Dedup until no message is pending",
    )
}
