//! One caller, one call after another.

use storagebox_core::{Assigned, Backend, Deduplicator, ItemBank};

use super::{CLASSES, Told, add_seats, assign, desk, ensure_settled, new_seat};
use crate::failure::{Verdict, ensure, ensure_eq};
use crate::world::World;

pub(super) async fn same_id_same_item(world: &World) -> Verdict {
    add_seats(&**world.store(), "monday", 0..5).await?;
    let desk = desk(&**world.store())?;
    let seat = new_seat(&desk.assign("ada", "monday").await?, "monday")?;
    for _ in 0..3 {
        let again = desk.assign("ada", "monday").await?;
        ensure!(
            matches!(&again, Assigned::Again { item, .. } if *item == seat),
            "the same id does not get its item again: {again:?}"
        );
    }
    ensure_settled(world, &Told::from([("ada".into(), seat)]), 5).await
}

pub(super) async fn same_id_same_item_whichever_bank_is_asked(world: &World) -> Verdict {
    for class in CLASSES {
        add_seats(&**world.store(), class, 0..5).await?;
    }
    let (desk, mut told) = (desk(&**world.store())?, Told::new());
    for class in CLASSES {
        let id = format!("student-of-{class}");
        let seat = new_seat(&desk.assign(id.as_str(), class).await?, class)?;
        for other in CLASSES {
            let again = desk.assign(id.as_str(), other).await?;
            let right = matches!(&again, Assigned::Again { bank, item } if bank.as_str() == class && *item == seat);
            ensure!(right, "{id} asks for {other} and is answered {again:?}");
        }
        told.insert(id, seat);
    }
    ensure_settled(world, &told, 15).await
}

pub(super) async fn same_id_same_item_from_an_empty_bank(world: &World) -> Verdict {
    add_seats(&**world.store(), "monday", 0..1).await?;
    let desk = desk(&**world.store())?;
    let seat = new_seat(&desk.assign("ada", "monday").await?, "monday")?;
    ensure_eq!(desk.assign("bob", "monday").await?, Assigned::Empty, "another id, and the bank is empty");
    let again = desk.assign("ada", "monday").await?;
    ensure!(
        matches!(&again, Assigned::Again { item, .. } if *item == seat),
        "the same id does not get its item again: {again:?}"
    );
    ensure_settled(world, &Told::from([("ada".into(), seat)]), 1).await
}

pub(super) async fn another_process_answers_the_same_item(world: &World) -> Verdict {
    add_seats(&**world.store(), "friday", 0..3).await?;
    let first = desk(&**world.store())?;
    let seat = new_seat(&first.assign("ada", "friday").await?, "friday")?;
    drop(first);
    for _ in 0..2 {
        let other = desk(&*world.client().await?)?;
        let again = other.assign("ada", "monday").await?;
        ensure!(
            matches!(&again, Assigned::Again { item, .. } if *item == seat),
            "the id does not get its item again from another process: {again:?}"
        );
    }
    Ok(())
}

/// Assignments work with banks and records in different sandboxes, as if in different databases.
pub(super) async fn banks_and_records_may_be_in_different_stores(world: &World) -> Verdict {
    let records = world.another().await?;
    let bank = world.filled(3).await?;
    let desk = Deduplicator::new(records.store().dedup_repo(&"students".parse()?)?).bank("monday", bank)?;
    let seat = new_seat(&desk.assign("ada", "monday").await?, "monday")?;
    let again = desk.assign("ada", "monday").await?;
    ensure!(
        matches!(&again, Assigned::Again { item, .. } if *item == seat),
        "the same id does not get its item again: {again:?}"
    );
    new_seat(&desk.assign("bob", "monday").await?, "monday")?;
    ensure_eq!(world.bank()?.counts().await?.held, 2, "items held");
    ensure_eq!(
        world.store().dedup_repo(&"students".parse()?)?.list(None, 10).await?.entries.len(),
        0,
        "records beside the bank"
    );
    Ok(())
}

pub(super) async fn two_ids_have_two_items(world: &World) -> Verdict {
    add_seats(&**world.store(), "monday", 0..10).await?;
    let (desk, mut told) = (desk(&**world.store())?, Told::new());
    for number in 0..10 {
        let id = format!("student-{number}");
        let seat = new_seat(&desk.assign(id.as_str(), "monday").await?, "monday")?;
        ensure!(!told.values().any(|other| *other == seat), "{id} gets another's seat");
        told.insert(id, seat);
        // Taken seats do not become free: neither when they are added again nor by calls of other ids.
        add_seats(&**world.store(), "monday", 0..10).await?;
    }
    ensure_eq!(desk.assign("late", "monday").await?, Assigned::Empty, "an id after the last seat");
    ensure_settled(world, &told, 10).await
}

pub(super) async fn an_id_that_met_an_empty_bank_chooses_another(world: &World) -> Verdict {
    add_seats(&**world.store(), "friday", 0..2).await?;
    let (desk, mut told) = (desk(&**world.store())?, Told::new());
    for id in ["ada", "bob"] {
        ensure_eq!(desk.assign(id, "monday").await?, Assigned::Empty, "{id} asks for an empty class");
        ensure_eq!(desk.assign(id, "wednesday").await?, Assigned::Empty, "{id} asks for another one");
        let seat = new_seat(&desk.assign(id, "friday").await?, "friday")?;
        let again = desk.assign(id, "monday").await?;
        ensure!(matches!(&again, Assigned::Again { item, .. } if *item == seat), "{id} asks for the first: {again:?}");
        told.insert(id.into(), seat);
    }
    ensure_eq!(desk.assign("eve", "friday").await?, Assigned::Empty, "a third id");
    ensure_settled(world, &told, 2).await
}

pub(super) async fn an_empty_bank_may_be_asked_again_after_a_refill(world: &World) -> Verdict {
    let desk = desk(&**world.store())?;
    for _ in 0..3 {
        ensure_eq!(desk.assign("ada", "monday").await?, Assigned::Empty, "an empty class");
    }
    add_seats(&**world.store(), "monday", 0..1).await?;
    let seat = new_seat(&desk.assign("ada", "monday").await?, "monday")?;
    ensure_settled(world, &Told::from([("ada".into(), seat)]), 1).await
}

/// An `Empty` answer affects neither the bank nor later ids.
pub(super) async fn empty_leaves_nothing_behind(world: &World) -> Verdict {
    let (desk, mut told) = (desk(&**world.store())?, Told::new());
    for number in 0..5 {
        let asked = desk.assign(format!("early-{number}"), "monday").await?;
        ensure_eq!(asked, Assigned::Empty, "an empty class");
    }
    add_seats(&**world.store(), "monday", 0..5).await?;
    let counts = world.store().item_bank(&"monday".parse()?)?.counts().await?;
    ensure_eq!((counts.free, counts.held), (5, 0), "free and held seats after a refill");
    for number in 0..5 {
        let id = format!("late-{number}");
        let seat = new_seat(&assign(&desk, &id, "monday").await?, "monday")?;
        told.insert(id, seat);
    }
    ensure_eq!(desk.assign("early-0", "monday").await?, Assigned::Empty, "an early id, and the class is full");
    ensure_settled(world, &told, 5).await
}
