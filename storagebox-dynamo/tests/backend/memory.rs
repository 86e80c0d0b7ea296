//! How long what has ended is remembered: as long as the namespace was made with, whoever ends it.

use std::time::Duration;

use storagebox_core::{
    Backend, Begun, ClaimId, DedupId, End, ErrorKind, Hold, ItemBank, LeaseRepo, OpId, Result, Retention, Taken,
    TokenId, TokenStore,
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
        maker.item_bank(&"namespace".parse()?)?.get(&claim).await?;
        maker.token_store(&"namespace".parse()?)?.exists(&token[0]).await?;
        maker.dedup_repo(&"namespace".parse()?)?.get(&id).await?;
        let _ = says_nothing.item_bank(&"namespace".parse()?)?.release(&claim).await?;
        says_nothing.token_store(&"namespace".parse()?)?.discard(&token).await?;
        let leases = says_nothing.lease_repo(&"namespace".parse()?)?;
        let begun = leases.begin(&id, &op, DAY, None).await?;
        let Begun::Started(lease) = begun else { panic!("{begun:?}") };
        let _ = leases.abort(&lease).await?;
        place.clock.advance(400 * DAY);
        for store in [&maker, &says_nothing] {
            assert_eq!(store.maintain(1_000).await?.deleted, 0);
            let taken = store.item_bank(&"namespace".parse()?)?.take(&claim, Hold::Forever).await?;
            assert!(matches!(taken, Taken::Ended(End::Released)), "{taken:?}");
            assert_eq!(store.token_store(&"namespace".parse()?)?.create_tokens(&token).await?.gone, 1);
            let again = store.lease_repo(&"namespace".parse()?)?.begin(&id, &op, DAY, None).await?;
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
        let _ = place.store().await?.item_bank(&"namespace".parse()?)?.release(&claim).await?;
        let before = place.rows().await?.len();
        for other in [Retention::Forever, Retention::For(DAY)] {
            let store = place.builder().remember(other).from_client(&client)?;
            let error = store.item_bank(&"namespace".parse()?)?.release(&ClaimId::new("bob")?).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
            assert!(error.to_string().contains("7 days"), "{error}");
        }
        assert_eq!(place.rows().await?.len(), before);
        let same = place.builder().remember(Retention::DEFAULT).from_client(&client)?;
        same.item_bank(&"namespace".parse()?)?.release(&claim).await.map(drop)
    })
    .await
}
