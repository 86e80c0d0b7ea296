//! The store, not the caller, decides how long ended operations are remembered.

use std::time::Duration;

use storagebox_core::{
    Backend, Begun, ClaimId, DedupId, End, Error, ErrorKind, Hold, ItemBank, LeaseRepo, OpId, Result, Taken, TokenId,
    TokenStore,
};

/// A time that is longer than every limited memory.
pub const LONG_AGO: Duration = Duration::from_secs(400 * 24 * 3_600);

const SECOND: Duration = Duration::from_secs(1);

/// Creates a fence of each kind: of a claim, of a token and of a lease.
pub async fn fence_each_kind(store: &dyn Backend) -> Result<()> {
    let _ = store.item_bank(&"namespace".parse()?)?.release(&ClaimId::new("ada")?).await?;
    store.token_store(&"namespace".parse()?)?.discard(&[TokenId::new("token")?]).await?;
    let leases = store.lease_repo(&"namespace".parse()?)?;
    let begun = leases.begin(&DedupId::new("id")?, &OpId::new("op")?, SECOND, None).await?;
    let Begun::Started(lease) = begun else { panic!("{begun:?}") };
    leases.abort(&lease).await.map(drop)
}

/// Checks that the fences of a claim, a token and a lease are remembered, and that upkeep finds nothing to delete.
pub async fn assert_fenced(store: &dyn Backend) -> Result<()> {
    assert_eq!(store.maintain(1_000).await?.deleted, 0, "{}", store.backend());
    let taken = store.item_bank(&"namespace".parse()?)?.take(&ClaimId::new("ada")?, Hold::Forever).await?;
    assert!(matches!(taken, Taken::Ended(End::Released)), "{taken:?}");
    let created = store.token_store(&"namespace".parse()?)?.create_tokens(&[TokenId::new("token")?]).await?;
    assert_eq!(created.gone, 1, "{created:?}");
    let leases = store.lease_repo(&"namespace".parse()?)?;
    let again = leases.begin(&DedupId::new("id")?, &OpId::new("op")?, SECOND, None).await?;
    assert!(matches!(again, Begun::Fenced), "{again:?}");
    Ok(())
}

/// Checks that a store that is opened with another memory than it was set up with refuses every call. `another` opens
/// the store once per call.
pub async fn another_is_refused<S: Backend>(another: impl Fn() -> Result<S>) -> Result<()> {
    let (known, new) = (another()?.item_bank(&"namespace".parse()?)?, another()?.item_bank(&"new".parse()?)?);
    for (call, outcome) in [
        ("ping", another()?.ping().await),
        ("setup", another()?.setup().await),
        ("maintain", another()?.maintain(1).await.map(drop)),
        ("counts", known.counts().await.map(drop)),
        ("take", new.take(&ClaimId::new("ada")?, Hold::Forever).await.map(drop)),
    ] {
        assert_another(&outcome.expect_err(call));
    }
    Ok(())
}

/// Checks that the error says that the store was set up with another memory.
#[track_caller]
pub fn assert_another(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
    assert!(error.to_string().contains("remember"), "{error}");
}
