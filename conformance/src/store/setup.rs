//! S-1: setup is idempotent and safe for concurrent callers.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{Backend, Begun, ClaimId, Fence, Hold, ItemBank, Recorded, Retention, Taken, Version};

use super::everything::Everything;
use crate::failure::{Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::{Link, drop_after};
use crate::race::{answered, race};
use crate::world::{World, items};

const LONG: Duration = Duration::from_secs(3_600);

pub(super) async fn setting_up_again_changes_nothing(world: &World) -> Verdict {
    let (bank, claim) = (world.filled(5).await?, ClaimId::new("ada")?);
    let _ = bank.take(&claim, Hold::Forever).await?;
    let before = bank.list(None, 10).await?.entries.len();
    for _ in 0..3 {
        world.store().setup().await?;
        world.client().await?.setup().await?;
    }
    ensure_eq!(bank.list(None, 10).await?.entries.len(), before, "items listed after setting up again");
    ensure_matches!(bank.take(&claim, Hold::Forever).await?, Taken::Again(_), "the claim after setting up again");
    Ok(())
}

/// A repeated setup keeps all live and all ended entries, and the options of all namespaces.
pub(super) async fn setting_up_again_loses_nothing(world: &World) -> Verdict {
    let everything = Everything::put(&**world.store()).await?;
    for client in [Arc::clone(world.store()), world.client().await?] {
        client.setup().await?;
        everything.ensure_there(&*client).await?;
    }
    everything.ensure_there(&*world.client().await?).await
}

/// A repeated `setup` by any client repeats no fence and no version (D-5, D-7).
pub(super) async fn setting_up_again_repeats_no_number(world: &World) -> Verdict {
    let (mut fence, mut version) = (Fence::new(0), Version::new(0));
    for number in 0..4 {
        let client = world.client().await?;
        let lease = client.lease_repo(&"records".parse()?)?;
        let begun = lease.begin(&"job".parse()?, &format!("op-{number}").parse()?, LONG, None).await?;
        let begun = ensure_matches!(begun, Begun::Started(lease) => lease, "beginning");
        let next = begun.fence;
        ensure!(next > fence, "the fence {next:?} after {fence:?}");
        let _ = lease.abort(&begun).await?;
        let records = client.dedup_repo(&"records".parse()?)?;
        let op = format!("op-{number}").parse()?;
        let recorded = records.record(&"id".parse()?, &"value".try_into()?, &op, Retention::Forever).await?;
        let again = ensure_matches!(recorded, Recorded::New(version) => version, "recording what was forgotten");
        ensure!(again > version, "the version {again:?} after {version:?}");
        let _ = records.forget(&"id".parse()?, again).await?;
        (fence, version) = (next, again);
        if number % 2 == 0 {
            world.store().setup().await?
        } else {
            client.setup().await?
        }
        world.upkeep().await?;
    }
    Ok(())
}

pub(super) async fn a_store_that_is_set_up_answers(world: &World) -> Verdict {
    world.store().ping().await?;
    world.client().await?.ping().await?;
    ensure!(!world.store().backend().is_empty(), "the backend has no name");
    ensure_eq!(world.client().await?.backend(), world.store().backend(), "the name by another client");
    Ok(())
}

/// Many clients set up a store at once, and each uses the store as soon as its own setup returns.
pub(super) async fn many_set_up_at_once(world: &World) -> Verdict {
    for round in 0..world.profile().rounds {
        let mut clients = Vec::new();
        for _ in 0..8 {
            clients.push(world.client().await?);
        }
        let bank = world.store().item_bank(&format!("bank-{round}").parse()?)?;
        bank.add(&items(8)?).await?;
        let taken = race(8, |number| {
            let client = Arc::clone(&clients[number]);
            async move {
                client.setup().await?;
                answered(|| client.ping()).await?;
                let bank = client.item_bank(&format!("bank-{round}").parse()?)?;
                let claim = ClaimId::new(format!("claim-{number}"))?;
                answered(|| bank.take(&claim, Hold::Forever)).await
            }
        })
        .await?;
        let new = taken.iter().filter(|taken| matches!(taken, Taken::New(_))).count();
        ensure_eq!(new, 8, "takes that got an item beside setups");
        ensure_eq!(bank.counts().await?.held, 8, "items held");
    }
    Ok(())
}

pub(super) async fn dropping_a_setup_leaves_the_store_whole(world: &World) -> Verdict {
    let bank = world.filled(3).await?;
    let far = Link::gated().before_store(world.store());
    let mut point = 0;
    while drop_after(Backend::setup(&*far), point).await.transpose()?.is_none() {
        let fresh = world.client().await?;
        fresh.setup().await?;
        ensure_eq!(fresh.item_bank(&"bank".parse()?)?.counts().await?.free, 3, "free items after a dropped setup");
        far.item_bank(&"bank".parse()?)?.counts().await?;
        point += 1;
    }
    ensure!(point >= 2, "a setup was dropped at only {point} points");
    ensure_eq!(bank.counts().await?.free, 3, "free items in the end");
    Ok(())
}
