//! Futures that are dropped at each of their points, and who carries on.

use std::sync::Arc;

use storagebox_core::{Assigned, Deduplicator};

use super::{Told, add_seats, assign, desk, ensure_settled, recover_all};
use crate::case::Verdict;
use crate::failure::{Failure, ensure, ensure_eq};
use crate::link::{Link, Linked, drop_after, polls};
use crate::world::World;

/// Who carries on after the drop.
const WAYS: [Way; 3] = [Way::Retry, Way::Recover, Way::AnotherBank];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The same call by another process.
    Retry,
    /// A recovery, and the same call after it.
    Recover,
    /// A call that asks for another bank.
    AnotherBank,
}

fn gated(world: &World) -> storagebox_core::Result<Deduplicator> {
    desk(&*Linked::new(Arc::clone(world.store()), Link::gated()))
}

/// Another process carries on; what the id has in the end.
async fn carry_on(world: &World, id: &str, class: &str, way: Way) -> Result<Assigned, Failure> {
    let fresh = desk(&*world.client().await?)?;
    match way {
        Way::Retry => assign(&fresh, id, class).await,
        Way::Recover => {
            recover_all(&fresh, 3).await?;
            let left = recover_all(&fresh, 100).await?;
            ensure_eq!((left.finished, left.given_up), (0, 0), "abandoned records after a recovery");
            assign(&fresh, id, class).await
        }
        Way::AnotherBank => assign(&fresh, id, "friday").await,
    }
}

fn note(told: &mut Told, id: String, assigned: &Assigned) -> Verdict {
    let item = assigned.item().ok_or_else(|| Failure::new(format!("{id} has no seat: {assigned:?}")))?;
    told.insert(id, item.clone());
    Ok(())
}

/// How many points the call has when nothing is in its way; the id and its seat are noted.
async fn points(far: &Deduplicator, told: &mut Told, id: &str, class: &str) -> Result<usize, Failure> {
    let (points, assigned) = polls(far.assign(id, class)).await;
    let assigned = assigned?;
    told.extend(assigned.item().map(|item| (id.to_owned(), item.clone())));
    ensure!(points >= 4, "an assignment has only {points} points to be dropped at");
    Ok(points)
}

pub(super) async fn dropping_an_assignment_at_any_point_loses_nothing(world: &World) -> Verdict {
    let (far, mut told) = (gated(world)?, Told::new());
    for class in ["monday", "friday"] {
        add_seats(&**world.store(), class, 0..60).await?;
    }
    let points = points(&far, &mut told, "whole", "monday").await?;
    for way in WAYS {
        for point in 0..points {
            let id = format!("{way:?}-{point}");
            let dropped = drop_after(far.assign(id.as_str(), "monday"), point).await;
            ensure!(dropped.is_none(), "the call was through at point {point} of {points}");
            let assigned = carry_on(world, &id, "monday", way).await?;
            note(&mut told, id, &assigned)?;
            ensure_settled(world, &told, 120).await?;
            let other = format!("other-{way:?}-{point}");
            let assigned = far.assign(other.as_str(), "friday").await?;
            note(&mut told, other, &assigned)?;
        }
    }
    ensure_settled(world, &told, 120).await
}

/// The bank is empty, so the way is longer: it is given up, its claim fenced, and left.
pub(super) async fn dropping_a_giving_up_at_any_point_loses_nothing(world: &World) -> Verdict {
    let (far, mut told, mut seats) = (gated(world)?, Told::new(), 0);
    let points = points(&far, &mut told, "whole", "monday").await?;
    for way in WAYS {
        for point in 0..points {
            let id = format!("{way:?}-{point}");
            let dropped = drop_after(far.assign(id.as_str(), "monday"), point).await;
            ensure!(dropped.is_none(), "the call was through at point {point} of {points}");
            let class = if way == Way::AnotherBank { "friday" } else { "monday" };
            if way == Way::Recover {
                recover_all(&desk(&*world.client().await?)?, 100).await?;
                ensure_settled(world, &told, seats).await?;
            }
            add_seats(&**world.store(), class, seats..seats + 1).await?;
            seats += 1;
            let assigned = carry_on(world, &id, "monday", way).await?;
            note(&mut told, id, &assigned)?;
            ensure_settled(world, &told, seats).await?;
        }
    }
    Ok(())
}

/// The first bank was empty before; now another one is chosen.
pub(super) async fn dropping_a_second_choice_at_any_point_loses_nothing(world: &World) -> Verdict {
    let (far, mut told) = (gated(world)?, Told::new());
    for class in ["wednesday", "friday"] {
        add_seats(&**world.store(), class, 0..60).await?;
    }
    ensure_eq!(assign(&far, "whole", "monday").await?, Assigned::Empty, "the first choice");
    let points = points(&far, &mut told, "whole", "wednesday").await?;
    for way in WAYS {
        for point in 0..points {
            let id = format!("{way:?}-{point}");
            ensure_eq!(assign(&far, &id, "monday").await?, Assigned::Empty, "the first choice");
            let dropped = drop_after(far.assign(id.as_str(), "wednesday"), point).await;
            ensure!(dropped.is_none(), "the call was through at point {point} of {points}");
            let assigned = carry_on(world, &id, "wednesday", way).await?;
            note(&mut told, id, &assigned)?;
            ensure_settled(world, &told, 120).await?;
        }
    }
    Ok(())
}

/// A recovery of two abandoned ids, one of which gets its seat and one of which gives up.
pub(super) async fn dropping_a_recovery_at_any_point_loses_nothing(world: &World) -> Verdict {
    let (far, mut told) = (gated(world)?, Told::new());
    add_seats(&**world.store(), "friday", 0..60).await?;
    abandon(&far, "whole").await?;
    let (points, recovery) = polls(far.recover(None, 100)).await;
    let recovery = recovery?;
    ensure_eq!((recovery.finished, recovery.given_up), (1, 1), "ids that were finished, and given up");
    for point in 0..points {
        abandon(&far, &format!("{point}")).await?;
        let dropped = drop_after(far.recover(None, 100), point).await;
        ensure!(dropped.is_none(), "the recovery was through at point {point} of {points}");
        let fresh = desk(&*world.client().await?)?;
        recover_all(&fresh, 100).await?;
        let left = recover_all(&fresh, 100).await?;
        ensure_eq!((left.finished, left.given_up), (0, 0), "abandoned records after a second recovery");
        for kind in ["served", "unserved"] {
            let id = format!("{kind}-{point}");
            let assigned = assign(&fresh, &id, "friday").await?;
            let again = matches!(assigned, Assigned::Again { .. });
            ensure_eq!(again, kind == "served", "whether {id} has its seat from the recovery");
            note(&mut told, id, &assigned)?;
        }
    }
    let fresh = desk(&*world.client().await?)?;
    let whole = assign(&fresh, "served-whole", "friday").await?;
    note(&mut told, "served-whole".into(), &whole)?;
    ensure_settled(world, &told, 60).await
}

/// Leaves two ids with an intent alone: one for a class with seats, one for an empty class.
async fn abandon(far: &Deduplicator, name: &str) -> Verdict {
    for (id, class) in [(format!("served-{name}"), "friday"), (format!("unserved-{name}"), "monday")] {
        let dropped = drop_after(far.assign(id.as_str(), class), 2).await;
        ensure!(dropped.is_none(), "{id} was through before it was dropped");
    }
    Ok(())
}
