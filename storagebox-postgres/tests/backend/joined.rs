//! Calls within a transaction of the caller, beyond the suite.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgPoolOptions;
use sqlx::{Connection, PgConnection, raw_sql};
use storagebox_conformance::{Cut, Proxy};
use storagebox_core::{
    Backend, Bounds, Change, ClaimId, CommitState, Confirmed, Counter, ErrorKind, Held, Hold, HoldState, Item,
    ItemBank, Key, OpId, Receipt, Result, Retention, Strategy, Taken, settle,
};
use storagebox_postgres::PostgresStore;

use crate::purchases::purchases;
use crate::scene::{blocked, session, until, with_database, with_place};
use crate::support::{Place, failed};

const PURCHASES: usize = 60;

async fn begun(place: &Place, begin: &'static str) -> Result<PgConnection> {
    let mut connection = PgConnection::connect(&place.url_at(place.database.server())).await.map_err(failed)?;
    tell(&mut connection, begin).await?;
    Ok(connection)
}

async fn tell(connection: &mut PgConnection, sql: &'static str) -> Result<()> {
    raw_sql(sql).execute(connection).await.map(drop).map_err(failed)
}

async fn filled(place: &Place, items: usize) -> Result<PostgresStore> {
    let store = place.builder()?.connect(&place.url_at(place.database.server()))?;
    let items = (0..items).map(|number| Item::new(format!("item-{number}"))).collect::<Result<Vec<_>>>()?;
    store.item_bank(&"bank".parse()?)?.add(&items).await?;
    Ok(store)
}

async fn take(store: &PostgresStore, connection: &mut PgConnection, claim: &str) -> Result<Taken> {
    store.within(connection)?.item_bank(&"bank".parse()?)?.take(&claim.parse()?, Hold::Forever).await
}

#[test]
fn an_order_and_its_voucher_are_committed_together_or_not_at_all() -> Result<()> {
    with_place(async |place| {
        let tally = purchases(place, PURCHASES, fastrand::u64(..)).await?;
        assert!(tally.bought > 0 && tally.nothing > 0 && tally.told > 0, "{tally:?}");
        Ok(())
    })
}

#[test]
fn joined_take_above_read_committed_is_unsupported() -> Result<()> {
    with_place(async |place| {
        let store = filled(place, 1).await?;
        for begin in ["BEGIN ISOLATION LEVEL REPEATABLE READ", "BEGIN ISOLATION LEVEL SERIALIZABLE"] {
            let mut connection = begun(place, begin).await?;
            let error = take(&store, &mut connection, "claim").await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        }
        assert_eq!(store.item_bank(&"bank".parse()?)?.counts().await?.free, 1);
        Ok(())
    })
}

