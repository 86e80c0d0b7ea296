//! Over TLS, with a certificate of an authority that nobody but this test knows.

use std::fs;

use storagebox_core::{ErrorKind, Item, ItemBank, ItemBankExt, Result, Store, StoreExt, Taken};
use storagebox_redis::RedisStore;
use storagebox_testkit::redis::{Redis, Settings};
use tokio::task::spawn_blocking;

use crate::support::failed;

#[tokio::test]
async fn a_server_is_checked_against_its_authority() -> Result<()> {
    let settings = Settings::quick().with_tls();
    let server = spawn_blocking(move || Redis::start(&settings)).await.map_err(failed)?.map_err(failed)?;
    let authority = fs::read(server.authority().expect("it has TLS")).map_err(failed)?;
    let store = RedisStore::builder().authority(&authority)?.connect(&server.url())?;
    store.setup().await?;
    let bank = store.bank("box")?;
    bank.add(&[Item::new("one")?]).await?;
    assert!(matches!(bank.assign("ada").await?, Taken::New(_)));

    let stranger = RedisStore::connect(&server.url())?;
    let error = stranger.ping().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "an authority that nobody trusts: {error}");
    let plain = RedisStore::connect(&server.url().replace("rediss:", "redis:"))?;
    assert_eq!(plain.ping().await.unwrap_err().kind(), ErrorKind::Unavailable);
    Ok(())
}
