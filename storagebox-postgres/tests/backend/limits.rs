//! Fewer connections than callers: no call waits for itself, and the available connections serve all callers.

use std::time::Duration;

use storagebox_core::{Backend, ClaimId, Hold, ItemBank, Result};
use storagebox_postgres::{PostgresStore, Statements};
use storagebox_testkit::pgbouncer::{self, PgBouncer};
use tokio::task::spawn_blocking;

use crate::pools::{fill, takes};
use crate::scene::{LONG, blocked, count, patient, session, until, with_database, with_place};
use crate::support::{Database, failed, run};

async fn limited(database: &Database, limit: usize) -> Result<()> {
    let role = database.role();
    let sql = format!("GRANT CREATE ON DATABASE {role} TO {role}; ALTER ROLE {role} CONNECTION LIMIT {limit}");
    run(database.owner(), sql).await
}

/// A call reaches this timeout only if it waits for a connection that it holds itself.
const SOON: Duration = Duration::from_secs(20);

const WAYS: [(&str, Statements, bool); 3] = [
    ("prepared", Statements::Prepared, true),
    ("alone", Statements::Prepared, false),
    ("simple", Statements::Simple, true),
];

#[test]
fn setup_and_many_callers_need_only_one_connection() -> Result<()> {
    with_database(async |database| {
        limited(database, 1).await?;
        for (schema, statements, combining) in WAYS {
            let builder = PostgresStore::builder().statements(statements).combining(combining).call_timeout(SOON);
            let store = builder.schema(schema)?.connect(&database.url())?;
            store.setup().await?;
            store.setup().await?;
            store.ping().await?;
            fill(&store, 200).await?;
            takes(&store, "many", 100).await?;
            store.maintain(10).await?;
            store.close().await?;
            until("the end of its session", async || Ok(sessions(database).await? == 0)).await?;
        }
        Ok(())
    })
}

async fn sessions(database: &Database) -> Result<i64> {
    let sql = format!("SELECT count(*) FROM pg_stat_activity WHERE usename = '{}'", database.role());
    count(database, &sql).await
}

#[test]
fn setup_on_a_pool_of_the_caller_needs_one_connection() -> Result<()> {
    with_database(async |database| {
        limited(database, 1).await?;
        let pool = sqlx::postgres::PgPoolOptions::new().max_connections(1).connect(&database.url()).await;
        let store = PostgresStore::builder().call_timeout(SOON).from_pool(pool.map_err(failed)?)?;
        store.setup().await?;
        fill(&store, 20).await?;
        takes(&store, "many", 10).await
    })
}

#[test]
fn setup_through_a_session_pooler_needs_one_connection() -> Result<()> {
    with_database(async |database| {
        limited(database, 2).await?;
        let settings = pgbouncer::Settings::transactions().with("pool_mode", "session").with("default_pool_size", "1");
        let url = database.url();
        let pooler =
            spawn_blocking(move || PgBouncer::start(&url, &settings)).await.map_err(failed)?.map_err(failed)?;
        let builder = PostgresStore::builder().statements(Statements::Simple).max_connections(1).call_timeout(SOON);
        let store = builder.connect(&database.url_at(pooler.address()))?;
        store.setup().await?;
        fill(&store, 20).await?;
        takes(&store, "many", 10).await
    })
}

/// The server allows four connections, and many callers ask for one at once.
#[test]
fn calls_wait_while_the_server_has_no_connection_left() -> Result<()> {
    with_place(async |place| {
        let role = place.database.role();
        run(place.database.owner(), format!("ALTER ROLE {role} CONNECTION LIMIT 4")).await?;
        let store = place.builder()?.combining(false).call_timeout(LONG).connect(&place.database.url())?;
        fill(&store, 500).await?;
        let opened = "SELECT sessions FROM pg_stat_database WHERE datname = current_database()";
        let before = count(&place.database, opened).await?;
        for round in 0..4 {
            takes(&store, &format!("round-{round}"), 100).await?;
        }
        assert_eq!(store.item_bank(&"namespace".parse()?)?.counts().await?.held, 400);
        let refused = count(&place.database, opened).await? - before;
        assert!(refused < 100, "{refused} sessions were begun for four hundred calls");
        Ok(())
    })
}

/// A dropped call closes its connection, but the server counts the connection until the call's statement ends.
#[test]
fn call_waits_for_a_connection_that_the_server_still_counts() -> Result<()> {
    with_place(async |place| {
        let role = place.database.role();
        run(place.database.owner(), format!("ALTER ROLE {role} CONNECTION LIMIT 1")).await?;
        let store = patient(place)?;
        fill(&store, 2).await?;
        let (bank, claim) = (store.item_bank(&"namespace".parse()?)?, ClaimId::new("ada")?);
        let _ = bank.take(&claim, Hold::Forever).await?;
        let _other = session(place, &format!("SELECT FROM {}.claims FOR UPDATE", place.schema)).await?;
        let waiting = async || Ok(blocked(&place.database, &place.schema).await? == 1);
        tokio::select! {
            confirmed = bank.confirm(&claim) => panic!("{confirmed:?} under another's lock"),
            waits = until("a call that waits", waiting) => waits?,
        }
        assert_eq!(bank.counts().await?.free, 1);
        Ok(())
    })
}

/// The call that holds the only connection returns it before the server refuses the other calls.
#[test]
fn calls_refused_by_the_server_use_a_returned_connection() -> Result<()> {
    with_place(async |place| {
        let role = place.database.role();
        run(place.database.owner(), format!("ALTER ROLE {role} CONNECTION LIMIT 1")).await?;
        let store = place.builder()?.combining(false).call_timeout(LONG).connect(&place.database.url())?;
        fill(&store, 8).await?;
        takes(&store, "few", 8).await
    })
}
