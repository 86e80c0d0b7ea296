//! Continuous backups, simulated in front of a server without them, and what `setup` requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use http::StatusCode;
use serde_json::{Value, json};
use storagebox_core::{Backend as _, Result};
use storagebox_dynamo::{DynamoBuilder, DynamoStore};
use storagebox_testkit::dynamodb::faults::{Exchange, Faults};

use crate::scene::with_table;
use crate::support::{Table, failed};

#[derive(Clone, Debug)]
struct WithBackups {
    inner: SharedHttpClient,
    on: Arc<AtomicBool>,
}

#[derive(Clone, Debug)]
struct Backups {
    inner: SharedHttpConnector,
    on: Arc<AtomicBool>,
}

impl HttpClient for WithBackups {
    fn http_connector(&self, settings: &HttpConnectorSettings, components: &RuntimeComponents) -> SharedHttpConnector {
        let inner = self.inner.http_connector(settings, components);
        SharedHttpConnector::new(Backups { inner, on: Arc::clone(&self.on) })
    }
}

impl HttpConnector for Backups {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let asked = request.headers().get("x-amz-target").unwrap_or_default();
        match asked.rsplit('.').next() {
            Some("DescribeContinuousBackups") => {}
            Some("UpdateContinuousBackups") => self.on.store(true, Ordering::Relaxed),
            _ => return self.inner.call(request),
        }
        let status = if self.on.load(Ordering::Relaxed) { "ENABLED" } else { "DISABLED" };
        let recovery = json!({ "PointInTimeRecoveryStatus": status });
        let described = json!({ "ContinuousBackupsStatus": "ENABLED", "PointInTimeRecoveryDescription": recovery });
        let answer = json!({ "ContinuousBackupsDescription": described }).to_string();
        HttpConnectorFuture::ready(Ok(HttpResponse::new(StatusCode::OK.into(), SdkBody::from(answer))))
    }
}

/// Returns a store on a server with backups, and the recorder of its requests.
pub(crate) async fn recorded_with_backups(table: &Arc<Table>, builder: DynamoBuilder) -> Result<(DynamoStore, Faults)> {
    let faults = Faults::new(WithBackups { inner: table.http(), on: Arc::default() });
    let client = table.client(None, Some(SharedHttpClient::new(faults.clone()))).await;
    faults.record(true);
    Ok((builder.from_client(&client)?, faults))
}

/// Removes a table. Turns its deletion protection off first.
pub(crate) async fn remove(table: &Table, name: &str) -> Result<()> {
    let unprotected = table.raw().update_table().table_name(name).deletion_protection_enabled(false);
    unprotected.send().await.map_err(failed)?;
    table.raw().delete_table().table_name(name).send().await.map(drop).map_err(failed)
}

pub(crate) fn asked(sent: &[Exchange], operation: &str) -> Vec<Value> {
    let of_operation = sent.iter().filter(|exchange| exchange.operation == operation);
    of_operation.map(|exchange| exchange.request.clone()).collect()
}

#[test]
fn setup_protects_the_table_unless_protect_is_off() -> Result<()> {
    with_table(async |table| {
        for protect in [true, false] {
            let name = format!("{}-protect-{protect}", table.name);
            let builder = DynamoStore::builder().table(name.as_str());
            let builder = if protect { builder } else { builder.protect(false) };
            let (store, faults) = recorded_with_backups(table, builder).await?;
            store.setup().await?;
            let sent = faults.taken();
            let protection = &asked(&sent, "CreateTable")[0]["DeletionProtectionEnabled"];
            assert_eq!(protection, &if protect { json!(true) } else { Value::Null });
            let updates = asked(&sent, "UpdateContinuousBackups");
            assert_eq!(updates.len(), usize::from(protect), "{updates:?}");
            let is_deleted = table.raw().delete_table().table_name(&name).send().await.is_ok();
            assert_eq!(is_deleted, !protect);
            if protect {
                assert_eq!(updates[0]["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"], true);
                store.setup().await?;
                assert!(asked(&faults.taken(), "UpdateContinuousBackups").is_empty(), "they are on");
                remove(table, &name).await?;
            }
        }
        Ok(())
    })
}
