//! Versions and fences grow in a copy of the tables that lacks their sequence.

use std::time::Duration;

use sqlx::{AssertSqlSafe, Row, query};
use storagebox_core::{
    Backend, Begun, DedupId, DedupRepo, Forgotten, Lease, LeaseRepo, OpId, Payload, Recorded, Result, Retention,
    Version,
};
use storagebox_postgres::PostgresStore;
use storagebox_testkit::checks::entities::{commit_of, committed, split};
use storagebox_testkit::postgres::{Postgres, Settings};
use tokio::task::spawn_blocking;

use crate::scene::{count, owner_url, until, with_place};
use crate::structure::contents;
use crate::support::{Database, Place, failed, run};

const HOUR: Duration = Duration::from_secs(3_600);

#[derive(Clone, Copy, Debug)]
struct Given {
    fence: i64,
    version: i64,
    entity: i64,
}

impl Given {
    fn assert_after(self, before: Self, when: &str) {
        let greater = self.fence > before.fence && self.version > before.version && self.entity > before.entity;
        assert!(greater, "{when}: {self:?} after {before:?}");
    }
}

async fn lease(store: &PostgresStore, id: &str, op: &str) -> Result<Lease> {
    match store.lease_repo(&"namespace".parse()?)?.begin(&DedupId::new(id)?, &OpId::new(op)?, HOUR, None).await? {
        Begun::Started(lease) => Ok(lease),
        other => panic!("{other:?}"),
    }
}

async fn record(store: &PostgresStore, op: &str) -> Result<Version> {
    let records = store.dedup_repo(&"namespace".parse()?)?;
    let (id, value) = (DedupId::new("recorded")?, Payload::try_from("value")?);
    match records.record(&id, &value, &OpId::new(op)?, Retention::Forever).await? {
        Recorded::New(version) => Ok(version),
        other => panic!("{other:?}"),
    }
}

async fn commit(store: &PostgresStore, op: &str) -> Result<()> {
    let entities = split(store)?;
    committed(&*entities, &commit_of(&*entities, op).await?).await
}

/// Returns the fence and the versions of a new lease, a record and a commit. The record is forgotten, and the lease has
/// lapsed.
async fn give(place: &Place, store: &PostgresStore, op: &str) -> Result<Given> {
    // The lease lapses before the next call.
    lease(store, "lapsing", op).await?;
    let of_lease = number(place, "SELECT fence FROM {schema}.records WHERE id = 'lapsing'").await?;
    let version = record(store, op).await?;
    let of_record = number(place, "SELECT version FROM {schema}.records WHERE id = 'recorded'").await?;
    let forgotten = store.dedup_repo(&"namespace".parse()?)?.forget(&DedupId::new("recorded")?, version).await?;
    assert_eq!(forgotten, Forgotten::Forgotten);
    commit(store, op).await?;
    let entity = number(place, "SELECT version FROM {schema}.entities WHERE key = 'entity'").await?;
    let lapse = "UPDATE {schema}.records SET until = now() - interval '1 minute' WHERE id = 'lapsing'";
    run(place.database.owner(), lapse.replace("{schema}", &place.schema)).await?;
    Ok(Given { fence: of_lease, version: of_record, entity })
}

async fn number(place: &Place, sql: &str) -> Result<i64> {
    count(&place.database, &sql.replace("{schema}", &place.schema)).await
}

/// The sequence is reset to its start, or set back by a little or by more than a minute.
#[test]
fn versions_and_fences_grow_after_the_sequence_is_set_back() -> Result<()> {
    with_place(async |place| {
        let store = place.builder()?.connect(&place.database.url())?;
        let mut before = give(place, &store, "first").await?;
        let behind = ["1, false", "last_value - 20", "last_value - 1000000000", "1"];
        for (round, value) in behind.into_iter().enumerate() {
            let sql = format!("SELECT setval('{0}.numbers', {value}) FROM {0}.numbers", place.schema);
            run(place.database.owner(), sql).await?;
            let given = give(place, &store, &format!("op-{round}")).await;
            let given = given?;
            if value == "last_value - 20" {
                // The version of the forgotten record is in no row, so it may be given again within the minute.
                assert!(given.fence > before.fence && given.entity > before.entity, "{given:?} after {before:?}");
            } else {
                given.assert_after(before, value);
            }
            before = given;
        }
        Ok(())
    })
}

#[test]
fn racing_callers_of_a_reset_sequence_get_distinct_numbers() -> Result<()> {
    with_place(async |place| {
        let store = place.builder()?.combining(false).connect(&place.database.url())?;
        let _warm = lease(&store, "warm", "op").await?;
        for round in 0..5 {
            run(place.database.owner(), format!("SELECT setval('{}.numbers', 1)", place.schema)).await?;
            let leases = (0..16).map(|caller| {
                let store = store.clone();
                tokio::spawn(async move { lease(&store, &format!("{round}-{caller}"), "op").await })
            });
            for lease in leases.collect::<Vec<_>>() {
                lease.await.map_err(failed)??;
            }
        }
        let fences = "SELECT count(*) - count(DISTINCT fence) FROM {schema}.records";
        assert_eq!(number(place, fences).await?, 0);
        Ok(())
    })
}

/// Logical replication copies rows but not sequences.
#[tokio::test]
async fn numbers_of_a_subscriber_exceed_the_numbers_of_its_publisher() -> Result<()> {
    let settings = Settings::quick().with("wal_level", "logical");
    let own = spawn_blocking(move || Postgres::start(&settings)).await.map_err(failed)?.map_err(failed)?;
    let database = Database::alone(own).await?;
    let (place, copy) = (database.place().await?, Database::beside(&database).await?);
    let (schema, publisher) = (&place.schema, owner_url(&database, "publisher"));
    PostgresStore::builder().schema(schema)?.connect(&owner_url(&copy, "copy"))?.setup().await?;
    let empty = format!("TRUNCATE {schema}.versions, {schema}.store, {schema}.namespaces");
    run(copy.owner(), empty).await?;
    for publish in [
        "CREATE PUBLICATION everything FOR ALL TABLES",
        "SELECT pg_create_logical_replication_slot('copy', 'pgoutput')",
    ] {
        run(database.owner(), publish.to_owned()).await?;
    }
    let store = place.builder()?.connect(&owner_url(&database, "writer"))?;
    let before = give(&place, &store, "before").await?;
    let subscribe = format!(
        "CREATE SUBSCRIPTION copy CONNECTION '{publisher}' PUBLICATION everything WITH (create_slot = false, slot_name = 'copy')"
    );
    run(copy.owner(), subscribe).await?;
    let during = give(&place, &store, "during").await?;
    crate::upgrade::namespaces::fill(&store).await?;
    let is_equal = async || Ok(contents(&copy, schema).await? == contents(&database, schema).await?);
    until("the copy to be equal", is_equal).await?;
    run(copy.owner(), "ALTER SUBSCRIPTION copy DISABLE".to_owned()).await?;
    let copied = Place::of(&copy, schema);
    let store = PostgresStore::builder().schema(schema)?.connect(&owner_url(&copy, "writer"))?;
    let after = give(&copied, &store, "after").await?;
    during.assert_after(before, "on the publisher");
    after.assert_after(during, "on the subscriber");
    let row = query(AssertSqlSafe(format!("SELECT last_value FROM {schema}.numbers"))).fetch_one(copy.owner()).await;
    assert!(row.map_err(failed)?.try_get::<i64, _>(0).map_err(failed)? >= after.fence);
    Ok(())
}
