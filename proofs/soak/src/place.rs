//! The store of one backend, its faults and its size.

mod dynamo;
mod postgres;
mod redis;
mod sqlite;

use std::time::Duration;

use storagebox::memory::MemoryStore;
use storagebox::{Retention, Store};
use storagebox_conformance::{Cut, Proxy};
use storagebox_testkit::OwnServer;
use tokio::time::sleep;

use crate::Failure;
use crate::caller::MEMORY;
use crate::fault::Fault;
use crate::growth::Slack;
use crate::heap;
use crate::lives::SEATS;
use crate::size::Size;

pub(crate) const BACKENDS: [&str; 5] = ["memory", "sqlite", "postgres", "redis", "dynamo"];

/// The prefix of every id.
const IN_EVERY_ID: &str = "soak-";
/// During a [`Fault::Cut`], the proxy cuts one in this number of requests.
const EVERY: usize = 3;

/// A store, and the proxy in front of its server, if the store has a server.
pub(crate) struct Place {
    kind: Kind,
    proxy: Option<Proxy>,
}

enum Kind {
    Memory(Store),
    Sqlite(sqlite::File),
    Postgres(postgres::Database),
    Redis(redis::Keys),
    Dynamo(dynamo::Table),
}

impl Place {
    pub(crate) async fn start(backend: &str) -> Result<Self, Failure> {
        let kind = match backend {
            "memory" => Kind::Memory(MemoryStore::builder().remember(Retention::For(MEMORY)).build()?.into()),
            "sqlite" => Kind::Sqlite(sqlite::File::new()?),
            "postgres" => Kind::Postgres(postgres::Database::start().await?),
            "redis" => Kind::Redis(redis::Keys::start().await?),
            _ => Kind::Dynamo(dynamo::Table::start().await?),
        };
        let proxy = match kind.server() {
            Some(server) => Some(Proxy::start(server.address()).await?),
            None => None,
        };
        let place = Self { kind, proxy };
        let store = place.store().await?;
        store.setup().await?;
        store.bank("soak-seats")?.add((0..SEATS).map(|seat| format!("seat-{seat}"))).await?;
        Ok(place)
    }

    pub(crate) fn name(&self) -> &'static str {
        match self.kind {
            Kind::Memory(_) => "memory",
            Kind::Sqlite(_) => "sqlite",
            Kind::Postgres(_) => "postgres",
            Kind::Redis(_) => "redis",
            Kind::Dynamo(_) => "dynamo",
        }
    }

    /// Creates another client of the same store.
    pub(crate) async fn store(&self) -> Result<Store, Failure> {
        match (&self.kind, &self.proxy) {
            (Kind::Memory(store), _) => Ok(store.clone()),
            (Kind::Sqlite(file), _) => Ok(Store::open(file.url()).await?),
            (Kind::Postgres(database), Some(proxy)) => Ok(Store::open(database.url_at(proxy.addr())).await?),
            (Kind::Redis(keys), Some(proxy)) => Ok(Store::open(keys.url_at(proxy.addr())).await?),
            (Kind::Dynamo(table), Some(proxy)) => table.store_at(proxy.addr()),
            _ => Err("the server has no proxy".into()),
        }
    }

    /// Returns the faults that can happen to this store.
    pub(crate) fn faults(&self) -> Vec<Fault> {
        match self.proxy {
            None => vec![Fault::Visited],
            Some(_) => {
                [Fault::Visited, Fault::Paused, Fault::Killed].into_iter().chain(Cut::ALL.map(Fault::Cut)).collect()
            }
        }
    }

    /// Cuts one in `every` calls as `cut` says, until [`lose_nothing`](Self::lose_nothing) is called.
    pub(crate) fn lose_replies(&self, cut: Cut, every: usize) {
        if let Some(proxy) = &self.proxy {
            proxy.arm_every(cut, IN_EVERY_ID, every);
        }
    }

    pub(crate) fn lose_nothing(&self) {
        if let Some(proxy) = &self.proxy {
            proxy.disarm();
        }
    }

    pub(crate) async fn strike(&self, fault: Fault, lasts: Duration) -> Result<(), Failure> {
        match fault {
            Fault::Cut(cut) => {
                let Some(proxy) = &self.proxy else { return Ok(()) };
                proxy.arm_every(cut, IN_EVERY_ID, EVERY);
                sleep(lasts).await;
                proxy.disarm();
            }
            Fault::Paused => self.kind.pause(lasts).await?,
            Fault::Killed => self.kind.kill(lasts).await?,
            Fault::Visited => {
                let store = self.store().await?;
                let maintained = store.maintain(1).await;
                store.close().await?;
                maintained.map(drop).or_else(|error| if error.is_retryable() { Ok(()) } else { Err(error) })?;
            }
        }
        Ok(())
    }

    /// Returns the allowed growth of the store's size in bytes.
    pub(crate) fn slack(&self) -> Slack {
        match self.kind {
            Kind::Memory(_) => Slack::IN_USE,
            _ => Slack::SERVER,
        }
    }

    pub(crate) async fn size(&self) -> Result<Size, Failure> {
        match &self.kind {
            Kind::Memory(_) => Ok(heap::size().await),
            Kind::Sqlite(file) => file.size().await,
            Kind::Postgres(database) => database.size().await,
            Kind::Redis(keys) => keys.size().await,
            Kind::Dynamo(table) => table.size().await,
        }
    }
}

impl Kind {
    fn server(&self) -> Option<&OwnServer> {
        match self {
            Self::Memory(_) | Self::Sqlite(_) => None,
            Self::Postgres(database) => Some(&database.server),
            Self::Redis(keys) => Some(&keys.server),
            Self::Dynamo(table) => Some(&table.server),
        }
    }

    async fn pause(&self, lasts: Duration) -> Result<(), Failure> {
        let Some(server) = self.server() else { return Ok(()) };
        let paused = server.pause()?;
        sleep(lasts).await;
        drop(paused);
        Ok(())
    }

    async fn kill(&self, lasts: Duration) -> Result<(), Failure> {
        let Some(server) = self.server() else { return Ok(()) };
        server.kill()?;
        sleep(lasts).await;
        // `start_again` waits until the server answers.
        Ok(tokio::task::block_in_place(|| server.start_again())?)
    }
}
