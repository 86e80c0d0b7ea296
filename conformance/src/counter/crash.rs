//! A server that is killed and restarted.

use std::ops::Range;
use std::sync::Arc;

use storagebox_core::{Backend, Bounds, Cancelled, Counted};

use super::subject::HOUR;
use super::{Kind, Subject};
use crate::failure::{Failure, Verdict, ensure_eq};
use crate::harness::Restart;
use crate::world::World;

const KINDS: [Kind; 3] = [Kind::Marker, Kind::Window, Kind::Sharded];

const OTHERS: [Kind; 5] = [Kind::Optimistic, Kind::History, Kind::Token, Kind::Ledger, Kind::Set];

fn open(store: &Arc<dyn Backend>, kind: Kind) -> Result<Subject, Failure> {
    let bounds = kind.bounds(Bounds::between(-50, 50)?);
    Ok(Subject::named(store, &format!("{kind:?}"), kind.strategy(bounds, HOUR), bounds)?)
}

pub(super) async fn what_was_acknowledged_survives_a_restart(world: &World) -> Verdict {
    survives(world, &KINDS).await
}

pub(super) async fn atomic_sums_survive_a_restart(world: &World) -> Verdict {
    survives(world, &[Kind::Atomic]).await
}

pub(super) async fn what_others_acknowledged_survives_a_restart(world: &World) -> Verdict {
    survives(world, &OTHERS).await
}

async fn survives(world: &World, kinds: &[Kind]) -> Verdict {
    for kind in kinds.iter().copied() {
        let counter = open(world.store(), kind)?;
        for number in 0..10 {
            let _ = counter.apply(&format!("op-{number}"), 3).await?;
        }
        if kind.fences() {
            let _ = counter.cancel("fenced").await?;
        }
    }
    for how in [Restart::Clean, Restart::Kill] {
        world.restart(how).await?;
        let store = world.client().await?;
        for kind in kinds.iter().copied() {
            let counter = open(&store, kind)?;
            check(&counter, kind).await.map_err(|failure| failure.during(format!("{kind:?} after {how:?}")))?;
        }
    }
    Ok(())
}

/// Returns the numbers of the operations that the store must still remember after a restart.
fn known(kind: Kind) -> Range<i64> {
    // A server of one process may keep request tokens in memory and lose them, which no backend can prevent.
    match kind {
        Kind::Atomic | Kind::Token => 0..0,
        Kind::Optimistic => 9..10,
        _ => 0..10,
    }
}

async fn check(counter: &Subject, kind: Kind) -> Verdict {
    ensure_eq!(counter.value().await?, 30, "the value");
    if kind != Kind::Ledger {
        ensure_eq!(counter.apply("beyond", 21).await?, Counted::OutOfBounds, "21 on 30 within -50 and 50");
    }
    for number in known(kind) {
        let retried = counter.apply(&format!("op-{number}"), 3).await?;
        ensure_eq!(retried, counter.already(3 * (number + 1)), "a retry");
    }
    if !kind.fences() {
        return Ok(());
    }
    ensure_eq!(counter.apply("fenced", 1).await?, Counted::Fenced, "a fenced operation");
    ensure_eq!(counter.cancel("op-0").await?, counter.cancelled_too_late(3), "a cancel that is too late");
    ensure_eq!(counter.cancel("fenced").await?, Cancelled::Cancelled, "a cancel once more");
    ensure_eq!(counter.value().await?, 30, "the value after the retries");
    Ok(())
}
