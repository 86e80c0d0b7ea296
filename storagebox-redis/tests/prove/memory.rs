//! The memory of a bank on the server.

use redis::cmd;
use storagebox_core::{Backend, ClaimId, Hold, Item, ItemBank, Result, Taken};
use storagebox_testkit::redis::Settings;
use tokio::task::JoinSet;

use crate::scene::in_server;
use crate::support::{Place, failed};

const BATCH: usize = 100_000;
const CALLERS: usize = 64;
/// The most bytes per item on the server. A plain set of items with a hash of ids would take 192.
const MOST: f64 = 130.0;

/// The bank has a million items of 17 bytes, all taken by claims with ids of 36 bytes.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove redis"]
async fn a_million_taken_items_stay_within_the_memory_limit() -> Result<()> {
    are_small(1_000_000).await
}

/// With ten million items, the bank has increased its number of buckets.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes a quarter of an hour: cargo xtask prove redis"]
async fn ten_million_taken_items_stay_within_the_memory_limit() -> Result<()> {
    are_small(10_000_000).await
}

async fn are_small(count: usize) -> Result<()> {
    in_server(Settings::quick(), async |place| {
        let (before, bank) = (memory(place).await?, place.store()?.item_bank(&"namespace".parse()?)?);
        for from in (0..count).step_by(BATCH) {
            let items = (from..from + BATCH).map(|number| Item::new(format!("CODE-{number:012}")));
            bank.add(&items.collect::<Result<Vec<_>>>()?).await?;
        }
        let mut callers = JoinSet::new();
        for caller in 0..CALLERS {
            let bank = std::sync::Arc::clone(&bank);
            callers.spawn(async move {
                for number in (caller..count).step_by(CALLERS) {
                    let claim = ClaimId::new(format!("customer-{number:027}"))?;
                    let taken = bank.take(&claim, Hold::Forever).await?;
                    assert!(matches!(taken, Taken::New(_)), "{taken:?}");
                }
                Ok(())
            });
        }
        callers.join_all().await.into_iter().collect::<Result<()>>()?;
        let each = (memory(place).await? - before) / count as f64;
        println!("memory: {each:.1} bytes for each of {count} items taken by ids of 36 bytes (at most {MOST})");
        assert!(each <= MOST);
        Ok(())
    })
    .await
}

async fn memory(place: &Place) -> Result<f64> {
    let info: String = place.server.ask(cmd("INFO").arg("memory")).await?;
    let used = info.lines().find_map(|line| line.strip_prefix("used_memory:")?.trim().parse().ok());
    used.ok_or_else(|| failed("the server does not tell"))
}
