//! The harness with a server for each sandbox.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use storagebox_conformance::{Declared, Harness, Part, Restart, Sandbox, TestClock, listed};
use storagebox_core::layer::Layered;
use storagebox_core::{Backend, Error, ErrorKind, ListedItem, ManualClock, Namespace, Result, async_trait};
use storagebox_memory::MemoryStore;

use crate::client::{Client, Mistake};
use crate::locks::Locks;
use crate::server::{Server, lock};
use crate::wire::{Remembered, Wire};

/// The memory store behind a connection, with a client that makes this mistake and locks this before it writes.
pub(crate) struct Wired(pub(crate) Mistake, pub(crate) Locks);

struct Place {
    mistake: Mistake,
    locks: Locks,
    server: Server,
    store: Mutex<MemoryStore>,
    clock: ManualClock,
    remembered: Arc<Mutex<Remembered>>,
}

fn no_server(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, "the server does not start").caused_by(error)
}

fn memory(clock: &ManualClock) -> Result<MemoryStore> {
    MemoryStore::builder().clock(clock.clone()).build()
}

impl Place {
    fn client(&self, addr: SocketAddr) -> Arc<dyn Backend> {
        let client = Client::new(addr, Arc::clone(&self.server.desk), self.mistake, self.locks);
        let store = lock(&self.store).clone();
        let wire = Wire { client, remembered: Arc::clone(&self.remembered), store: store.clone() };
        Arc::new(Layered::new(Arc::new(store), Arc::new(wire)))
    }
}

#[async_trait]
impl Harness for Wired {
    fn name(&self) -> String {
        format!("memory behind a connection, {:?}, locks {:?}", self.0, self.1)
    }

    fn declared(&self) -> Declared {
        Declared::all()
            .without(Part::Entities, "this store has none")
            .without(Part::JoinedEntities, "this store has none")
            .without_processes("the server is in this process")
    }

    async fn bare(&self) -> Result<Box<dyn Sandbox>> {
        let (clock, server) = (ManualClock::new(), Server::start().await.map_err(no_server)?);
        let store = Mutex::new(memory(&clock)?);
        Ok(Box::new(Place { mistake: self.0, locks: self.1, server, store, clock, remembered: Arc::default() }))
    }
}

#[async_trait]
impl Sandbox for Place {
    async fn open(&self) -> Result<Arc<dyn Backend>> {
        Ok(self.client(self.server.addr))
    }

    async fn audit(&self, bank: &Namespace) -> Result<Vec<ListedItem>> {
        let store = lock(&self.store).clone();
        listed(&store, bank).await
    }

    fn clock(&self) -> Option<Arc<dyn TestClock>> {
        Some(Arc::new(self.clock.clone()))
    }

    fn upstream(&self) -> Option<SocketAddr> {
        Some(self.server.addr)
    }

    async fn open_through(&self, proxy: SocketAddr) -> Result<Arc<dyn Backend>> {
        Ok(self.client(proxy))
    }

    async fn restart(&self, how: Restart) -> Result<()> {
        if (self.mistake, how) == (Mistake::LosesAllInAKill, Restart::Kill) {
            *lock(&self.store) = memory(&self.clock)?;
        }
        self.server.restart().await.map_err(no_server)
    }
}
