//! Tokens, live or gone: one row per token.

mod joined;

use std::sync::Arc;

use storagebox_core::{Consumed, Created, Discarded, Namespace, OpId, Result, TokenId, TokenStore, async_trait};
use tracing::instrument;

use crate::client::{Client, Kind, OpenNamespace, Tag, Write, Wrote};
use crate::error::contention;
use crate::row::{Expiry, Row, RowKey};

pub(crate) use joined::ObservedToken;

/// The value of the attribute `s` of a token that was live and is gone.
const GONE: &str = "gone";
/// The value of the attribute `s` of a token that was discarded before it was created.
const FENCED: &str = "fenced";
/// The condition that the token is live. A live token has no attribute `s`.
const LIVE: &str = "attribute_exists(pk) AND attribute_not_exists(s)";
/// The condition that the token was live when the request was sent. If a token is created after that, a late copy of
/// the request does not end the token.
const LIVED: &str = "a < :now AND attribute_not_exists(s)";
/// The condition that the live token is still the token that was read. This condition is for a token that was created
/// in the present millisecond.
const THIS: &str = "m = :made AND attribute_not_exists(s)";
/// The condition that the token is unknown. A token that is no longer remembered counts as unknown.
const UNKNOWN: &str = "attribute_not_exists(pk) OR g <= :past";

#[derive(Debug)]
pub(crate) struct DynamoTokenStore {
    open: OpenNamespace,
}

#[derive(Debug)]
enum TokenState {
    Unknown,
    Live(Row),
    Gone(Row),
}

impl DynamoTokenStore {
    pub(crate) fn new(client: &Arc<Client>, name: &Namespace) -> Self {
        Self { open: OpenNamespace::new(client, Kind::Tokens, name) }
    }

    fn client(&self) -> &Client {
        self.open.client()
    }

    /// Returns the key of a token's row. Tokens have no shards, but their namespace must be open.
    pub(crate) async fn key(&self, token: &TokenId) -> Result<RowKey> {
        self.open.shards().await?;
        Ok(RowKey::alone(self.open.key(format_args!("token:{token}"))))
    }

    async fn row(&self, token: &TokenId) -> Result<Option<Row>> {
        self.client().get(&self.key(token).await?).await
    }

    /// Reads the state of a token. An end that was written by the call with the tag `own` does not count as
    /// forgotten during the call, even if the machine sleeps.
    fn state(&self, row: Option<Row>, own: Option<&Tag>) -> Result<TokenState> {
        let Some(row) = row else { return Ok(TokenState::Unknown) };
        let is_forgotten = row.moment("g")?.is_some_and(|forgotten| forgotten <= self.client().surely_past());
        if is_forgotten && !own.is_some_and(|tag| tag.is_on(&row)) {
            return Ok(TokenState::Unknown);
        }
        TokenState::of(row)
    }

    async fn create(&self, token: &TokenId, tag: &Tag) -> Result<Created> {
        let none = Created::default();
        match self.client().write(&self.creation(token, tag).await?).await? {
            Wrote::Done(_) => Ok(Created { created: 1, ..none }),
            Wrote::Refused(row) => match self.state(row, Some(tag))? {
                TokenState::Live(row) | TokenState::Gone(row) if row.text("m") == Some(tag.as_str()) => {
                    Ok(Created { created: 1, ..none })
                }
                TokenState::Live(_) => Ok(Created { already_live: 1, ..none }),
                TokenState::Gone(_) => Ok(Created { gone: 1, ..none }),
                TokenState::Unknown => Err(contention()),
            },
        }
    }

    /// Returns the write that ends a live token: consumed by `op`, or discarded without `op`.
    async fn ending(&self, token: &TokenId, tag: &Tag, op: Option<&OpId>) -> Result<Write> {
        let key = self.key(token).await?;
        let ended = Write::update(&key).tagged(tag).set("s", GONE).set_some("c", op.map(OpId::as_str));
        Ok(ended.expiring(self.expiry()))
    }

    fn expiry(&self) -> Option<Expiry> {
        self.open.expiry_after(Some(self.client().now()))
    }

    async fn consumed(&self, token: &TokenId, op: &OpId, tag: &Tag) -> Result<Consumed> {
        let lived = self.consumption(token, op, tag, None).await?;
        let young = match self.client().write(&lived).await? {
            Wrote::Done(_) => return Ok(Consumed::Now),
            Wrote::Refused(row) => match self.state(row, Some(tag))? {
                TokenState::Live(row) => row,
                state => return state.consumed(op, tag),
            },
        };
        let this = self.consumption(token, op, tag, Some(young.needed("m", young.text("m"))?)).await?;
        match self.client().write(&this).await? {
            Wrote::Done(_) => Ok(Consumed::Now),
            Wrote::Refused(row) => self.state(row, Some(tag))?.consumed(op, tag),
        }
    }

