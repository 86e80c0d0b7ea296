//! A connection that was closed while it was idle: the next call is made on another connection, and a refusal is
//! certain.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgPoolOptions;
use storagebox_core::{
    Backend, Begun, Bounds, Change, ClaimId, Confirmed, Counted, Counter, DedupId, Hold, ItemBank, Key, LeaseRepo,
    OpId, Result, Strategy, Taken,
};
use storagebox_postgres::{PostgresStore, Statements};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{broadcast, watch};

use crate::pools::end_sessions;
use crate::scene::{LONG, count, until, with_place};
use crate::support::{Place, failed, run};

const HOUR: Duration = Duration::from_secs(3_600);

/// Makes calls that the store refuses. Checks that each call returns its refusal, and no unknown outcome.
pub(crate) async fn refusals_are_certain(store: &PostgresStore) -> Result<()> {
    let (bank, claim) = (store.item_bank(&"namespace".parse()?)?, ClaimId::new("ada")?);
    assert_eq!(bank.take(&claim, Hold::Forever).await?, Taken::Empty);
    assert_eq!(bank.confirm(&claim).await?, Confirmed::Unknown);
    Ok(())
}

pub(crate) async fn a_bound_is_certain(store: &PostgresStore) -> Result<()> {
    let atomic = store.counter(&"bounded".parse()?, Strategy::Atomic)?;
    let change = Change::new(OpId::new("op")?, -1).within(Bounds::at_least(0));
    let counted = atomic.apply(&Key::new("stock")?, &change).await?;
    assert!(matches!(counted, Counted::OutOfBounds), "{counted:?}");
    Ok(())
}

pub(crate) async fn an_addition_is_made_once(store: &PostgresStore, round: i64) -> Result<()> {
    let atomic = store.counter(&"added".parse()?, Strategy::Atomic)?;
    let counted = atomic.apply(&Key::new("stock")?, &Change::new(OpId::new("op")?, 1)).await?;
    assert_eq!(counted, Counted::Applied { value: Some(round) });
    Ok(())
}

async fn a_lease_of_another_is_certain(store: &PostgresStore) -> Result<()> {
    let leases = store.lease_repo(&"namespace".parse()?)?;
    let begun = leases.begin(&DedupId::new("id")?, &OpId::new("other")?, HOUR, None).await?;
    assert!(matches!(begun, Begun::InFlight { .. }), "{begun:?}");
    Ok(())
}

/// Checks that the refusals of several calls are certain. Calls `pause` before each call.
async fn each_call_is_certain(store: &PostgresStore, mut pause: impl AsyncFnMut() -> Result<()>) -> Result<()> {
    let leases = store.lease_repo(&"namespace".parse()?)?;
    let _ = leases.begin(&DedupId::new("id")?, &OpId::new("op")?, HOUR, None).await?;
    a_bound_is_certain(store).await?;
    an_addition_is_made_once(store, 1).await?;
    refusals_are_certain(store).await?;
    for round in 2..4 {
        pause().await?;
        refusals_are_certain(store).await?;
        pause().await?;
        a_bound_is_certain(store).await?;
        pause().await?;
        an_addition_is_made_once(store, round).await?;
        pause().await?;
        a_lease_of_another_is_certain(store).await?;
    }
    Ok(())
}

async fn each_way(place: &Place, url: &str) -> Result<Vec<PostgresStore>> {
    let builder = || Ok::<_, storagebox_core::Error>(place.builder()?.call_timeout(LONG));
    let pool = PgPoolOptions::new().max_connections(2).connect(url).await.map_err(failed)?;
    Ok(vec![
        builder()?.connect(url)?,
        builder()?.combining(false).connect(url)?,
        builder()?.statements(Statements::Simple).connect(url)?,
        builder()?.from_pool(pool)?,
    ])
}

/// Empties the tables, so that each store begins with a new counter.
pub(crate) async fn emptied(place: &Place) -> Result<()> {
    let schema = &place.schema;
    run(place.database.owner(), format!("DELETE FROM {schema}.counters; DELETE FROM {schema}.records")).await
}

pub(crate) async fn sessions(place: &Place) -> Result<i64> {
    let sql = format!("SELECT count(*) FROM pg_stat_activity WHERE usename = '{}'", place.database.role());
    count(&place.database, &sql).await
}

#[test]
fn refusal_is_returned_after_an_idle_session_ended() -> Result<()> {
    with_place(async |place| {
        let role = place.database.role();
        // Longer than a new session waits for its first call on a busy machine.
        run(place.database.owner(), format!("ALTER ROLE {role} SET idle_session_timeout = '1s'")).await?;
        for store in each_way(place, &place.database.url()).await? {
            let gone = async || until("the end of the idle session", async || Ok(sessions(place).await? == 0)).await;
            each_call_is_certain(&store, gone).await?;
            emptied(place).await?;
        }
        Ok(())
    })
}

#[test]
fn refusal_is_returned_after_an_administrator_ended_the_session() -> Result<()> {
    with_place(async |place| {
        for store in each_way(place, &place.database.url()).await? {
            each_call_is_certain(&store, async || end_sessions(place).await.map(drop)).await?;
            emptied(place).await?;
        }
        Ok(())
    })
}

/// A proxy that can close all its connections without a message to the client.
pub(crate) struct Balancer {
    port: u16,
    upstream: watch::Sender<SocketAddr>,
    close: broadcast::Sender<()>,
}

impl Balancer {
    pub(crate) async fn start(upstream: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let ((upstream, leads_to), (close, _)) = (watch::channel(upstream), broadcast::channel(1));
        let closing = close.clone();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let (mut closed, upstream) = (closing.subscribe(), *leads_to.borrow());
                tokio::spawn(async move {
                    let mut server = TcpStream::connect(upstream).await?;
                    tokio::select! {
                        _ = closed.recv() => Ok(()),
                        ended = copy_bidirectional(&mut client, &mut server) => ended.map(drop),
                    }
                });
            }
        });
        Ok(Self { port, upstream, close })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.port).into()
    }

    pub(crate) fn close(&self) {
        drop(self.close.send(()));
    }

    /// Closes all connections, and connects new clients to another server.
    pub(crate) fn lead_to(&self, upstream: SocketAddr) {
        self.upstream.send_replace(upstream);
        self.close();
    }
}

/// The test moves the timers' clock forward, so the store sees the connections as long idle.
#[test]
fn refusal_is_returned_after_a_balancer_closed_the_connection() -> Result<()> {
    with_place(async |place| {
        let balancer = Balancer::start(place.database.server()).await?;
        let url = place.url_at(balancer.address());
        for store in each_way(place, &url).await? {
            let pause = async || {
                balancer.close();
                until("the end of all sessions", async || Ok(sessions(place).await? == 0)).await?;
                tokio::time::pause();
                tokio::time::advance(Duration::from_secs(2)).await;
                tokio::time::resume();
                Ok(())
            };
            each_call_is_certain(&store, pause).await?;
            emptied(place).await?;
        }
        Ok(())
    })
}

/// The next call opens a new connection, and does not try the ended connection.
#[test]
fn connection_that_the_server_ended_is_replaced_once() -> Result<()> {
    with_place(async |place| {
        let store = Arc::new(place.builder()?.max_connections(1).connect(&place.database.url())?);
        each_call_is_certain(&store, async || Ok(())).await?;
        end_sessions(place).await?;
        for _ in 0..3 {
            refusals_are_certain(&store).await?;
        }
        assert_eq!(sessions(place).await?, 1);
        Ok(())
    })
}
