//! Where a test takes place.

use std::sync::Arc;

use aws_smithy_runtime_api::client::http::SharedHttpClient;
use storagebox_core::Result;
use storagebox_dynamo::faults::Faults;
use storagebox_dynamo::{DynamoBuilder, DynamoStore};

use crate::support::{Place, Table};

/// A table of the test's own, set up.
pub(crate) async fn with_table(test: impl AsyncFnOnce(&Arc<Table>) -> Result<()>) -> Result<()> {
    let table = Table::shared().await?;
    let outcome = test(&table).await;
    table.remove().await?;
    outcome
}

/// A place of the test's own, with a clock that stands still.
pub(crate) async fn with_place(test: impl AsyncFnOnce(&Place) -> Result<()>) -> Result<()> {
    with_table(async |table| test(&table.place().await?).await).await
}

/// A store whose requests are recorded, and what records them.
pub(crate) async fn recorded(table: &Arc<Table>, builder: DynamoBuilder) -> Result<(DynamoStore, Faults)> {
    let faults = Faults::new(table.http());
    let client = table.client(None, Some(SharedHttpClient::new(faults.clone()))).await;
    faults.record(true);
    Ok((builder.from_client(&client)?, faults))
}
