//! Passwords are shown nowhere: not by what is built of a URL, and not by any error, with all its causes.

use std::error::Error as _;
use std::time::Duration;

use redis::cmd;
use storagebox_core::{Backend, ClaimId, Error, ErrorKind, Hold, Item, ItemBank, Result};
use storagebox_redis::RedisStore;
use storagebox_testkit::port;

use crate::scene::with_place;
use crate::support::failed;

/// The password of every user of these tests begins with it.
const SECRET: &str = "hunter2";

fn assert_hidden(error: &Error) {
    let mut shown = format!("{error} {error:?} {:?}", error.context().collect::<Vec<_>>());
    let mut cause = error.source();
    while let Some(next) = cause {
        shown.push_str(&format!(" {next}"));
        cause = next.source();
    }
    assert!(!shown.contains(SECRET), "{}", shown.replace(SECRET, "<the secret>"));
}

/// The error of a first call, a ping and a setup, which are to be of one kind.
async fn refused(url: &str) -> Result<Error> {
    let store = RedisStore::builder().call_timeout(Duration::from_secs(30)).connect(url)?;
    let errors = [
        store.ping().await.unwrap_err(),
        store.setup().await.unwrap_err(),
        store.item_bank(&"namespace".parse()?)?.counts().await.unwrap_err(),
    ];
    let [ping, setup, call] = errors;
    for error in [&ping, &setup, &call] {
        assert_hidden(error);
    }
    assert_eq!((ping.kind(), setup.kind()), (call.kind(), call.kind()), "{ping} {setup} {call}");
    Ok(call)
}

#[tokio::test]
async fn a_wrong_password_is_denied_and_not_shown() -> Result<()> {
    with_place(async |place| {
        let url = place.server.url_at(place.server.address());
        let wrong = url.replace("hunter2-app", "hunter2-wrong");
        assert_eq!(refused(&wrong).await?.kind(), ErrorKind::Denied);
        let nobody = url.replace("sbtest_", "nobody_");
        assert_eq!(refused(&nobody).await?.kind(), ErrorKind::Denied);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_server_that_is_down_is_unavailable() -> Result<()> {
    let port = port::free().map_err(failed)?;
    let error = refused(&format!("redis://ann:{SECRET}@127.0.0.1:{port}")).await?;
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.is_retryable());
    Ok(())
}

#[tokio::test]
async fn a_closed_store_is_unavailable() -> Result<()> {
    with_place(async |place| {
        let store = place.store()?;
        store.ping().await?;
        store.close().await?;
        let error = store.item_bank(&"namespace".parse()?)?.counts().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert_hidden(&error);
        Ok(())
    })
    .await
}

/// What a store is made of shows neither its URL nor what goes through it.
#[tokio::test]
async fn nothing_public_shows_the_password() -> Result<()> {
    with_place(async |place| {
        let store = place.store()?;
        let client = redis::Client::open(place.server.url()).map_err(failed)?;
        let on_a_client = place.builder()?.from_client(&client)?;
        on_a_client.ping().await?;
        for shown in [format!("{store:?}"), format!("{on_a_client:#?}"), format!("{:?}", place.builder()?)] {
            assert!(!shown.contains(SECRET), "{shown}");
        }
        assert!(!format!("{:?}", store.promises()).contains(SECRET));
        Ok(())
    })
    .await
}

/// An item that a failing call was about is in no error: codes are money.
#[tokio::test]
async fn no_error_shows_an_item() -> Result<()> {
    with_place(async |place| {
        let (bank, item) = (place.store()?.item_bank(&"namespace".parse()?)?, Item::new("code-hunter2")?);
        bank.add(&[item]).await?;
        let _ = bank.take(&ClaimId::new("ada")?, Hold::Forever).await?;
        // The claims are in hashes; the server says of another kind of value what it was asked for.
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
    .await
}