    /// Discards a live token. Fences an unknown token, so that a late `create` does not bring the token back (T-7).
    async fn discarded(&self, token: &TokenId, tag: &Tag) -> Result<Discarded> {
        let ended = self.ending(token, tag, None).await?.only_if(LIVE);
        match self.client().write(&ended).await? {
            Wrote::Done(_) => Ok(DISCARDED),
            Wrote::Refused(row) => match self.state(row, Some(tag))? {
                TokenState::Unknown => self.fenced(token, tag).await,
                state => state.discarded(tag),
            },
        }
    }

    async fn fenced(&self, token: &TokenId, tag: &Tag) -> Result<Discarded> {
        let key = self.key(token).await?;
        let fence = Write::put(Row::new(&key).with("s", FENCED).expiring(self.expiry())).tagged(tag);
        let fence = fence.only_if(UNKNOWN).value(":past", self.client().surely_past().0);
        match self.client().write(&fence).await? {
            Wrote::Done(_) => Ok(ALREADY_GONE),
            Wrote::Refused(row) => self.state(row, Some(tag))?.discarded(tag),
        }
    }
}

impl TokenState {
    /// Reads the state in the row of a token that is remembered.
    fn of(row: Row) -> Result<Self> {
        match row.maybe("s", Row::text)? {
            Some(GONE | FENCED) => row.maybe("c", Row::text).map(drop).map(|()| Self::Gone(row)),
            Some(_) => Err(row.unreadable("its state is not known")),
            None => row.needed("m", row.text("m")).map(drop).map(|()| Self::Live(row)),
        }
    }

    /// Returns the outcome of a refused `consume`.
    fn consumed(self, op: &OpId, tag: &Tag) -> Result<Consumed> {
        match self {
            Self::Gone(row) if tag.is_on(&row) => Ok(Consumed::Now),
            Self::Gone(row) if row.text("c") == Some(op.as_str()) => Ok(Consumed::Again),
            Self::Gone(_) | Self::Unknown => Ok(Consumed::AlreadyGone),
            Self::Live(_) => Err(contention()),
        }
    }

    /// Returns the outcome of a refused `discard`.
    fn discarded(self, tag: &Tag) -> Result<Discarded> {
        match self {
            Self::Gone(row) if tag.is_on(&row) && row.text("s") == Some(GONE) => Ok(DISCARDED),
            Self::Gone(_) => Ok(ALREADY_GONE),
            Self::Live(_) | Self::Unknown => Err(contention()),
        }
    }
}

const DISCARDED: Discarded = Discarded { discarded: 1, already_gone: 0 };
const ALREADY_GONE: Discarded = Discarded { discarded: 0, already_gone: 1 };

#[async_trait]
impl TokenStore for DynamoTokenStore {
    #[instrument(level = "trace", skip_all)]
    async fn create_tokens(&self, tokens: &[TokenId]) -> Result<Created> {
        let create = |token, tag| async move { self.create(&token, &tag).await };
        let each = self.client().for_each("create", tokens, create).await?;
        Ok(each.into_iter().fold(Created::default(), |sum, one| Created {
            created: sum.created + one.created,
            already_live: sum.already_live + one.already_live,
            gone: sum.gone + one.gone,
        }))
    }

    #[instrument(level = "trace", skip_all)]
    async fn exists(&self, token: &TokenId) -> Result<bool> {
        let attempt = || async { self.is_live(self.row(token).await?) };
        self.client().settle("exists", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn consume(&self, token: &TokenId, op: &OpId) -> Result<Consumed> {
        let tag = Tag::fresh();
        self.client().settle("consume", || self.consumed(token, op, &tag)).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn discard(&self, tokens: &[TokenId]) -> Result<Discarded> {
        let discard = |token, tag| async move { self.discarded(&token, &tag).await };
        let each = self.client().for_each("discard", tokens, discard).await?;
        Ok(each.into_iter().fold(Discarded::default(), |sum, one| Discarded {
            discarded: sum.discarded + one.discarded,
            already_gone: sum.already_gone + one.already_gone,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::fuzz;

    #[test]
    fn fuzz_token_row_is_read_or_corrupt() {
        let row = || Row::new(&RowKey::alone("p"));
        let live = row().with("m", "tag").with("a", 7_i64);
        let gone = row().with("m", "tag").with("s", GONE).with("c", "op-1").with("g", 9_i64);
        let read = |row: &Row| {
            row.moment("g")?;
            match TokenState::of(row.clone())? {
                TokenState::Live(row) => assert!(row.text("m").is_some()),
                TokenState::Gone(_) => {}
                TokenState::Unknown => panic!("the row was not read: {row:?}"),
            }
            Ok(())
        };
        fuzz(&[live, gone, row().with("s", FENCED)], &[read]);
    }
}
