//! Recovery: another process finishes what crashed callers left.

use std::sync::Arc;

use storagebox_core::{Assigned, Backend};

use super::{
    CLASSES, Told, add_seats, assign, assign_any, counts, crash_after, desk, desks, ensure_settled, recover_all,
};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::link::{Fate, Link, drop_after};
use crate::pages::after;
use crate::race::race;
use crate::world::World;

/// Returns the seat of each id, or fails if an id has no seat.
async fn told(world: &World, ids: impl IntoIterator<Item = String>) -> Result<Told, Failure> {
    let (desk, mut told) = (desk(&**world.store())?, Told::new());
    for id in ids {
        let again = assign(&desk, &id, "monday").await?;
        let Assigned::Again { item, .. } = again else {
            return Err(Failure::new(format!("{id} should have its seat, and is answered {again:?}")));
        };
        told.insert(id, item);
    }
    Ok(told)
}

pub(super) async fn recovery_finishes_what_was_abandoned(world: &World) -> Verdict {
    add_seats(&**world.store(), "monday", 0..5).await?;
    for steps in [1, 2] {
        crash_after(world.store(), &format!("student-{steps}"), "monday", steps).await?;
    }
    let recovery = recover_all(&desk(&*world.client().await?)?, 10).await?;
    ensure_eq!(counts(&recovery), [2, 2, 0], "the records seen, finished and given up");
    let again = recover_all(&desk(&**world.store())?, 10).await?;
    ensure_eq!(counts(&again), [2, 0, 0], "what a second recovery saw, finished and gave up");
    let told = told(world, [1, 2].map(|steps| format!("student-{steps}"))).await?;
    ensure_settled(world, &told, 5).await
}

pub(super) async fn recovery_gives_up_where_the_bank_is_empty(world: &World) -> Verdict {
    for steps in 1..=4 {
        crash_after(world.store(), &format!("student-{steps}"), "monday", steps).await?;
    }
    let recovery = recover_all(&desk(&*world.client().await?)?, 10).await?;
    ensure_eq!(counts(&recovery), [4, 0, 4], "the records seen, finished and given up");
    add_seats(&**world.store(), "monday", 0..4).await?;
    ensure_settled(world, &Told::new(), 4).await?;
    let (desk, mut told) = (desk(&**world.store())?, Told::new());
    for steps in 1..=4 {
        let id = format!("student-{steps}");
        let assigned = assign(&desk, &id, "monday").await?;
        told.extend(assigned.item().map(|item| (id, item.clone())));
    }
    ensure_eq!(told.len(), 4, "ids that have a seat after the refill");
    ensure_settled(world, &told, 4).await
}

pub(super) async fn recovery_goes_page_by_page(world: &World) -> Verdict {
    add_seats(&**world.store(), "monday", 0..40).await?;
    let desk = desk(&**world.store())?;
    for number in 0..30 {
        let id = format!("student-{number}");
        if number % 3 == 0 {
            let _ = desk.assign(id.as_str(), "monday").await?;
        } else {
            crash_after(world.store(), &id, "monday", number % 3).await?;
        }
    }
    let page = desk.recover(None, 7).await?;
    ensure!(page.seen <= 7 && page.next.is_some(), "a page of 7 out of 30 is {page:?}");
    let _ = recover_all(&desk, 7).await?;
    let again = recover_all(&desk, 4).await?;
    ensure_eq!(counts(&again), [30, 0, 0], "the records seen, finished and given up after all pages");
    let told = told(world, (0..30).map(|number| format!("student-{number}"))).await?;
    ensure_settled(world, &told, 40).await
}

pub(super) async fn recovery_changes_nothing_that_is_finished(world: &World) -> Verdict {
    add_seats(&**world.store(), "monday", 0..2).await?;
    let (desk, mut told) = (desk(&**world.store())?, Told::new());
    ensure_eq!(counts(&recover_all(&desk, 10).await?), [0, 0, 0], "what recovery did where there is nothing");
    for id in ["ada", "bob", "eve"] {
        let assigned = assign(&desk, id, "monday").await?;
        told.extend(assigned.item().map(|item| (id.to_owned(), item.clone())));
    }
    for _ in 0..2 {
        let recovery = recover_all(&desk, 10).await?;
        ensure_eq!(counts(&recovery), [3, 0, 0], "what recovery did with finished ids");
        ensure_settled(world, &told, 2).await?;
    }
    Ok(())
}

/// Concurrent recoveries take no seat from any id while half of the callers crash and the other callers continue.
pub(super) async fn recovery_beside_live_callers_disturbs_nobody(world: &World) -> Verdict {
    let (desks, mut rng) = (desks(world).await?, world.rng());
    let (mut told, mut seats) = (Told::new(), 0);
    for round in 0..world.profile().rounds {
        for class in &CLASSES[1..] {
            add_seats(&**world.store(), class, seats..seats + 8).await?;
        }
        seats += 8;
        let chance: Vec<_> = std::iter::repeat_with(|| (rng.usize(..3), rng.usize(..5))).take(24).collect();
        race(24, |number| {
            let (desk, store) = (Arc::clone(&desks[number % 2]), Arc::clone(world.store()));
            let (id, (class, steps)) = (format!("student-{round}-{}", number % 12), chance[number]);
            async move {
                match number {
                    0..4 => recover_often(&desk).await,
                    4..14 => crash_somewhere(&store, &id, CLASSES[class], steps).await,
                    _ => assign(&desk, &id, CLASSES[class]).await.map(drop),
                }
            }
        })
        .await?;
        let _ = recover_all(&desks[0], 100).await?;
        for student in 0..12 {
            let id = format!("student-{round}-{student}");
            let assigned = assign_any(&desks[1], &id, &CLASSES).await?;
            told.extend(assigned.item().map(|item| (id, item.clone())));
        }
        ensure_eq!(told.len(), 12 * (round + 1), "students with a seat");
        ensure_settled(world, &told, seats * 2).await?;
    }
    Ok(())
}

async fn recover_often(desk: &storagebox_core::Deduplicator) -> Verdict {
    for _ in 0..4 {
        let mut cursor = None;
        loop {
            match desk.recover(cursor.as_ref(), 5).await {
                Ok(page) => cursor = after(cursor.as_ref(), page.next)?,
                Err(error) if error.is_retryable() => {}
                Err(error) => return Err(error.into()),
            }
            if cursor.is_none() {
                break;
            }
        }
    }
    Ok(())
}

/// Stops an assignment after some steps, like a crash.
async fn crash_somewhere(store: &Arc<dyn Backend>, id: &str, class: &str, steps: usize) -> Verdict {
    let far = desk(&*Link::gated().before_store(store))?;
    let _ = drop_after(far.assign(id, class), 2 * steps + 1).await;
    let lost = Link::script(vec![Fate::Delivered; steps].into_iter().chain([Fate::ReplyLost]));
    let _ = desk(&*lost.before_store(store))?.assign(id, class).await;
    Ok(())
}
