//! How long upkeep makes other calls wait, according to the server's slow log.

use std::time::Duration;

use redis::cmd;
use storagebox_core::{Backend, Begun, DedupId, DedupRepo, LeaseRepo, OpId, Payload, Result, Retention};
use storagebox_testkit::redis::Settings;

use crate::scene::in_server;
use crate::support::{Place, failed};

/// The number of leases: one per second for a week.
const OVER: usize = 604_800;
const LARGE: usize = 1_000;
/// The threshold of the slow log, in microseconds.
const MOST: u64 = 5_000;
const HOUR: Duration = Duration::from_secs(3_600);
const WEEK: Duration = Duration::from_secs(7 * 24 * 3_600);

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove redis"]
async fn upkeep_of_a_week_of_leases_takes_short_steps() -> Result<()> {
    in_server(Settings::quick(), async |place| {
        let (store, id) = (place.store()?, DedupId::new("id")?);
        let leases = store.lease_repo(&"namespace".parse()?)?;
        for number in 0..OVER {
            let begun = leases.begin(&id, &OpId::new(format!("{number}"))?, HOUR, None).await?;
            let Begun::Started(lease) = begun else { return Err(failed(format_args!("{begun:?}"))) };
            let _ = leases.abort(&lease).await?;
        }
        place.moved.advance(WEEK + HOUR);
        watch(place).await?;
        assert_eq!(store.maintain(1_000).await?.deleted, 1_000);
        let rest = store.maintain(usize::MAX).await?.deleted;
        assert_eq!(rest, (OVER - 1_000) as u64);
        report(place, &format!("{OVER} operations of one id that were over")).await
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove redis"]
async fn upkeep_of_a_thousand_large_records_takes_short_steps() -> Result<()> {
    in_server(Settings::quick(), async |place| {
        let (store, value) = (place.store()?, Payload::try_from(&vec![7; 256 * 1024][..])?);
        let (records, op) = (store.dedup_repo(&"namespace".parse()?)?, OpId::new("op")?);
        for number in 0..LARGE {
            let id = DedupId::new(format!("{number}"))?;
            let _ = records.record(&id, &value, &op, Retention::For(HOUR)).await?;
        }
        place.moved.advance(2 * HOUR);
        watch(place).await?;
        assert_eq!(store.maintain(usize::MAX).await?.deleted, LARGE as u64);
        report(place, &format!("{LARGE} records of 256 KiB that ended")).await
    })
    .await
}

/// Makes the server log slow commands, and resets its counts of commands.
async fn watch(place: &Place) -> Result<()> {
    for (name, value) in [("slowlog-log-slower-than", MOST), ("slowlog-max-len", 1_000_000)] {
        place.server.ask::<()>(cmd("CONFIG").arg("SET").arg(name).arg(value)).await?;
    }
    place.server.ask::<()>(cmd("CONFIG").arg("RESETSTAT")).await?;
    place.server.ask(cmd("SLOWLOG").arg("RESET")).await
}

/// Reports the number of scripts that took longer than [`MOST`].
async fn report(place: &Place, what: &str) -> Result<()> {
    type Entry = (u64, u64, u64, Vec<String>, String, String);
    let noted: Vec<Entry> = place.server.ask(cmd("SLOWLOG").arg("GET").arg(-1)).await?;
    let is_script = |entry: &&Entry| entry.3.first().is_some_and(|name| name.starts_with("EVAL"));
    let times: Vec<_> = noted.iter().filter(is_script).map(|entry| entry.2).collect();
    let (slow, steps, longest) = (times.len(), steps(place).await?, times.iter().max());
    println!("upkeep: {what}: {slow} of {steps} scripts took more than {MOST} microseconds, the longest {longest:?}");
    assert!(slow <= steps / 20);
    Ok(())
}

async fn steps(place: &Place) -> Result<usize> {
    let stats: String = place.server.ask(cmd("INFO").arg("commandstats")).await?;
    let steps = stats.lines().find_map(|line| line.strip_prefix("cmdstat_evalsha:calls=")?.split(',').next());
    steps.unwrap_or_default().parse().map_err(failed)
}
