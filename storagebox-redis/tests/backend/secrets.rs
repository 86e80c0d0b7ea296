//! Passwords are never shown: not by the types that a URL is read into, and not by any error with all its causes.

use std::time::Duration;

use redis::cmd;
use storagebox_core::{Backend, ClaimId, ErrorKind, Hold, Item, ItemBank, Result};
use storagebox_redis::RedisStore;
use storagebox_testkit::checks::secrets::{self, SECRET, assert_hidden, assert_none_shows};

use crate::scene::with_place;
use crate::support::failed;

fn store(url: &str) -> Result<RedisStore> {
    RedisStore::builder().call_timeout(Duration::from_secs(30)).connect(url)
}

#[test]
fn a_wrong_password_is_denied_and_not_shown() -> Result<()> {
    with_place(async |place| {
        let url = place.server.url_at(place.server.address());
        let wrong = [url.replace("hunter2-app", "hunter2-wrong"), url.replace("sbtest_", "nobody_")];
        secrets::are_denied(store, &wrong).await
    })
}

#[tokio::test]
async fn a_server_that_is_down_is_unavailable() -> Result<()> {
    secrets::where_nobody_listens(|port| store(&format!("redis://ann:{SECRET}@127.0.0.1:{port}"))).await
}

#[test]
fn a_closed_store_is_unavailable() -> Result<()> {
    with_place(async |place| secrets::once_closed(&place.store()?).await)
}

/// The public types show neither the store's URL nor its data.
#[test]
fn no_public_type_shows_the_password() -> Result<()> {
    with_place(async |place| {
        let store = place.store()?;
        let client = redis::Client::open(place.server.url()).map_err(failed)?;
        let on_a_client = place.builder()?.from_client(&client)?;
        on_a_client.ping().await?;
        let (stores, promises) =
            ([format!("{store:?}"), format!("{on_a_client:#?}")], format!("{:?}", store.promises()));
        assert_none_shows(stores.into_iter().chain([promises, format!("{:?}", place.builder()?)]));
        Ok(())
    })
}

/// No error contains the item of the failed call, because items may be worth money.
#[test]
fn no_error_shows_an_item() -> Result<()> {
    with_place(async |place| {
        let (bank, item) = (place.store()?.item_bank(&"namespace".parse()?)?, Item::new("code-hunter2")?);
        bank.add(&[item]).await?;
        let _ = bank.take(&ClaimId::new("ada")?, Hold::Forever).await?;
        // The claims are in hashes. If a key has another type, the server's error repeats the command.
        let keys: Vec<String> = place.server.ask(cmd("KEYS").arg(format!("{}:*:c*", place.prefix))).await?;
        for key in keys {
            place.server.ask::<()>(cmd("SET").arg(key).arg("hunter2")).await?;
        }
        for error in [
            bank.confirm(&ClaimId::new("ada")?).await.unwrap_err(),
            bank.release(&ClaimId::new("ada")?).await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
            assert_hidden(&error);
        }
        Ok(())
    })
}
