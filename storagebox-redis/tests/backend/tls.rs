//! TLS, with a certificate of a CA that only this test knows.

use std::fs;

use storagebox_core::{Backend, Certainty, ErrorKind, Hold, Item, ItemBank, Result, Taken};
use storagebox_redis::RedisStore;
use storagebox_testkit::redis::{Redis, Settings};
use tokio::task::spawn_blocking;

use crate::support::failed;

fn in_url(path: &std::path::Path) -> String {
    path.display().to_string().replace('%', "%25").replace('&', "%26")
}

#[tokio::test]
async fn a_server_that_requires_a_client_certificate_gets_it() -> Result<()> {
    let settings = Settings::quick().with_tls().with("tls-auth-clients", "yes");
    let server = spawn_blocking(move || Redis::start(&settings)).await.map_err(failed)?.map_err(failed)?;
    let authority = server.authority().expect("it has TLS");
    let (certificate, key) = server.client_certificate().expect("it has TLS");
    let trusting = format!("{}?tls_ca_cert_file={}", server.url(), in_url(&authority));
    let files = format!("tls_cert_file={}&tls_key_file={}", in_url(&certificate), in_url(&key));
    RedisStore::connect(&format!("{trusting}&{files}"))?.setup().await?;
    let read = |path| fs::read(path).map_err(failed);
    let builder = RedisStore::builder().authority(&read(authority)?)?;
    builder.client_certificate(&read(certificate)?, &read(key)?)?.connect(&server.url())?.ping().await?;
    let error = RedisStore::connect(&trusting)?.ping().await.unwrap_err();
    let (kind, certainty) = (error.kind(), error.certainty());
    // The server ends the connection with an alert. The alert may be lost with the connection.
    let is_refused = [ErrorKind::Denied, ErrorKind::Unavailable].contains(&kind);
    assert!(is_refused && certainty == Certainty::NotApplied, "a stranger: {error}");
    Ok(())
}

#[tokio::test]
async fn a_server_certificate_of_an_unknown_authority_is_refused() -> Result<()> {
    let settings = Settings::quick().with_tls();
    let server = spawn_blocking(move || Redis::start(&settings)).await.map_err(failed)?.map_err(failed)?;
    let authority = fs::read(server.authority().expect("it has TLS")).map_err(failed)?;
    let store = RedisStore::builder().authority(&authority)?.connect(&server.url())?;
    store.setup().await?;
    let bank = store.item_bank(&"namespace".parse()?)?;
    bank.add(&[Item::new("one")?]).await?;
    assert!(matches!(bank.take(&"ada".parse()?, Hold::Forever).await?, Taken::New(_)));

    let stranger = RedisStore::connect(&server.url())?;
    let error = stranger.ping().await.unwrap_err();
    let (kind, certainty) = (error.kind(), error.certainty());
    assert_eq!((kind, certainty), (ErrorKind::Misconfigured, Certainty::NotApplied), "an unknown authority: {error}");
    assert!(!error.is_retryable() && error.to_string().contains("tls_ca_cert_file"), "{error}");
    let plain = RedisStore::connect(&server.url().replace("rediss:", "redis:"))?;
    assert_eq!(plain.ping().await.unwrap_err().kind(), ErrorKind::Unavailable);
    Ok(())
}
