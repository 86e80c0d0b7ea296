//! Lost replies, requests that land late or twice, at any step of an assignment.

use std::sync::Arc;

use storagebox_core::{Assigned, Certainty, Deduplicator, Result};

use super::{CLASSES, Told, add_seats, assign, assign_any, desk, ensure_settled, recover_all};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::link::{Fate, Link};
use crate::world::World;

const FATES: [Fate; 4] = [Fate::RequestLost, Fate::ReplyLost, Fate::Late, Fate::Twice];

/// Creates a deduplicator whose link gives `fate` to the call at `step` and delivers all other calls.
fn faulty(world: &World, step: usize, fate: Fate) -> Result<(Deduplicator, Arc<Link>)> {
    let link = Link::script(std::iter::repeat_n(Fate::Delivered, step).chain([fate]));
    Ok((desk(&*link.before_store(world.store()))?, link))
}

/// Checks that the result is an answer or an error of unknown outcome. `Empty` is right only if there was no seat.
fn ensure_honest(answer: Result<Assigned>, may_be_empty: bool) -> Verdict {
    match answer {
        Ok(Assigned::Empty) => ensure!(may_be_empty, "a fault was answered with Empty"),
        Ok(_) => {}
        Err(error) => ensure_eq!(error.certainty(), Certainty::Unknown, "the certainty of {error}"),
    }
    Ok(())
}

/// A fault at any step of an assignment (record, take, commit) loses no seat, even if a late request lands after the
/// assignment is repeated.
pub(super) async fn a_loss_at_any_step_of_an_assignment_loses_nothing(world: &World) -> Verdict {
    let mut told = Told::new();
    add_seats(&**world.store(), "monday", 0..30).await?;
    for (number, fate) in FATES.into_iter().enumerate() {
        for (step, lands_first) in [(0, true), (0, false), (1, true), (1, false), (2, true), (2, false)] {
            let id = format!("student-{number}-{step}-{lands_first}");
            let (far, link) = faulty(world, step, fate)?;
            ensure_honest(far.assign(id.as_str(), "monday").await, false)?;
            if lands_first {
                link.land().await;
            }
            let assigned = far.assign(id.as_str(), "monday").await?;
            let item = assigned.item().ok_or_else(|| Failure::new(format!("{id} has no seat")))?.clone();
            link.land().await;
            told.insert(id, item);
            ensure_settled(world, &told, 30).await?;
        }
    }
    Ok(())
}

/// A fault at any step of giving up an empty class loses no seat, whether the id then asks for another class or for the
/// refilled class.
pub(super) async fn a_loss_at_any_step_of_giving_up_loses_nothing(world: &World) -> Verdict {
    let (mut told, mut seats) = (Told::new(), 0);
    for (number, fate) in FATES.into_iter().enumerate() {
        // The steps are: record, take, mark as giving up, release, clear.
        for step in 0..5 {
            for refilled in [false, true] {
                let id = format!("student-{number}-{step}-{refilled}");
                let (far, link) = faulty(world, step, fate)?;
                ensure_honest(far.assign(id.as_str(), "monday").await, true)?;
                let class = if refilled { "monday" } else { "friday" };
                add_seats(&**world.store(), class, seats..seats + 1).await?;
                seats += 1;
                let assigned = assign(&far, &id, class).await?;
                let item = assigned.item().ok_or_else(|| Failure::new(format!("{id} has no seat")))?.clone();
                link.land().await;
                told.insert(id, item);
                ensure_settled(world, &told, seats).await?;
            }
        }
    }
    Ok(())
}

/// A take that lands after its id has given up the class takes no seat, even if the class has a seat again.
pub(super) async fn a_late_take_of_a_bank_that_was_given_up_gets_nothing(world: &World) -> Verdict {
    let (mut told, mut seats) = (Told::new(), 0);
    for round in 0..4 {
        let id = format!("student-{round}");
        let (far, link) = faulty(world, 1, Fate::Late)?;
        ensure!(far.assign(id.as_str(), "monday").await.is_err(), "a take in flight was answered");
        if round % 2 == 0 {
            ensure_eq!(assign(&far, &id, "monday").await?, Assigned::Empty, "an empty class");
        } else {
            let _ = recover_all(&far, 10).await?;
        }
        ensure_eq!(link.under_way(), 1, "takes in flight");
        for class in ["monday", "friday"] {
            add_seats(&**world.store(), class, seats..seats + 1).await?;
        }
        seats += 1;
        if round < 2 {
            link.land().await;
            ensure_settled(world, &told, 2 * seats).await?;
        }
        let assigned = assign(&far, &id, "friday").await?;
        let item = assigned.item().ok_or_else(|| Failure::new(format!("{id} has no seat")))?.clone();
        link.land().await;
        told.insert(id, item);
        ensure_settled(world, &told, 2 * seats).await?;
        // Empties the class for the next round.
        let desk = desk(&**world.store())?;
        let filler = format!("filler-{round}");
        let seat = assign(&desk, &filler, "monday").await?;
        told.extend(seat.item().map(|item| (filler, item.clone())));
    }
    ensure_settled(world, &told, 2 * seats).await
}

/// Ids ask for seats under faults, and some ids are abandoned. After the recovery of the abandoned ids, every id has
/// one seat.
pub(super) async fn random_faults_lose_and_double_nothing(world: &World) -> Verdict {
    let mut rng = world.rng();
    for _ in 0..world.profile().rounds {
        let world = world.another().await?;
        for class in CLASSES {
            add_seats(&**world.store(), class, 0..6).await?;
        }
        let link = Link::random(rng.u64(..), 30);
        let far = desk(&*link.before_store(world.store()))?;
        let mut told = Told::new();
        for _ in 0..60 {
            let (id, class) = (format!("student-{}", rng.u8(..24)), CLASSES[rng.usize(..3)]);
            if rng.u8(..3) == 0 {
                ensure_honest(far.assign(id.as_str(), class).await, true)?;
            } else if let Some(item) = assign(&far, &id, class).await?.item() {
                let before = told.insert(id.clone(), item.clone());
                ensure!(before.is_none_or(|before| before == *item), "{id} was given two seats");
            }
            match rng.u8(..8) {
                0 => link.land().await,
                1 => drop(far.recover(None, 100).await),
                _ => {}
            }
        }
        link.heal();
        link.land().await;
        finish(&world, &mut told).await?;
    }
    Ok(())
}

async fn finish(world: &World, told: &mut Told) -> Verdict {
    let desk = desk(&*world.client().await?)?;
    let _ = recover_all(&desk, 5).await?;
    for student in 0..24 {
        let id = format!("student-{student}");
        let assigned = assign_any(&desk, &id, &CLASSES).await?;
        let before = told.get(&id);
        ensure!(before.is_none() || before == assigned.item(), "{id} was given {before:?}, and now {assigned:?}");
        told.extend(assigned.item().map(|item| (id, item.clone())));
    }
    ensure_eq!(told.len(), 18, "students with a seat of 18");
    ensure_settled(world, told, 18).await
}
