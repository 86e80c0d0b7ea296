//! Connections that broke, are all in use, or get no answer.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgPoolOptions;
use sqlx::{AssertSqlSafe, Postgres, Transaction, raw_sql};
use storagebox_conformance::{Cut, Proxy};
use storagebox_core::{
    Backend, Certainty, ClaimId, Error, ErrorKind, Hold, Item, ItemBank, Result, Taken, TokenId, TokenStore,
};
use storagebox_postgres::PostgresStore;
use tokio::task::JoinSet;

use crate::scene::{LONG, blocked, count, until, with_place};
use crate::support::{Place, failed, run};

/// Makes one take per caller, all at once.
pub(crate) async fn takes(store: &PostgresStore, round: &str, callers: usize) -> Result<()> {
    let bank = store.item_bank(&"namespace".parse()?)?;
    let mut takes = JoinSet::new();
    for caller in 0..callers {
        let (bank, claim) = (Arc::clone(&bank), ClaimId::new(format!("{round}-{caller}"))?);
        takes.spawn(async move { bank.take(&claim, Hold::Forever).await });
    }
    for taken in takes.join_all().await {
        assert!(matches!(taken?, Taken::New(_)), "{round}");
    }
    Ok(())
}

pub(crate) async fn fill(store: &PostgresStore, count: usize) -> Result<()> {
    let items: Vec<_> = (0..count).map(|number| Item::new(format!("{number}"))).collect::<Result<_>>()?;
    store.item_bank(&"namespace".parse()?)?.add(&items).await.map(drop)
}

/// Ends every session of the role, and waits for the ends. Returns the number of ended sessions.
pub(crate) async fn end_sessions(place: &Place) -> Result<i64> {
    let of_role = format!("FROM pg_stat_activity WHERE usename = '{}'", place.database.role());
    let sessions = count(&place.database, &format!("SELECT count(*) {of_role}")).await?;
    run(place.database.owner(), format!("SELECT pg_terminate_backend(pid) {of_role}")).await?;
    until("the end of all sessions", async || {
        Ok(count(&place.database, &format!("SELECT count(*) {of_role}")).await? == 0)
    })
    .await?;
    Ok(sessions)
}

/// Ends the store's sessions several times. Checks that the store's calls still succeed.
async fn broken_connections_are_replaced(place: &Place, store: PostgresStore) -> Result<()> {
    fill(&store, 1_000).await?;
    for round in 0..3 {
        // So many callers use more than one connection.
        takes(&store, &format!("{round}-before"), 256).await?;
        assert!(end_sessions(place).await? > 1, "only one connection was open");
        takes(&store, &format!("{round}-alone"), 1).await?;
        end_sessions(place).await?;
        store.ping().await?;
        end_sessions(place).await?;
        takes(&store, &format!("{round}-after"), 8).await?;
    }
    Ok(())
}

#[test]
fn broken_connections_of_the_pool_of_the_store_are_replaced() -> Result<()> {
    with_place(async |place| {
        let store = place.builder()?.combining(false).connect(&place.database.url())?;
        broken_connections_are_replaced(place, store).await
    })
}

#[test]
fn broken_connections_of_a_pool_of_the_caller_are_replaced() -> Result<()> {
    with_place(async |place| {
        let pool = PgPoolOptions::new().max_connections(8).connect(&place.database.url()).await;
        let store = place.builder()?.combining(false).from_pool(pool.map_err(failed)?)?;
        broken_connections_are_replaced(place, store).await
    })
}

pub(crate) const SHORT: Duration = Duration::from_millis(500);

/// Single calls and calls in a batch time out without having sent anything.
#[test]
fn call_that_got_no_connection_is_not_applied() -> Result<()> {
    with_place(async |place| {
        let pool = PgPoolOptions::new().max_connections(1).connect(&place.database.url()).await;
        let pool = pool.map_err(failed)?;
        let patient = place.builder()?.from_pool(pool.clone())?;
        fill(&patient, 10).await?;
        for combining in [false, true] {
            let builder = place.builder()?.combining(combining).call_timeout(SHORT);
            let store = builder.from_pool(pool.clone())?;
            until("an open namespace", async || Ok(store.item_bank(&"namespace".parse()?)?.counts().await.is_ok()))
                .await?;
            let held = pool.acquire().await.map_err(failed)?;
            for error in refused_takes(&store, combining).await? {
                let found = (error.kind(), error.certainty());
                assert_eq!(found, (ErrorKind::Contention, Certainty::NotApplied), "{combining}: {error:?}");
            }
            drop(held);
            assert_eq!(patient.item_bank(&"namespace".parse()?)?.counts().await?.held, 0, "{combining}");
        }
        Ok(())
    })
}

async fn refused_takes(store: &PostgresStore, combining: bool) -> Result<Vec<Error>> {
    let (bank, mut takes) = (store.item_bank(&"namespace".parse()?)?, JoinSet::new());
    for caller in 0..6 {
        let (bank, claim) = (Arc::clone(&bank), ClaimId::new(format!("{combining}-{caller}"))?);
        takes.spawn(async move { bank.take(&claim, Hold::Forever).await.unwrap_err() });
    }
    Ok(takes.join_all().await)
}

