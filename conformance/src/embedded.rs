//! The harness of a store that lives in the test process.

use std::any::Any;
use std::sync::Arc;

use storagebox_core::{Backend, Error, ListedItem, ManualClock, Namespace, Result, async_trait};

use crate::harness::{CallerTransaction, Declared, Harness, Sandbox, TestClock};
use crate::pages::after;
use crate::part::Part;

const PAGE: usize = 1_000;

/// A harness for a store that lives in the test process and ends with it. Clones of the store serve as its clients, and
/// the store judges expiry by the clock that it is created with.
///
/// # Example
///
/// The whole test program of a backend, with `harness = false`:
///
/// ```no_run
/// use std::process::ExitCode;
///
/// use storagebox_conformance::{Embedded, run};
/// use storagebox_memory::MemoryStore;
///
/// fn main() -> ExitCode {
///     run(Embedded::new("memory", |clock| MemoryStore::builder().clock(clock).build()))
/// }
/// ```
pub struct Embedded<B> {
    name: String,
    declared: Declared,
    make: Box<dyn Fn(ManualClock) -> Result<B> + Send + Sync>,
    begin: Option<Begin>,
}

type Begin = Arc<dyn Fn() -> Box<dyn CallerTransaction> + Send + Sync>;

impl<B: Backend + Clone> Embedded<B> {
    /// Creates a harness that creates an empty store for each case. Reports show the name.
    pub fn new(name: impl Into<String>, make: impl Fn(ManualClock) -> Result<B> + Send + Sync + 'static) -> Self {
        let declared = Declared::all()
            .without_network("a store in this process has no server")
            .without_restart("a store in this process ends with it")
            .without_processes("a store in this process is its alone");
        Self { name: name.into(), declared, make: Box::new(make), begin: None }
    }

    /// Declares that the store joins transactions of callers, which `begin` begins. A connection without a transaction
    /// is a value of a type that the store does not know.
    #[must_use]
    pub fn with_transactions(mut self, begin: impl Fn() -> Box<dyn CallerTransaction> + Send + Sync + 'static) -> Self {
        self.declared = self.declared.with_transactions();
        self.begin = Some(Arc::new(begin));
        self
    }

    /// Leaves out a part as a whole, as [`Declared::without`] does.
    #[must_use]
    pub fn without(mut self, part: Part, reason: impl Into<String>) -> Self {
        self.declared = self.declared.without(part, reason);
        self
    }
}

impl<B> std::fmt::Debug for Embedded<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Embedded").field("name", &self.name).finish_non_exhaustive()
    }
}

#[async_trait]
impl<B: Backend + Clone> Harness for Embedded<B> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn declared(&self) -> Declared {
        self.declared.clone()
    }

    async fn bare(&self) -> Result<Box<dyn Sandbox>> {
        let clock = ManualClock::new();
        let store = (self.make)(clock.clone())?;
        Ok(Box::new(Inside { store, clock, begin: self.begin.clone() }))
    }
}

struct Inside<B> {
    store: B,
    clock: ManualClock,
    begin: Option<Begin>,
}

/// A connection that no store recognises as a transaction.
struct NoTransaction;

#[async_trait]
impl CallerTransaction for NoTransaction {
    fn connection(&mut self) -> &mut (dyn Any + Send) {
        self
    }

    async fn commit(self: Box<Self>) -> Result<()> {
        Ok(())
    }

    async fn rollback(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl<B: Backend + Clone> Sandbox for Inside<B> {
    async fn open(&self) -> Result<Arc<dyn Backend>> {
        Ok(Arc::new(self.store.clone()))
    }

    async fn audit(&self, bank: &Namespace) -> Result<Vec<ListedItem>> {
        listed(&self.store, bank).await
    }

    fn clock(&self) -> Option<Arc<dyn TestClock>> {
        Some(Arc::new(self.clock.clone()))
    }

    async fn begin(&self) -> Result<Box<dyn CallerTransaction>> {
        let begin = self.begin.as_ref().ok_or_else(|| {
            Error::unsupported("a transaction of a caller", "a harness that begins one: `with_transactions`")
        })?;
        Ok(begin())
    }

    async fn connect(&self) -> Result<Box<dyn CallerTransaction>> {
        Ok(Box::new(NoTransaction))
    }
}

/// Reads the whole contents of a bank through the library, page by page: the audit of a sandbox that cannot be read in
/// another way.
///
/// # Errors
///
/// Returns the errors of the backend.
pub async fn listed(backend: &dyn Backend, bank: &Namespace) -> Result<Vec<ListedItem>> {
    let bank = backend.item_bank(bank)?;
    let (mut listed, mut cursor) = (vec![], None);
    loop {
        let page = bank.list(cursor.as_ref(), PAGE).await?;
        listed.extend(page.entries);
        cursor = after(cursor.as_ref(), page.next)?;
        if cursor.is_none() {
            return Ok(listed);
        }
    }
}
