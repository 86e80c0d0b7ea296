//! Faults from outside: split writes, a server that is stopped or has no address, a clock that is set back, and an item
//! that another transaction gives back.

use std::sync::Arc;
use std::time::Duration;

use storagebox_conformance::{Proxy, keeps_text};
use storagebox_core::{Backend, Certainty, ClaimId, Counts, ErrorKind, Hold, Item, ItemBank, Result, Taken};
use storagebox_postgres::{PostgresStore, Statements};
use storagebox_testkit::checks::secrets::{self, SECRET};
use storagebox_testkit::checks::{clocks, pauses, skews};
use storagebox_testkit::postgres::{Postgres, Settings};
use tokio::task::spawn_blocking;

use crate::scene::{LONG, session, tell, until, with_place};
use crate::support::{Database, failed, moved_clock, run};

/// The timeout of a call, which is longer than the server needs to answer.
const SOON: Duration = Duration::from_secs(2);

#[test]
fn answers_do_not_change_if_network_writes_are_split() -> Result<()> {
    with_place(async |place| {
        let proxy = Proxy::start(place.database.server()).await.map_err(failed)?;
        proxy.slice(true);
        for (statements, text) in [(Statements::Prepared, "prepared"), (Statements::Simple, "simple")] {
            let builder = place.builder()?.statements(statements).call_timeout(LONG);
            let store = builder.connect(&place.url_at(proxy.addr()))?;
            keeps_text(&store, text).await.map_err(failed)?;
        }
        Ok(())
    })
}

#[tokio::test]
async fn a_server_that_is_stopped_for_a_while_loses_nothing() -> Result<()> {
    let own = spawn_blocking(|| Postgres::start(&Settings::quick())).await.map_err(failed)?.map_err(failed)?;
    let database = Database::alone(own).await?;
    let place = database.place().await?;
    for combining in [true, false] {
        let store = |patience| {
            place.builder()?.combining(combining).call_timeout(patience).connect(&place.url_at(database.server()))
        };
        pauses::lose_nothing(&store(SOON)?, &store(LONG)?, &format!("combining-{combining}"), || {
            database.own().expect("a server of its own").pause()
        })
        .await?;
    }
    Ok(())
}

/// The first part of the host's name is too long for DNS, so no name server is asked.
#[tokio::test]
async fn unresolvable_host_is_refused_without_retry() -> Result<()> {
    let url = format!("postgres://ann:{SECRET}@{}.invalid/namespace", "x".repeat(64));
    let store = PostgresStore::builder().call_timeout(LONG).connect(&url)?;
    let error = secrets::refused_with_setup(&store).await?;
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Misconfigured, Certainty::NotApplied), "{error}");
    assert!(!error.is_retryable() && std::error::Error::source(&error).is_some(), "{error}");
    Ok(())
}

/// The server's clock is set back. Holds, leases and remembered operations end by this clock.
#[test]
fn clock_set_back_ends_nothing_early_and_restores_nothing() -> Result<()> {
    with_place(async |place| {
        let store = place.builder()?.connect(&place.database.url())?;
        clocks::set_back(async |ahead| {
            run(place.database.owner(), moved_clock(&place.schema, ahead)).await?;
            Ok(Arc::new(store.clone()) as _)
        })
        .await
    })
}

/// The other transaction rolls back, so the waiting take gets the item.
#[test]
fn last_item_is_taken_after_another_transaction_unlocks_it() -> Result<()> {
    const MEANWHILE: usize = 3;
    with_place(async |place| {
        let proxy = Proxy::start(place.database.server()).await.map_err(failed)?;
        let store = place.builder()?.call_timeout(LONG).connect(&place.url_at(proxy.addr()))?;
        let (bank, ada) = (store.item_bank(&"namespace".parse()?)?, ClaimId::new("ada")?);
        bank.add(&[Item::new("last")?]).await?;
        let mut other = session(place, &format!("DELETE FROM {}.free_items", place.schema)).await?;
        let before = proxy.round_trips();
        let give_back = async {
            let asked = async || Ok(proxy.round_trips() >= before + MEANWHILE);
            until("a taker that looks again and again", asked).await?;
            tell(&mut other, "ROLLBACK").await
        };
        let (taken, ()) = tokio::try_join!(bank.take(&ada, Hold::Forever), give_back)?;
        assert!(matches!(taken, Taken::New(_)), "{taken:?}");
        assert_eq!(bank.counts().await?, Counts { free: 0, held: 1, spent: 0, withdrawn: 0 });
        Ok(())
    })
}

/// Earlier versions stored the clock skew in the options of a namespace.
#[test]
fn namespace_stored_with_a_clock_skew_opens_with_any_skew() -> Result<()> {
    with_place(async |place| {
        let sql = "UPDATE {schema}.namespaces SET options = '{options}' WHERE name = 'skews'";
        let sql = sql.replace("{schema}", &place.schema).replace("{options}", skews::STORED_BEFORE);
        let age = async || run(place.database.owner(), sql).await;
        let open = async || Ok(Arc::new(place.builder()?.connect(&place.url_at(place.database.server()))?) as _);
        skews::stored_before(open, age).await
    })
}