#[test]
fn connection_of_another_driver_is_refused() -> Result<()> {
    with_place(async |place| {
        let store = filled(place, 1).await?;
        let error = store.within(&mut String::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
        Ok(())
    })
}

/// The bank's row in `bank_lapses` exists before the first hold, so no take has to insert the row.
#[test]
fn first_joined_take_with_a_hold_blocks_no_other_take() -> Result<()> {
    with_place(async |place| {
        let (store, hold) = (filled(place, 2).await?, Hold::For(Duration::from_hours(1)));
        let mut connection = begun(place, "BEGIN").await?;
        let joined = store.within(&mut connection)?.item_bank(&"bank".parse()?)?;
        assert!(matches!(joined.take(&"first".parse()?, hold).await?, Taken::New(_)));
        let bank = store.item_bank(&"bank".parse()?)?;
        assert!(matches!(bank.take(&"second".parse()?, hold).await?, Taken::New(_)));
        Ok(())
    })
}

/// The hold is confirmed in time by a transaction that stays open. Then the hold lapses by the clock.
#[test]
fn a_take_waits_for_the_end_of_a_claim_that_is_being_confirmed() -> Result<()> {
    with_place(async |place| {
        for combining in [false, true] {
            let claim: ClaimId = format!("claim-{combining}").parse()?;
            filled(place, 4).await?;
            let store = place.builder()?.combining(combining).connect(&place.url_at(place.database.server()))?;
            let bank = store.item_bank(&"bank".parse()?)?;
            let hold = Hold::For(Duration::from_hours(1));
            let Taken::New(held) = bank.take(&claim, hold).await? else { panic!("an item was free") };
            let mut connection = begun(place, "BEGIN").await?;
            let joined = store.within(&mut connection)?.item_bank(&"bank".parse()?)?;
            assert!(matches!(joined.confirm(&claim).await?, Confirmed::Confirmed(_)));
            drop(joined);
            place.advance(Duration::from_hours(2)).await?;
            // The second call is made in a batch, if calls are combined.
            let [_other, taken] = [format!("other-{combining}").parse()?, claim].map(|claim: ClaimId| {
                let bank = Arc::clone(&bank);
                tokio::spawn(async move { bank.take(&claim, Hold::Forever).await })
            });
            let waits = async || Ok(taken.is_finished() || blocked(&place.database, &place.schema).await? == 1);
            until("a take that waits", waits).await?;
            tell(&mut connection, "COMMIT").await?;
            let expected = Taken::Again(Held { hold: HoldState::Confirmed, ..held });
            assert_eq!(taken.await.map_err(failed)??, expected, "combining: {combining}");
        }
        Ok(())
    })
}

/// Upkeep has locked the claim of a lapsed hold, and the item is not yet free for others.
#[test]
fn a_withdrawal_does_not_report_an_item_that_upkeep_frees_as_in_use() -> Result<()> {
    with_place(async |place| {
        let (store, items) = (filled(place, 1).await?, [Item::new("item-0")?]);
        let bank = store.item_bank(&"bank".parse()?)?;
        assert!(matches!(bank.take(&"claim".parse()?, Hold::For(Duration::from_hours(1))).await?, Taken::New(_)));
        place.advance(Duration::from_hours(2)).await?;
        let upkeep = format!("SELECT {}.bank_free_lapsed(1000)", place.schema);
        let mut upkeep = session(place, &upkeep).await?;
        let impatient = place.builder()?.call_timeout(Duration::from_secs(1));
        let impatient = impatient.connect(&place.url_at(place.database.server()))?;
        let error = impatient.item_bank(&"bank".parse()?)?.withdraw(&items).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Contention, "{error}");
        crate::scene::tell(&mut upkeep, "COMMIT").await?;
        let withdrawn = bank.withdraw(&items).await?;
        assert_eq!((withdrawn.withdrawn, withdrawn.in_use), (1, 0));
        Ok(())
    })
}

/// The rollback of a savepoint undoes the calls after the savepoint.
#[test]
fn rolled_back_savepoint_undoes_the_call() -> Result<()> {
    with_place(async |place| {
        let store = filled(place, 1).await?;
        let mut connection = begun(place, "BEGIN; SAVEPOINT one").await?;
        assert!(matches!(take(&store, &mut connection, "first").await?, Taken::New(_)));
        tell(&mut connection, "ROLLBACK TO one").await?;
        assert!(matches!(take(&store, &mut connection, "second").await?, Taken::New(_)));
        tell(&mut connection, "COMMIT").await?;
        let bank = store.item_bank(&"bank".parse()?)?;
        assert!(matches!(bank.take(&"second".parse()?, Hold::Forever).await?, Taken::Again(_)));
        assert_eq!(bank.take(&"first".parse()?, Hold::Forever).await?, Taken::Empty);
        Ok(())
    })
}

/// After an error, PostgreSQL accepts no more statements in the transaction.
#[test]
fn a_call_after_an_error_says_that_the_transaction_is_over() -> Result<()> {
    with_place(async |place| {
        let store = filled(place, 1).await?;
        let mut connection = begun(place, "BEGIN").await?;
        assert!(raw_sql("SELECT 1 / 0").execute(&mut connection).await.is_err());
        let error = take(&store, &mut connection, "claim").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Contention, "{error}");
        assert!(error.message().contains("roll it back"), "{error}");
        tell(&mut connection, "ROLLBACK; BEGIN").await?;
        assert!(matches!(take(&store, &mut connection, "claim").await?, Taken::New(_)));
        Ok(())
    })
}

/// The server ends a transaction that its client left idle. The item of the transaction is then free again.
#[test]
fn an_idle_transaction_that_the_server_ends_gives_its_item_back() -> Result<()> {
    with_place(async |place| {
        let store = filled(place, 1).await?;
        let mut connection = begun(place, "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 100").await?;
        assert!(matches!(take(&store, &mut connection, "first").await?, Taken::New(_)));
        let bank = store.item_bank(&"bank".parse()?)?;
        assert!(matches!(bank.take(&"second".parse()?, Hold::Forever).await?, Taken::New(_)));
        let error = take(&store, &mut connection, "first").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        Ok(())
    })
}

