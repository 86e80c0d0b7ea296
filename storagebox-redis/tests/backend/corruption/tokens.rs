//! Tokens.

use storagebox_core::{Backend, Result, TokenStore as _};
use storagebox_redis::RedisStore;
use storagebox_testkit::checks::corruption::tokens::{self, tokens};
use storagebox_testkit::checks::corruption::{Call, Filling, Unnoticed, call};

use super::{Part, stands_damage};
use crate::support::Place;

const TOKENS: [&str; 5] = ["LIVE", "CONSUMED", "DISCARDED", "FENCED", "NEW"];

/// Damage to tokens that no call notices: a token that is forgotten later, and a token that is gone without a trace.
pub(super) const UNNOTICED: Unnoticed = &[
    ("", "keeps", &["an unknown mark", "empty", "half", "none"]),
    (":g", "first", &["half"]),
    (":k", "field", &["none"]),
    ("", "sound", &["an unknown mark", "empty", "half", "none"]),
];

pub(super) const PART: Part = Part { tag: "t.namespace.0", fill, calls, unnoticed: UNNOTICED };

#[tokio::test]
async fn damaged_tokens_are_corrupt_and_unchanged() -> Result<()> {
    stands_damage(&PART).await
}

fn fill<'a>(_: &'a Place, store: &'a RedisStore, name: &'a str) -> Filling<'a> {
    Box::pin(tokens::fill(store, name))
}

fn calls(store: &dyn Backend, name: &str) -> Result<Vec<Call>> {
    let mut calls = tokens::calls(store, name, &TOKENS)?;
    let (store, all) = (store.token_store(&name.parse()?)?, tokens(&TOKENS)?);
    calls.push(call!("create", [store, all], store.create_tokens(&all)));
    calls.push(call!("discard", [store, all], store.discard(&all)));
    Ok(calls)
}
