//! External faults: writes that are split, a server that is stopped, busy, cannot save or has no address, and a clock
//! that is set back.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use redis::cmd;
use storagebox_conformance::{Proxy, keeps_text};
use storagebox_core::{Backend, Certainty, ErrorKind, Hold, Item, ItemBank, Result, Taken};
use storagebox_redis::{Moved, RedisStore};
use storagebox_testkit::checks::secrets::SECRET;
use storagebox_testkit::checks::{clocks, pauses, skews};
use storagebox_testkit::redis::{Redis, Settings};
use tokio::task::spawn_blocking;

use crate::scene::{until, with_place, with_server};
use crate::support::{Place, Server, failed};

/// A call timeout within which a running server answers.
const SOON: Duration = Duration::from_secs(2);
/// A call timeout that no test reaches.
const LONG: Duration = Duration::from_secs(3_600);

#[test]
fn texts_sent_in_small_pieces_are_kept() -> Result<()> {
    // The server already knows the scripts, which are a hundred times as long as the calls.
    with_place(async |place| {
        keeps_text(&place.store()?, "whole").await.map_err(failed)?;
        let proxy = Proxy::start(place.server.address()).await.map_err(failed)?;
        proxy.slice(true);
        let store = place.builder()?.call_timeout(LONG).connect(&place.server.url_at(proxy.addr()))?;
        keeps_text(&store, "split").await.map_err(failed)
    })
}

#[test]
fn a_paused_server_loses_nothing() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let url = place.server.url_at(place.server.address());
        let store = |patience| place.builder()?.call_timeout(patience).connect(&url);
        let own = place.server.own().expect("a server of its own");
        pauses::lose_nothing(&store(SOON)?, &store(LONG)?, "namespace", || own.pause()).await
    })
}

/// A host name that is too long for DNS is refused as `Misconfigured`, without asking a DNS server.
#[tokio::test]
async fn a_host_without_an_address_is_misconfigured() -> Result<()> {
    let url = format!("redis://ann:{SECRET}@{}.invalid", "x".repeat(64));
    let error = RedisStore::builder().call_timeout(LONG).connect(&url)?.ping().await.unwrap_err();
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Misconfigured, Certainty::NotApplied), "{error}");
    assert!(!error.is_retryable() && std::error::Error::source(&error).is_some(), "{error}");
    Ok(())
}

/// The driver's error lacks the server's error code.
#[test]
fn a_url_that_does_not_fit_the_server_is_refused_at_once() -> Result<()> {
    with_server(Settings::quick().with("databases", "4"), async |place| {
        let mut set = cmd("ACL");
        set.arg("SETUSER").arg("narrow").arg("on").arg(format!(">{SECRET}")).arg("~*").arg("+@all").arg("-select");
        place.server.ask::<()>(&set).await?;
        let at = place.server.address();
        place
            .server
            .ask::<()>(cmd("ACL").arg("SETUSER").arg("default").arg("resetpass").arg(format!(">{SECRET}")))
            .await?;
        for (url, kind, told) in [
            (format!("redis://:{SECRET}@{at}/7"), ErrorKind::Misconfigured, "no database with the number"),
            (format!("redis://narrow:{SECRET}@{at}/1"), ErrorKind::Denied, "+select"),
            (format!("redis://{at}/1"), ErrorKind::Denied, "requires a user and a password"),
            (format!("redis+cluster://:{SECRET}@{at}"), ErrorKind::Misconfigured, "not a cluster node"),
        ] {
            let error = RedisStore::builder().call_timeout(LONG).connect(&url)?.ping().await.unwrap_err();
            assert_eq!((error.kind(), error.certainty()), (kind, Certainty::NotApplied), "{error:?}");
            assert!(error.to_string().contains(told) && std::error::Error::source(&error).is_some(), "{error:?}");
            assert!(!format!("{error:?}").contains(SECRET), "{error:?}");
        }
        Ok(())
    })
}

#[test]
fn a_server_that_is_no_sentinel_is_refused_at_once() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let url = format!("redis+sentinel://{}/mymaster", place.server.address());
        let error = RedisStore::builder().call_timeout(LONG).connect(&url)?.ping().await.unwrap_err();
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::Misconfigured, Certainty::NotApplied), "{error:?}");
        Ok(())
    })
}

