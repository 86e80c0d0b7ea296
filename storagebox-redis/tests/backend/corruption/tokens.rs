//! Tokens.

use storagebox_core::{Backend as _, OpId, Result, TokenId, TokenStore as _};
use storagebox_redis::RedisStore;

use super::Part;
use super::call::{Call, Filling, call};
use crate::support::Place;

const TOKENS: [&str; 5] = ["LIVE", "CONSUMED", "DISCARDED", "FENCED", "NEW"];

/// Tokens that are forgotten later, and one that is gone without a trace.
const UNNOTICED: &[(&str, &str)] = &[
    ("", "keeps: an unknown mark"),
    ("", "keeps: empty"),
    ("", "keeps: half"),
    ("", "keeps: none"),
    (":g", "first: half"),
    (":k", "field: none"),
];

pub(super) const PART: Part = Part { tag: "t.namespace.0", fill, calls, unnoticed: UNNOTICED };

fn tokens(names: &[&str]) -> Result<Vec<TokenId>> {
    names.iter().map(|name| TokenId::new(*name)).collect()
}

fn fill<'a>(_: &'a Place, store: &'a RedisStore, name: &'a str) -> Filling<'a> {
    Box::pin(async move {
        let store = store.token_store(&name.parse()?)?;
        store.create_tokens(&tokens(&["LIVE", "CONSUMED", "DISCARDED"])?).await?;
        let _ = store.consume(&TokenId::new("CONSUMED")?, &OpId::new("OP")?).await?;
        store.discard(&tokens(&["DISCARDED", "FENCED"])?).await?;
        Ok(())
    })
}

fn calls(store: &RedisStore, name: &str) -> Result<Vec<Call>> {
    let (namespace_, store) = (store.token_store(&name.parse()?)?, store.clone());
    let mut calls = vec![call!("maintain", [store], store.maintain(1_000))];
    for name in TOKENS {
        let (token, one) = (TokenId::new(name)?, tokens(&[name])?);
        let (op, other) = (OpId::new("OP")?, OpId::new("OTHER")?);
        calls.extend([
            call!(format!("create {name}"), [namespace_, one], namespace_.create_tokens(&one)),
            call!(format!("exists {name}"), [namespace_, token], namespace_.exists(&token)),
            call!(format!("consume {name}"), [namespace_, token, op], namespace_.consume(&token, &op)),
            call!(format!("consume {name} by another"), [namespace_, token, other], namespace_.consume(&token, &other)),
            call!(format!("discard {name}"), [namespace_, one], namespace_.discard(&one)),
        ]);
    }
    let all = tokens(&TOKENS)?;
    calls.extend([
        call!("create", [namespace_, all], namespace_.create_tokens(&all)),
        call!("discard", [namespace_, all], namespace_.discard(&all)),
    ]);
    Ok(calls)
}
