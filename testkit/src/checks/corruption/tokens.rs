//! Tokens.

use storagebox_core::{Backend, OpId, Result, TokenId, TokenStore};

use super::{Call, call};

/// Returns tokens of these names.
pub fn tokens(names: &[&str]) -> Result<Vec<TokenId>> {
    names.iter().map(|name| TokenId::new(*name)).collect()
}

/// Makes tokens in every state.
pub async fn fill(store: &dyn Backend, name: &str) -> Result<()> {
    let store = store.token_store(&name.parse()?)?;
    store.create_tokens(&tokens(&["LIVE", "CONSUMED", "DISCARDED"])?).await?;
    let _ = store.consume(&TokenId::new("CONSUMED")?, &OpId::new("OP")?).await?;
    store.discard(&tokens(&["DISCARDED", "FENCED"])?).await.map(drop)
}

/// Returns every call, for each of these tokens.
pub fn calls(store: &dyn Backend, name: &str, names: &[&str]) -> Result<Vec<Call>> {
    let store = store.token_store(&name.parse()?)?;
    let mut calls = vec![];
    for name in names {
        let (token, one) = (TokenId::new(*name)?, tokens(&[name])?);
        let (op, other) = (OpId::new("OP")?, OpId::new("OTHER")?);
        calls.extend([
            call!(format!("create {name}"), [store, one], store.create_tokens(&one)),
            call!(format!("exists {name}"), [store, token], store.exists(&token)),
            call!(format!("consume {name}"), [store, token, op], store.consume(&token, &op)),
            call!(format!("consume {name} again"), [store, token, other], store.consume(&token, &other)),
            call!(format!("discard {name}"), [store, one], store.discard(&one)),
        ]);
    }
    Ok(calls)
}