/// The first four sentinels of the URL name a replica or an unused address as the master.
#[tokio::test]
async fn a_sentinel_that_names_no_master_is_skipped() -> Result<()> {
    let server = Server::sentinels(Settings::quick()).await?;
    let place = server.place().await?;
    let (replica, right) = (server.nodes()[1].address(), server.watchers()[0].address());
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").map_err(failed)?.local_addr().map_err(failed)?;
    for named in [replica, nobody] {
        let stale = sentinel_that_names(named).await?;
        let at = stale.address();
        let url = server.url();
        let (login, _) = url.split_once('@').ok_or_else(|| failed("a URL without a login"))?;
        let url = format!("{login}@{at},{at},{at},{at},{right}/mymaster");
        let before = connections_of(&stale).await?;
        for _ in 0..OPENINGS {
            place.builder()?.connect(&url)?.ping().await?;
        }
        let asked = connections_of(&stale).await? - before;
        assert!(asked <= 4 * OPENINGS + 1, "asked {asked} times for {OPENINGS} connections, so it was followed");
    }
    Ok(())
}

/// Starts a sentinel that no other sentinel knows, and that names this address as the master.
pub(crate) async fn sentinel_that_names(master: SocketAddr) -> Result<Redis> {
    let watch = format!("mymaster {} {} 2", master.ip(), master.port());
    let settings = Settings::sentinel().with("sentinel monitor", watch);
    spawn_blocking(move || Redis::start(&settings)).await.map_err(failed)?.map_err(failed)
}

const OPENINGS: u64 = 8;

/// Returns the number of connections that a server has accepted so far.
async fn connections_of(server: &Redis) -> Result<u64> {
    let client = redis::Client::open(server.url()).map_err(failed)?;
    let mut connection = client.get_multiplexed_async_connection().await.map_err(failed)?;
    let info: String = cmd("INFO").arg("stats").query_async(&mut connection).await.map_err(failed)?;
    let taken = info.lines().find_map(|line| line.strip_prefix("total_connections_received:"));
    taken.and_then(|taken| taken.trim().parse().ok()).ok_or_else(|| failed("no count of connections"))
}

/// Only the server's clock decides when something expires.
#[test]
fn a_clock_set_back_expires_nothing_early_and_revives_nothing() -> Result<()> {
    with_place(async |place| {
        clocks::set_back(async |ahead| {
            let moved = Moved::default();
            moved.advance(ahead);
            Ok(Arc::new(place.builder()?.moved(moved).connect(&place.server.url())?) as _)
        })
        .await
    })
}

/// Returns how often the server has refused a call with this code.
async fn refusals(place: &Place, word: &str) -> Result<u64> {
    let errors: String = place.server.ask(cmd("INFO").arg("errorstats")).await?;
    let line = errors.lines().find_map(|line| line.strip_prefix(&format!("errorstat_{word}:count=")));
    line.unwrap_or("0").trim().parse().map_err(failed)
}

/// A call waits until the administrator ends another client's script.
#[test]
fn a_call_succeeds_after_another_script_blocked_the_server() -> Result<()> {
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
}

/// The server cannot write its dump, because a directory has the dump's name.
#[test]
fn a_server_that_cannot_save_changes_nothing() -> Result<()> {
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
}

/// Makes the server write a dump, and waits until the dump ends with this status.
async fn save(place: &Place, status: &str) -> Result<()> {
    place.server.ask::<()>(&cmd("BGSAVE")).await?;
    until("the end of the dump", async || {
        let info: String = place.server.ask(cmd("INFO").arg("persistence")).await?;
        Ok(info.contains("rdb_bgsave_in_progress:0") && info.contains(&format!("rdb_last_bgsave_status:{status}")))
    })
    .await
}

/// An older version stored the skew with the options of a namespace.
#[test]
fn a_namespace_stored_with_its_skew_opens_with_any_skew() -> Result<()> {
    with_place(async |place| {
        let age = async || {
            let key = place.key("o.skews.0");
            let is_new: i64 = place.server.ask(cmd("HSET").arg(&key).arg("options").arg(skews::STORED_BEFORE)).await?;
            assert_eq!(is_new, 0);
            Ok(())
        };
        skews::stored_before(async || Ok(Arc::new(place.store()?) as _), age).await
    })
}
