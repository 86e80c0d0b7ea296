//! Tokens: each in a row of its own, live or gone.

mod joined;

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt, stream};
use storagebox_core::{
    Consumed, Created, Discarded, Error, ErrorKind, Namespace, OpId, Result, TokenId, TokenStore, async_trait,
};
use tracing::instrument;

use crate::client::{Client, Kind, OpenNamespace, Tag, Write, Wrote};
use crate::error;
use crate::row::{EXPIRES, Row, RowKey};

pub(crate) use joined::ObservedToken;

/// How many tokens of a call are under way at once.
const AT_ONCE: usize = 32;

/// `s` of a token that lived and is gone; `c` is the operation that consumed it, if one did.
const GONE: &str = "gone";
/// `s` of one that was discarded before it lived.
const FENCED: &str = "fenced";
/// A live token has no state. `m` is the tag of the call that made it, which stays when another ends it; `a` is when.
const LIVE: &str = "attribute_exists(pk) AND attribute_not_exists(s)";
/// One that lived when the request was sent. A copy that lands late after a refusal finds none that was made meanwhile.
const LIVED: &str = "a < :now AND attribute_not_exists(s)";
/// This very one, which was too young for that.
const THIS: &str = "m = :made AND attribute_not_exists(s)";
/// A token that is not remembered is as good as unknown.
const UNKNOWN: &str = "attribute_not_exists(pk) OR g <= :past";

/// The tokens of one name.
#[derive(Debug)]
pub(crate) struct DynamoTokenStore {
    open: OpenNamespace,
}

/// What a refusal tells of a token.
#[derive(Debug)]
enum Known {
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

    /// Tokens have no shards; but their namespace has a home, which the first call makes or checks.
    pub(crate) async fn key(&self, token: &TokenId) -> Result<RowKey> {
        self.open.shards().await?;
        Ok(RowKey::alone(self.open.key(format_args!("token:{token}"))))
    }

    /// What a row tells whoever has this tag. The end that the call itself left has not been forgotten, even if the
    /// machine slept since.
    fn known(&self, row: Option<Row>, own: Option<&Tag>) -> Result<Known> {
        let Some(row) = row else { return Ok(Known::Unknown) };
        let is_forgotten = row.moment("g")?.is_some_and(|forgotten| forgotten <= self.client().surely_past());
        if is_forgotten && !own.is_some_and(|tag| tag.is_on(&row)) {
            return Ok(Known::Unknown);
        }
        Known::of(row)
    }

    /// Does the same to each distinct token, each with attempts of its own. After a failure others may be changed
    /// (T-3).
    async fn each<T, F>(
        &self,
        operation: &'static str,
        tokens: &[TokenId],
        change: impl Fn(TokenId, Tag) -> F + Sync,
    ) -> Result<Vec<T>>
    where
        T: Send,
        F: Future<Output = Result<T>> + Send,
    {
        let distinct: BTreeSet<_> = tokens.iter().cloned().collect();
        let is_alone = distinct.len() == 1;
        let changed = stream::iter(distinct).map(|token| {
            let (tag, change) = (Tag::fresh(), &change);
            async move {
                let attempt = || change(token.clone(), tag.clone());
                self.client().settled(operation, attempt).await
            }
        });
        let changed = changed.buffer_unordered(AT_ONCE).try_collect().await;
        changed.map_err(|error: Error| if is_alone { error } else { error.after_unresolved() })
    }

    async fn create(&self, token: &TokenId, tag: &Tag) -> Result<Created> {
        let one = Created::default();
        match self.client().write(&self.creation(token, tag).await?).await? {
            Wrote::Done(_) => Ok(Created { created: 1, ..one }),
            Wrote::Refused(row) => match self.known(row, Some(tag))? {
                Known::Live(row) | Known::Gone(row) if row.text("m") == Some(tag.as_str()) => {
                    Ok(Created { created: 1, ..one })
                }
                Known::Live(_) => Ok(Created { already_live: 1, ..one }),
                Known::Gone(_) => Ok(Created { gone: 1, ..one }),
                Known::Unknown => Err(moving()),
            },
        }
    }

    /// Ends a token that lives, for this operation or for nobody.
    async fn ending(&self, token: &TokenId, tag: &Tag, op: Option<&OpId>) -> Result<Write> {
        let key = self.key(token).await?;
        let (forgotten, expires) = self.forgetting();
        let ended = Write::update(&key).tagged(tag).set("s", GONE);
        let ended = ended.set_some("c", op.map(OpId::as_str));
        Ok(ended.set_some("g", forgotten).set_some(EXPIRES, expires))
    }

    /// From when on a token that ends now need not be remembered, as attributes.
    fn forgetting(&self) -> (Option<i64>, Option<i64>) {
        let forgotten = self.open.forgotten_after(self.client().now());
        (forgotten.map(|at| at.0), forgotten.map(|at| self.client().deletable(at)))
    }

    async fn consumed(&self, token: &TokenId, op: &OpId, tag: &Tag) -> Result<Consumed> {
        let lived = self.consumption(token, op, tag, None).await?;
        let young = match self.client().write(&lived).await? {
            Wrote::Done(_) => return Ok(Consumed::Now),
            Wrote::Refused(row) => match self.known(row, Some(tag))? {
                Known::Live(row) => row,
                known => return known.consumed(op, tag),
            },
        };
        let this = self.consumption(token, op, tag, Some(young.needed("m", young.text("m"))?)).await?;
        match self.client().write(&this).await? {
            Wrote::Done(_) => Ok(Consumed::Now),
            Wrote::Refused(row) => self.known(row, Some(tag))?.consumed(op, tag),
        }
    }

