//! The cost of a call: one round trip, counted by a proxy, once its connection and its namespace are open.

use storagebox_conformance::Proxy;
use storagebox_core::{Backend, DedupRepo, Result};
use storagebox_postgres::Statements;
use storagebox_testkit::checks::calls;
use storagebox_testkit::checks::round_trips::{Metered, remember_at_once};

use crate::scene::with_place;
use crate::support::{Place, failed};

/// Returns a store with one connection and these settings, behind a proxy that counts round trips.
pub(crate) async fn metered(place: &Place, statements: Statements, settings: &str) -> Result<Metered> {
    let proxy = Proxy::start(place.database.server()).await.map_err(failed)?;
    let builder = place.builder()?.statements(statements).max_connections(1);
    let store = builder.connect(&format!("{}{settings}", place.url_at(proxy.addr())))?;
    Ok(Metered::new(store, move || proxy.round_trips()))
}

pub(crate) async fn every_call(metered: &mut Metered, name: &str) -> Result<()> {
    metered.every_call(name).await?;
    metered.ping_and_setup().await
}

/// Opens the namespace of leases with a new lease, and each other namespace with a read.
async fn open_namespaces(store: &dyn Backend) -> Result<()> {
    for call in calls::all(store, "namespace", "nobody")? {
        if calls::LOOKS.contains(&call.name.as_str()) || call.name == "begin" {
            call.make().await?;
        }
    }
    Ok(())
}

async fn assert_one_each(mut metered: Metered) -> Result<()> {
    every_call(&mut metered, "then").await?;
    metered.assert_one_each_but(&[]);
    Ok(())
}

#[test]
fn each_call_is_one_round_trip_on_a_warm_connection() -> Result<()> {
    with_place(async |place| {
        let mut metered = metered(place, Statements::Prepared, "").await?;
        every_call(&mut metered, "first").await?;
        metered.noted.clear();
        assert_one_each(metered).await
    })
}

/// Simple statements prepare nothing, so the first call of a kind costs no more than the next.
#[test]
fn first_call_with_simple_statements_is_one_round_trip() -> Result<()> {
    with_place(async |place| {
        let metered = metered(place, Statements::Simple, "").await?;
        open_namespaces(&*metered.store).await?;
        assert_one_each(metered).await
    })
}

#[test]
fn add_sends_five_thousand_items_per_round_trip() -> Result<()> {
    with_place(async |place| {
        assert_eq!(metered(place, Statements::Prepared, "").await?.cost_of_adding(20_000).await?, 4);
        Ok(())
    })
}

/// The calls that begin before the first call is answered are sent together.
#[test]
fn calls_made_during_another_call_share_one_round_trip() -> Result<()> {
    with_place(async |place| {
        let metered = metered(place, Statements::Simple, "").await?;
        open_namespaces(&*metered.store).await?;
        let records = metered.store.dedup_repo(&"namespace".parse()?)?;
        let ((), trips) = metered.cost_of(remember_at_once(&records, 0..32)).await?;
        assert_eq!(trips, 2);
        assert_eq!(records.list(None, 100).await?.entries.len(), 32);
        Ok(())
    })
}
