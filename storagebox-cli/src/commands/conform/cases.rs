//! The harness for every target. It numbers the cases, so that each case has its own place for stores.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use storagebox::bank::ListedItem;
use storagebox::parts::Backend;
use storagebox::values::Namespace;
use storagebox::{Error, ErrorKind, Result, async_trait};
use storagebox_conformance::{CallerTransaction, Declared, Harness, Sandbox, TestClock, listed};

use super::TestTarget;

/// The harness of one run of the suite.
pub(super) struct Cases {
    target: Arc<dyn TestTarget>,
    next: AtomicU64,
}

impl Cases {
    pub(super) fn of(target: &Arc<dyn TestTarget>) -> Self {
        Self { target: Arc::clone(target), next: AtomicU64::new(0) }
    }

    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

#[async_trait]
impl Harness for Cases {
    fn name(&self) -> String {
        self.target.name()
    }

    fn declared(&self) -> Declared {
        self.target.declared().without_processes("the command starts no others")
    }

    async fn bare(&self) -> Result<Box<dyn Sandbox>> {
        Ok(Box::new(self.target.bare(self.number()).await?))
    }

    async fn fresh(&self) -> Result<Box<dyn Sandbox>> {
        Ok(Box::new(self.target.fresh(self.number()).await?))
    }
}

/// Opens a store at the server, or at the address of a proxy in front of it.
type Opener = Box<dyn Fn(Option<SocketAddr>) -> Result<Arc<dyn Backend>> + Send + Sync>;

/// Opens a connection for a transaction of the caller, and executes the statement that begins the transaction, if any.
type Caller = Box<dyn Fn(Option<&'static str>) -> Called + Send + Sync>;

type Called = Pin<Box<dyn Future<Output = Result<Box<dyn CallerTransaction>>> + Send>>;

/// The sandbox of one case, such as a schema or a key prefix.
pub(super) struct Case {
    pub(super) opener: Opener,
    pub(super) clock: Arc<dyn TestClock>,
    /// The address of the server; `None` if a proxy cannot read the requests.
    pub(super) upstream: Option<SocketAddr>,
    /// Converts a text to the bytes that stand for the text in a request.
    pub(super) on_the_wire: fn(&str) -> Vec<u8>,
    /// Opens a connection for a transaction of the caller; `None` if the target does not support such transactions.
    pub(super) caller: Option<Caller>,
}

impl Case {
    pub(super) fn new<B: Backend>(
        clock: impl TestClock + 'static,
        opener: impl Fn(Option<SocketAddr>) -> Result<B> + Send + Sync + 'static,
    ) -> Self {
        let opener = Box::new(move |proxy| Ok(Arc::new(opener(proxy)?) as _));
        Self { opener, clock: Arc::new(clock), upstream: None, on_the_wire: |text| text.into(), caller: None }
    }
}

impl Case {
    async fn called(&self, begin: Option<&'static str>) -> Result<Box<dyn CallerTransaction>> {
        let none = || Error::unsupported("a transaction of a caller", "PostgreSQL");
        self.caller.as_ref().ok_or_else(none)?(begin).await
    }
}

#[async_trait]
impl Sandbox for Case {
    /// Returns a connected store.
    async fn open(&self) -> Result<Arc<dyn Backend>> {
        let store = (self.opener)(None)?;
        // A case that drops its first call must not drop a connection attempt instead.
        match store.ping().await {
            Err(error) if error.kind() != ErrorKind::NotSetUp => Err(error),
            _ => Ok(store),
        }
    }

    async fn audit(&self, bank: &Namespace) -> Result<Vec<ListedItem>> {
        listed(&*self.open().await?, bank).await
    }

    fn clock(&self) -> Option<Arc<dyn TestClock>> {
        Some(Arc::clone(&self.clock))
    }

    fn upstream(&self) -> Option<SocketAddr> {
        self.upstream
    }

    fn on_the_wire(&self, text: &str) -> Vec<u8> {
        (self.on_the_wire)(text)
    }

    async fn begin(&self) -> Result<Box<dyn CallerTransaction>> {
        self.called(Some("BEGIN ISOLATION LEVEL READ COMMITTED")).await
    }

    async fn connect(&self) -> Result<Box<dyn CallerTransaction>> {
        self.called(None).await
    }

    async fn open_through(&self, proxy: SocketAddr) -> Result<Arc<dyn Backend>> {
        (self.opener)(Some(proxy))
    }
}
