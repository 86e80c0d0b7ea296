//! The token store's calls, each with a separate token.

use std::sync::Arc;

use storagebox_core::{Backend, OpId, Result, TokenId, TokenStore};

use crate::failure::{Failure, Verdict};

pub(super) const CALLS: &[&str] = &["create", "consume", "discard"];

fn tokens_of(store: &dyn Backend) -> Result<Arc<dyn TokenStore>> {
    store.token_store(&"steps".parse()?)
}

pub(super) async fn prepare(store: &dyn Backend, call: &str) -> Verdict {
    if call != "create" {
        tokens_of(store)?.create_tokens(&[TokenId::new(call)?]).await?;
    }
    Ok(())
}

pub(super) async fn make(store: &dyn Backend, call: &str) -> Verdict {
    let (tokens, token) = (tokens_of(store)?, TokenId::new(call)?);
    match call {
        "create" => drop(tokens.create_tokens(&[token]).await?),
        "consume" => drop(tokens.consume(&token, &OpId::new("op")?).await?),
        _ => drop(tokens.discard(&[token]).await?),
    }
    Ok(())
}

pub(super) async fn is_made(store: &dyn Backend, call: &str) -> Result<bool, Failure> {
    let lives = tokens_of(store)?.exists(&TokenId::new(call)?).await?;
    Ok(lives == (call == "create"))
}
