//! The library's scripts, called by their hashes on one connection of the driver.

use std::sync::Arc;

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{Cmd, cmd};
use storagebox::Retention;

use super::bank::{Bank, all_new, fresh};
use super::server::{Server, patient};
use crate::error::{Failure, Result};
use crate::row::{Load, Prepared, Work};
use crate::rows::side::Caller;

macro_rules! lua {
    ($($file:literal),*) => {
        concat!(
            "#!lua\nlocal MOVED = 0\n",
            // The compared program does not check rights.
            "local function rights() return true end\n",
            include_str!("../../../../storagebox-redis/lua/lib/rights.lua"),
            include_str!("../../../../storagebox-redis/lua/lib/write.lua"),
            include_str!("../../../../storagebox-redis/lua/lib/epoch.lua"),
            "local function script()\n",
            include_str!("../../../../storagebox-redis/lua/lib/clock.lua"),
            include_str!("../../../../storagebox-redis/lua/lib/number.lua"),
            $(include_str!(concat!("../../../../storagebox-redis/lua/", $file, ".lua")),)*
            "end\n",
            include_str!("../../../../storagebox-redis/lua/lib/answer.lua"),
        )
    };
}

const TAKE: &str = lua!(
    "lib/at_once",
    "lib/buckets",
    "lib/queue",
    "lib/front",
    "lib/bank",
    "lib/claims",
    "lib/void",
    "lib/void_claims",
    "item_bank/take"
);
const ADD: &str = lua!("lib/buckets", "lib/queue", "lib/bank", "item_bank/add");

/// The call number that every take passes to the script, with as many digits as a call number of the library.
const CALL: &str = "-4611686018427387904";

/// The number of items per command, the same as in the library.
const BATCH: usize = 1_000;

/// The arguments of the script that are the same for all takes.
#[derive(Clone)]
pub(super) struct Take {
    hash: Arc<str>,
    key: Arc<str>,
    memory: Arc<str>,
    epoch: Arc<str>,
}

impl Take {
    pub(super) async fn new(bank: &Bank, connection: &mut impl ConnectionLike) -> Result<Self> {
        let hash: String = cmd("SCRIPT").arg("LOAD").arg(TAKE).query_async(connection).await?;
        let memory = match Retention::DEFAULT {
            Retention::For(memory) => memory.as_micros().to_string(),
            Retention::Forever => String::new(),
        };
        let epoch: String = cmd("HGET").arg(bank.key()).arg("epoch").query_async(connection).await?;
        Ok(Self { hash: hash.into(), key: bank.key().into(), memory: memory.into(), epoch: epoch.into() })
    }

    pub(super) async fn call(&self, claim: &str, connection: &mut impl ConnectionLike) -> Result<()> {
        let mut take = cmd("EVALSHA");
        take.arg(&*self.hash).arg("1").arg(&*self.key);
        take.arg(claim).arg(hash(claim)).arg("").arg(&*self.memory).arg(CALL).arg("").arg(&*self.epoch);
        let answer: Vec<String> = take.query_async(connection).await?;
        match &answer[..] {
            [word, _] if word == "new" => Ok(()),
            other => Err(Failure::NotNew { answer: other.join(" ") }),
        }
    }
}

/// Returns the hash of a claim, as the script computes it.
fn hash(claim: &str) -> u32 {
    let [high, middle, low, ..] = sha1_smol::Sha1::from(claim).digest().bytes();
    u32::from_be_bytes([0, high, middle, low])
}

/// Takes items without the library. Concurrent calls share one connection.
#[derive(Clone)]
pub(super) struct PlainTakes {
    take: Take,
    add: String,
    connection: MultiplexedConnection,
}

impl PlainTakes {
    pub(super) async fn new(server: &Server, bank: &Bank) -> Result<Self> {
        let client = server.client().await?;
        let mut connection = client.get_multiplexed_async_connection_with_config(&patient()).await?;
        let add = cmd("SCRIPT").arg("LOAD").arg(ADD).query_async(&mut connection).await?;
        Ok(Self { take: Take::new(bank, &mut connection).await?, add, connection })
    }

    pub(super) fn adds(&self, load: Load) -> Result<Prepared> {
        let items = fresh(load)?;
        let batches: Vec<Cmd> = items
            .chunks(BATCH)
            .map(|batch| {
                let mut add = cmd("EVALSHA");
                add.arg(&*self.add).arg("1").arg(&*self.take.key);
                for item in batch {
                    add.arg(item.as_str());
                }
                add.arg(&*self.take.epoch);
                add
            })
            .collect();
        let (mut connection, count) = (self.connection.clone(), items.len());
        let work = async move {
            let mut added = 0;
            for add in batches {
                let (new,): (u64,) = add.query_async(&mut connection).await?;
                added += new;
            }
            all_new(added, count)
        };
        Ok(Prepared { tasks: vec![Box::pin(work) as Work], world: Box::new(()) })
    }
}

impl Caller for PlainTakes {
    type Argument = String;

    async fn call(&self, claim: &String) -> Result<()> {
        self.take.call(claim, &mut self.connection.clone()).await
    }
}