async fn add(store: &PostgresStore, connection: &mut PgConnection, key: &str, op: &str) -> Result<()> {
    let counter = store.within(connection)?.counter(&"stock".parse()?, Strategy::default())?;
    let _ = counter.apply(&Key::new(key)?, &Change::new(OpId::new(op)?, 1)).await?;
    Ok(())
}

/// Two transactions lock in opposite orders. The server ends one of the transactions.
#[test]
fn deadlock_of_two_transactions_is_contention() -> Result<()> {
    with_place(async |place| {
        let store = filled(place, 1).await?;
        // Creates the namespace first: other transactions would wait for the transaction that creates it.
        store.counter(&"stock".parse()?, Strategy::default())?.value(&Key::new("a")?).await?;
        let (mut one, mut other) = (begun(place, "BEGIN").await?, begun(place, "BEGIN").await?);
        add(&store, &mut one, "a", "one-a").await?;
        add(&store, &mut other, "b", "other-b").await?;
        let (first, second) =
            tokio::join!(add(&store, &mut one, "b", "one-b"), add(&store, &mut other, "a", "other-a"));
        let errors: Vec<_> = [first, second].into_iter().filter_map(Result::err).collect();
        assert!(!errors.is_empty() && errors.iter().all(|error| error.kind() == ErrorKind::Contention), "{errors:?}");
        Ok(())
    })
}

/// A change whose own shard has no room releases the lock on this shard, and then locks all shards in order.
#[test]
fn transactions_with_one_sharded_change_never_deadlock() -> Result<()> {
    with_place(async |place| {
        let store = filled(place, 0).await?;
        let strategy =
            Strategy::Sharded { shards: 8, bounds: Bounds::between(0, 4_000)?, retention: Retention::DEFAULT };
        store.counter(&"stock".parse()?, strategy)?.value(&Key::new("key")?).await?;
        let callers = (0..6).map(|caller| {
            let store = &store;
            async move {
                let mut connection = begun(place, "SELECT").await?;
                for number in 0..15_i64 {
                    tell(&mut connection, "BEGIN").await?;
                    let change = Change::new(OpId::new(format!("op-{caller}-{number}"))?, (number % 3 - 1) * 300);
                    let counter = store.within(&mut connection)?.counter(&"stock".parse()?, strategy)?;
                    let _ = counter.apply(&Key::new("key")?, &change).await?;
                    drop(counter);
                    tell(&mut connection, "COMMIT").await?;
                }
                Ok::<_, storagebox_core::Error>(())
            }
        });
        futures_util::future::try_join_all(callers).await.map(drop)
    })
}

/// The first receipt creates the namespace of all receipts, so other receipts wait until its transaction ends.
#[test]
fn only_the_first_receipt_of_a_store_blocks_other_receipts() -> Result<()> {
    with_place(async |place| {
        let store = filled(place, 0).await?;
        let (mut one, mut other) = (begun(place, "BEGIN").await?, begun(place, "BEGIN").await?);
        let _ = store.within(&mut one)?.receipt().await?;
        let error = store.within(&mut other)?.receipt().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Contention, "{error}");
        tell(&mut one, "COMMIT; BEGIN").await?;
        tell(&mut other, "ROLLBACK; BEGIN").await?;
        let _ = store.within(&mut one)?.receipt().await?;
        let _ = store.within(&mut other)?.receipt().await?;
        Ok(())
    })
}

/// The transaction of the joined call may be in another database, and may be rolled back.
#[test]
fn store_keeps_no_epoch_that_a_joined_call_read() -> Result<()> {
    with_place(async |place| {
        filled(place, 1).await?;
        let store = place.builder()?.connect(&place.url_at(place.database.server()))?;
        let mut tx = place.database.owner().begin().await.map_err(failed)?;
        let other = format!("UPDATE {}.store SET epoch = epoch + 1", place.schema);
        raw_sql(sqlx::AssertSqlSafe(other)).execute(&mut *tx).await.map_err(failed)?;
        let _ = store.within(&mut *tx)?.receipt().await?;
        tx.rollback().await.map_err(failed)?;
        store.ping().await?;
        assert!(matches!(
            store.item_bank(&"bank".parse()?)?.take(&"claim".parse()?, Hold::Forever).await?,
            Taken::New(_)
        ));
        Ok(())
    })
}

