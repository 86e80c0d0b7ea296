//! Timeouts of PgBouncer.

use std::sync::Arc;

use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection, PgConnection, Row, raw_sql};
use storagebox_core::{
    Backend, Certainty, Change, ClaimId, Confirmed, Counter, ErrorKind, Hold, Item, ItemBank, Key, OpId, Result,
    Strategy,
};
use storagebox_postgres::{PostgresStore, Statements};
use storagebox_testkit::pgbouncer::{PgBouncer, Settings};
use storagebox_testkit::postgres::{self, Postgres};
use tokio::task::spawn_blocking;

use crate::ended::{a_bound_is_certain, an_addition_is_made_once, emptied, refusals_are_certain, sessions};
use crate::pooler::pooler;
use crate::scene::{LONG, count, session, tell, until, with_place};
use crate::support::{Database, Place, failed, run};

/// Returns two stores behind the pooler, the first with combining and the second without.
fn by_way_of(place: &Place, pooler: &PgBouncer) -> Result<[PostgresStore; 2]> {
    let store = |combining| {
        let builder = place.builder()?.statements(Statements::Simple).combining(combining);
        builder.call_timeout(LONG).connect(&place.url_at(pooler.address()))
    };
    Ok([store(true)?, store(false)?])
}

/// Starts a pooler. Returns the pooler and a connection to its admin console.
async fn told(place: &Place, settings: Settings) -> Result<(PgBouncer, PgConnection)> {
    let pooler = pooler(place, settings.with("admin_users", place.database.role())).await?;
    let options: PgConnectOptions = place.database.url_at(pooler.address()).parse().map_err(failed)?;
    let console = PgConnection::connect_with(&options.database("pgbouncer")).await.map_err(failed)?;
    Ok((pooler, console))
}

/// Returns the ports of the pooler's clients whose state begins with `state`.
async fn clients(place: &Place, console: &mut PgConnection, state: &str) -> Result<Vec<i32>> {
    let rows = raw_sql("SHOW CLIENTS").fetch_all(console).await.map_err(failed)?;
    let mut ports = vec![];
    for row in rows {
        let text = |name| row.try_get::<String, _>(name).map_err(failed);
        if text("database")? == place.database.role() && text("state")?.starts_with(state) {
            ports.push(row.try_get("port").map_err(failed)?);
        }
    }
    Ok(ports)
}

#[test]
fn refusal_is_returned_after_a_pooler_closed_the_connection() -> Result<()> {
    with_place(async |place| {
        let (pooler, mut console) = told(place, Settings::transactions().with("client_idle_timeout", "0.05")).await?;
        for store in by_way_of(place, &pooler)? {
            refusals_are_certain(&store).await?;
            for round in 1..3 {
                let mut gone =
                    async || until("no client", async || Ok(clients(place, &mut console, "").await?.is_empty())).await;
                gone().await?;
                refusals_are_certain(&store).await?;
                gone().await?;
                a_bound_is_certain(&store).await?;
                gone().await?;
                an_addition_is_made_once(&store, round).await?;
            }
            emptied(place).await?;
        }
        Ok(())
    })
}

/// Another client uses the pooler's only server connection until two connections of the store have timed out.
#[test]
fn call_that_a_pooler_never_forwarded_is_retried() -> Result<()> {
    with_place(async |place| {
        let settings = impatient().with("default_pool_size", "1");
        let (pooler, mut console) = told(place, settings).await?;
        for store in by_way_of(place, &pooler)? {
            an_addition_is_made_once(&store, 1).await?;
            let mut other = PgConnection::connect(&place.database.url_at(pooler.address())).await.map_err(failed)?;
            tell(&mut other, "BEGIN; SELECT 1").await?;
            let end = async {
                two_have_waited(place, &mut console).await?;
                tell(&mut other, "COMMIT").await
            };
            tokio::try_join!(an_addition_is_made_once(&store, 2), end)?;
            refusals_are_certain(&store).await?;
            emptied(place).await?;
        }
        Ok(())
    })
}

/// The pooler accepts no client until it has reached the paused server.
#[tokio::test]
async fn connection_that_a_pooler_times_out_is_opened_again() -> Result<()> {
    let own =
        spawn_blocking(|| Postgres::start(&postgres::Settings::quick())).await.map_err(failed)?.map_err(failed)?;
    let database = Database::alone(own).await?;
    let place = database.place().await?;
    let (pooler, mut console) = told(&place, impatient()).await?;
    let paused = database.own().expect("a server of its own").pause().map_err(failed)?;
    let [store, _] = by_way_of(&place, &pooler)?;
    let end = async {
        two_have_waited(&place, &mut console).await?;
        drop(paused);
        Ok(())
    };
    tokio::try_join!(refusals_are_certain(&store), end).map(drop)
}

