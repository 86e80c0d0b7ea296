//! Futures that are dropped while they wait: no transaction stays open, the next call is answered rightly, and stays done.

use std::pin::pin;
use std::task::Poll;

use storagebox_core::{
    Backend, Change, ClaimId, Counted, Counter, DedupId, DedupRepo, ErrorKind, Hold, Item, ItemBank, Recorded, Result,
    Retention, Strategy, TokenId, TokenStore,
};
use storagebox_sqlite::SqliteStore;

use crate::support::{Place, failed};

/// No call waits so often.
const MOST_WAITS: usize = 200;

/// Two clients, of which one has calls dropped.
struct Clients {
    name: String,
    old: SqliteStore,
    fresh: SqliteStore,
}

/// The calls that are dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dropped {
    Take,
    Record,
    Apply,
    Create,
    Look,
    Maintain,
    Setup,
}

impl Dropped {
    pub(crate) const ALL: [Self; 7] =
        [Self::Take, Self::Record, Self::Apply, Self::Create, Self::Look, Self::Maintain, Self::Setup];

    pub(crate) async fn make(self, store: &SqliteStore, id: &str) -> Result<()> {
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
            Self::Look => store.item_bank(&"namespace".parse()?)?.counts().await.map(drop),
            Self::Maintain => store.maintain(10).await.map(drop),
            Self::Setup => store.setup().await,
        }
    }
}

/// The answer, unless the future had to wait once more than so often: then it is dropped.
pub(crate) async fn drop_after<T>(waits: usize, future: impl Future<Output = T>) -> Option<T> {
    let (mut future, mut waited) = (pin!(future), 0);
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(answer) => Poll::Ready(Some(answer)),
        Poll::Pending if waited == waits => Poll::Ready(None),
        Poll::Pending => {
            waited += 1;
            Poll::Pending
        }
    })
    .await
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
            // A look may be answered before it is asked for.
            assert!(waits >= 1 || matches!(call, Dropped::Look), "{call:?} never waits");
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

#[tokio::test]
async fn a_dropped_call_leaves_nothing_half_done() -> Result<()> {
    for combining in [true, false] {
        let place = Place::ready().await?;
        let old = place.builder().combining(combining).open(place.path())?;
        let clients = Clients { name: format!("{combining}"), old, fresh: place.store()? };
        clients.drop_everywhere().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_dropped_call_leaves_a_pool_that_was_handed_in_as_it_was() -> Result<()> {
    let place = Place::ready().await?;
    let old = place.builder().from_pool(place.pool())?;
    Clients { name: "handed in".to_owned(), old, fresh: place.store()? }.drop_everywhere().await
}

/// The runtime ends with calls under way; what they had begun is rolled back, or done, and the store works in another one.
#[test]
fn a_store_outlives_the_runtime_that_it_was_used_in() -> Result<()> {
    let runtime = || tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let place = runtime().map_err(failed)?.block_on(Place::ready())?;
    let store = place.store()?;
    for round in 0..20 {
        let first = runtime().map_err(failed)?;
        for number in 0..8 {
            let records = store.dedup_repo(&"namespace".parse()?)?;
            first.spawn(async move {
                let id = format!("{round}-{number}");
                records
                    .record(&id.as_str().parse()?, &"value".try_into()?, &id.as_str().parse()?, Retention::Forever)
                    .await
            });
        }
        first.shutdown_background();
        runtime().map_err(failed)?.block_on(async {
            let (records, id) = (store.dedup_repo(&"namespace".parse()?)?, format!("then-{round}"));
            let (id, value, op) = (id.parse()?, "value".try_into()?, "op".parse()?);
            let record = || records.record(&id, &value, &op, Retention::Forever);
            let recorded = match record().await {
                // It shared a transaction whose end was cut off with the first runtime.
                Err(error) if error.kind() == ErrorKind::OutcomeUnknown => record().await,
                recorded => recorded,
            };
            assert!(matches!(recorded?, Recorded::New(_) | Recorded::Again(_)));
            Ok::<_, storagebox_core::Error>(())
        })?;
    }
    Ok(())
}
