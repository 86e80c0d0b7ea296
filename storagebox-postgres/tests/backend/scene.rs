//! Where a test takes place, and how it waits.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use sqlx::{AssertSqlSafe, ConnectOptions, query_scalar};
use storagebox_core::Result;
use tokio::time::{sleep, timeout};

use crate::support::{Database, Place, failed};

/// A test that waits in vain fails in the end.
const PATIENCE: Duration = Duration::from_secs(120);

/// A database of the test's own.
pub(crate) async fn with_database(test: impl AsyncFnOnce(&Arc<Database>) -> Result<()>) -> Result<()> {
    let database = Database::shared().await?;
    let outcome = test(&database).await;
    database.remove().await?;
    outcome
}

/// A schema that is set up, in a database of the test's own.
pub(crate) async fn with_place(test: impl AsyncFnOnce(&Place) -> Result<()>) -> Result<()> {
    with_database(async |database| test(&database.place().await?).await).await
}

/// The URL of the role that owns the schemas, for sessions of this name.
pub(crate) fn owner_url(database: &Database, name: &str) -> String {
    format!("{}&application_name={name}", database.owner().connect_options().to_url_lossy())
}

/// Looks again and again until it is so.
pub(crate) async fn until(what: &str, mut is_so: impl AsyncFnMut() -> Result<bool>) -> Result<()> {
    let looking = async {
        while !is_so().await? {
            sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    };
    timeout(PATIENCE, looking).await.unwrap_or_else(|_| Err(failed(format_args!("in vain: {what}"))))
}

/// What a statement counts, asked by the owner.
pub(crate) async fn count(database: &Database, sql: &str) -> Result<i64> {
    query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(database.owner()).await.map_err(failed)
}

/// How many sessions of this name are waiting for a lock.
pub(crate) async fn blocked(database: &Database, name: &str) -> Result<i64> {
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = ";
    count(database, &format!("{sql} '{name}'")).await
}

/// The answer, unless the future had to wait once more than so often: then it is dropped. To give way is not to wait.
pub(crate) async fn drop_after<T>(waits: usize, future: impl Future<Output = T>) -> Option<T> {
    let (mut future, mut waited) = (pin!(future), 0);
    poll_fn(|context| {
        let noticed = Arc::new(Noticed { waker: context.waker().clone(), woken: AtomicBool::new(false) });
        match future.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(&noticed)))) {
            Poll::Ready(answer) => return Poll::Ready(Some(answer)),
            Poll::Pending if noticed.woken.load(Ordering::SeqCst) => {}
            Poll::Pending if waited == waits => return Poll::Ready(None),
            Poll::Pending => waited += 1,
        }
        Poll::Pending
    })
    .await
}

/// A waker that knows whether it was called.
struct Noticed {
    waker: Waker,
    woken: AtomicBool,
}

impl Wake for Noticed {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::SeqCst);
        self.waker.wake_by_ref();
    }
}
