//! The cost of a call: one round trip, counted by a proxy, once its connection and its namespace are open.

use redis::cmd;
use storagebox_conformance::Proxy;
use storagebox_core::{Backend, DedupRepo, ItemBank, Result};
use storagebox_testkit::checks::round_trips::{Metered, remember_at_once};
use storagebox_testkit::redis::Settings;

use crate::scene::{with_place, with_server};
use crate::support::{Place, failed};

async fn metered(place: &Place) -> Result<Metered> {
    let proxy = Proxy::start(place.server.address()).await.map_err(failed)?;
    let store = place.builder()?.connect(&place.server.url_at(proxy.addr()))?;
    Ok(Metered::new(store, move || proxy.round_trips()))
}

#[test]
fn each_call_is_one_round_trip_on_a_warm_connection() -> Result<()> {
    with_place(async |place| {
        let mut metered = metered(place).await?;
        metered.every_call("first").await?;
        metered.noted.clear();
        metered.every_call("second").await?;
        metered.assert_one_each_but(&[]);
        Ok(())
    })
}

/// The first call on a namespace costs its own round trip and those that open the namespace, as the README says.
#[test]
fn opening_a_namespace_costs_two_or_three_round_trips() -> Result<()> {
    // The server is this test's own, because another test could make it forget its scripts.
    with_server(Settings::quick(), async |place| {
        place.store()?.item_bank(&"another".parse()?)?.counts().await?;
        for expected in [4, 3] {
            let metered = metered(place).await?;
            metered.store.ping().await?;
            let bank = metered.store.item_bank(&"namespace".parse()?)?;
            assert_eq!(metered.cost_of(bank.counts()).await?.1, expected);
        }
        Ok(())
    })
}

/// A ping runs a script and reads the server's `INFO`.
#[test]
fn a_ping_is_two_round_trips() -> Result<()> {
    with_place(async |place| {
        let metered = metered(place).await?;
        metered.store.ping().await?;
        assert_eq!(metered.cost_of(metered.store.ping()).await?.1, 2);
        Ok(())
    })
}

#[test]
fn a_thousand_items_are_added_per_round_trip() -> Result<()> {
    with_place(async |place| {
        assert_eq!(metered(place).await?.cost_of_adding(5_000).await?, 5);
        Ok(())
    })
}

/// Callers share one connection, and send without waiting for the answers of other calls.
#[test]
fn calls_of_many_callers_share_one_connection() -> Result<()> {
    with_place(async |place| {
        let store = place.store()?;
        let records = store.dedup_repo(&"namespace".parse()?)?;
        remember_at_once(&records, 0..1).await?;
        remember_at_once(&records, 1..65).await?;
        assert_eq!(connections(place).await?, 1);
        assert_eq!(records.list(None, 100).await?.entries.len(), 65);
        assert_eq!(connections(place).await?, 2, "what is large goes over a connection of its own");
        Ok(())
    })
}

/// Returns the number of this user's connections that the server lists.
async fn connections(place: &Place) -> Result<usize> {
    let clients: String = place.server.ask(cmd("CLIENT").arg("LIST")).await?;
    let ours = format!("user={}", place.server.user());
    // The connection that set up the store is closed, because its store was dropped.
    Ok(clients.lines().filter(|client| client.contains(&ours)).count())
}
