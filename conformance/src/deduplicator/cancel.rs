//! Futures that are dropped at each of their await points, and how the assignment is continued.

use storagebox_core::{Assigned, Deduplicator};

use super::{Told, add_seats, assign, crash_after, desk, ensure_settled, recover_all};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::link::{Link, drop_after};
use crate::world::World;

/// The number of seats per class: more than a case assigns.
const SEATS: usize = 200;

const WAYS: [Way; 3] = [Way::Retry, Way::Recover, Way::AnotherBank];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Another process makes the same call.
    Retry,
    /// A recovery runs, and then the same call is made.
    Recover,
    /// A call asks for another bank.
    AnotherBank,
}

fn gated(world: &World) -> storagebox_core::Result<Deduplicator> {
    desk(&*Link::gated().before_store(world.store()))
}

/// Continues the assignment in another process, and returns the last answer to the id.
async fn carry_on(world: &World, id: &str, class: &str, way: Way) -> Result<Assigned, Failure> {
    let fresh = desk(&*world.client().await?)?;
    match way {
        Way::Retry => assign(&fresh, id, class).await,
        Way::Recover => {
            let _ = recover_all(&fresh, 3).await?;
            let left = recover_all(&fresh, 100).await?;
            // The dropped call may still have been in flight, and have written its intent too late for the recovery.
            ensure!(left.finished + left.given_up <= 1, "{left:?} was abandoned after a recovery");
            let assigned = assign(&fresh, id, class).await?;
            let left = recover_all(&fresh, 100).await?;
            ensure_eq!((left.finished, left.given_up), (0, 0), "abandoned records after a recovery and an assignment");
            Ok(assigned)
        }
        Way::AnotherBank => assign(&fresh, id, "friday").await,
    }
}

fn note(told: &mut Told, id: String, assigned: &Assigned) -> Verdict {
    let item = assigned.item().ok_or_else(|| Failure::new(format!("{id} has no seat: {assigned:?}")))?;
    told.insert(id, item.clone());
    Ok(())
}

#[derive(Clone, Copy)]
struct Point<'a> {
    far: &'a Deduplicator,
    class: &'a str,
    way: Way,
    number: usize,
}

impl Point<'_> {
    fn id(&self) -> String {
        format!("{:?}-{}", self.way, self.number)
    }

    /// Returns whether the assignment was dropped at this await point. Adds the item of a finished assignment to
    /// `told`.
    async fn is_dropped(&self, told: &mut Told) -> Result<bool, Failure> {
        let answer = drop_after(self.far.assign(self.id(), self.class), self.number).await.transpose()?;
        told.extend(answer.as_ref().and_then(Assigned::item).map(|item| (self.id(), item.clone())));
        ensure!(answer.is_none() || self.number >= 4, "an assignment was dropped at only {} points", self.number);
        Ok(answer.is_none())
    }

    async fn carried_on(&self, world: &World, told: &mut Told) -> Verdict {
        let assigned = carry_on(world, &self.id(), self.class, self.way).await?;
        note(told, self.id(), &assigned)
    }
}

pub(super) async fn dropping_an_assignment_at_any_point_loses_nothing(world: &World) -> Verdict {
    let (far, mut told) = (gated(world)?, Told::new());
    for class in ["monday", "friday"] {
        add_seats(&**world.store(), class, 0..SEATS).await?;
    }
    for way in WAYS {
        let mut at = Point { far: &far, class: "monday", way, number: 0 };
        while at.is_dropped(&mut told).await? {
            at.carried_on(world, &mut told).await?;
            let other = format!("other-{}", at.id());
            let assigned = far.assign(other.as_str(), "friday").await?;
            note(&mut told, other, &assigned)?;
            at.number += 1;
        }
        ensure_settled(world, &told, 2 * SEATS).await?;
    }
    Ok(())
}

/// Dropping an assignment that gives up an empty bank, at any await point, loses no seat.
pub(super) async fn dropping_a_giving_up_at_any_point_loses_nothing(world: &World) -> Verdict {
    let (far, mut told, mut seats) = (gated(world)?, Told::new(), 0);
    for way in WAYS {
        let mut at = Point { far: &far, class: "monday", way, number: 0 };
        while at.is_dropped(&mut told).await? {
            let class = if way == Way::AnotherBank { "friday" } else { "monday" };
            if way == Way::Recover {
                let _ = recover_all(&desk(&*world.client().await?)?, 100).await?;
                ensure_settled(world, &told, seats).await?;
            }
            add_seats(&**world.store(), class, seats..seats + 1).await?;
            seats += 1;
            at.carried_on(world, &mut told).await?;
            at.number += 1;
        }
        ensure_settled(world, &told, seats).await?;
    }
    Ok(())
}

/// An id finds one bank empty and asks a second bank. Dropping the second assignment at any await point loses no seat.
pub(super) async fn dropping_a_second_choice_at_any_point_loses_nothing(world: &World) -> Verdict {
    let (far, mut told) = (gated(world)?, Told::new());
    for class in ["wednesday", "friday"] {
        add_seats(&**world.store(), class, 0..SEATS).await?;
    }
    for way in WAYS {
        let mut at = Point { far: &far, class: "wednesday", way, number: 0 };
        loop {
            ensure_eq!(assign(&far, &at.id(), "monday").await?, Assigned::Empty, "the first choice");
            if !at.is_dropped(&mut told).await? {
                break;
            }
            at.carried_on(world, &mut told).await?;
            at.number += 1;
        }
        ensure_settled(world, &told, 2 * SEATS).await?;
    }
    Ok(())
}

/// Dropping a recovery of two abandoned ids at any await point loses no seat.
pub(super) async fn dropping_a_recovery_at_any_point_loses_nothing(world: &World) -> Verdict {
    let (far, mut told) = (gated(world)?, Told::new());
    add_seats(&**world.store(), "friday", 0..SEATS).await?;
    let mut point = 0;
    while drop_recovery_at(world, &far, &mut told, point).await? {
        point += 1;
    }
    ensure!(point >= 8, "a recovery was dropped at only {point} points");
    ensure_settled(world, &told, SEATS).await
}

/// Drops a recovery at this await point, or returns false if the recovery finished before that point.
async fn drop_recovery_at(world: &World, far: &Deduplicator, told: &mut Told, point: usize) -> Result<bool, Failure> {
    abandon(world, &format!("{point}")).await?;
    let recovery = drop_after(far.recover(None, 1_000), point).await.transpose()?;
    if let Some(recovery) = &recovery {
        ensure_eq!((recovery.finished, recovery.given_up), (1, 1), "ids that were finished, and given up");
    }
    let fresh = desk(&*world.client().await?)?;
    let _ = recover_all(&fresh, 100).await?;
    let left = recover_all(&fresh, 100).await?;
    ensure_eq!((left.finished, left.given_up), (0, 0), "abandoned records after a second recovery");
    for kind in ["served", "unserved"] {
        let id = format!("{kind}-{point}");
        let assigned = assign(&fresh, &id, "friday").await?;
        let again = matches!(assigned, Assigned::Again { .. });
        ensure_eq!(again, kind == "served", "whether {id} has its seat from the recovery");
        note(told, id, &assigned)?;
    }
    Ok(recovery.is_none())
}

/// Leaves two ids whose callers crashed before the take: one asks for a class with seats, one for an empty class.
async fn abandon(world: &World, name: &str) -> Verdict {
    crash_after(world.store(), &format!("served-{name}"), "friday", 1).await?;
    crash_after(world.store(), &format!("unserved-{name}"), "monday", 1).await
}
