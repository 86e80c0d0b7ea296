//! The setting of a test, and how it waits.

use std::sync::Arc;

use storagebox_core::Result;
pub(crate) use storagebox_testkit::checks::until;
use storagebox_testkit::redis::Settings;
use tokio::runtime::Builder;
use tokio::task::{JoinSet, spawn_blocking};

use crate::support::{Place, Server, failed};

/// Runs a test in a runtime of one thread.
fn run(test: impl Future<Output = Result<()>>) -> Result<()> {
    Builder::new_current_thread().enable_all().build().map_err(failed)?.block_on(test)
}

/// Runs a test with a new store on the server of this program, in the runtime of the caller.
pub(crate) async fn in_place(test: impl AsyncFnOnce(&Place) -> Result<()>) -> Result<()> {
    let server = Server::shared().await?;
    let outcome = test(&server.place().await?).await;
    server.remove().await?;
    outcome
}

/// Runs a test with a new store on the server of this program, in a new runtime.
pub(crate) fn with_place(test: impl AsyncFnOnce(&Place) -> Result<()>) -> Result<()> {
    run(in_place(test))
}

/// Runs a test with a new store on a new server, in the runtime of the caller.
pub(crate) async fn in_server(settings: Settings, test: impl AsyncFnOnce(&Place) -> Result<()>) -> Result<()> {
    test(&Server::alone(settings).await?.place().await?).await
}

/// Runs a test with a new store on a new server, in a new runtime.
pub(crate) fn with_server(settings: Settings, test: impl AsyncFnOnce(&Place) -> Result<()>) -> Result<()> {
    run(in_server(settings, test))
}

/// Kills the server of a test with SIGKILL and starts it again.
pub(crate) async fn kill(server: &Arc<Server>) -> Result<()> {
    let own = Arc::clone(server);
    let killed = spawn_blocking(move || {
        let own = own.own().expect("a server of its own");
        own.kill()?;
        own.start_again()
    });
    killed.await.map_err(failed)?.map_err(failed)
}

/// The most calls at once. More calls could exceed their timeout on a busy machine.
const AT_ONCE: usize = 100;

#[allow(dead_code, reason = "the long checks make theirs one by one")]
pub(crate) async fn at_once<T: Send + 'static>(
    calls: impl IntoIterator<Item: Future<Output = Result<T>> + Send + 'static>,
) -> Result<Vec<T>> {
    let (mut calls, mut answers) = (calls.into_iter(), vec![]);
    loop {
        let some: JoinSet<_> = calls.by_ref().take(AT_ONCE).collect();
        if some.is_empty() {
            return Ok(answers);
        }
        answers.extend(some.join_all().await.into_iter().collect::<Result<Vec<_>>>()?);
    }
}
