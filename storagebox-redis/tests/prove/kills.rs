//! A server that is killed and restarted under load: it keeps what it acknowledged.

use storagebox_core::{Backend, Result};
use storagebox_testkit::checks::kills::outlives_twenty_kills;
use storagebox_testkit::redis::Settings;

use crate::scene::kill;
use crate::support::Server;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove redis"]
async fn acknowledged_calls_survive_twenty_kills() -> Result<()> {
    let server = Server::alone(Settings::durable()).await?;
    let store = server.place().await?.store()?;
    outlives_twenty_kills(&store, async || kill(&server).await).await?;
    store.close().await
}
