//! A server that is killed and restarted under load: what it acknowledged still holds.

use std::sync::Arc;

use storagebox_core::{Backend, Error, Result};
use storagebox_testkit::Failure;
use storagebox_testkit::checks::kills::outlives_twenty_kills;
use storagebox_testkit::postgres::{Postgres, Settings};
use tokio::task::spawn_blocking;

use crate::support::{Database, failed};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove postgres"]
async fn acknowledged_calls_survive_twenty_kills() -> Result<()> {
    let server = on_the_server(|| Postgres::start(&Settings::durable())).await?;
    let database = Database::alone(server).await?;
    let place = database.place().await?;
    let store = place.builder()?.connect(&place.url_at(database.server()))?;
    outlives_twenty_kills(&store, async || kill(&database).await).await?;
    store.close().await?;
    database.remove().await
}

async fn kill(database: &Arc<Database>) -> Result<()> {
    let database = Arc::clone(database);
    on_the_server(move || {
        let server = database.own().expect("a server of its own");
        server.kill()?;
        server.start_again()
    })
    .await
}

async fn on_the_server<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Error> {
    spawn_blocking(work).await.map_err(failed)?.map_err(failed)
}
