//! Sends messages: creates their tokens, chooses one attempt, and dispatches.

use std::sync::Arc;

use super::content::{Content, numbered};
use super::guard::Guard;
use super::handler::Dispatcher;
use super::outcome::ProcessError;
use crate::contract::entity_ledger::{Chosen, EntityLedger, EntryId, OutboxEntry, Registered};
use crate::contract::token_store::TokenStore;
use crate::values::error::{Error, Result};
use crate::values::ids::Ids;
use crate::values::message::Output;
use crate::values::value::{MessageId, OpId, TokenId};

/// The maximum number of attempts that are registered for an entry.
const MOST_ATTEMPTS: usize = 16;

/// The store in which the tokens of messages are created, and the dispatcher that sends the messages.
#[derive(Clone)]
pub(super) struct Route {
    pub(super) tokens: Arc<dyn TokenStore>,
    pub(super) dispatcher: Arc<dyn Dispatcher>,
}

#[derive(Clone)]
pub(super) struct Outbox {
    entities: Arc<dyn EntityLedger>,
    pub(super) ids: Arc<dyn Ids>,
    pub(super) route: Option<Route>,
}

impl Outbox {
    pub(super) fn new(entities: Arc<dyn EntityLedger>, ids: Arc<dyn Ids>) -> Self {
        Self { entities, ids, route: None }
    }

    /// Returns the content of an entry, whose messages get their ids from the attempt. Returns an error if there are
    /// messages but no route.
    pub(super) fn content(&self, guard: Guard, attempt: &OpId, outputs: Vec<Output>) -> Result<Content> {
        if !outputs.is_empty() {
            self.route()?;
        }
        let with_id = |(index, output)| Ok((MessageId::new(numbered(attempt, index))?, output));
        Ok(Content { guard, outputs: outputs.into_iter().enumerate().map(with_id).collect::<Result<_>>()? })
    }

    /// Sends the messages of an entry, and discards the tokens of all attempts except the chosen one. Returns the
    /// number of messages sent, or `None` if the entry is gone.
    pub(super) async fn send(
        &self,
        id: &EntryId,
        content: &Content,
        entry: OutboxEntry,
        is_own: bool,
    ) -> Result<Option<usize>, ProcessError> {
        if content.outputs.is_empty() {
            return Ok(Some(0));
        }
        let chosen = match entry.chosen {
            Some(_) => Some(entry),
            None => self.choose(id, content, &entry.attempts, is_own).await?,
        };
        let Some(OutboxEntry { attempts, chosen: Some(chosen), .. }) = chosen else { return Ok(None) };
        let messages = content.outgoing(&chosen)?;
        let Route { tokens, dispatcher } = self.route()?;
        dispatcher.dispatch(&messages).await.map_err(ProcessError::Dispatch)?;
        let given_up = tokens_of(content, attempts.iter().filter(|attempt| **attempt != chosen))?;
        if !given_up.is_empty() {
            tokens.discard(&given_up).await?;
        }
        Ok(Some(messages.len()))
    }

    /// Creates the tokens of an attempt, and chooses that attempt unless another attempt was chosen first. Returns the
    /// entry with the chosen attempt, or `None` if the entry is gone.
    async fn choose(
        &self,
        id: &EntryId,
        content: &Content,
        known: &[OpId],
        is_own: bool,
    ) -> Result<Option<OutboxEntry>> {
        // Tokens are created only after their attempt is registered, so that the worker that finishes the entry knows
        // the tokens. No other worker may discard them: an entry that is gone may have been finished with this very
        // attempt.
        let attempt = match known {
            _ if is_own => id.commit.clone(),
            // While tokens cannot be created, every copy would add another attempt, and all attempts but one must be
            // discarded in the end.
            // The last attempt may be that of another worker. None of its tokens has been consumed, because nothing is
            // sent before the choice.
            [.., last] if known.len() >= MOST_ATTEMPTS => last.clone(),
            _ => {
                let attempt = OpId::new(self.ids.fresh())?;
                match self.entities.register(id, &attempt).await? {
                    Registered::Registered => attempt,
                    Registered::Chosen(entry) => return Ok(Some(entry)),
                    Registered::Gone => return Ok(None),
                }
            }
        };
        self.route()?.tokens.create_tokens(&content.tokens(&attempt)?).await?;
        Ok(match self.entities.choose(id, &attempt).await? {
            Chosen::Chosen(entry) => Some(entry),
            Chosen::Gone => None,
        })
    }

    pub(super) async fn issue(&self, op: &OpId, outputs: Vec<Output>) -> Result<usize, ProcessError> {
        if outputs.is_empty() {
            return Ok(0);
        }
        let content = self.content(Guard::Open, op, outputs)?;
        let (messages, Route { tokens, dispatcher }) = (content.outgoing(op)?, self.route()?);
        tokens.create_tokens(&content.tokens(op)?).await?;
        dispatcher.dispatch(&messages).await.map_err(ProcessError::Dispatch)?;
        Ok(messages.len())
    }

    fn route(&self) -> Result<&Route> {
        self.route
            .as_ref()
            .ok_or_else(|| Error::misconfigured("processor", "has messages to send, but no dispatcher; call `sends`"))
    }
}

fn tokens_of<'a>(content: &Content, attempts: impl Iterator<Item = &'a OpId>) -> Result<Vec<TokenId>> {
    attempts.map(|attempt| content.tokens(attempt)).collect::<Result<Vec<_>>>().map(|tokens| tokens.concat())
}