/// The receipt is settled while the COMMIT of its transaction is in progress.
#[test]
fn settling_a_receipt_during_the_commit_is_contention() -> Result<()> {
    with_place(async |place| {
        let store = filled(place, 1).await?;
        let proxy = Proxy::start(place.database.server()).await.map_err(failed)?;
        let mut connection = PgConnection::connect(&place.url_at(proxy.addr())).await.map_err(failed)?;
        tell(&mut connection, "BEGIN").await?;
        assert!(matches!(take(&store, &mut connection, "claim").await?, Taken::New(_)));
        let receipt = store.within(&mut connection)?.receipt().await?;
        proxy.arm(Cut::Kept, "COMMIT", 0);
        let commit = tokio::spawn(async move { raw_sql("COMMIT").execute(&mut connection).await.map(drop) });
        proxy.wait_for_cuts(1).await;
        let impatient = place.builder()?.call_timeout(Duration::from_secs(5));
        let impatient = impatient.connect(&place.url_at(place.database.server()))?;
        let error = settle(&*impatient.dedup_repo(&Receipt::namespace()?)?, &receipt).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Contention, "{error}");
        proxy.let_go().await;
        let records = store.dedup_repo(&Receipt::namespace()?)?;
        assert_eq!(settle(&*records, &receipt).await?, CommitState::Committed);
        commit.abort();
        Ok(())
    })
}

/// A joined call sends one statement after a write of the caller, and three statements as the first write of the
/// transaction.
#[test]
fn a_joined_call_is_one_round_trip() -> Result<()> {
    with_database(async |database| {
        let place = database.place().await?;
        let store = filled(&place, 10).await?;
        let proxy = Proxy::start(place.database.server()).await.map_err(failed)?;
        let mut connection = PgConnection::connect(&place.url_at(proxy.addr())).await.map_err(failed)?;
        let mut counted = Vec::new();
        for (number, begin) in
            ["BEGIN; SELECT txid_current()", "BEGIN; SELECT txid_current()", "BEGIN"].into_iter().enumerate()
        {
            tell(&mut connection, begin).await?;
            let before = proxy.round_trips();
            let _ = take(&store, &mut connection, &format!("claim-{number}")).await?;
            counted.push(proxy.round_trips() - before);
            tell(&mut connection, "COMMIT").await?;
        }
        // The first call also prepares its statement.
        assert_eq!(counted[1..], [1, 4], "{counted:?}");
        Ok(())
    })
}

/// A dropped `begin` can leave a pooled connection inside a transaction (sqlx issues 4385 and 4393). The call is sent
/// on another connection.
#[test]
fn call_on_a_connection_left_in_a_transaction_is_retried() -> Result<()> {
    with_place(async |place| {
        filled(place, 2).await?;
        for lost in ["BEGIN; SELECT txid_current()", "BEGIN; SELECT pg_sleep(1.1)"] {
            let pool = PgPoolOptions::new().max_connections(1);
            let pool = pool.connect(&place.url_at(place.database.server())).await.map_err(failed)?;
            let store = place.builder()?.from_pool(pool.clone())?;
            tell(&mut *pool.acquire().await.map_err(failed)?, lost).await?;
            let taken = store.item_bank(&"bank".parse()?)?.take(&"claim".parse()?, Hold::Forever).await?;
            assert!(taken.item().is_some(), "{taken:?}");
            pool.close().await;
        }
        let bank = filled(place, 0).await?.item_bank(&"bank".parse()?)?;
        assert!(matches!(bank.take(&"claim".parse()?, Hold::Forever).await?, Taken::Again(_)));
        Ok(())
    })
}

/// The server must inline `is_alone`, because a function call per statement would be slow.
#[test]
fn check_for_an_open_transaction_is_part_of_the_query_plan() -> Result<()> {
    with_place(async |place| {
        let explain = format!("EXPLAIN VERBOSE SELECT 1 WHERE {}.is_alone()", place.schema);
        let plan: Vec<String> =
            sqlx::query_scalar(sqlx::AssertSqlSafe(explain)).fetch_all(place.database.owner()).await.map_err(failed)?;
        assert!(plan.concat().contains("statement_timestamp"), "{plan:?}");
        Ok(())
    })
}