/// The pooler has accepted the client, but refuses its statements until the pooler connects to the server again.
#[tokio::test]
async fn call_refused_by_a_pooler_without_a_server_is_not_applied() -> Result<()> {
    let own =
        spawn_blocking(|| Postgres::start(&postgres::Settings::quick())).await.map_err(failed)?.map_err(failed)?;
    let database = Database::alone(own).await?;
    let place = database.place().await?;
    let (pooler, mut console) = told(&place, Settings::transactions()).await?;
    for store in by_way_of(&place, &pooler)? {
        refusals_are_certain(&store).await?;
    }
    let own = database.own().expect("a server of its own");
    own.kill().map_err(failed)?;
    a_connection_has_failed(&pooler, &place, &mut console).await?;
    for store in by_way_of(&place, &pooler)? {
        let counter = store.counter(&"added".parse()?, Strategy::Atomic)?;
        let error = counter.apply(&Key::new("stock")?, &Change::new(OpId::new("op")?, 1)).await.unwrap_err();
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::Unavailable, Certainty::NotApplied), "{error:?}");
        let error = store.item_bank(&"namespace".parse()?)?.get(&ClaimId::new("ada")?).await.unwrap_err();
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::Unavailable, Certainty::NotApplied), "{error:?}");
    }
    Ok(())
}

/// Makes the pooler fail once to connect to the server. Statements then wait for the pooler's next attempt.
async fn a_connection_has_failed(pooler: &PgBouncer, place: &Place, console: &mut PgConnection) -> Result<()> {
    let mut waiting = PgConnection::connect(&place.database.url_at(pooler.address())).await.map_err(failed)?;
    let waits = until("a statement that waits", async || Ok(!clients(place, console, "waiting").await?.is_empty()));
    tokio::select! {
        waits = waits => waits,
        answer = raw_sql("SELECT 1").execute(&mut waiting) => Err(failed(format!("{answer:?} without a server"))),
    }
}

fn impatient() -> Settings {
    Settings::transactions().with("query_wait_timeout", "0.2")
}

async fn two_have_waited(place: &Place, console: &mut PgConnection) -> Result<()> {
    let mut waited = vec![];
    until("a second connection that waits", async || {
        waited.extend(clients(place, console, "waiting").await?);
        waited.dedup();
        Ok(waited.len() > 1)
    })
    .await
}

/// In one case the pooler closes its idle connection to the server, in the other the server closes it.
#[test]
fn idle_server_connection_of_a_pooler_is_replaced() -> Result<()> {
    with_place(async |place| {
        let role = place.database.role();
        for (idle, of_role) in [("0.05", "0"), ("0", "250ms")] {
            run(place.database.owner(), format!("ALTER ROLE {role} SET idle_session_timeout = '{of_role}'")).await?;
            let pooler = pooler(place, Settings::transactions().with("server_idle_timeout", idle)).await?;
            for store in by_way_of(place, &pooler)? {
                refusals_are_certain(&store).await?;
                let gone = async || until("no session", async || Ok(sessions(place).await? == 0)).await;
                gone().await?;
                refusals_are_certain(&store).await?;
                gone().await?;
                an_addition_is_made_once(&store, 1).await?;
                emptied(place).await?;
            }
        }
        Ok(())
    })
}

/// A call sends its whole transaction in one message, so the transaction is never idle.
#[test]
fn a_pooler_that_ends_idle_transactions_ends_no_call() -> Result<()> {
    with_place(async |place| {
        let pooler = pooler(place, Settings::transactions().with("idle_transaction_timeout", "0.05")).await?;
        for store in by_way_of(place, &pooler)? {
            let bank: Arc<dyn ItemBank> = store.item_bank(&"bank".parse()?)?;
            bank.add(&[Item::new("item")?]).await?;
            let claim = ClaimId::new("ada")?;
            let _ = bank.take(&claim, Hold::For(LONG)).await?;
            let mut other = session(place, &format!("SELECT FROM {}.claims FOR UPDATE", place.schema)).await?;
            let end = async {
                let sql = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND now() - query_start > interval '1 s'
                    AND datname = current_database()";
                until("a call that waits for long", async || Ok(count(&place.database, sql).await? == 1)).await?;
                tell(&mut other, "ROLLBACK").await
            };
            let (confirmed, ()) = tokio::try_join!(bank.confirm(&claim), end)?;
            assert!(matches!(confirmed, Confirmed::Confirmed(_)), "{confirmed:?}");
            refusals_are_certain(&store).await?;
            run(place.database.owner(), format!("DELETE FROM {}.claims", place.schema)).await?;
        }
        Ok(())
    })
}
