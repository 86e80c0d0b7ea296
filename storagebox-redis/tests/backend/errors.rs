//! Errors of a real server, and the kinds that callers see.

use std::time::Duration;

use redis::cmd;
use storagebox_conformance::Proxy;
use storagebox_core::{Backend, Certainty, ClaimId, ErrorKind, Hold, Item, ItemBank, Result, Taken};
use storagebox_testkit::checks::cuts;
use storagebox_testkit::redis::Settings;

use crate::scene::{in_server, with_server};
use crate::support::{Place, failed};

/// A server at its memory limit refuses the script of a take before the script removes an item from the queue.
#[test]
fn a_server_out_of_memory_changes_nothing() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let bank = place.store()?.item_bank(&"namespace".parse()?)?;
        bank.add(&(0..100).map(|number| Item::new(format!("{number}"))).collect::<Result<Vec<_>>>()?).await?;
        place.server.ask::<()>(cmd("CONFIG").arg("SET").arg("maxmemory").arg("1")).await?;
        for call in 0..20 {
            let error = bank.take(&format!("claim-{call}").parse().unwrap(), Hold::Forever).await.unwrap_err();
            assert_eq!((error.kind(), error.certainty()), (ErrorKind::Unavailable, Certainty::NotApplied), "{error}");
        }
        assert_eq!(bank.counts().await?.free, 100, "reads go on, and nothing is lost");
        place.server.ask::<()>(cmd("CONFIG").arg("SET").arg("maxmemory").arg("0")).await?;
        assert!(matches!(bank.take(&"claim-0".parse()?, Hold::Forever).await?, Taken::New(_)));
        Ok(())
    })
}

/// The test raises the memory limit in small steps until the server accepts the script.
#[test]
fn a_script_that_exceeds_the_memory_limit_completes() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let bank = place.store()?.item_bank(&"namespace".parse()?)?;
        bank.add(&[Item::new("one")?]).await?;
        let items = (0..1_000).map(|number| Item::new(format!("{number:0500}"))).collect::<Result<Vec<_>>>()?;
        let (used, step) = (used_memory(place).await?, 50_000);
        for more in 0..100 {
            place.server.ask::<()>(cmd("CONFIG").arg("SET").arg("maxmemory").arg(used + more * step)).await?;
            let outcome = bank.add(&items).await;
            let total = bank.counts().await?.total();
            let Err(error) = outcome else {
                assert_eq!(total, 1_001);
                assert!(used_memory(place).await? > used + 5 * step, "the items are small beside a step");
                return Ok(());
            };
            let (kind, certainty) = (error.kind(), error.certainty());
            assert_eq!((kind, certainty, total), (ErrorKind::Unavailable, Certainty::NotApplied, 1), "{error}");
        }
        Err(failed("the items never fitted"))
    })
}

async fn used_memory(place: &Place) -> Result<u64> {
    let info: String = place.server.ask(cmd("INFO").arg("memory")).await?;
    let used = info.lines().find_map(|line| line.strip_prefix("used_memory:")?.trim().parse().ok());
    used.ok_or_else(|| failed("the server does not say what it uses"))
}

/// A replica refuses every call, even a call that only reads, because its data may be old.
#[test]
fn calls_on_a_replica_are_unavailable() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let bank = place.store()?.item_bank(&"namespace".parse()?)?;
        bank.add(&[Item::new("one")?]).await?;
        place.server.ask::<()>(cmd("REPLICAOF").arg("127.0.0.1").arg("1")).await?;
        for error in [
            bank.take(&"ada".parse()?, Hold::Forever).await.map(drop).unwrap_err(),
            bank.counts().await.map(drop).unwrap_err(),
        ] {
            let (kind, certainty) = (error.kind(), error.certainty());
            assert_eq!((kind, certainty), (ErrorKind::Unavailable, Certainty::NotApplied), "{error}");
        }
        place.server.ask::<()>(cmd("REPLICAOF").arg("NO").arg("ONE")).await?;
        assert!(matches!(bank.take(&"ada".parse()?, Hold::Forever).await?, Taken::New(_)));
        Ok(())
    })
}

/// A replica is recognised by its role, even if it accepts changes.
#[test]
fn a_store_opened_on_a_replica_is_unavailable() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        place.store()?.item_bank(&"namespace".parse()?)?.add(&[Item::new("one")?]).await?;
        place.server.ask::<()>(cmd("REPLICAOF").arg("127.0.0.1").arg("1")).await?;
        for only_reads in ["yes", "no"] {
            place.server.ask::<()>(cmd("CONFIG").arg("SET").arg("replica-read-only").arg(only_reads)).await?;
            let (store, looks) = (place.store()?, place.store()?);
            let bank = looks.item_bank(&"namespace".parse()?)?;
            for error in [
                store.ping().await.unwrap_err(),
                store.setup().await.unwrap_err(),
                store.maintain(1).await.unwrap_err(),
                bank.counts().await.unwrap_err(),
                bank.take(&"ada".parse()?, Hold::Forever).await.unwrap_err(),
            ] {
                let (kind, certainty) = (error.kind(), error.certainty());
                assert_eq!((kind, certainty), (ErrorKind::Unavailable, Certainty::NotApplied), "{only_reads}: {error}");
            }
        }
        Ok(())
    })
}

/// The server makes a change, no replica has it in time, and the call returns `OutcomeUnknown`.
#[test]
fn a_change_that_reaches_no_replica_in_time_is_unknown() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let url = place.server.url_at(place.server.address());

        let store = place.builder()?.wait(1, Duration::from_millis(20)).connect(&url)?;
        let error = store.item_bank(&"namespace".parse()?)?.add(&[Item::new("one")?]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{error}");
        assert!(error.to_string().contains("0 of 1 replicas"), "{error}");
        let near = place.store()?.item_bank(&"namespace".parse()?)?;
        assert!(matches!(near.take(&ClaimId::new("ada")?, Hold::Forever).await?, Taken::Empty | Taken::New(_)));
        Ok(())
    })
}

/// The server hangs. The next call uses a new connection.
#[test]
fn a_call_that_times_out_is_unknown() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let url = place.server.url_at(place.server.address());
        let store = place.builder()?.call_timeout(Duration::from_millis(200)).connect(&url)?;
        let bank = store.item_bank(&"namespace".parse()?)?;
        bank.add(&[Item::new("one")?]).await?;
        place.server.ask::<()>(cmd("CLIENT").arg("PAUSE").arg(2_000).arg("WRITE")).await?;
        let error = bank.take(&"ada".parse().unwrap(), Hold::Forever).await.unwrap_err();
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::OutcomeUnknown, Certainty::Unknown), "{error}");
        place.server.ask::<()>(cmd("CLIENT").arg("UNPAUSE")).await?;
        let again = bank.take(&"ada".parse()?, Hold::Forever).await?;
        assert!(matches!(again, Taken::New(_) | Taken::Again(_)), "{again:?}");
        store.ping().await
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_after_a_lost_attempt_returns_the_refusal() -> Result<()> {
    in_server(Settings::quick(), async |place| {
        let proxy = Proxy::start(place.server.address()).await.map_err(failed)?;
        let store = place.builder()?.connect(&place.server.url_at(proxy.addr()))?;
        cuts::refuse(&proxy, &store).await
    })
    .await
}
