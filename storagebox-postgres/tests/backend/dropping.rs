//! Futures that are dropped while they wait: whatever pool is below, the next call is answered rightly, and stays done.

use sqlx::postgres::PgPoolOptions;
use storagebox_conformance::Proxy;
use storagebox_core::{
    Backend, Change, ClaimId, Counted, Counter, DedupId, DedupRepo, Hold, Item, ItemBank, Recorded, Result, Retention,
    Strategy, TokenId, TokenStore,
};
use storagebox_postgres::PostgresStore;

use crate::scene::{drop_after, with_place};
use crate::support::{Place, failed};

/// No call waits so often.
const MOST_WAITS: usize = 200;

/// Two clients, of which one has calls dropped.
struct Clients {
    name: String,
    old: PostgresStore,
    fresh: PostgresStore,
}

/// The calls that are dropped.
#[derive(Clone, Copy, Debug)]
enum Dropped {
    Take,
    Record,
    Apply,
    Create,
    Setup,
}

impl Dropped {
    const ALL: [Self; 5] = [Self::Take, Self::Record, Self::Apply, Self::Create, Self::Setup];

    async fn make(self, store: &PostgresStore, id: &str) -> Result<()> {
        match self {
            Self::Take => {
                store.item_bank(&"namespace".parse()?)?.take(&ClaimId::new(id)?, Hold::Forever).await.map(drop)
            }
            Self::Record => store
                .dedup_repo(&"namespace".parse()?)?
                .record(&id.parse()?, &id.try_into()?, &"op".parse()?, Retention::Forever)
                .await
                .map(drop),
            Self::Apply => store
                .counter(&"namespace".parse()?, Strategy::default())?
                .apply(&id.parse()?, &Change::new("op".parse()?, 1))
                .await
                .map(drop),
            Self::Create => {
                store.token_store(&"namespace".parse()?)?.create_tokens(&[TokenId::new(id)?]).await.map(drop)
            }
            Self::Setup => store.setup().await,
        }
    }
}

impl Clients {
    /// Each call is dropped at its first point, then at its second, and so on until it is through.
    async fn drop_everywhere(&self) -> Result<()> {
        let items: Vec<_> = (0..500).map(|number| Item::new(format!("{number}"))).collect::<Result<_>>()?;
        self.fresh.item_bank(&"namespace".parse()?)?.add(&items).await?;
        for call in Dropped::ALL {
            let mut waits = 0;
            while !self.drop_at(call, waits).await? {
                waits += 1;
                assert!(waits < MOST_WAITS, "{call:?} is not through after {waits} points");
            }
            assert!(waits >= 1, "{call:?} never waits");
        }
        Ok(())
    }

    /// Whether the call was through before it could be dropped.
    async fn drop_at(&self, call: Dropped, waits: usize) -> Result<bool> {
        let id = format!("{}-{call:?}-{waits}", self.name);
        let through = drop_after(waits, call.make(&self.old, &id)).await.transpose()?;
        for number in 0..3 {
            self.another(&format!("{id}-then-{number}")).await?;
        }
        call.make(&self.old, &id).await?;
        Ok(through.is_some())
    }

    /// Calls of the client that had one dropped: each gets its own answer, and others see what it did.
    async fn another(&self, id: &str) -> Result<()> {
        let recorded = self
            .old
            .dedup_repo(&"namespace".parse()?)?
            .record(&id.parse()?, &id.try_into()?, &"op".parse()?, Retention::Forever)
            .await?;
        assert!(matches!(recorded, Recorded::New(_)), "{id}: {recorded:?}");
        let found = self.fresh.dedup_repo(&"namespace".parse()?)?.get(&DedupId::new(id)?).await?;
        assert_eq!(found.map(|entry| entry.value.into_bytes()).as_deref(), Some(id.as_bytes()));
        let counted = self
            .old
            .counter(&"namespace".parse()?, Strategy::default())?
            .apply(&id.parse()?, &Change::new("op".parse()?, 7))
            .await?;
        assert_eq!(counted, Counted::Applied { value: Some(7) }, "{id}");
        let value = self.fresh.counter(&"namespace".parse()?, Strategy::default())?.value(&id.try_into()?).await?;
        assert_eq!(value, 7, "{id}");
        Ok(())
    }
}

/// With ids that begin with this name.
async fn drop_everywhere(place: &Place, name: &str, old: PostgresStore) -> Result<()> {
    let fresh = place.builder()?.connect(&place.database.url())?;
    Clients { name: name.to_owned(), old, fresh }.drop_everywhere().await
}

#[tokio::test]
async fn a_dropped_call_never_poisons_our_own_pool() -> Result<()> {
    with_place(async |place| {
        for combining in [true, false] {
            let builder = place.builder()?.max_connections(1).combining(combining);
            // Its answers wait until this task does, so that every call does wait.
            let proxy = Proxy::start(place.database.server()).await.map_err(failed)?;
            let old = builder.connect(&place.url_at(proxy.addr()))?;
            drop_everywhere(place, &format!("{combining}"), old).await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_dropped_call_never_poisons_a_pool_that_was_handed_in() -> Result<()> {
    with_place(async |place| {
        let pool = PgPoolOptions::new().max_connections(1).test_before_acquire(false);
        let proxy = Proxy::start(place.database.server()).await.map_err(failed)?;
        let pool = pool.connect(&place.url_at(proxy.addr())).await.map_err(failed)?;
        drop_everywhere(place, "handed in", place.builder()?.combining(false).from_pool(pool)?).await
    })
    .await
}
