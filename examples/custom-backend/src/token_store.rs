//! Tokens: live, or gone and fenced.

use redb::{ReadableTable, TableDefinition};
use storagebox_core::{Consumed, Created, Discarded, OpId, Result, TokenId, TokenStore, async_trait};

use crate::client::{Look, Step};
use crate::error::Stepped;
use crate::space::Space;
use crate::time::is_forgotten;

/// A row: the time at which the token ended, or `None` for a live token; and the operation that consumed the token, if
/// any.
type Row<'a> = (Option<i64>, Option<&'a str>);

/// The tokens, by namespace and token.
pub(crate) const TOKENS: TableDefinition<(&str, &str), Row<'static>> = TableDefinition::new("tokens");

const LIVE: Row<'static> = (None, None);

#[derive(Debug)]
pub(crate) struct RedbTokenStore(pub(crate) Space);

enum Token {
    Unknown,
    Live,
    Gone { by: Option<String> },
}

fn known(step: &Step, key: (&str, &str)) -> Stepped<Token> {
    let tokens = step.table(TOKENS)?;
    Ok(match tokens.get(key)?.as_ref().map(|row| row.value()) {
        None => Token::Unknown,
        Some((None, _)) => Token::Live,
        Some((Some(since), _)) if is_forgotten(since, step.now) => Token::Unknown,
        Some((Some(_), by)) => Token::Gone { by: by.map(str::to_owned) },
    })
}

fn put(step: &Step, key: (&str, &str), row: Row<'_>) -> Stepped<()> {
    step.edit(TOKENS)?.insert(key, row)?;
    Ok(())
}

fn create_one(step: &Step, name: &str, token: &TokenId, created: &mut Created) -> Stepped<()> {
    let key = (name, token.as_str());
    match known(step, key)? {
        Token::Live => created.already_live += 1,
        Token::Gone { .. } => created.gone += 1,
        Token::Unknown => {
            put(step, key, LIVE)?;
            created.created += 1;
        }
    }
    Ok(())
}

fn discard_one(step: &Step, name: &str, token: &TokenId, discarded: &mut Discarded) -> Stepped<()> {
    let key = (name, token.as_str());
    let known = known(step, key)?;
    match known {
        Token::Live => discarded.discarded += 1,
        Token::Gone { .. } | Token::Unknown => discarded.already_gone += 1,
    }
    // An unknown token is fenced too, against a `create` that arrives later (T-7).
    if !matches!(known, Token::Gone { .. }) {
        put(step, key, (Some(step.now), None))?;
    }
    Ok(())
}

fn consume(step: &Step, name: &str, token: &TokenId, op: &OpId) -> Stepped<Consumed> {
    let key = (name, token.as_str());
    Ok(match known(step, key)? {
        Token::Live => {
            put(step, key, (Some(step.now), Some(op.as_str())))?;
            Consumed::Now
        }
        Token::Gone { by } if by.as_deref() == Some(op.as_str()) => Consumed::Again,
        Token::Gone { .. } | Token::Unknown => Consumed::AlreadyGone,
    })
}

/// Forgets tokens that need not be remembered any more.
pub(crate) fn maintain(step: &Step, most: usize) -> Stepped<usize> {
    let now = step.now;
    step.delete(TOKENS, most, |_, (since, _)| since.is_some_and(|since| is_forgotten(since, now)))
}

#[async_trait]
impl TokenStore for RedbTokenStore {
    async fn create_tokens(&self, tokens: &[TokenId]) -> Result<Created> {
        self.0.each("create_tokens", tokens, create_one).await
    }

    async fn exists(&self, token: &TokenId) -> Result<bool> {
        let token = token.clone();
        let look = move |look: &Look, name: &str| {
            let row = look.table(TOKENS)?.get((name, token.as_str()))?;
            Ok(row.is_some_and(|row| row.value() == LIVE))
        };
        self.0.read("exists", look).await
    }

    async fn consume(&self, token: &TokenId, op: &OpId) -> Result<Consumed> {
        let (token, op) = (token.clone(), op.clone());
        self.0.write("consume", move |step, name| consume(step, name, &token, &op)).await
    }

    async fn discard(&self, tokens: &[TokenId]) -> Result<Discarded> {
        self.0.each("discard", tokens, discard_one).await
    }
}
