//! A hot standby answers nothing, because it may be far behind. Once it is promoted, it is the store.

use std::net::SocketAddr;

use sqlx::{Connection, PgConnection, query_scalar};
use storagebox_core::{Backend, Certainty, ErrorKind, Result};
use storagebox_testkit::checks::calls;
use storagebox_testkit::postgres::{Postgres, Settings};
use tokio::task::spawn_blocking;

use crate::ended::Balancer;
use crate::scene::{LONG, owner_url, until};
use crate::support::{Database, failed};

async fn asked(url: &str, sql: &'static str) -> Result<bool> {
    let mut session = PgConnection::connect(url).await.map_err(failed)?;
    query_scalar(sql).fetch_one(&mut session).await.map_err(failed)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_answers_nothing_until_it_is_promoted() -> Result<()> {
    let start = || {
        let primary = Postgres::start(&Settings::quick())?;
        primary.standby().map(|standby| (primary, standby))
    };
    let (primary, standby) = spawn_blocking(start).await.map_err(failed)?.map_err(failed)?;
    let primary = Database::alone(primary).await?;
    let place = primary.place().await?;
    let balancer = Balancer::start(primary.server()).await?;
    let store = place.builder()?.call_timeout(LONG).connect(&place.url_at(balancer.address()))?;
    calls::make_all(&store, "old").await?;
    let at_standby: SocketAddr = ([127, 0, 0, 1], standby.port()).into();
    let there = owner_url(&primary, "there").replace(&primary.server().to_string(), &at_standby.to_string());
    let has_all = "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE replay_lsn = pg_current_wal_lsn())";
    until("the standby to have all", async || asked(&owner_url(&primary, "here"), has_all).await).await?;
    balancer.lead_to(at_standby);
    for (call, error) in calls::errors(&store, "old").await? {
        let error = error.unwrap_or_else(|| panic!("{call} was answered"));
        let is_refused = error.kind() == ErrorKind::Unavailable && error.certainty() == Certainty::NotApplied;
        // The first call may find its connection closed without a message, so its outcome is unknown.
        assert!(is_refused || call == "add" && error.certainty() == Certainty::Unknown, "{call}: {error}");
    }
    spawn_blocking(move || primary.own().map(|server| server.kill()))
        .await
        .map_err(failed)?
        .transpose()
        .map_err(failed)?;
    assert!(asked(&there, "SELECT pg_promote()").await?);
    store.ping().await?;
    for (call, error) in calls::errors(&store, "old").await? {
        assert!(error.is_none(), "{call}: {error:?}");
    }
    Ok(())
}
