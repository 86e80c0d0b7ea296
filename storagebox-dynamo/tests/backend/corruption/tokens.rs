//! Tokens.

use storagebox_core::{Backend as _, OpId, Result, TokenId};
use storagebox_dynamo::DynamoStore;

use super::Part;
use super::call::{Call, Filling, call};
use crate::support::Place;

const TOKENS: [&str; 4] = ["LIVE", "CONSUMED", "DISCARDED", "FENCED"];

pub(super) const PART: Part = Part {
    rows: "tokens",
    fill,
    calls,
    unnoticed: &[
        ("token", "a: a text"),
        ("token", "a: beyond its range"),
        ("token", "a: no whole number"),
        ("token", "a: none"),
        ("token", "c: empty"),
        ("token", "c: none"),
        ("token", "c: unknown"),
        ("token", "g: none"),
        ("token", "m: empty"),
        ("token", "m: unknown"),
        ("token", "t: a number"),
        ("token", "t: empty"),
        ("token", "t: none"),
        ("token", "t: unknown"),
    ],
};

fn tokens(names: &[&str]) -> Result<Vec<TokenId>> {
    names.iter().map(|name| TokenId::new(*name)).collect()
}

fn fill<'a>(place: &'a Place, store: &'a DynamoStore, name: &'a str) -> Filling<'a> {
    Box::pin(async move {
        let store = store.token_store(&name.parse()?)?;
        store.create_tokens(&tokens(&["LIVE", "CONSUMED", "DISCARDED"])?).await?;
        place.clock.advance(std::time::Duration::from_secs(1));
        let _ = store.consume(&TokenId::new("CONSUMED")?, &OpId::new("OP")?).await?;
        store.discard(&tokens(&["DISCARDED", "FENCED"])?).await?;
        Ok(())
    })
}

fn calls(store: &DynamoStore, name: &str) -> Result<Vec<Call>> {
    let store = store.token_store(&name.parse()?)?;
    let mut calls = vec![];
    for name in TOKENS {
        let (token, one) = (TokenId::new(name)?, tokens(&[name])?);
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