    /// Guesses that the token lives. One that is unknown is fenced, so that no late `create` brings it back (T-7).
    async fn discarded(&self, token: &TokenId, tag: &Tag) -> Result<Discarded> {
        let ended = self.ending(token, tag, None).await?.only_if(LIVE);
        match self.client().write(&ended).await? {
            Wrote::Done(_) => Ok(DISCARDED),
            Wrote::Refused(row) => match self.known(row, Some(tag))? {
                Known::Unknown => self.fenced(token, tag).await,
                known => known.discarded(tag),
            },
        }
    }

    async fn fenced(&self, token: &TokenId, tag: &Tag) -> Result<Discarded> {
        let key = self.key(token).await?;
        let (forgotten, expires) = self.forgetting();
        let fence = Row::new(&key).with("s", FENCED);
        let fence = Write::put(fence.with_some("g", forgotten).with_some(EXPIRES, expires)).tagged(tag);
        let fence = fence.only_if(UNKNOWN).value(":past", self.client().surely_past().0);
        match self.client().write(&fence).await? {
            Wrote::Done(_) => Ok(ALREADY_GONE),
            Wrote::Refused(row) => self.known(row, Some(tag))?.discarded(tag),
        }
    }
}

impl Known {
    /// What a row tells that is remembered.
    fn of(row: Row) -> Result<Self> {
        match row.maybe("s", Row::text)? {
            Some(GONE | FENCED) => row.maybe("c", Row::text).map(drop).map(|()| Self::Gone(row)),
            Some(_) => Err(row.unreadable("its state is not known")),
            None => row.needed("m", row.text("m")).map(drop).map(|()| Self::Live(row)),
        }
    }

    /// What a consumer is answered when it is not the one to end the token now.
    fn consumed(self, op: &OpId, tag: &Tag) -> Result<Consumed> {
        match self {
            Self::Gone(row) if tag.is_on(&row) => Ok(Consumed::Now),
            Self::Gone(row) if row.text("c") == Some(op.as_str()) => Ok(Consumed::Again),
            Self::Gone(_) | Self::Unknown => Ok(Consumed::AlreadyGone),
            Self::Live(_) => Err(moving()),
        }
    }

    /// The same for one who discards it.
    fn discarded(self, tag: &Tag) -> Result<Discarded> {
        match self {
            Self::Gone(row) if tag.is_on(&row) && row.text("s") == Some(GONE) => Ok(DISCARDED),
            Self::Gone(_) => Ok(ALREADY_GONE),
            Self::Live(_) | Self::Unknown => Err(moving()),
        }
    }
}

const DISCARDED: Discarded = Discarded { discarded: 1, already_gone: 0 };
const ALREADY_GONE: Discarded = Discarded { discarded: 0, already_gone: 1 };

/// The row has changed between a refusal and the look at it, or the clock was set.
fn moving() -> Error {
    Error::new(ErrorKind::Contention, error::CONFLICT).on("dynamo")
}

#[async_trait]
impl TokenStore for DynamoTokenStore {
    #[instrument(level = "trace", skip_all)]
    async fn create_tokens(&self, tokens: &[TokenId]) -> Result<Created> {
        let create = |token, tag| async move { self.create(&token, &tag).await };
        let each = self.each("create", tokens, create).await?;
        Ok(each.into_iter().fold(Created::default(), |sum, one| Created {
            created: sum.created + one.created,
            already_live: sum.already_live + one.already_live,
            gone: sum.gone + one.gone,
        }))
    }

    #[instrument(level = "trace", skip_all)]
    async fn exists(&self, token: &TokenId) -> Result<bool> {
        let attempt = || async {
            let row = self.client().get(&self.key(token).await?).await?;
            self.is_live(row)
        };
        self.client().settled("exists", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn consume(&self, token: &TokenId, op: &OpId) -> Result<Consumed> {
        let tag = Tag::fresh();
        self.client().settle("consume", || self.consumed(token, op, &tag)).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn discard(&self, tokens: &[TokenId]) -> Result<Discarded> {
        let discard = |token, tag| async move { self.discarded(&token, &tag).await };
        let each = self.each("discard", tokens, discard).await?;
        Ok(each.into_iter().fold(Discarded::default(), |sum, one| Discarded {
            discarded: sum.discarded + one.discarded,
            already_gone: sum.already_gone + one.already_gone,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::whatever;

    #[test]
    fn whatever_a_row_of_a_token_holds() {
        let row = || Row::new(&RowKey::alone("p"));
        let live = row().with("m", "tag").with("a", 7_i64);
        let gone = row().with("m", "tag").with("s", GONE).with("c", "op-1").with("g", 9_i64);
        let read = |row: &Row| {
            row.moment("g")?;
            match Known::of(row.clone())? {
                Known::Live(row) => assert!(row.text("m").is_some()),
                Known::Gone(_) => {}
                Known::Unknown => panic!("a row is known: {row:?}"),
            }
            Ok(())
        };
        whatever(&[live, gone, row().with("s", FENCED)], &[read]);
    }
}
