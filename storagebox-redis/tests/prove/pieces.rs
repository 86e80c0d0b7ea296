//! The largest key of namespaces with a million entries: its size determines how long moving a slot takes.

use redis::cmd;
use storagebox_core::{Backend, Item, ItemBank, Result, TokenId, TokenStore};
use storagebox_testkit::redis::Settings;

use crate::scene::in_server;
use crate::support::{Place, failed};

const MANY: usize = 1_000_000;
const BATCH: usize = 10_000;
/// The largest allowed size of a key, in bytes.
const MOST: u64 = 4 * 1024 * 1024;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove redis"]
async fn keys_stay_small_with_a_million_tokens_and_items() -> Result<()> {
    in_server(Settings::quick(), async |place| {
        let (tokens, bank) =
            (place.store()?.token_store(&"namespace".parse()?)?, place.store()?.item_bank(&"namespace".parse()?)?);
        for from in (0..MANY).step_by(BATCH) {
            let names = (from..from + BATCH).map(|number| format!("{number:036}"));
            let batch: Vec<_> = names.clone().map(TokenId::new).collect::<Result<_>>()?;
            tokens.create_tokens(&batch).await?;
            tokens.discard(&batch).await?;
            bank.add(&names.map(Item::new).collect::<Result<Vec<_>>>()?).await?;
        }
        let (size, key) = largest(place).await?;
        let key = key.rsplit_once('}').map_or("", |(_, rest)| rest);
        println!(
            "pieces: the largest key of {MANY} tokens and {MANY} items takes {size} bytes ({key}; at most {MOST})"
        );
        assert!(size <= MOST);
        Ok(())
    })
    .await
}

async fn largest(place: &Place) -> Result<(u64, String)> {
    let (mut largest, mut cursor) = ((0, String::new()), 0_u64);
    let mut admin = place.server.node(0).await?;
    loop {
        let mut scan = cmd("SCAN");
        scan.arg(cursor).arg("COUNT").arg(1_000);
        let (next, keys): (u64, Vec<String>) = scan.query_async(&mut admin).await.map_err(failed)?;
        for key in keys {
            let mut usage = cmd("MEMORY");
            usage.arg("USAGE").arg(&key).arg("SAMPLES").arg(0);
            largest = largest.max((usage.query_async(&mut admin).await.map_err(failed)?, key));
        }
        cursor = next;
        if cursor == 0 {
            return Ok(largest);
        }
    }
}