/// The server accepts the connection and then sends nothing.
#[tokio::test]
async fn call_to_a_silent_server_is_not_applied() -> Result<()> {
    let silent = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
    let url = format!("postgres://ann@{}/namespace", silent.local_addr().map_err(failed)?);
    let store = PostgresStore::builder().call_timeout(SHORT).connect(&url)?;
    let take = store.item_bank(&"namespace".parse()?)?.take(&ClaimId::new("claim")?, Hold::Forever).await.map(drop);
    for refused in [take, store.setup().await, store.ping().await] {
        let error = refused.unwrap_err();
        assert_eq!(error.certainty(), Certainty::NotApplied, "{error:?}");
    }
    Ok(())
}

/// The pool closes the connection of the dropped call, while the server still runs the call's statement.
#[test]
fn dropped_call_that_waits_for_a_lock_blocks_no_other_call() -> Result<()> {
    with_place(async |place| {
        let builder = place.builder()?.combining(false).max_connections(1).call_timeout(LONG);
        let store = builder.connect(&place.url_at(place.database.server()))?;
        fill(&store, 1).await?;
        // Without this, the take would give up by itself during the test.
        let patient = "bank_take SET lock_timeout = '1h'";
        run(place.database.owner(), format!("ALTER FUNCTION {}.{patient}", place.schema)).await?;
        let other = locked(place).await?;
        let (bank, claim) = (store.item_bank(&"namespace".parse()?)?, ClaimId::new("stuck")?);
        let is_stuck = async || Ok(blocked(&place.database, &place.schema).await? == 1);
        tokio::select! {
            taken = bank.take(&claim, Hold::Forever) => panic!("{taken:?}"),
            stuck = until("a take that is stuck", is_stuck) => stuck?,
        }
        assert!(!store.token_store(&"namespace".parse()?)?.exists(&TokenId::new("token")?).await?);
        assert_eq!(blocked(&place.database, &place.schema).await?, 1);
        drop(other);
        Ok(())
    })
}

/// Returns a transaction that locks the claims until the transaction is dropped.
pub(crate) async fn locked(place: &Place) -> Result<Transaction<'static, Postgres>> {
    let mut other = place.database.owner().begin().await.map_err(failed)?;
    let lock = format!("LOCK TABLE {}.claims IN ACCESS EXCLUSIVE MODE", place.schema);
    raw_sql(AssertSqlSafe(lock)).execute(&mut *other).await.map_err(failed)?;
    Ok(other)
}

/// The server commits the take, but the answer comes too late. A later take for the same claim returns the item.
#[test]
fn call_without_an_answer_ends_as_outcome_unknown() -> Result<()> {
    with_place(async |place| {
        let proxy = Proxy::start(place.database.server()).await.map_err(failed)?;
        let patient = place.builder()?.call_timeout(LONG).connect(&place.database.url())?;
        fill(&patient, 2).await?;
        let builder = place.builder()?.call_timeout(Duration::from_secs(2));
        let store = builder.connect(&place.url_at(proxy.addr()))?;
        until("a warm connection", async || Ok(store.item_bank(&"namespace".parse()?)?.counts().await.is_ok())).await?;
        let (bank, claim) = (store.item_bank(&"namespace".parse()?)?, ClaimId::new("never-answered")?);
        proxy.arm(Cut::NoAnswer, claim.as_str(), 0);
        let error = bank.take(&claim, Hold::Forever).await.unwrap_err();
        assert_eq!((error.kind(), proxy.cuts()), (ErrorKind::OutcomeUnknown, 1), "{error:?}");
        let taken = patient.item_bank(&"namespace".parse()?)?.take(&claim, Hold::Forever).await?;
        assert!(matches!(taken, Taken::Again(_)), "{taken:?}");
        store.close().await
    })
}

/// The pool sends nothing before a call, so the proxy resets the connection at the call itself.
#[test]
fn call_whose_connection_is_reset_succeeds() -> Result<()> {
    with_place(async |place| {
        let proxy = Proxy::start(place.database.server()).await.map_err(failed)?;
        let store = place.builder()?.connect(&place.url_at(proxy.addr()))?;
        fill(&store, 10).await?;
        for cut in [Cut::RequestLost, Cut::HalfRequest, Cut::ReplyLost, Cut::HalfReply] {
            let claim = ClaimId::new(format!("claim-{cut:?}"))?;
            let bank: Arc<dyn ItemBank> = store.item_bank(&"namespace".parse()?)?;
            proxy.arm(cut, claim.as_str(), 0);
            let taken = bank.take(&claim, Hold::Forever).await?;
            assert!(matches!(taken, Taken::New(_) | Taken::Again(_)), "{cut:?}: {taken:?}");
        }
        assert_eq!((proxy.cuts(), store.item_bank(&"namespace".parse()?)?.counts().await?.held), (4, 4));
        Ok(())
    })
}
