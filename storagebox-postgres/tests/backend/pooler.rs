//! PgBouncer in transaction mode, with fewer connections than callers: each caller gets its own answer.

use storagebox_core::{
    Backend, Change, ClaimId, Counted, Counter, DedupId, DedupRepo, Hold, Item, ItemBank, OrderedOptions, OrderedStore,
    Recorded, Result, Retention, Stamp, Strategy, Taken,
};
use storagebox_postgres::{PostgresStore, Statements};
use storagebox_testkit::pgbouncer::{PgBouncer, Settings, knows_prepared_statements};
use tokio::task::{JoinSet, spawn_blocking};

use crate::scene::{LONG, with_place};
use crate::support::{Place, failed};

const CALLERS: i64 = 32;
const ROUNDS: i64 = 20;

pub(crate) async fn pooler(place: &Place, settings: Settings) -> Result<PgBouncer> {
    let url = place.database.url();
    let started = spawn_blocking(move || PgBouncer::start(&url, &settings)).await;
    started.map_err(failed)?.map_err(failed)
}

/// Makes calls of every kind concurrently. Checks that each caller gets the answer to its own call.
async fn everybody_gets_the_own_answer(place: &Place, settings: Settings, statements: Statements) -> Result<()> {
    let pooler = pooler(place, settings.with("default_pool_size", "3")).await?;
    for combining in [false, true] {
        let builder = place.builder()?.statements(statements).combining(combining).call_timeout(LONG);
        let store = builder.max_connections(CALLERS as usize).connect(&pooler.url())?;
        let items = (0..CALLERS * ROUNDS).map(|number| Item::new(format!("{combining}-{number}")));
        store.item_bank(&"namespace".parse()?)?.add(&items.collect::<Result<Vec<_>>>()?).await?;
        let mut callers = JoinSet::new();
        for caller in 0..CALLERS {
            let caller = Caller { store: store.clone(), name: format!("{combining}-{caller}"), number: caller };
            callers.spawn(async move { caller.call().await });
        }
        callers.join_all().await.into_iter().collect::<Result<()>>()?;
    }
    Ok(())
}

struct Caller {
    store: PostgresStore,
    name: String,
    number: i64,
}

impl Caller {
    async fn call(&self) -> Result<()> {
        for round in 1..=ROUNDS {
            let id = format!("{}-{round}", self.name);
            self.records(&id).await?;
            self.takes(&id).await?;
            self.counts(&id, round).await?;
            self.writes(&id, round).await?;
        }
        Ok(())
    }

    async fn records(&self, id: &str) -> Result<()> {
        let records = self.store.dedup_repo(&"namespace".parse()?)?;
        let recorded = records.record(&id.parse()?, &id.try_into()?, &id.parse()?, Retention::Forever).await?;
        assert!(matches!(recorded, Recorded::New(_)), "{id}: {recorded:?}");
        let found = records.get(&DedupId::new(id)?).await?.map(|entry| entry.value.into_bytes());
        assert_eq!(found.as_deref(), Some(id.as_bytes()));
        Ok(())
    }

    async fn takes(&self, id: &str) -> Result<()> {
        let (bank, claim) = (self.store.item_bank(&"namespace".parse()?)?, ClaimId::new(id)?);
        let taken = bank.take(&claim, Hold::Forever).await?;
        let Taken::New(held) = taken else { panic!("{id}: {taken:?}") };
        let again = bank.take(&claim, Hold::Forever).await?;
        assert!(matches!(&again, Taken::Again(same) if same.item == held.item), "{id}: {again:?}");
        Ok(())
    }

    /// Adds to a counter that no other caller uses. Checks that its value is the sum of the caller's additions.
    async fn counts(&self, id: &str, round: i64) -> Result<()> {
        let counters = self.store.counter(&"namespace".parse()?, Strategy::default())?;
        let step = 1_000 + self.number;
        let counted = counters.apply(&self.name.as_str().parse()?, &Change::new(id.parse()?, step)).await?;
        assert_eq!(counted, Counted::Applied { value: Some(round * step) }, "{id}");
        Ok(())
    }

    async fn writes(&self, id: &str, round: i64) -> Result<()> {
        let ordered = self.store.ordered_store(&"namespace".parse()?, OrderedOptions::sequence())?;
        let _ = ordered.put(&self.name.as_str().parse()?, &id.try_into()?, &Stamp::new(round, "ada".parse()?)).await?;
        let found = ordered.get(&self.name.as_str().try_into()?).await?;
        let found = found.map(|found| (found.value.into_bytes(), found.stamp.at));
        assert_eq!(found.as_ref().map(|(value, at)| (&value[..], *at)), Some((id.as_bytes(), round)));
        Ok(())
    }
}

#[test]
fn simple_statements_work_behind_a_transaction_pooler() -> Result<()> {
    with_place(async |place| everybody_gets_the_own_answer(place, Settings::transactions(), Statements::Simple).await)
}

/// PgBouncer older than 1.21 does not start with `max_prepared_statements`.
#[test]
fn prepared_statements_need_a_pooler_that_supports_them() -> Result<()> {
    let settings = Settings::transactions().with_prepared_statements(200);
    match knows_prepared_statements().map_err(failed)? {
        true => with_place(async |place| everybody_gets_the_own_answer(place, settings, Statements::Prepared).await),
        false => with_place(async |place| {
            assert!(pooler(place, settings).await.is_err());
            Ok(())
        }),
    }
}
