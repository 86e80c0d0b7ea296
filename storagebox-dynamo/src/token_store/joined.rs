//! Tokens as parts of a transaction that changes more than them.

use storagebox_core::{OpId, Result, TokenId};

use super::{DynamoTokenStore, Known, LIVED, THIS, UNKNOWN};
use crate::client::{Tag, Write};
use crate::row::Row;

/// What a consumption met that was refused.
#[derive(Debug)]
pub(crate) enum ObservedToken {
    /// A token that lives and was too young: the one that the call of this tag made.
    Young(String),
    /// One that this operation consumed before.
    Consumed,
    /// None that lives.
    Gone,
}

impl DynamoTokenStore {
    /// Makes a token that is unknown.
    pub(crate) async fn creation(&self, token: &TokenId, tag: &Tag) -> Result<Write> {
        let live = Row::new(&self.key(token).await?).with("m", tag.as_str()).with("a", self.client().now().0);
        Ok(Write::put(live).only_if(UNKNOWN).value(":past", self.client().surely_past().0))
    }

    /// Ends a token that lived before now, or the very one that the call of this tag made.
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

    /// What the row tells of which a consumption was refused.
    pub(crate) fn observed(&self, row: Option<Row>, op: &OpId, tag: &Tag) -> Result<ObservedToken> {
        Ok(match self.known(row, Some(tag))? {
            Known::Live(row) => ObservedToken::Young(row.needed("m", row.text("m"))?.to_owned()),
            Known::Gone(row) if row.text("c") == Some(op.as_str()) => ObservedToken::Consumed,
            Known::Gone(_) | Known::Unknown => ObservedToken::Gone,
        })
    }

    pub(crate) fn is_live(&self, row: Option<Row>) -> Result<bool> {
        Ok(matches!(self.known(row, None)?, Known::Live(_)))
    }

    /// Whether the row is of a token that lives or is gone: a creation leaves it as it is.
    pub(crate) fn is_known(&self, row: Option<Row>) -> Result<bool> {
        Ok(!matches!(self.known(row, None)?, Known::Unknown))
    }
}
