//! Tokens.

use std::time::Duration;

use storagebox_core::{Backend as _, OpId, TokenId};
use storagebox_dynamo::DynamoStore;
use storagebox_testkit::checks::corruption::Filling;
use storagebox_testkit::checks::corruption::tokens::{self, tokens};

use super::Part;
use crate::support::Place;

pub(super) const PART: Part = Part {
    rows: "tokens",
    fill,
    calls: |store, name| tokens::calls(store, name, &["LIVE", "CONSUMED", "DISCARDED", "FENCED"]),
    unnoticed: &[
        ("token", "a", &["a text", "beyond its range", "no whole number", "none"]),
        ("token", "c", &["empty", "none", "unknown"]),
        ("token", "g", &["none"]),
        ("token", "m", &["empty", "unknown"]),
        ("token", "t", &["a number", "empty", "none", "unknown"]),
    ],
};

fn fill<'a>(place: &'a Place, store: &'a DynamoStore, name: &'a str) -> Filling<'a> {
    Box::pin(async move {
        let store = store.token_store(&name.parse()?)?;
        store.create_tokens(&tokens(&["LIVE", "CONSUMED", "DISCARDED"])?).await?;
        place.clock.advance(Duration::from_secs(1));
        let _ = store.consume(&TokenId::new("CONSUMED")?, &OpId::new("OP")?).await?;
        store.discard(&tokens(&["DISCARDED", "FENCED"])?).await?;
        Ok(())
    })
}
