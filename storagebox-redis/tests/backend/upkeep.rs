//! The work of one step of upkeep, during which the server answers no other call. The tests count the server's commands
//! and measure no time.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use redis::cmd;
use storagebox_core::{
    Backend, Begun, Certainty, ClaimId, DedupId, DedupRepo, ErrorKind, ItemBank, Key, LeaseRepo, Maintained, OpId,
    OrderedOptions, OrderedStore, Payload, Result, Retention, Stamp, TokenId, TokenStore, WriterId,
};
use storagebox_testkit::redis::Settings;

use crate::scene::{at_once, with_server};
use crate::support::{Place, failed};

const WEEK: Duration = Duration::from_secs(8 * 24 * 3_600);
const HOUR: Duration = Duration::from_secs(3_600);

/// Returns how often the server ran each command since the last call of this function.
async fn commands(place: &Place) -> Result<HashMap<String, u64>> {
    let stats: String = place.server.ask(cmd("INFO").arg("commandstats")).await?;
    place.server.ask::<()>(cmd("CONFIG").arg("RESETSTAT")).await?;
    let of = |line: &str| {
        let (name, stats) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        Some((name.to_owned(), stats.split(',').next()?.parse().ok()?))
    };
    Ok(stats.lines().filter_map(of).collect())
}

fn in_scripts(commands: &HashMap<String, u64>) -> u64 {
    let beside = ["evalsha", "eval", "info", "config|resetstat", "ping", "auth", "hello", "client|setinfo"];
    commands.iter().filter(|(name, _)| !beside.contains(&name.as_str())).map(|(_, calls)| calls).sum()
}

/// Returns the number of all hash fields and all list entries of a namespace.
async fn size(place: &Place, tag: &str) -> Result<i64> {
    let keys: Vec<String> = place.server.ask(cmd("KEYS").arg(format!("{}:*", place.key(tag)))).await?;
    if keys.is_empty() {
        return Ok(0);
    }
    let mut kinds = redis::pipe();
    for key in &keys {
        kinds.cmd("TYPE").arg(key);
    }
    let (kinds, mut lengths): (Vec<String>, _) = (place.server.ask_all(&kinds).await?, redis::pipe());
    for (key, kind) in keys.iter().zip(kinds) {
        let length = match kind.as_str() {
            "hash" => "HLEN",
            "list" => "LLEN",
            "zset" => "ZCARD",
            _ => continue,
        };
        lengths.cmd(length).arg(key);
    }
    Ok(place.server.ask_all::<Vec<i64>>(&lengths).await?.into_iter().sum())
}

/// Begins and aborts leases of one id, one after another.
async fn aborted(place: &Place, count: usize) -> Result<()> {
    let (leases, id) = (place.store()?.lease_repo(&"namespace".parse()?)?, DedupId::new("id")?);
    for number in 0..count {
        let begun = leases.begin(&id, &OpId::new(format!("op-{number}"))?, HOUR, None).await?;
        let Begun::Started(lease) = begun else { return Err(failed(format_args!("{begun:?}"))) };
        let _ = leases.abort(&lease).await?;
    }
    Ok(())
}

/// Regression: for each ended operation, upkeep read all ended operations of its id and removed them in one step.
#[test]
fn ended_operations_of_one_id_are_removed_one_by_one() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let store = place.store()?;
        aborted(place, 1_000).await?;
        place.moved.advance(WEEK);
        let before = size(place, "r.namespace.0").await?;
        assert_eq!(store.maintain(10).await?.deleted, 10);
        // Each operation is a hash field and an entry of the queue.
        assert_eq!(before - size(place, "r.namespace.0").await?, 20);
        commands(place).await?;
        assert_eq!(store.maintain(2_000).await?.deleted, 990);
        let made = commands(place).await?;
        assert_eq!(size(place, "r.namespace.0").await?, 0);
        assert!(!made.contains_key("cmdstat_hgetall") && !made.contains_key("hgetall"), "{made:?}");
        assert!(made["evalsha"] >= 10, "a step is of at most 100: {made:?}");
        assert!(in_scripts(&made) <= 990 * 2 + 100, "{made:?}");
        Ok(())
    })
}

/// A step of upkeep removes at most a mebibyte of records.
#[test]
fn an_upkeep_step_removes_few_large_records() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let (store, large) = (place.store()?, Payload::try_from(&vec![7; 256 * 1024][..])?);
        let (records, op) = (store.dedup_repo(&"namespace".parse()?)?, OpId::new("op")?);
        for number in 0..40 {
            let id = DedupId::new(format!("{number}"))?;
            let _ = records.record(&id, &large, &op, Retention::For(HOUR)).await?;
        }
        place.moved.advance(2 * HOUR);
        commands(place).await?;
        assert_eq!(store.maintain(1_000).await?.deleted, 40);
        let made = commands(place).await?;
        assert!(made["evalsha"] >= 10, "a step ends at most a mebibyte of values: {made:?}");
        assert!(records.list(None, 10).await?.entries.is_empty());
        Ok(())
    })
}

/// A step of upkeep examines at most 100 ended claims.
#[test]
fn an_upkeep_step_examines_few_ended_claims() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let store = place.store()?;
        let bank = store.item_bank(&"namespace".parse()?)?;
        let releases = (0..500).map(|number| (Arc::clone(&bank), ClaimId::new(format!("{number}"))));
        at_once(releases.map(|(bank, claim)| async move { bank.release(&claim?).await })).await?;
        place.moved.advance(WEEK);
        commands(place).await?;
        assert_eq!(store.maintain(1_000).await?.deleted, 500);
        let made = commands(place).await?;
        assert!(made["evalsha"] >= 3, "{made:?}");
        assert!(in_scripts(&made) <= 500 * 2 + 100, "{made:?}");
        Ok(())
    })
}

