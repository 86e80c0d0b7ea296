//! Gives the suite a server for each sandbox.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use storagebox_conformance::{Declared, Harness, Restart, Sandbox, TestClock};
use storagebox_core::layer::Layered;
use storagebox_core::{Backend, Error, ErrorKind, ListedItem, ManualClock, Namespace, Result, async_trait};
use storagebox_memory::MemoryStore;

use crate::client::{Client, Mistake};
use crate::server::{Server, lock};
use crate::wire::{Remembered, Wire};

/// Memory behind a connection, with a client that makes this mistake.
pub(crate) struct Wired(pub(crate) Mistake);

/// What a sandbox is.
struct Place {
    server: Server,
    store: Mutex<MemoryStore>,
    clock: ManualClock,
    remembered: Arc<Mutex<Remembered>>,
}

fn place(sandbox: &Sandbox) -> Result<&Place> {
    sandbox.guard().ok_or_else(|| Error::corrupt(sandbox.name(), "it is another harness's"))
}

fn no_server(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, "the server does not start").caused_by(error)
}

fn memory(clock: &ManualClock) -> Result<MemoryStore> {
    MemoryStore::builder().clock(clock.clone()).build()
}

impl Wired {
    fn client(&self, place: &Place, addr: SocketAddr) -> Arc<dyn Backend> {
        let client = Client::new(addr, Arc::clone(&place.server.desk), self.0);
        let wire = Wire { client, remembered: Arc::clone(&place.remembered) };
        Arc::new(Layered::new(Arc::new(lock(&place.store).clone()), Arc::new(wire)))
    }
}

#[async_trait]
impl Harness for Wired {
    fn name(&self) -> String {
        format!("memory behind a connection, {:?}", self.0)
    }

    fn declared(&self) -> Declared {
        Declared::all()
    }

    async fn fresh(&self) -> Result<Sandbox> {
        let (clock, server) = (ManualClock::new(), Server::start().await.map_err(no_server)?);
        let store = Mutex::new(memory(&clock)?);
        Ok(Sandbox::new("wired", Place { server, store, clock, remembered: Arc::default() }))
    }

    async fn open(&self, sandbox: &Sandbox) -> Result<Arc<dyn Backend>> {
        let place = place(sandbox)?;
        Ok(self.client(place, place.server.addr))
    }

    async fn audit(&self, sandbox: &Sandbox, bank: &Namespace) -> Result<Vec<ListedItem>> {
        let bank = lock(&place(sandbox)?.store).item_bank(bank)?;
        Ok(bank.list(None, usize::MAX).await?.entries)
    }

    fn clock(&self, sandbox: &Sandbox) -> Option<Arc<dyn TestClock>> {
        Some(Arc::new(place(sandbox).ok()?.clock.clone()))
    }

    fn upstream(&self, sandbox: &Sandbox) -> Option<SocketAddr> {
        Some(place(sandbox).ok()?.server.addr)
    }

    async fn open_through(&self, sandbox: &Sandbox, proxy: SocketAddr) -> Result<Arc<dyn Backend>> {
        Ok(self.client(place(sandbox)?, proxy))
    }

    async fn restart(&self, sandbox: &Sandbox, how: Restart) -> Result<()> {
        let place = place(sandbox)?;
        if (self.0, how) == (Mistake::LosesAllInAKill, Restart::Kill) {
            *lock(&place.store) = memory(&place.clock)?;
        }
        place.server.restart().await.map_err(no_server)
    }
}
