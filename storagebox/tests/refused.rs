//! V-1, V-3: every handle refuses a text that breaks its limit, before any I/O.
#![cfg(feature = "memory")]
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use storagebox::layer::{Call, Layer, Next, Response};
use storagebox::ordered::OrderedOptions;
use storagebox::{ErrorKind, MemoryStore, Result, Store, async_trait};

/// Counts the calls that reach the backend.
#[derive(Debug, Default)]
struct Reached(AtomicUsize);

#[async_trait]
impl Layer for Reached {
    async fn call(&self, _: &Call<'_>, next: Next<'_>) -> Result<Response> {
        self.0.fetch_add(1, Ordering::SeqCst);
        next.run().await
    }
}

fn assert_refused<T: std::fmt::Debug>(what: &str, answer: Result<T>) {
    let error = answer.expect_err(what);
    assert_eq!(error.kind(), ErrorKind::InvalidInput, "{what}: {error}");
    assert!(!format!("{error} {error:?}").contains("secret"), "{what} is shown: {error}");
}

async fn refused_by_a_bank(store: &Store, text: &str) -> Result<()> {
    assert_refused("a name", store.bank(text));
    let bank = store.bank("vouchers")?;
    assert_refused("a claim", bank.assign(text).await);
    assert_refused("a claim to confirm", bank.confirm(text).await);
    assert_refused("an item to withdraw", bank.withdraw([text]).await);
    Ok(())
}

async fn refused_by_dedup(store: &Store, text: &str) -> Result<()> {
    let orders = store.dedup("orders")?;
    assert_refused("an id", orders.record(text, "value").by("op").await);
    assert_refused("the op of a record", orders.record("id", "value").by(text).await);
    assert_refused("the id of a lease", orders.begin(text).by("op").await);
    assert_refused("the op of a lease", orders.begin("id").by(text).await);
    assert_refused("a fingerprint", orders.begin("id").fingerprint(text).by("op").await);
    Ok(())
}

async fn refused_by_tokens_and_counters(store: &Store, text: &str) -> Result<()> {
    let (tokens, counters) = (store.tokens("messages")?, store.counters("stock")?);
    assert_refused("a token", tokens.create([text]).await);
    assert_refused("an operation", tokens.consume("token").by(text).await);
    assert_refused("a counter's key", counters.add(text, 1).by("op").await);
    assert_refused("a counter's op", counters.add("key", 1).by(text).await);
    Ok(())
}

async fn refused_by_ordered_values(store: &Store, text: &str) -> Result<()> {
    let values = store.ordered_with("values", OrderedOptions::sequence())?;
    assert_refused("an ordered key", values.put(text, "value").at(1).by("writer").await);
    assert_refused("a writer", values.put("key", "value").at(1).by(text).await);
    assert_refused("the writer of a delete", values.delete("key").at(1).by(text).await);
    assert_refused("a prefix", values.list_prefix(text).all().await);
    Ok(())
}

#[tokio::test]
async fn a_text_that_breaks_its_limit_never_reaches_the_backend() -> Result<()> {
    let reached = Arc::new(Reached::default());
    let store = Store::new(MemoryStore::new()).layer(Arc::clone(&reached));
    for text in ["", "secret\0", &"secret".repeat(200)] {
        refused_by_a_bank(&store, text).await?;
        refused_by_dedup(&store, text).await?;
        refused_by_tokens_and_counters(&store, text).await?;
        refused_by_ordered_values(&store, text).await?;
    }
    assert_eq!(reached.0.load(Ordering::SeqCst), 0, "calls that reached the backend");
    store.bank("vouchers")?.add(["SAVE-10"]).await?;
    assert_eq!(reached.0.load(Ordering::SeqCst), 1, "a call that is seen");
    Ok(())
}
