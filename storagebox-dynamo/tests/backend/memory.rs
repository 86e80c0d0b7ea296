//! How long what has ended is remembered: as long as the namespace was made with, whoever ends it.

use std::time::Duration;

use storagebox_core::{
    Backend, BackendExt, Begun, ClaimId, DedupId, End, ErrorKind, Hold, ItemBank, LeaseRepo, OpId, Result, Retention,
    Taken, TokenId, TokenStore,
};

use crate::scene::with_place;

const DAY: Duration = Duration::from_secs(24 * 3_600);

/// Whoever ended a claim decided by its own setting when all others forgot it.
#[tokio::test]
async fn what_has_ended_is_remembered_as_the_namespace_was_made_whoever_ends_it() -> Result<()> {
    with_place(async |place| {
        let client = place.table.client(None, None).await;
        let maker = place.builder().remember(Retention::Forever).from_client(&client)?;
        let says_nothing = place.store().await?;
        let (claim, token) = (ClaimId::new("ada")?, [TokenId::new("token")?]);
        let (id, op) = (DedupId::new("id")?, OpId::new("op")?);
        maker.bank("namespace")?.get(&claim).await?;
        maker.tokens("namespace")?.exists(&token[0]).await?;
        maker.dedup("namespace")?.get(&id).await?;
        let _ = says_nothing.bank("namespace")?.release(&claim).await?;
        says_nothing.tokens("namespace")?.discard(&token).await?;
        let leases = says_nothing.leases("namespace")?;
        let begun = leases.begin(&id, &op, DAY, None).await?;
        let Begun::Started(lease) = begun else { panic!("{begun:?}") };
        let _ = leases.abort(&lease).await?;
        place.clock.advance(400 * DAY);
        for store in [&maker, &says_nothing] {
            assert_eq!(store.maintain(1_000).await?.deleted, 0);
            let taken = store.bank("namespace")?.take(&claim, Hold::Forever).await?;
            assert!(matches!(taken, Taken::Ended(End::Released)), "{taken:?}");
            assert_eq!(store.tokens("namespace")?.create_tokens(&token).await?.gone, 1);
            let again = store.leases("namespace")?.begin(&id, &op, DAY, None).await?;
            assert!(matches!(again, Begun::Fenced), "{again:?}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_namespace_of_another_memory_is_refused_and_nothing_is_written() -> Result<()> {
    with_place(async |place| {
        let client = place.table.client(None, None).await;
        let claim = ClaimId::new("ada")?;
        let _ = place.store().await?.bank("namespace")?.release(&claim).await?;
        let before = place.rows().await?.len();
        for other in [Retention::Forever, Retention::For(DAY)] {
            let store = place.builder().remember(other).from_client(&client)?;
            let error = store.bank("namespace")?.release(&ClaimId::new("bob")?).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
            assert!(error.to_string().contains("7 days"), "{error}");
        }
        assert_eq!(place.rows().await?.len(), before);
        let same = place.builder().remember(Retention::DEFAULT).from_client(&client)?;
        same.bank("namespace")?.release(&claim).await.map(drop)
    })
    .await
}
