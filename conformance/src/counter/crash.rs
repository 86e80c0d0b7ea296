//! A server that is killed and started again.

use std::sync::Arc;

use storagebox_core::{Bounds, Cancelled, Counted, Store};

use super::subject::HOUR;
use super::{Kind, Subject};
use crate::case::Verdict;
use crate::failure::{Failure, ensure_eq};
use crate::harness::Restart;
use crate::world::World;

const KINDS: [Kind; 4] = [Kind::Atomic, Kind::Marker, Kind::Window, Kind::Sharded];

fn open(store: &Arc<dyn Store>, kind: Kind) -> Result<Subject, Failure> {
    let bounds = Bounds::between(-50, 50)?;
    Ok(Subject::named(store, &format!("{kind:?}"), kind.strategy(bounds, HOUR), bounds)?)
}

pub(super) async fn what_was_acknowledged_survives_a_restart(world: &World) -> Verdict {
    for kind in KINDS {
        let counter = open(world.store(), kind)?;
        for number in 0..10 {
            counter.apply(&format!("op-{number}"), 3).await?;
        }
        if kind != Kind::Atomic {
            counter.cancel("fenced").await?;
        }
    }
    for how in [Restart::Clean, Restart::Kill] {
        world.restart(how).await?;
        let store = world.client().await?;
        for kind in KINDS {
            let counter = open(&store, kind)?;
            check(&counter, kind)
                .await
                .map_err(|failure| failure.during(format!("{kind:?} after {how:?}")))?;
        }
    }
    Ok(())
}

async fn check(counter: &Subject, kind: Kind) -> Verdict {
    ensure_eq!(counter.value().await?, 30, "the value");
    ensure_eq!(counter.apply("beyond", 21).await?, Counted::OutOfBounds, "21 on 30 within -50 and 50");
    if kind == Kind::Atomic {
        return Ok(());
    }
    for number in 0..10 {
        let retried = counter.apply(&format!("op-{number}"), 3).await?;
        ensure_eq!(retried, counter.already(3 * (number + 1)), "a retry");
    }
    ensure_eq!(counter.apply("fenced", 1).await?, Counted::Fenced, "a fenced operation");
    ensure_eq!(counter.cancel("op-0").await?, counter.cancelled_too_late(3), "a cancel that is too late");
    ensure_eq!(counter.cancel("fenced").await?, Cancelled::Cancelled, "a cancel once more");
    ensure_eq!(counter.value().await?, 30, "the value after the retries");
    Ok(())
}
