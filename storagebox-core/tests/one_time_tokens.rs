//! Calls on a one-time token when other calls run between their steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use storagebox_core::layer::{Call, Layer, Layered, Next, Response};
use storagebox_core::{
    Backend, Begun, Certainty, DedupId, Error, ErrorKind, OneTimeTokens, OpId, Payload, Result, TokenBegun, TokenLease,
    async_trait,
};
use storagebox_memory::MemoryStore;

const LEASE: Duration = Duration::from_secs(30);

fn tokens_of(store: &dyn Backend) -> Result<OneTimeTokens> {
    let name = "links".parse()?;
    Ok(OneTimeTokens::new(store.token_store(&name)?, store.lease_repo(&name)?, store.dedup_repo(&name)?))
}

/// A layer that, after the first check of a token, commits with the lease `held` and then begins a lease for another
/// caller.
#[derive(Debug)]
struct Meanwhile {
    store: MemoryStore,
    held: TokenLease,
    is_over: AtomicBool,
}

#[async_trait]
impl Layer for Meanwhile {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let answered = next.run().await;
        if call.operation() == "exists" && !self.is_over.swap(true, Ordering::SeqCst) {
            let _ = tokens_of(&self.store)?.commit(&self.held, "session").await?;
            let (id, op) = (DedupId::new("begun:token")?, OpId::new("bob")?);
            let begun = self.store.lease_repo(&"links".parse()?)?.begin(&id, &op, LEASE, None).await?;
            assert!(matches!(begun, Begun::Started(_)));
        }
        answered
    }
}

#[tokio::test]
async fn begin_returns_replayed_or_gone_if_the_token_is_used_meanwhile() -> Result<()> {
    for (caller, expected) in [("ada", TokenBegun::Replayed(Payload::try_from("session")?)), ("eve", TokenBegun::Gone)]
    {
        let store = MemoryStore::new();
        let tokens = tokens_of(&store)?;
        tokens.create(["token"]).await?;
        let TokenBegun::Started(held) = tokens.begin("token", "ada", LEASE).await? else { panic!("nobody is here") };
        let meanwhile = Meanwhile { store: store.clone(), held, is_over: AtomicBool::new(false) };
        let others_between = Layered::new(Arc::new(store), Arc::new(meanwhile));
        assert_eq!(tokens_of(&others_between)?.begin("token", caller, LEASE).await?, expected);
    }
    Ok(())
}

/// A layer that reads no record.
#[derive(Debug)]
struct ReadsNothing;

#[async_trait]
impl Layer for ReadsNothing {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        match call.operation() {
            "get" => Err(Error::new(ErrorKind::Unavailable, "as the test asked")),
            _ => next.run().await,
        }
    }
}

/// Regression: the error said that nothing was applied.
#[tokio::test]
async fn repeated_commit_that_cannot_read_its_result_is_a_doubt() -> Result<()> {
    let store = MemoryStore::new();
    let tokens = tokens_of(&store)?;
    tokens.create(["token"]).await?;
    let TokenBegun::Started(held) = tokens.begin("token", "ada", LEASE).await? else { panic!("nobody is here") };
    let _ = tokens.commit(&held, "session").await?;
    let reads_nothing = Layered::new(Arc::new(store), Arc::new(ReadsNothing));
    let error = tokens_of(&reads_nothing)?.commit(&held, "session").await.unwrap_err();
    assert_eq!(error.certainty(), Certainty::Unknown);
    Ok(())
}
