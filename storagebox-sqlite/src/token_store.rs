//! Tokens, which are live, or gone: consumed or discarded, and remembered as such (`sql/token_store`).

use std::sync::Arc;

use sqlx::Row;
use storagebox_core::{Consumed, Created, Discarded, OpId, Result, TokenId, TokenStore, async_trait};
use tracing::instrument;

use crate::client::{OpenNamespace, Step, Texts};
use crate::clock::Micros;
use crate::error::{read, unreadable};

const CREATE: &str = include_str!("../sql/token_store/create.sql");
const EXISTS: &str = include_str!("../sql/token_store/exists.sql");
const CONSUME: &str = include_str!("../sql/token_store/consume.sql");
const DISCARD: &str = include_str!("../sql/token_store/discard.sql");

#[derive(Debug)]
pub(crate) struct SqliteTokenStore(pub(crate) Arc<OpenNamespace>);

pub(crate) fn batches(tokens: &[TokenId]) -> Result<Vec<Texts>> {
    Texts::batches(tokens.iter().map(TokenId::as_str))
}

pub(crate) async fn create(step: &mut Step<'_>, tokens: &Texts) -> Result<Created> {
    let row = step.row(step.ask(CREATE).bind(tokens.json()).bind(step.forgotten.0)).await?;
    let row = row.ok_or_else(|| unreadable("a count of tokens"))?;
    let count = |column| read("a count of tokens", row.try_get(column)).map(i64::unsigned_abs);
    let (already_live, gone) = (count("live")?, count("gone")?);
    Ok(Created { created: tokens.count().saturating_sub(already_live + gone), already_live, gone })
}

pub(crate) async fn consume(step: &mut Step<'_>, (token, op): &(TokenId, OpId)) -> Result<Consumed> {
    let end = step.ask(CONSUME).bind(token.as_str()).bind(step.now.0).bind(op.as_str());
    let Some(row) = step.row(end).await? else {
        return Ok(Consumed::AlreadyGone);
    };
    let (won, by, gone_at): (i64, Option<String>, i64) = (
        read("a token", row.try_get("won"))?,
        read("a token", row.try_get("op"))?,
        read("a token", row.try_get("gone_at"))?,
    );
    Ok(match by {
        _ if won > 0 => Consumed::Now,
        Some(by) if by == op.as_str() && Micros(gone_at) > step.forgotten => Consumed::Again,
        _ => Consumed::AlreadyGone,
    })
}

async fn discard(step: &mut Step<'_>, tokens: &Texts) -> Result<Discarded> {
    let ask = step.ask(DISCARD).bind(tokens.json()).bind(step.now.0).bind(step.forgotten.0);
    let discarded = step.number("a count of tokens", ask).await?.unsigned_abs();
    Ok(Discarded { discarded, already_gone: tokens.count().saturating_sub(discarded) })
}

#[async_trait]
impl TokenStore for SqliteTokenStore {
    #[instrument(level = "trace", skip_all)]
    async fn create_tokens(&self, tokens: &[TokenId]) -> Result<Created> {
        let parts = self.0.write_each("create", batches(tokens)?, |step, tokens| Box::pin(create(step, tokens)));
        Ok(parts.await?.into_iter().fold(Created::default(), |all, one| Created {
            created: all.created + one.created,
            already_live: all.already_live + one.already_live,
            gone: all.gone + one.gone,
        }))
    }

    #[instrument(level = "trace", skip_all)]
    async fn exists(&self, token: &TokenId) -> Result<bool> {
        let token = token.as_str().to_owned();
        let rows = self.0.look("exists", EXISTS, move |ask| ask.bind(token.clone())).await?;
        Ok(!rows.is_empty())
    }

    #[instrument(level = "trace", skip_all)]
    async fn consume(&self, token: &TokenId, op: &OpId) -> Result<Consumed> {
        let consumed = (token.clone(), op.clone());
        self.0.write("consume", consumed, |step, consumed| Box::pin(consume(step, consumed))).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn discard(&self, tokens: &[TokenId]) -> Result<Discarded> {
        let parts = self.0.write_each("discard", batches(tokens)?, |step, tokens| Box::pin(discard(step, tokens)));
        Ok(parts.await?.into_iter().fold(Discarded::default(), |all, one| Discarded {
            discarded: all.discarded + one.discarded,
            already_gone: all.already_gone + one.already_gone,
        }))
    }
}
