//! Passwords are never shown: neither by what is built from a URL, nor by any error and its causes.

use std::time::Duration;

use sqlx::postgres::PgPoolOptions;
use storagebox_core::{Backend, ClaimId, ErrorKind, Hold, Item, ItemBank, Result};
use storagebox_postgres::PostgresStore;
use storagebox_testkit::checks::secrets::{self, SECRET, assert_hidden, assert_none_shows};

use crate::scene::{with_database, with_place};
use crate::support::{failed, run};

fn store(url: &str) -> Result<PostgresStore> {
    PostgresStore::builder().call_timeout(Duration::from_secs(30)).connect(url)
}

#[test]
fn a_wrong_password_is_denied_and_not_shown() -> Result<()> {
    with_database(async |database| {
        let nobody = database.url().replace(&format!("{}:", database.role()), "nobody_at_all:");
        secrets::are_denied(store, &[database.url().replace("hunter2-app", "hunter2-wrong"), nobody]).await
    })
}

#[tokio::test]
async fn a_server_that_is_down_is_unavailable() -> Result<()> {
    secrets::where_nobody_listens(|port| store(&format!("postgres://ann:{SECRET}@127.0.0.1:{port}/namespace"))).await
}

#[test]
fn missing_database_is_reported_as_not_set_up() -> Result<()> {
    with_database(async |database| {
        let gone = store(&format!("{}_gone", database.url()))?;
        assert_eq!(secrets::refused_with_setup(&gone).await?.kind(), ErrorKind::NotSetUp);
        Ok(())
    })
}

#[test]
fn a_closed_store_is_unavailable() -> Result<()> {
    with_place(async |place| secrets::once_closed(&place.builder()?.connect(&place.database.url())?).await)
}

#[test]
fn debug_texts_show_no_password_and_no_item() -> Result<()> {
    with_place(async |place| {
        let url = place.database.url();
        assert!(url.contains(SECRET));
        let store = place.builder()?.connect(&url)?;
        let pool = PgPoolOptions::new().connect(&url).await.map_err(failed)?;
        let on_a_pool = place.builder()?.from_pool(pool)?;
        let (stores, promises) = ([format!("{store:?}"), format!("{on_a_pool:#?}")], format!("{:?}", store.promises()));
        assert_none_shows(stores.into_iter().chain([promises, format!("{:?}", place.builder()?)]));
        Ok(())
    })
}

#[test]
fn no_error_shows_an_item() -> Result<()> {
    with_place(async |place| {
        let store = place.builder()?.connect(&place.database.url())?;
        let (bank, item) = (store.item_bank(&"namespace".parse()?)?, Item::new("code-hunter2")?);
        bank.add(std::slice::from_ref(&item)).await?;
        let _ = bank.take(&ClaimId::new("ada")?, Hold::Forever).await?;
        // The server names the row in its own message.
        let check = "ADD CONSTRAINT none CHECK (item IS NULL) NOT VALID";
        for table in ["free_items", "claims"] {
            run(place.database.owner(), format!("ALTER TABLE {}.{table} {check}", place.schema)).await?;
        }
        assert_hidden(&bank.confirm(&ClaimId::new("ada")?).await.unwrap_err());
        assert_hidden(&bank.add(&[Item::new("new-hunter2")?]).await.unwrap_err());
        Ok(())
    })
}
