//! A harness that puts the policy of a handle around each store, as programs do.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::layer::{Layered, Policy};
use storagebox_core::{Backend, ListedItem, Namespace, Result, Retry, Timer, async_trait};
use tokio::time::{self, Instant};

use crate::harness::{Declared, Harness, Restart, Sandbox, TestClock};

/// The default deadline of a handle.
const DEADLINE: Duration = Duration::from_secs(30);

/// A harness that puts each client of its stores behind a handle with retries and a deadline.
pub(crate) struct Handled<H>(pub(crate) H);

#[async_trait]
impl<H: Harness> Harness for Handled<H> {
    fn name(&self) -> String {
        format!("{}, by handles", self.0.name())
    }

    fn declared(&self) -> Declared {
        self.0.declared()
    }

    async fn bare(&self) -> Result<Box<dyn Sandbox>> {
        Ok(Box::new(Held(self.0.bare().await?)))
    }

    async fn fresh(&self) -> Result<Box<dyn Sandbox>> {
        Ok(Box::new(Held(self.0.fresh().await?)))
    }

    async fn fresh_alone(&self) -> Result<Box<dyn Sandbox>> {
        Ok(Box::new(Held(self.0.fresh_alone().await?)))
    }
}

/// A sandbox that wraps each client in a handle.
struct Held(Box<dyn Sandbox>);

#[async_trait]
impl Sandbox for Held {
    async fn open(&self) -> Result<Arc<dyn Backend>> {
        Ok(behind(self.0.open().await?, Some(DEADLINE)))
    }

    async fn audit(&self, bank: &Namespace) -> Result<Vec<ListedItem>> {
        self.0.audit(bank).await
    }

    fn clock(&self) -> Option<Arc<dyn TestClock>> {
        self.0.clock()
    }

    fn address(&self) -> Option<String> {
        self.0.address()
    }

    fn upstream(&self) -> Option<SocketAddr> {
        self.0.upstream()
    }

    /// Opens a client without a deadline, because calls through the proxy may take longer than the default deadline.
    async fn open_through(&self, proxy: SocketAddr) -> Result<Arc<dyn Backend>> {
        Ok(behind(self.0.open_through(proxy).await?, None))
    }

    fn on_the_wire(&self, text: &str) -> Vec<u8> {
        self.0.on_the_wire(text)
    }

    async fn restart(&self, how: Restart) -> Result<()> {
        self.0.restart(how).await
    }
}

fn behind(backend: Arc<dyn Backend>, deadline: Option<Duration>) -> Arc<dyn Backend> {
    let policy = Policy { retry: Some(Retry::default()), deadline, timer: Arc::new(RealTime::default()) };
    Arc::new(Layered::new(backend, Arc::new(policy)))
}

/// A clock that reads Tokio's time.
#[derive(Debug)]
struct RealTime(Instant);

#[allow(clippy::disallowed_methods, reason = "a handle waits by a real clock, and no case depends on how long")]
impl Default for RealTime {
    #[allow(clippy::disallowed_methods, reason = "a handle waits by a real clock, and no case depends on how long")]
    fn default() -> Self {
        Self(Instant::now())
    }
}

#[async_trait]
#[allow(clippy::disallowed_methods, reason = "a handle waits by a real clock, and no case depends on how long")]
impl Timer for RealTime {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        time::sleep(duration).await;
    }
}
