//! The tables in which tests run, and a gate that holds requests.

use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::config::{AsyncSleep, Sleep};
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use storagebox_core::Result;
use storagebox_dynamo::{DynamoBuilder, DynamoStore};
use storagebox_testkit::dynamodb::faults::{Fault, Faults};
use tokio::runtime::Builder;
use tokio::sync::watch;

use crate::support::{Place, Table, failed};

/// Runs a test in a runtime of one thread.
fn run(test: impl Future<Output = Result<()>>) -> Result<()> {
    Builder::new_current_thread().enable_all().build().map_err(failed)?.block_on(test)
}

/// Runs a test with its own table, which is set up, in the runtime of the caller.
pub(crate) async fn in_table(test: impl AsyncFnOnce(&Arc<Table>) -> Result<()>) -> Result<()> {
    let table = Table::shared().await?;
    let outcome = test(&table).await;
    table.remove().await?;
    outcome
}

/// Runs a test with its own table, which is set up, in a new runtime.
pub(crate) fn with_table(test: impl AsyncFnOnce(&Arc<Table>) -> Result<()>) -> Result<()> {
    run(in_table(test))
}

/// Runs a test with its own [`Place`] (a key prefix in a new table, and a clock that stands still), in the runtime of
/// the caller.
pub(crate) async fn in_place(test: impl AsyncFnOnce(&Place) -> Result<()>) -> Result<()> {
    in_table(async |table| test(&table.place().await?).await).await
}

/// Runs a test with its own [`Place`] (a key prefix in a new table, and a clock that stands still), in a new runtime.
pub(crate) fn with_place(test: impl AsyncFnOnce(&Place) -> Result<()>) -> Result<()> {
    run(in_place(test))
}

/// Returns a store whose requests are recorded, and the recorder.
pub(crate) async fn recorded(table: &Arc<Table>, builder: DynamoBuilder) -> Result<(DynamoStore, Faults)> {
    let faults = Faults::new(table.http());
    let client = table.client(None, Some(SharedHttpClient::new(faults.clone()))).await;
    faults.record(true);
    Ok((builder.from_client(&client)?, faults))
}

/// The delay of a request that a [`Gate`] holds. The delay lasts until the test opens the gate.
const AT_THE_GATE: Duration = Duration::from_secs(540);
const PATIENCE: Duration = Duration::from_secs(300);

/// A timer of the driver that delays requests with [`Gate::HOLD`] until the test opens the gate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate {
    waiting: watch::Sender<usize>,
    open: watch::Sender<bool>,
}

impl Gate {
    /// Holds a request until the gate is opened.
    pub(crate) const HOLD: Fault = Fault::Delay(AT_THE_GATE);
    /// Lets a request pass, in a script that holds a later request at the gate.
    pub(crate) const PASS: Fault = Fault::Delay(Duration::ZERO);

    /// Returns a store whose driver has this gate as its timer, and the control of the store's faults.
    pub(crate) async fn store(&self, table: &Arc<Table>, builder: DynamoBuilder) -> Result<(DynamoStore, Faults)> {
        let faults = Faults::new(table.http());
        let client = table.client(None, Some(SharedHttpClient::new(faults.clone()))).await;
        let config = client.config().to_builder().sleep_impl(self.clone());
        let client = aws_sdk_dynamodb::Client::from_conf(config.build());
        Ok((builder.call_timeout(PATIENCE).from_client(&client)?, faults))
    }

    /// Waits until the gate holds a request.
    pub(crate) async fn reached(&self) {
        self.reached_by(1).await;
    }

    pub(crate) async fn reached_by(&self, many: usize) {
        // This gate has a sender, so the channel is not closed.
        let _ = self.waiting.subscribe().wait_for(|waiting| *waiting >= many).await;
    }

    pub(crate) fn open(&self) {
        self.open.send_replace(true);
    }
}

impl AsyncSleep for Gate {
    fn sleep(&self, duration: Duration) -> Sleep {
        let gate = self.clone();
        Sleep::new(async move {
            if duration != AT_THE_GATE {
                return tokio::time::sleep(duration).await;
            }
            gate.waiting.send_modify(|waiting| *waiting += 1);
            let _ = gate.open.subscribe().wait_for(|open| *open).await;
        })
    }
}
