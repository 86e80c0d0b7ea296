//! Tokens in a transaction that changes other rows too.

use std::sync::Arc;

use storagebox_core::{Consumed, Created, OpId, Result, TokenId};

use super::{DynamoTokenStore, LIVED, THIS, TokenState, UNKNOWN};
use crate::client::{Tag, Write};
use crate::error::contention;
use crate::parts::Planned;
use crate::row::Row;

/// Why a token was not consumed.
#[derive(Debug)]
pub(crate) enum ObservedToken {
    /// A live token that was created in the millisecond of the request or later. Contains the tag of the call that
    /// created the token.
    Young(String),
    /// This operation has already consumed the token.
    Consumed,
    /// The token is not live.
    Gone,
}

impl DynamoTokenStore {
    pub(crate) async fn creation(&self, token: &TokenId, tag: &Tag) -> Result<Write> {
        let live = Row::new(&self.key(token).await?).with("m", tag.as_str()).with("a", self.client().now().0);
        Ok(Write::put(live).only_if(UNKNOWN).value(":past", self.client().surely_past().0))
    }

    /// Returns the write that consumes a token. The token must have the tag `young`, or be older than the present
    /// millisecond.
    pub(crate) async fn consumption(
        &self,
        token: &TokenId,
        op: &OpId,
        tag: &Tag,
        young: Option<&str>,
    ) -> Result<Write> {
        let ended = self.ending(token, tag, Some(op)).await?;
        Ok(match young {
            None => ended.only_if(LIVED).value(":now", self.client().now().0),
            Some(made) => ended.only_if(THIS).value(":made", made),
        })
    }

    /// Returns why a consumption was refused, by the token's row.
    pub(crate) fn observed(&self, row: Option<Row>, op: &OpId, tag: &Tag) -> Result<ObservedToken> {
        Ok(match self.state(row, Some(tag))? {
            TokenState::Live(row) => ObservedToken::Young(row.needed("m", row.text("m"))?.to_owned()),
            TokenState::Gone(row) if row.text("c") == Some(op.as_str()) => ObservedToken::Consumed,
            TokenState::Gone(_) | TokenState::Unknown => ObservedToken::Gone,
        })
    }

    pub(crate) async fn plan_creation(self: &Arc<Self>, token: &TokenId, tag: &Tag) -> Result<Planned<Created>> {
        if let Some(known) = self.created(self.row(token).await?)? {
            return Ok(Planned::answer(known));
        }
        let (tokens, writes) = (Arc::clone(self), vec![self.creation(token, tag).await?]);
        let created = Created { created: 1, ..Created::default() };
        Ok(Planned::by_first(created, writes, move |row| tokens.created(row)?.ok_or_else(contention)))
    }

    /// Returns the outcome of a `create` that changes nothing; `None` if the token is unknown.
    fn created(&self, row: Option<Row>) -> Result<Option<Created>> {
        let none = Created::default();
        Ok(match self.state(row, None)? {
            TokenState::Live(_) => Some(Created { already_live: 1, ..none }),
            TokenState::Gone(_) => Some(Created { gone: 1, ..none }),
            TokenState::Unknown => None,
        })
    }

    /// Plans to consume the live token in a transaction of the caller. A later token with the same id is not consumed.
    pub(crate) async fn plan_consumption(
        self: &Arc<Self>,
        token: &TokenId,
        op: &OpId,
        tag: &Tag,
    ) -> Result<Planned<Consumed>> {
        let live = match self.state(self.row(token).await?, None)? {
            TokenState::Live(row) => row,
            state => return Ok(Planned::answer(state.consumed(op, tag)?)),
        };
        let made = live.needed("m", live.text("m"))?;
        let writes = vec![self.consumption(token, op, tag, Some(made)).await?];
        let (tokens, op, tag) = (Arc::clone(self), op.clone(), tag.clone());
        Ok(Planned::by_first(Consumed::Now, writes, move |row| tokens.state(row, None)?.consumed(&op, &tag)))
    }

    pub(crate) fn is_live(&self, row: Option<Row>) -> Result<bool> {
        Ok(matches!(self.state(row, None)?, TokenState::Live(_)))
    }

    /// Returns whether the row is of a known token, which is live or has ended.
    pub(crate) fn is_known(&self, row: Option<Row>) -> Result<bool> {
        Ok(!matches!(self.state(row, None)?, TokenState::Unknown))
    }
}
