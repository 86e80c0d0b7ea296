//! Encrypted connections: checked against the authority that the URL names, and refused before anything is sent.

use storagebox_core::{Backend, ErrorKind, ItemBank, Result};
use storagebox_postgres::PostgresStore;
use storagebox_testkit::postgres::{Postgres, Settings};
use tokio::task::spawn_blocking;

use crate::support::failed;

async fn server() -> Result<Postgres> {
    let started = spawn_blocking(|| Postgres::start(&Settings::quick().with_tls())).await;
    started.map_err(failed)?.map_err(failed)
}

fn tls_url(server: &Postgres) -> Result<String> {
    server.tls_url().ok_or_else(|| failed("the server has no certificate"))
}

#[tokio::test]
async fn server_is_trusted_only_with_its_own_ca() -> Result<()> {
    let (server, other) = tokio::try_join!(server(), server())?;
    let url = tls_url(&server)?;
    let store = PostgresStore::connect(&url)?;
    store.setup().await?;
    assert_eq!(store.item_bank(&"namespace".parse()?)?.counts().await?.total(), 0);
    let authority = |server: &Postgres| server.authority().map(|path| path.display().to_string());
    let (right, wrong) = (authority(&server).unwrap_or_default(), authority(&other).unwrap_or_default());
    let store = PostgresStore::connect(&url.replace(&right, &wrong))?;
    let error = store.item_bank(&"namespace".parse()?)?.counts().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
    assert!(error.to_string().contains("`sslrootcert` names"), "{error}");
    assert_eq!(store.ping().await.unwrap_err().kind(), ErrorKind::Misconfigured);
    Ok(())
}

#[test]
fn server_without_encryption_is_refused_with_sslmode_require() -> Result<()> {
    crate::scene::with_place(async |place| {
        let url = format!("{}&sslmode=require", place.url_at(place.database.server()));
        let error = place.builder()?.connect(&url)?.ping().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
        Ok(())
    })
}

/// The URL names a CA that did not sign the server's certificate. The URL sets either no mode, or a mode in which the
/// driver checks no CA.
#[tokio::test]
async fn foreign_ca_is_refused_even_with_a_weak_sslmode() -> Result<()> {
    let (server, other) = tokio::try_join!(server(), server())?;
    let foreign = other.authority().ok_or_else(|| failed("the server has no certificate"))?;
    for mode in ["", "&sslmode=require", "&sslmode=prefer", "&sslmode=allow", "&sslmode=verify-ca"] {
        let url = format!("{}?sslrootcert={}{mode}", server.url(), foreign.display());
        let error = PostgresStore::connect(&url)?.setup().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Misconfigured, "{mode}: {error}");
    }
    let own = server.authority().ok_or_else(|| failed("the server has no certificate"))?;
    PostgresStore::connect(&format!("{}?sslrootcert={}", server.url(), own.display()))?.setup().await
}
