//! Keys and items are never shown: not by types that are built from them, and not by any error with all its causes.

use std::time::Duration;

use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, future};
use aws_sdk_dynamodb::Client as Driver;
use aws_sdk_dynamodb::config::Credentials;
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use futures_util::future::try_join_all;
use storagebox_core::{
    Backend, ClaimId, DedupId, DedupRepo, ErrorKind, Hold, Item, ItemBank, OpId, Payload, Result, Retention,
};
use storagebox_dynamo::DynamoStore;
use storagebox_testkit::checks::secrets::{SECRET, assert_hidden, assert_none_shows, refused, where_nobody_listens};
use storagebox_testkit::dynamodb::faults::{Fault, Faults};

use crate::scene::{with_place, with_table};
use crate::support::{Place, Table};

/// Returns a client with keys that must not be shown.
async fn client(table: &Table, http: Option<SharedHttpClient>) -> Driver {
    let keys = Credentials::new("AKIAhunter2", "secret-hunter2", Some("session-hunter2".into()), None, SECRET);
    let config = table.client(None, http).await.config().to_builder().credentials_provider(keys);
    Driver::from_conf(config.build())
}

#[test]
fn a_missing_table_returns_not_set_up() -> Result<()> {
    with_table(async |table| {
        let builder = DynamoStore::builder().table("sbtest-not-there");
        let store = builder.from_client(&client(table, None).await)?;
        assert_eq!(refused(&store).await?.kind(), ErrorKind::NotSetUp);
        Ok(())
    })
}

#[test]
fn a_server_that_is_down_is_unavailable() -> Result<()> {
    with_table(async |table| {
        let config = client(table, None).await.config().to_builder();
        let builder = DynamoStore::builder().call_timeout(Duration::from_secs(30));
        where_nobody_listens(|port| {
            let config = config.endpoint_url(format!("http://127.0.0.1:{port}"));
            builder.from_client(&Driver::from_conf(config.build()))
        })
        .await
    })
}

/// A provider of credentials that fails.
#[derive(Clone, Copy, Debug)]
enum NoKeys {
    NotThere,
    NotNow,
}

impl ProvideCredentials for NoKeys {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::ready(Err(match self {
            Self::NotThere => CredentialsError::not_loaded("nowhere"),
            Self::NotNow => CredentialsError::provider_error("it does not answer"),
        }))
    }
}

/// One store has no credentials. Another store cannot fetch its credentials.
#[test]
fn missing_credentials_are_denied_and_failed_ones_unavailable() -> Result<()> {
    with_table(async |table| {
        for (keys, kind) in [(NoKeys::NotThere, ErrorKind::Denied), (NoKeys::NotNow, ErrorKind::Unavailable)] {
            let config = client(table, None).await.config().to_builder().credentials_provider(keys);
            let store = DynamoStore::builder().table(table.name.as_str());
            let store = store.from_client(&Driver::from_conf(config.build()))?;
            assert_eq!(refused(&store).await?.kind(), kind, "{keys:?}");
        }
        Ok(())
    })
}

/// The store signs with a secret key, and its bank has an item.
#[test]
fn no_public_type_shows_a_key_or_an_item() -> Result<()> {
    with_place(async |place| {
        let faults = Faults::new(place.table.http());
        faults.record(true);
        let driver = client(&place.table, Some(SharedHttpClient::new(faults.clone()))).await;
        let store = place.builder().from_client(&driver)?;
        let bank = store.item_bank(&"namespace".parse()?)?;
        bank.add(&[Item::new("code-hunter2")?]).await?;
        let _ = bank.take(&ClaimId::new("ada")?, Hold::Forever).await?;
        let exchanges = faults.taken();
        assert!(exchanges.iter().any(|exchange| exchange.request.to_string().contains(SECRET)));
        assert_none_shows([format!("{store:?}"), format!("{:#?}", place.builder()), format!("{:?}", store.promises())]);
        Ok(())
    })
}

/// Every request has a fault.
#[test]
fn no_error_shows_an_item_or_a_value() -> Result<()> {
    with_place(async |place| {
        let failures = try_join_all(Fault::ALL.iter().map(|fault| failing(place, *fault))).await?;
        let failures: usize = failures.into_iter().sum();
        assert!(failures > 20, "only {failures} calls failed");
        Ok(())
    })
}

/// Makes calls on an item and on a value while every request has this fault. Returns how many of them fail.
async fn failing(place: &Place, fault: Fault) -> Result<usize> {
    let faults = Faults::new(place.table.http());
    let driver = client(&place.table, Some(SharedHttpClient::new(faults.clone()))).await;
    let name = format!("namespace-{}", fault.name());
    let patient = place.builder().from_client(&driver)?;
    let (bank, records) = (patient.item_bank(&name.as_str().parse()?)?, patient.dedup_repo(&name.as_str().parse()?)?);
    let (items, claim) = ([Item::new("code-hunter2")?, Item::new("hunter2-code")?], ClaimId::new("ada")?);
    bank.add(&items).await?;
    let _ = bank.take(&claim, Hold::Forever).await?;
    let (id, op, value) = (DedupId::new("id")?, OpId::new("op")?, Payload::try_from("value-hunter2")?);
    let _ = records.record(&id, &value, &op, Retention::Forever).await?;
    let hasty = place.builder().call_timeout(Duration::from_millis(500)).from_client(&driver)?;
    let (bank, records) = (hasty.item_bank(&name.as_str().parse()?)?, hasty.dedup_repo(&name.as_str().parse()?)?);
    // Waits until the namespaces are open, also on a busy machine, so that the calls below have the fault.
    while bank.get(&claim).await.is_err() || records.get(&id).await.is_err() {}
    faults.random(1, 100, &[fault]);
    let errors = [
        bank.add(&items).await.err(),
        bank.take(&ClaimId::new("bob")?, Hold::Forever).await.err(),
        bank.confirm(&claim).await.err(),
        bank.get(&claim).await.err(),
        bank.release(&claim).await.err(),
        bank.list(None, 10).await.err(),
        records.get(&id).await.err(),
        records.record(&id, &value, &OpId::new("another")?, Retention::Forever).await.err(),
    ];
    faults.heal();
    faults.land().await;
    errors.iter().flatten().for_each(assert_hidden);
    Ok(errors.iter().flatten().count())
}
