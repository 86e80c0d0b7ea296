//! Refusals of a real server, and the kinds that callers see.

use std::sync::Arc;

use sqlx::postgres::PgPoolOptions;
use sqlx::{Connection, query_scalar};
use storagebox_conformance::{Cut, Proxy};
use storagebox_core::{
    Added, Backend, Certainty, ClaimId, Error, ErrorKind, Hold, Item, ItemBank, Result, Retired, Taken,
};

use crate::scene::{LONG, count, session, tell, until, with_place};
use crate::support::{Place, failed, run};

/// The least number of attempts before a call gives way to others.
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

/// Changes a setting of the role, for the sessions that it opens from now on.
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

/// The attempts are counted on the wire; how long they take depends on the machine.
#[tokio::test]
async fn a_lock_that_is_not_to_be_had_in_time_is_contention_after_many_attempts() -> Result<()> {
    with_place(async |place| {
        let proxy = Proxy::start(place.database.server()).await.map_err(failed)?;
        let pool = PgPoolOptions::new().max_connections(1).test_before_acquire(false);
        let pool = pool.connect(&place.url_at(proxy.addr())).await.map_err(failed)?;
        let bank = place.builder()?.call_timeout(LONG).from_pool(pool.clone())?.item_bank(&"namespace".parse()?)?;
        bank.counts().await?;
        let _other = session(place, &lock(place)).await?;
        let impatient =
            "bank_take(bigint, bigint, text, bigint, bigint, bigint, bigint, bigint) SET lock_timeout = '1ms'";
        run(place.database.owner(), format!("ALTER FUNCTION {}.{impatient}", place.schema)).await?;
        let before = proxy.round_trips();
        assert_not_applied(&take(&bank).await?, ErrorKind::Contention);
        let attempts = proxy.round_trips() - before;
        assert!(attempts >= MANY, "only {attempts} attempts");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_statement_that_is_cancelled_is_made_again() -> Result<()> {
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
    .await
}

/// After the first end of its session, the call is made again on another connection; after the second, the caller
/// decides. The server reports that it ends a session before it commits.
#[tokio::test]
async fn a_session_that_is_ended_twice_changed_nothing() -> Result<()> {
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
    .await
}

/// Returns the store's session that waits for a lock, other than the given one.
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

/// The server ends the library's statement, which is made again once the other transaction is over.
#[tokio::test]
async fn a_deadlock_is_survived() -> Result<()> {
    with_place(async |place| {
        // Longer than the other session takes to complete the deadlock.
        set(place, "SET deadlock_timeout = '2s'").await?;
        let bank = bank(place)?;
        bank.add(&[Item::new("warm")?]).await?;
        let (first, second) = two_items(place).await?;
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
    .await
}

/// Returns statements that put the items `one` and `two` into the bank, in the library's order.
async fn two_items(place: &Place) -> Result<(String, String)> {
    let schema = &place.schema;
    let hash = |item: &str| format!("('x' || left(encode(sha256('{item}'), 'hex'), 16))::bit(64)::bigint");
    let sql = format!("SELECT ({} < {})::int::bigint", hash("one"), hash("two"));
    let order = if count(&place.database, &sql).await? == 1 { ["one", "two"] } else { ["two", "one"] };
    let [first, second] = order.map(|item| {
        format!("INSERT INTO {schema}.free_items SELECT namespace, {}, '{item}' FROM {schema}.namespaces", hash(item))
    });
    Ok((first, second))
}

#[tokio::test]
async fn a_role_that_lacks_a_right_is_denied() -> Result<()> {
    with_place(async |place| {
        let bank = bank(place)?;
        bank.counts().await?;
        let (schema, role) = (&place.schema, place.database.role());
        run(place.database.owner(), format!("REVOKE EXECUTE ON FUNCTION {schema}.bank_take FROM {role}")).await?;
        bank.add(&[Item::new("item")?]).await?;
        assert_not_applied(&take(&bank).await?, ErrorKind::Denied);
        assert_eq!(bank.counts().await?.free, 1);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_server_that_only_reads_is_unavailable() -> Result<()> {
    with_place(async |place| {
        bank(place)?.add(&[Item::new("item")?]).await?;
        set(place, "SET default_transaction_read_only = on").await?;
        assert_not_applied(&take(&bank(place)?).await?, ErrorKind::Unavailable);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_server_without_a_connection_left_is_throttled() -> Result<()> {
    with_place(async |place| {
        set(place, "CONNECTION LIMIT 1").await?;
        let first = bank(place)?;
        first.counts().await?;
        assert_not_applied(&take(&bank(place)?).await?, ErrorKind::Throttled);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_table_or_a_function_that_is_gone_is_not_set_up() -> Result<()> {
    with_place(async |place| {
        let (bank, schema) = (bank(place)?, &place.schema);
        bank.add(&[Item::new("item")?]).await?;
        run(place.database.owner(), format!("DROP TABLE {schema}.free_items")).await?;
        assert_not_applied(&take(&bank).await?, ErrorKind::NotSetUp);
        run(place.database.owner(), format!("DROP FUNCTION {schema}.bank_take")).await?;
        assert_not_applied(&take(&bank).await?, ErrorKind::NotSetUp);
        Ok(())
    })
    .await
}

/// After the claim is released, the lost call may still arrive and delete its fence.
#[tokio::test]
async fn holding_is_not_answered_after_a_lost_retire() -> Result<()> {
    with_place(async |place| {
        let proxy = Proxy::start(place.database.server()).await.map_err(failed)?;
        let store = place.builder()?.call_timeout(LONG).connect(&place.url_at(proxy.addr()))?;
        let (bank, claim) = (store.item_bank(&"namespace".parse()?)?, ClaimId::new("held")?);
        bank.add(&[Item::new("item")?]).await?;
        let _ = bank.take(&claim, Hold::Forever).await?;
        proxy.arm(Cut::ReplyLost, claim.as_str(), 0);
        let error = bank.retire(&claim).await.expect_err("an answer that does not settle the first attempt");
        assert_eq!((error.kind(), proxy.cuts()), (ErrorKind::OutcomeUnknown, 1), "{error:?}");
        assert_eq!(bank.retire(&claim).await?, Retired::Holding);
        Ok(())
    })
    .await
}

/// The lost call may still arrive, and take an item that is added meanwhile.
#[tokio::test]
async fn empty_is_not_answered_after_a_lost_take() -> Result<()> {
    with_place(async |place| {
        let proxy = Proxy::start(place.database.server()).await.map_err(failed)?;
        let store = place.builder()?.call_timeout(LONG).connect(&place.url_at(proxy.addr()))?;
        let (bank, claim) = (store.item_bank(&"namespace".parse()?)?, ClaimId::new("lost")?);
        assert_eq!(bank.take(&claim, Hold::Forever).await?, Taken::Empty);
        for (number, cut) in [Cut::RequestLost, Cut::ReplyLost].into_iter().enumerate() {
            proxy.arm(cut, claim.as_str(), 0);
            let error = bank.take(&claim, Hold::Forever).await.expect_err("no answer settles the first attempt");
            assert_eq!((error.kind(), proxy.cuts()), (ErrorKind::OutcomeUnknown, number + 1), "{error:?}");
        }
        assert_eq!(bank.take(&claim, Hold::Forever).await?, Taken::Empty);
        Ok(())
    })
    .await
}
