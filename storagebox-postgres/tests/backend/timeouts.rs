//! Timeouts that an administrator sets on the server or on a pooler: each ends at most one call, and the error is
//! certain where possible.

mod of_poolers;

use std::time::Duration;

use sqlx::postgres::PgPoolOptions;
use sqlx::{query_scalar, raw_sql};
use storagebox_core::{Backend, Certainty, ClaimId, Confirmed, ErrorKind, Hold, Item, ItemBank, Result, Taken};
use storagebox_postgres::{PostgresStore, Statements};

use crate::ended::{an_addition_is_made_once, emptied, refusals_are_certain, sessions};
use crate::scene::{LONG, count, session, tell, until, with_place};
use crate::support::{Place, failed, run};

/// Sets `transaction_timeout` for the role. Returns `false` if the server is older than PostgreSQL 17.
async fn has_transaction_timeout(place: &Place, limit: &str) -> Result<bool> {
    let set = format!("ALTER ROLE {} SET transaction_timeout = '{limit}'", place.database.role());
    let (set, version) =
        (run(place.database.owner(), set).await, "SELECT current_setting('server_version_num')::bigint");
    assert_eq!(set.is_ok(), count(&place.database, version).await? >= 170_000, "{set:?}");
    Ok(set.is_ok())
}

/// Returns a store with one connection, whose sessions have the schema's name.
fn store(place: &Place, statements: Statements) -> Result<PostgresStore> {
    let builder = place.builder()?.statements(statements).call_timeout(LONG).max_connections(1);
    builder.connect(&place.url_at(place.database.server()))
}

/// Waits until two sessions of the store have waited for a lock, one after the other.
async fn two_were_stuck(place: &Place) -> Result<()> {
    let stuck = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = $1";
    let mut seen = vec![];
    until("a second session that is stuck", async || {
        let found = query_scalar::<_, i32>(stuck).bind(&place.schema).fetch_optional(place.database.owner()).await;
        seen.extend(found.map_err(failed)?);
        seen.dedup();
        Ok(seen.len() > 1)
    })
    .await
}

#[test]
fn call_ended_by_transaction_timeout_is_retried() -> Result<()> {
    with_place(async |place| {
        for statements in [Statements::Prepared, Statements::Simple] {
            let (store, claim) = (store(place, statements)?, ClaimId::new("ada")?);
            let bank = store.item_bank(&"bank".parse()?)?;
            bank.add(&[Item::new("item")?]).await?;
            let _ = bank.take(&claim, Hold::For(Duration::from_secs(3_600))).await?;
            an_addition_is_made_once(&store, 1).await?;
            if !has_transaction_timeout(place, "300ms").await? {
                return Ok(());
            }
            drop((bank, store));
            is_made_once(place, statements).await?;
            run(place.database.owner(), format!("ALTER ROLE {} RESET transaction_timeout", place.database.role()))
                .await?;
            emptied(place).await?;
            run(place.database.owner(), format!("DELETE FROM {}.claims", place.schema)).await?;
        }
        Ok(())
    })
}

/// Makes a confirmation and a counter change while timeouts end their sessions. Checks that each call is applied once.
async fn is_made_once(place: &Place, statements: Statements) -> Result<()> {
    let schema = &place.schema;
    let (store, claim) = (store(place, statements)?, ClaimId::new("ada")?);
    let bank = store.item_bank(&"bank".parse()?)?;
    let mut other = session(place, &format!("SELECT FROM {schema}.claims FOR UPDATE")).await?;
    let end = async {
        two_were_stuck(place).await?;
        tell(&mut other, "ROLLBACK").await
    };
    let (confirmed, ()) = tokio::try_join!(bank.confirm(&claim), end)?;
    assert!(matches!(confirmed, Confirmed::Confirmed(_)), "{confirmed:?}");
    let mut other = session(place, &format!("SELECT FROM {schema}.counters FOR UPDATE")).await?;
    let end = async {
        two_were_stuck(place).await?;
        tell(&mut other, "ROLLBACK").await
    };
    tokio::try_join!(an_addition_is_made_once(&store, 2), end)?;
    refusals_are_certain(&store).await
}

/// The session ends after it has sent the rows of a call, so the call may have been committed.
#[test]
fn a_session_lost_after_its_rows_leaves_the_outcome_unknown() -> Result<()> {
    with_place(async |place| {
        if !has_transaction_timeout(place, "300ms").await? {
            return Ok(());
        }
        let schema = &place.schema;
        let late = format!(
            "CREATE FUNCTION {schema}.late() RETURNS trigger LANGUAGE plpgsql
                 AS $$ BEGIN PERFORM pg_catalog.pg_sleep(3600); RETURN NULL; END $$;
             CREATE CONSTRAINT TRIGGER late AFTER INSERT ON {schema}.claims
                 DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION {schema}.late()"
        );
        run(place.database.owner(), late).await?;
        for statements in [Statements::Prepared, Statements::Simple] {
            let bank = store(place, statements)?.item_bank(&"namespace".parse()?)?;
            bank.add(&[Item::new("item")?]).await?;
            let error = bank.take(&ClaimId::new("ada")?, Hold::Forever).await.unwrap_err();
            assert_eq!((error.kind(), error.certainty()), (ErrorKind::OutcomeUnknown, Certainty::Unknown), "{error}");
            assert_eq!(bank.counts().await?.free, 1, "the connection that was ended serves no other call");
        }
        Ok(())
    })
}

/// The server has ended the session of a pooled connection that was left in a transaction.
#[test]
fn call_on_an_ended_idle_transaction_is_not_applied() -> Result<()> {
    with_place(async |place| {
        let (role, owner) = (place.database.role(), place.database.owner());
        run(owner, format!("ALTER ROLE {role} SET idle_in_transaction_session_timeout = '50ms'")).await?;
        let begun = PgPoolOptions::new().max_connections(1).test_before_acquire(false);
        let pool = begun.connect(&place.database.url()).await.map_err(failed)?;
        raw_sql("BEGIN").execute(&mut *pool.acquire().await.map_err(failed)?).await.map_err(failed)?;
        let store = place.builder()?.call_timeout(LONG).from_pool(pool)?;
        until("the end of the idle session", async || Ok(sessions(place).await? == 0)).await?;
        let bank = store.item_bank(&"namespace".parse()?)?;
        let error = bank.take(&ClaimId::new("ada")?, Hold::Forever).await.unwrap_err();
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::Unavailable, Certainty::NotApplied), "{error}");
        assert_eq!(bank.take(&ClaimId::new("ada")?, Hold::Forever).await?, Taken::Empty);
        Ok(())
    })
}
