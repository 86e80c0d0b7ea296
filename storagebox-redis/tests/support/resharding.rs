//! Moves a slot from one master to another, as an operator does it: key by key, while other calls continue.

use redis::aio::MultiplexedConnection;
use redis::{FromRedisValue, cmd};
use storagebox_core::Result;

use super::place::{Place, failed};

/// The slot of a namespace that is moving.
pub struct Resharding {
    slot: u16,
    from: Node,
    to: Node,
}

struct Node {
    number: usize,
    id: String,
    connection: MultiplexedConnection,
}

impl Resharding {
    /// Tells both masters that the slot of this namespace will move.
    pub async fn begin(place: &Place, tag: &str) -> Result<Self> {
        let has_it = place.master_of(tag).await?.ok_or_else(|| failed("no master has the namespace"))?;
        let masters = place.server.numbered_masters().await?;
        let other = masters.iter().map(|(number, _)| *number).find(|number| *number != has_it);
        let (mut from, mut to) = (Node::new(place, has_it).await?, Node::new(place, other.unwrap_or(has_it)).await?);
        let slot = from.ask(cmd("CLUSTER").arg("KEYSLOT").arg(place.key(tag))).await?;
        to.set_slot(slot, "IMPORTING", &from.id).await?;
        from.set_slot(slot, "MIGRATING", &to.id).await?;
        Ok(Self { slot, from, to })
    }

    /// Moves the keys of the slot for which `which` is true.
    pub async fn move_those(&mut self, place: &Place, which: impl Fn(&str) -> bool) -> Result<()> {
        let mut all = cmd("CLUSTER");
        let keys: Vec<String> = self.from.ask(all.arg("GETKEYSINSLOT").arg(self.slot).arg(i32::MAX)).await?;
        let those: Vec<_> = keys.into_iter().filter(|key| which(key)).collect();
        if those.is_empty() {
            return Ok(());
        }
        let to = place.server.nodes()[self.to.number].address();
        let mut migrate = cmd("MIGRATE");
        migrate.arg(to.ip().to_string()).arg(to.port()).arg("").arg(0).arg(5_000).arg("KEYS").arg(those);
        self.from.ask(&migrate).await
    }

    /// Moves the remaining keys, and tells all masters the new owner of the slot, the new owner first.
    pub async fn finish(mut self, place: &Place) -> Result<()> {
        self.move_those(place, |_| true).await?;
        let id = self.to.id.clone();
        self.to.set_slot(self.slot, "NODE", &id).await?;
        self.from.set_slot(self.slot, "NODE", &id).await?;
        for (number, _) in place.server.numbered_masters().await? {
            Node::new(place, number).await?.set_slot(self.slot, "NODE", &id).await?;
        }
        Ok(())
    }
}

impl Node {
    async fn new(place: &Place, number: usize) -> Result<Self> {
        let mut connection = place.server.node(number).await?;
        let id = cmd("CLUSTER").arg("MYID").query_async(&mut connection).await.map_err(failed)?;
        Ok(Self { number, id, connection })
    }

    async fn ask<T: FromRedisValue>(&mut self, command: &redis::Cmd) -> Result<T> {
        command.query_async(&mut self.connection).await.map_err(failed)
    }

    async fn set_slot(&mut self, slot: u16, state: &str, id: &str) -> Result<()> {
        self.ask(cmd("CLUSTER").arg("SETSLOT").arg(slot).arg(state).arg(id)).await
    }
}
