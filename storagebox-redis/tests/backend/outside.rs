//! Faults from outside: writes that are split, a server that is stopped, busy, cannot save or has no address, and a
//! clock that is set back.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use redis::cmd;
use storagebox_conformance::{Proxy, keeps_text};
use storagebox_core::{Backend, Certainty, ErrorKind, Hold, Item, ItemBank, Result, Taken};
use storagebox_redis::{Moved, RedisStore};
use storagebox_testkit::checks::secrets::{self, SECRET};
use storagebox_testkit::checks::{clocks, pauses};
use storagebox_testkit::redis::Settings;

use crate::scene::{until, with_place, with_server};
use crate::support::{Place, failed};

/// Long enough for a call that a server answers, and what a test waits for.
const SOON: Duration = Duration::from_secs(2);
/// Longer than anything takes that a test waits for, however busy the machine is.
const LONG: Duration = Duration::from_secs(3_600);

/// The server knows the scripts by then, which are a hundred times what the calls are.
#[tokio::test]
async fn writes_that_are_split_change_nothing() -> Result<()> {
    with_place(async |place| {
        keeps_text(&place.store()?, "whole").await.map_err(failed)?;
        let proxy = Proxy::start(place.server.address()).await.map_err(failed)?;
        proxy.slice(true);
        let store = place.builder()?.call_timeout(LONG).connect(&place.server.url_at(proxy.addr()))?;
        keeps_text(&store, "split").await.map_err(failed)
    })
    .await
}

#[tokio::test]
async fn a_server_that_is_stopped_for_a_while_loses_nothing() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let url = place.server.url_at(place.server.address());
        let store = |patience| place.builder()?.call_timeout(patience).connect(&url);
        let own = place.server.own().expect("a server of its own");
        pauses::lose_nothing(&store(SOON)?, &store(LONG)?, "namespace", || own.pause()).await
    })
    .await
}

#[tokio::test]
async fn a_name_that_leads_nowhere_is_unavailable() -> Result<()> {
    secrets::where_no_name_leads(|host| {
        RedisStore::builder().call_timeout(LONG).connect(&format!("redis://ann:{SECRET}@{host}"))
    })
    .await
}

/// The server's, which is the only one: it goes with each call here.
#[tokio::test]
async fn a_clock_that_is_set_back_ends_nothing_early_and_brings_nothing_back() -> Result<()> {
    with_place(async |place| {
        clocks::set_back(async |ahead| {
            let moved = Moved::default();
            moved.advance(ahead);
            Ok(Arc::new(place.builder()?.moved(moved).connect(&place.server.url())?) as _)
        })
        .await
    })
    .await
}

/// How often the server has refused with this word.
async fn refusals(place: &Place, word: &str) -> Result<u64> {
    let errors: String = place.server.ask(cmd("INFO").arg("errorstats")).await?;
    let line = errors.lines().find_map(|line| line.strip_prefix(&format!("errorstat_{word}:count=")));
    line.unwrap_or("0").trim().parse().map_err(failed)
}

/// Somebody else's script runs without end, until the administrator ends it.
#[tokio::test]
async fn a_call_outlasts_a_script_that_keeps_the_server_busy() -> Result<()> {
    with_server(Settings::quick().with("busy-reply-threshold", "1"), async |place| {
        let proxy = Proxy::start(place.server.address()).await.map_err(failed)?;
        let store = place.builder()?.call_timeout(LONG).connect(&place.server.url_at(proxy.addr()))?;
        let bank = store.item_bank(&"namespace".parse()?)?;
        bank.add(&[Item::new("one")?]).await?;
        let mut elsewhere = place.server.node(0).await?;
        let endless =
            tokio::spawn(async move { cmd("EVAL").arg("while true do end").arg(0).exec_async(&mut elsewhere).await });
        until("a server that is busy", async || match place.server.ask::<()>(&cmd("DBSIZE")).await {
            Err(error) => Ok(error.to_string().contains("BUSY")),
            Ok(()) => Ok(false),
        })
        .await?;
        let (ada, before) = ("ada".parse()?, proxy.round_trips());
        let free = async {
            let asked = async || Ok(proxy.round_trips() >= before + 3);
            until("a call that is made again and again", asked).await?;
            place.server.ask::<()>(cmd("SCRIPT").arg("KILL")).await
        };
        let (taken, ()) = tokio::try_join!(bank.take(&ada, Hold::Forever), free)?;
        assert!(matches!(taken, Taken::New(_)), "{taken:?}");
        assert!(endless.await.map_err(failed)?.is_err(), "the script was ended");
        assert!(refusals(place, "BUSY").await? > 1, "the call was refused meanwhile");
        Ok(())
    })
    .await
}

/// A dump cannot be written where a folder is, as on a disk that is full.
#[tokio::test]
async fn a_server_that_cannot_save_changes_nothing() -> Result<()> {
    with_server(Settings::quick().with("save", "3600 1"), async |place| {
        let bank = place.store()?.item_bank(&"namespace".parse()?)?;
        bank.add(&[Item::new("one")?]).await?;
        let (_, folder): (String, String) = place.server.ask(cmd("CONFIG").arg("GET").arg("dir")).await?;
        let in_the_way = Path::new(&folder).join("dump.rdb");
        fs::create_dir(&in_the_way).map_err(failed)?;
        save(place, "err").await?;
        let error = bank.take(&"ada".parse().unwrap(), Hold::Forever).await.unwrap_err();
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::Unavailable, Certainty::NotApplied), "{error:?}");
        assert!(format!("{error:?}").contains("MISCONF"), "{error:?}");
        fs::remove_dir(&in_the_way).map_err(failed)?;
        save(place, "ok").await?;
        assert_eq!(bank.counts().await?.free, 1);
        assert!(matches!(bank.take(&"ada".parse()?, Hold::Forever).await?, Taken::New(_)));
        Ok(())
    })
    .await
}

/// Has the server write a dump, and waits until it says so of it.
async fn save(place: &Place, status: &str) -> Result<()> {
    place.server.ask::<()>(&cmd("BGSAVE")).await?;
    until("the end of the dump", async || {
        let info: String = place.server.ask(cmd("INFO").arg("persistence")).await?;
        Ok(info.contains("rdb_bgsave_in_progress:0") && info.contains(&format!("rdb_last_bgsave_status:{status}")))
    })
    .await
}
