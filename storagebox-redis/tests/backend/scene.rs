//! Where a test takes place, and how it waits.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::Result;
use storagebox_testkit::redis::Settings;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use crate::support::{Place, Server, failed};

/// A test that waits in vain fails in the end.
#[allow(dead_code, reason = "the long checks wait; the others need not")]
const PATIENCE: Duration = Duration::from_secs(120);

/// A prefix that is set up, on the server of this program.
pub(crate) async fn with_place(test: impl AsyncFnOnce(&Place) -> Result<()>) -> Result<()> {
    let server = Server::shared().await?;
    let outcome = test(&server.place().await?).await;
    server.remove().await?;
    outcome
}

/// A prefix that is set up, on a server of the test's own.
pub(crate) async fn with_server(
    settings: Settings,
    test: impl AsyncFnOnce(&Place) -> Result<()>,
) -> Result<()> {
    test(&Server::alone(settings).await?.place().await?).await
}

/// Ends the server of a test by SIGKILL and starts it again.
pub(crate) async fn kill(server: &Arc<Server>) -> Result<()> {
    let own = Arc::clone(server);
    let killed = spawn_blocking(move || {
        let own = own.own().expect("a server of its own");
        own.kill()?;
        own.start_again()
    });
    killed.await.map_err(failed)?.map_err(failed)
}

/// Looks again and again until it is so.
#[allow(dead_code, reason = "the long checks wait; the others need not")]
pub(crate) async fn until(what: &str, mut is_so: impl AsyncFnMut() -> Result<bool>) -> Result<()> {
    let looking = async {
        while !is_so().await? {
            sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    };
    timeout(PATIENCE, looking).await.unwrap_or_else(|_| Err(failed(format_args!("in vain: {what}"))))
}
