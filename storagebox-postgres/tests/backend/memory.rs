//! How long what has ended is remembered is the store's, whoever calls.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Backend, Begun, ClaimId, Counts, DedupId, End, ErrorKind, Hold, ItemBank, LeaseRepo, OpId, Result, Retention,
    Taken, TokenId, TokenStore,
};
use storagebox_postgres::{PostgresBuilder, PostgresStore};

use crate::scene::{count, owner_url, with_database, with_place};
use crate::structure::contents;
use crate::support::{Database, clock, run};

const SCHEMA: &str = "elsewhere";

const SECOND: Duration = Duration::from_secs(1);

fn builder() -> Result<PostgresBuilder> {
    PostgresStore::builder().schema(SCHEMA)
}

/// A store that remembers for ever, with a fence of each kind, more than a year later.
async fn fenced_for_ever(database: &Arc<Database>) -> Result<PostgresStore> {
    let store = builder()?.remember(Retention::Forever).connect(&owner_url(database, "for-ever"))?;
    store.setup().await?;
    let _ = store.item_bank(&"namespace".parse()?)?.release(&ClaimId::new("ada")?).await?;
    store.token_store(&"namespace".parse()?)?.discard(&[TokenId::new("token")?]).await?;
    let (leases, op) = (store.lease_repo(&"namespace".parse()?)?, OpId::new("op")?);
    let Begun::Started(lease) = leases.begin(&DedupId::new("id")?, &op, SECOND, None).await? else {
        panic!("an id that nobody knows")
    };
    let _ = leases.abort(&lease).await?;
    run(database.owner(), clock(SCHEMA, Duration::from_secs(400 * 24 * 3_600))).await?;
    Ok(store)
}

/// Upkeep by somebody who knows nothing of it removed fences that were to last for ever.
#[tokio::test]
async fn upkeep_goes_by_the_memory_of_the_store() -> Result<()> {
    with_database(async |database| {
        let store = fenced_for_ever(database).await?;
        let says_nothing = builder()?.connect(&owner_url(database, "says-nothing"))?;
        assert_eq!(says_nothing.maintain(1_000).await?.deleted, 0);
        for store in [says_nothing, store] {
            let taken = store.item_bank(&"namespace".parse()?)?.take(&ClaimId::new("ada")?, Hold::Forever).await?;
            assert!(matches!(taken, Taken::Ended(End::Released)), "{taken:?}");
            assert_eq!(
                store.token_store(&"namespace".parse()?)?.create_tokens(&[TokenId::new("token")?]).await?.gone,
                1
            );
            let (id, op) = (DedupId::new("id")?, OpId::new("op")?);
            let again = store.lease_repo(&"namespace".parse()?)?.begin(&id, &op, SECOND, None).await?;
            assert!(matches!(again, Begun::Fenced), "{again:?}");
        }
        Ok(())
    })
    .await
}

/// A URL with another memory ended fences that another had made to last for ever.
#[tokio::test]
async fn a_store_of_another_memory_is_refused() -> Result<()> {
    with_database(async |database| {
        fenced_for_ever(database).await?;
        let before = contents(database, SCHEMA).await?;
        let url = format!("{}&schema={SCHEMA}&remember=1s", owner_url(database, "another"));
        let another = || PostgresStore::connect(&url);
        for error in [
            another()?.ping().await.unwrap_err(),
            another()?.setup().await.unwrap_err(),
            another()?.maintain(1).await.map(drop).unwrap_err(),
            another()?.item_bank(&"namespace".parse()?)?.counts().await.map(drop).unwrap_err(),
            another()?
                .item_bank(&"new".parse()?)?
                .take(&ClaimId::new("ada")?, Hold::Forever)
                .await
                .map(drop)
                .unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
            assert!(error.to_string().contains("remember"), "{error}");
        }
        assert_eq!(contents(database, SCHEMA).await?, before);
        builder()?.remember(Retention::Forever).connect(&owner_url(database, "same"))?.ping().await
    })
    .await
}

/// What nobody said is seven days, which a URL may say.
#[tokio::test]
async fn a_schema_of_which_nothing_was_said_remembers_for_seven_days() -> Result<()> {
    with_place(async |place| {
        let kept = format!("SELECT memory FROM {}.store", place.schema);
        assert_eq!(count(&place.database, &kept).await?, 7 * 24 * 3_600 * 1_000_000);
        let store = place.builder()?.remember(Retention::DEFAULT).connect(&place.database.url())?;
        store.ping().await?;
        assert_eq!(store.item_bank(&"namespace".parse()?)?.counts().await?, Counts::default());
        Ok(())
    })
    .await
}
