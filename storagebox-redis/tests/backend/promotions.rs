//! The losses that only a cluster has, when a replica is promoted at a bad moment. `promises()` describes them.

use std::future::ready;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::cmd;
use storagebox_core::{Backend, ClaimId, ClaimState, Hold, Item, ItemBank, Result, Taken};
use storagebox_redis::RedisStore;
use storagebox_testkit::redis::Settings;

use crate::scene::until;
use crate::support::{Place, Resharding, Server, failed};

const BANK: &str = "b.namespace.0";
/// A timeout that no call of these tests reaches.
const LONG: Duration = Duration::from_secs(60);

/// A master of the bank's slot, and its replica.
struct Pair {
    master: MultiplexedConnection,
    replica: MultiplexedConnection,
    replica_at: SocketAddr,
}

impl Pair {
    async fn of(place: &Place) -> Result<Self> {
        let number = place.master_of(BANK).await?.ok_or_else(|| failed("no master has the bank"))?;
        let follows = format!("master_port:{}\r", place.server.nodes()[number].address().port());
        for other in 0..place.server.nodes().len() {
            let mut replica = place.server.node(other).await?;
            if replication(&mut replica).await?.contains(&follows) {
                let replica_at = place.server.nodes()[other].address();
                return Ok(Self { master: place.server.node(number).await?, replica, replica_at });
            }
        }
        Err(failed("the master has no replica"))
    }

    /// Makes the master send no more changes to its replica.
    async fn holds_back_changes(&mut self) -> Result<()> {
        let mut hold = redis::pipe();
        hold.cmd("ACL").arg(&["SETUSER", "default", "-psync", "-sync"]).ignore();
        hold.cmd("CLIENT").arg(&["KILL", "TYPE", "replica"]).ignore();
        hold.exec_async(&mut self.master).await.map_err(failed)
    }

    /// Waits until the replica has all changes of its master.
    async fn follows(&mut self) -> Result<()> {
        cmd("WAIT").arg(1).arg(0).exec_async(&mut self.master).await.map_err(failed)
    }

    /// Promotes the replica, and waits until the former master follows it and all nodes know.
    async fn is_exchanged(&mut self, place: &Place) -> Result<()> {
        cmd("CLUSTER").arg(&["FAILOVER", "TAKEOVER"]).exec_async(&mut self.replica).await.map_err(failed)?;
        let follows = async || Ok(replication(&mut self.replica).await?.contains("state=online"));
        until("the former master as a replica", follows).await?;
        until("nodes that know the new master", async || self.is_known_to_all(place).await).await
    }

    async fn is_known_to_all(&mut self, place: &Place) -> Result<bool> {
        let id: String = cmd("CLUSTER").arg("MYID").query_async(&mut self.replica).await.map_err(failed)?;
        for number in 0..place.server.nodes().len() {
            let mut node = place.server.node(number).await?;
            let nodes: String = cmd("CLUSTER").arg("NODES").query_async(&mut node).await.map_err(failed)?;
            let has_slots = |line: &str| line.starts_with(&id) && line.split(' ').nth(8).is_some();
            if !nodes.lines().any(has_slots) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

async fn replication(node: &mut MultiplexedConnection) -> Result<String> {
    cmd("INFO").arg("replication").query_async(node).await.map_err(failed)
}

async fn bank_of(store: &RedisStore, items: u64) -> Result<Arc<dyn ItemBank>> {
    let bank = store.item_bank(&"namespace".parse()?)?;
    bank.add(&(0..items).map(|number| Item::new(format!("{number}"))).collect::<Result<Vec<_>>>()?).await?;
    Ok(bank)
}

fn promised(store: &RedisStore, about: &str) -> Result<String> {
    let entries = store.promises().entries;
    let promise = entries.into_iter().find(|promise| promise.about == about);
    promise.map(|promise| promise.statement.into_owned()).ok_or_else(|| failed(format_args!("nothing about {about}")))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_promoted_while_a_slot_moves_lacks_what_had_moved() -> Result<()> {
    let place = Server::cluster(Settings::quick()).await?.place().await?;
    let store = place.builder()?.wait(1, LONG).call_timeout(LONG).connect(&place.server.url())?;
    let (bank, ada) = (bank_of(&store, 1).await?, ClaimId::new("ada")?);
    assert!(matches!(bank.take(&ada, Hold::Forever).await?, Taken::New(_)));
    let mut pair = Pair::of(&place).await?;
    let mut moving = Resharding::begin(&place, BANK).await?;
    // The first key stays. Without it, the namespace would be known to be lost.
    let first = place.key(BANK);
    moving.move_those(&place, |key| key != first).await?;
    pair.follows().await?;
    pair.is_exchanged(&place).await?;
    // The node that imports the slot knows no master of the slot now, so the URL names the promoted node only.
    let url = place.server.url();
    let (login, _) = url.split_once('@').ok_or_else(|| failed("a URL without a login"))?;
    let promoted = place.builder()?.connect(&format!("{login}@{}", pair.replica_at))?;
    let promoted = promoted.item_bank(&"namespace".parse()?)?;
    assert_eq!(promoted.get(&ada).await?, ClaimState::Unknown);
    assert!(promised(&store, "moving slots")?.contains("as if it had never been"));
    Ok(())
}

/// The caller reads the answer to its take only after the promotion, so `wait` asks the promoted node.
// On one thread, the driver cannot answer the take while it is polled.
#[tokio::test]
async fn a_replica_promoted_before_the_wait_can_lack_an_acknowledged_take() -> Result<()> {
    let place = Server::cluster(Settings::quick()).await?.place().await?;
    let store = place.builder()?.wait(1, LONG).call_timeout(LONG).connect(&place.server.url())?;
    let (bank, ada) = (bank_of(&store, 2).await?, ClaimId::new("ada")?);
    // The node learns the script.
    assert!(matches!(bank.take(&"bob".parse()?, Hold::Forever).await?, Taken::New(_)));
    let mut pair = Pair::of(&place).await?;
    pair.holds_back_changes().await?;
    let mut take = pin!(bank.take(&ada, Hold::Forever));
    tokio::select! {
        biased;
        taken = &mut take => return Err(failed(format_args!("it did not wait: {taken:?}"))),
        () = ready(()) => {}
    }
    let other = place.store()?.item_bank(&"namespace".parse()?)?;
    until("the take", async || Ok(matches!(other.get(&ada).await?, ClaimState::Held(_)))).await?;
    pair.is_exchanged(&place).await?;
    // The driver learns who has the slot now.
    bank.counts().await?;
    assert!(matches!(take.await?, Taken::New(_)));
    assert_eq!(bank.get(&ada).await?, ClaimState::Unknown);
    assert!(promised(&store, "wait on a cluster")?.contains("although it was acknowledged"));
    Ok(())
}
