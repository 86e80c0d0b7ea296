//! A role that may create things in `public`, as everybody may on servers before 15: nothing of ours runs what it made.

use std::time::Duration;

use sqlx::query_scalar;
use storagebox_core::{
    Begun, Bounds, Counted, Counter, CounterExt, DedupId, Hold, HoldState, Item, ItemBank, LeaseRepo, OpId,
    Result, Retention, StoreExt, Strategy, Taken,
};
use storagebox_postgres::{PostgresStore, Statements};

use crate::scene::{owner_url, with_place};
use crate::support::{Database, Place, failed, run};

const HOUR: Duration = Duration::from_secs(3_600);
const BETTER_MATCHES: &str = include_str!("intruder/better_matches.sql");

/// What the role did, as itself. It goes before its role does.
struct Intruder<'a> {
    database: &'a Database,
    role: String,
}

impl<'a> Intruder<'a> {
    async fn leaves(database: &'a Database, sql: &str) -> Result<Self> {
        let role = format!("{}_intruder", database.role());
        let admit = format!("CREATE ROLE {role}; GRANT CREATE ON SCHEMA public TO {role}");
        let work = format!("SET SESSION AUTHORIZATION {role}; {sql}; RESET SESSION AUTHORIZATION");
        run(database.owner(), format!("{admit}; {work}")).await?;
        Ok(Self { database, role })
    }

    /// Whose rights it had, and how many password hashes it read with them.
    async fn loot(&self) -> Result<Vec<String>> {
        let sql = "SELECT format('%s: %s', victim, secrets) FROM public.loot ORDER BY 1";
        query_scalar(sql).fetch_all(self.database.owner()).await.map_err(failed)
    }

    async fn goes(self) -> Result<()> {
        let Self { database, role } = self;
        run(database.owner(), format!("DROP OWNED BY {role} CASCADE; DROP ROLE {role}")).await
    }
}

/// One call for each thing that was replaced.
async fn call(store: &PostgresStore, name: &str) -> Result<()> {
    let bank = store.bank(name)?;
    bank.add(&[Item::new("item")?]).await?;
    let taken = bank.take(&"ada".try_into()?, Hold::For(HOUR)).await?;
    let is_an_hour = |hold| matches!(hold, HoldState::Remaining(left) if left <= HOUR);
    assert!(matches!(&taken, Taken::New(held) if is_an_hour(held.hold)), "{taken:?}");
    let (id, op) = (DedupId::new("id")?, OpId::new("op")?);
    store.leases(name)?.begin(&id, &op, Duration::from_secs(1), None).await?;
    let other = store.leases(name)?.begin(&id, &OpId::new("other")?, HOUR, None).await?;
    assert!(!matches!(other, Begun::InFlight { remaining } if remaining > HOUR), "{other:?}");
    let bounds = Bounds::between(0, 7)?;
    let sharded = Strategy::Sharded { shards: 4, bounds, retention: Retention::Forever };
    let counted = store.counters(name, sharded)?.add("stock", "op", 7).await?;
    assert!(matches!(counted, Counted::Applied { .. }), "{counted:?}");
    assert_eq!(store.counters(name, sharded)?.add("stock", "more", 1).await?, Counted::OutOfBounds);
    Ok(())
}

async fn owner(place: &Place) -> Result<PostgresStore> {
    place.builder()?.connect(&owner_url(&place.database, "owner"))
}

#[tokio::test]
async fn a_role_that_may_create_in_public_runs_nothing_with_the_rights_of_others() -> Result<()> {
    with_place(async |place| {
        let intruder = Intruder::leaves(&place.database, BETTER_MATCHES).await?;
        let outcome = async {
            call(&owner(place).await?, "owner").await?;
            let simple = place.builder()?.statements(Statements::Simple);
            call(&simple.connect(&place.database.url())?, "role").await
        };
        let outcome = outcome.await;
        let loot = intruder.loot().await?;
        intruder.goes().await?;
        assert_eq!(loot, Vec::<String>::new());
        outcome
    })
    .await
}
