//! Refusals of a real server, and the kinds that callers see.

use std::sync::Arc;

use sqlx::postgres::PgPoolOptions;
use sqlx::{Connection, query_scalar};
use storagebox_conformance::Proxy;
use storagebox_core::{Added, Backend, Certainty, ClaimId, Error, ErrorKind, Hold, Item, ItemBank, Result, Taken};
use storagebox_testkit::checks::cuts;

use crate::orders::two_items;
use crate::scene::{LONG, count, session, tell, until, with_place};
use crate::support::{Place, failed, run};

/// The least number of attempts before a call reports contention.
const MANY: usize = 20;

fn bank(place: &Place) -> Result<Arc<dyn ItemBank>> {
    let server = place.database.server();
    place
        .builder()?
        .call_timeout(LONG)
        .max_connections(1)
        .connect(&place.url_at(server))?
        .item_bank(&"namespace".parse()?)
}

async fn set(place: &Place, setting: &str) -> Result<()> {
    run(place.database.owner(), format!("ALTER ROLE {} {setting}", place.database.role())).await
}

fn lock(place: &Place) -> String {
    format!("LOCK TABLE {}.claims IN ACCESS EXCLUSIVE MODE", place.schema)
}

fn assert_not_applied(error: &Error, kind: ErrorKind) {
    assert_eq!((error.kind(), error.certainty()), (kind, Certainty::NotApplied), "{error:?}");
}

async fn take(bank: &Arc<dyn ItemBank>) -> Result<Error> {
    Ok(bank.take(&ClaimId::new("ada")?, Hold::Forever).await.expect_err("a take that cannot be"))
}

/// A proxy counts the attempts.
#[test]
fn lock_timeout_is_contention_after_many_attempts() -> Result<()> {
    with_place(async |place| {
        let proxy = Proxy::start(place.database.server()).await.map_err(failed)?;
        let pool = PgPoolOptions::new().max_connections(1).test_before_acquire(false);
        let pool = pool.connect(&place.url_at(proxy.addr())).await.map_err(failed)?;
        let bank = place.builder()?.call_timeout(LONG).from_pool(pool.clone())?.item_bank(&"namespace".parse()?)?;
        bank.counts().await?;
        let _other = session(place, &lock(place)).await?;
        let impatient = "bank_take SET lock_timeout = '1ms'";
        run(place.database.owner(), format!("ALTER FUNCTION {}.{impatient}", place.schema)).await?;
        let before = proxy.round_trips();
        assert_not_applied(&take(&bank).await?, ErrorKind::Contention);
        let attempts = proxy.round_trips() - before;
        assert!(attempts >= MANY, "only {attempts} attempts");
        Ok(())
    })
}

#[test]
fn cancelled_statement_is_retried() -> Result<()> {
    with_place(async |place| {
        let bank = bank(place)?;
        bank.add(&[Item::new("item")?]).await?;
        let (other, claim) = (session(place, &lock(place)).await?, ClaimId::new("ada")?);
        let cancel = async {
            for _ in 0..3 {
                signal(place, "pg_cancel_backend", stuck(place, None).await?).await?;
            }
            other.close().await.map_err(failed)
        };
        let (taken, ()) = tokio::try_join!(bank.take(&claim, Hold::Forever), cancel)?;
        assert!(matches!(taken, Taken::New(_)), "{taken:?}");
        Ok(())
    })
}

/// After the first end of its session, the call is sent on another connection. After the second end, the call fails as
/// not applied.
#[test]
fn call_whose_session_ends_twice_is_not_applied() -> Result<()> {
    with_place(async |place| {
        let bank = bank(place)?;
        bank.counts().await?;
        let _other = session(place, &lock(place)).await?;
        let end = async {
            let first = stuck(place, None).await?;
            signal(place, "pg_terminate_backend", first).await?;
            let second = stuck(place, Some(first)).await?;
            signal(place, "pg_terminate_backend", second).await
        };
        let (error, ()) = tokio::try_join!(take(&bank), end)?;
        assert_not_applied(&error, ErrorKind::Unavailable);
        Ok(())
    })
}

/// Returns the process id of a session of the store that waits for a lock, other than the session `other_than`.
async fn stuck(place: &Place, other_than: Option<i32>) -> Result<i32> {
    let sql = "SELECT pid FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND datname = current_database() AND application_name = $1 AND pid IS DISTINCT FROM $2";
    let mut found: Option<i32> = None;
    until("a call that is stuck", async || {
        let session = query_scalar(sql).bind(&place.schema).bind(other_than);
        found = session.fetch_optional(place.database.owner()).await.map_err(failed)?;
        Ok(found.is_some())
    })
    .await?;
    found.ok_or_else(|| failed("no call is stuck"))
}

async fn signal(place: &Place, function: &str, session: i32) -> Result<()> {
    run(place.database.owner(), format!("SELECT {function}({session})")).await
}

/// To end the deadlock, the server cancels the library's statement. The retry waits for the other transaction.
#[test]
fn statement_that_deadlocks_is_retried() -> Result<()> {
    with_place(async |place| {
        // Longer than the other session takes to complete the deadlock.
        set(place, "SET deadlock_timeout = '2s'").await?;
        let bank = bank(place)?;
        bank.add(&[Item::new("warm")?]).await?;
        let [(_, first), (_, second)] = two_items(place).await?;
        let mut other = session(place, &second).await?;
        let items = [Item::new("one")?, Item::new("two")?];
        let cross = async {
            stuck(place, None).await?;
            tell(&mut other, &format!("{first}; COMMIT")).await
        };
        let (added, ()) = tokio::try_join!(bank.add(&items), cross)?;
        assert_eq!(added, Added { added: 0, already_present: 2 });
        let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
        until("the deadlock counted", async || Ok(count(&place.database, deadlocks).await? == 1)).await
    })
}

#[test]
fn call_without_a_free_server_connection_is_throttled() -> Result<()> {
    with_place(async |place| {
        set(place, "CONNECTION LIMIT 1").await?;
        let first = bank(place)?;
        first.counts().await?;
        assert_not_applied(&take(&bank(place)?).await?, ErrorKind::Throttled);
        Ok(())
    })
}

#[test]
fn a_refused_call_returns_its_refusal_after_a_lost_attempt() -> Result<()> {
    with_place(async |place| {
        let proxy = Proxy::start(place.database.server()).await.map_err(failed)?;
        let store = place.builder()?.call_timeout(LONG).connect(&place.url_at(proxy.addr()))?;
        cuts::refuse(&proxy, &store).await
    })
}