/// The store has the name of a namespace that does not exist.
#[test]
fn upkeep_skips_a_namespace_that_was_never_created() -> Result<()> {
    // A process that died, or lacked a right, before it created the namespace leaves such a name.
    with_server(Settings::quick(), async |place| {
        let namespaces = format!("{}:namespaces", place.key("store"));
        place.server.ask::<()>(cmd("SADD").arg(namespaces).arg("t.tokens.0")).await?;
        assert_eq!(place.store()?.maintain(10).await?.deleted, 0);
        Ok(())
    })
}

/// A process that died left a namespace without its mark, so upkeep does not visit the namespace.
#[test]
fn an_unmarked_namespace_is_marked_when_it_is_opened() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let (made, tag) = (format!("{}:made", place.key("store")), "b.namespace.0");
        place.store()?.item_bank(&"namespace".parse()?)?.counts().await?;
        let epoch: String = place.server.ask(cmd("HGET").arg(&made).arg(tag)).await?;
        place.server.ask::<()>(cmd("HDEL").arg(&made).arg(tag)).await?;
        let store = place.store()?;
        assert_eq!(store.maintain(10).await?.deleted, 0);
        let _ = store.item_bank(&"namespace".parse()?)?.release(&ClaimId::new("ada")?).await?;
        assert_eq!(place.server.ask::<String>(cmd("HGET").arg(&made).arg(tag)).await?, epoch);
        place.moved.advance(WEEK);
        assert_eq!(store.maintain(10).await?.deleted, 1);
        Ok(())
    })
}

/// Deletes `count` keys, so that each leaves a tombstone. `at` is the time or the sequence number of its stamp.
async fn tombstones(place: &Place, options: OrderedOptions, at: i64, count: i64) -> Result<Arc<dyn OrderedStore>> {
    let (values, writer) = (place.store()?.ordered_store(&"namespace".parse()?, options)?, WriterId::new("writer")?);
    let stamp = Stamp::new(at, writer);
    let deletions = (0..count).map(|number| (Arc::clone(&values), Key::new(format!("{number}")), stamp.clone()));
    at_once(deletions.map(|(values, key, stamp)| async move { values.delete(&key?, &stamp).await })).await?;
    Ok(values)
}

fn is_halfway(outcome: Result<Maintained>) {
    let error = outcome.unwrap_err();
    let found = (error.kind(), error.certainty(), error.is_retryable());
    assert_eq!(found, (ErrorKind::Corrupt, Certainty::Unknown, false), "{error}");
}

/// Upkeep deletes entries in its first step, and finds corrupt data in its second step.
#[test]
fn upkeep_that_fails_after_a_deletion_has_an_unknown_outcome() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let (store, gone) = (place.store()?, format!("{}:g:0", place.key("t.namespace.0")));
        let tokens: Vec<_> = (0..150).map(|number| TokenId::new(format!("{number}"))).collect::<Result<_>>()?;
        store.token_store(&"namespace".parse()?)?.discard(&tokens).await?;
        place.moved.advance(WEEK);
        place.server.ask::<()>(cmd("LSET").arg(&gone).arg(100).arg("garbage")).await?;
        is_halfway(store.maintain(1_000).await);
        assert_eq!(place.server.ask::<i64>(cmd("LLEN").arg(&gone)).await?, 50);
        let error = store.maintain(1_000).await.unwrap_err();
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::Corrupt, Certainty::NotApplied), "{error}");
        Ok(())
    })
}

#[test]
fn a_purge_that_fails_after_a_deletion_has_an_unknown_outcome() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let values = tombstones(place, OrderedOptions::sequence(), 1, 1_100).await?;
        let (queue, cells) =
            (format!("{}:t", place.key("o.namespace.0")), format!("{}:o:", place.key("o.namespace.0")));
        let next: Vec<String> = place.server.ask(cmd("ZRANGE").arg(&queue).arg(1_000).arg(1_000)).await?;
        place.server.ask::<()>(cmd("SET").arg(format!("{cells}{}", next[0])).arg("garbage")).await?;
        is_halfway(values.purge(Duration::ZERO, 2_000).await);
        assert_eq!(place.server.ask::<i64>(cmd("ZCARD").arg(&queue)).await?, 100);
        Ok(())
    })
}

/// A step of upkeep examines at most 100 tombstones.
#[test]
fn an_upkeep_step_examines_few_tombstones() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let (seconds, _): (i64, i64) = place.server.ask(&cmd("TIME")).await?;
        tombstones(place, OrderedOptions::time(), seconds * 1_000, 450).await?;
        place.moved.advance(5 * WEEK);
        commands(place).await?;
        assert_eq!(place.store()?.maintain(1_000).await?.deleted, 450);
        let made = commands(place).await?;
        assert!(made["evalsha"] >= 5, "a step is of at most 100: {made:?}");
        Ok(())
    })
}

/// Upkeep visits more namespaces than the server returns for one request.
#[test]
fn upkeep_visits_each_of_many_namespaces() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let store = place.store()?;
        let releases = (0..300).map(|number| {
            let bank = store.item_bank(&format!("namespace-{number}").parse()?)?;
            Ok(async move { bank.release(&ClaimId::new("ada")?).await })
        });
        at_once(releases.collect::<Result<Vec<_>>>()?).await?;
        place.moved.advance(WEEK);
        assert_eq!(store.maintain(1_000).await?, Maintained { deleted: 300, more: false });
        Ok(())
    })
}
