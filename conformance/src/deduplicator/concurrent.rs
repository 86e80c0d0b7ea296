//! Many concurrent callers.

use std::collections::BTreeSet;
use std::sync::Arc;

use storagebox_core::{Assigned, Item};

use super::{CLASSES, Told, add_seats, assign, assign_any, desks, ensure_settled};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::race::{SIZES, race};
use crate::world::World;

/// Checks that all answers have the same item and at most one answer is new, and returns the item.
fn one_item(answers: &[Assigned]) -> Result<Item, Failure> {
    let items: BTreeSet<_> = answers.iter().filter_map(Assigned::item).collect();
    ensure_eq!(items.len(), 1, "different items of one id");
    let new = answers.iter().filter(|answer| matches!(answer, Assigned::New { .. })).count();
    ensure!(new <= 1, "{new} callers of one id are answered New");
    items.first().map(|item| (*item).clone()).ok_or_else(|| Failure::new("no caller has an item"))
}

pub(super) async fn racing_calls_of_one_id_share_one_item(world: &World) -> Verdict {
    let (desks, mut told, mut seats) = (desks(world).await?, Told::new(), 0);
    for round in 0..world.profile().rounds {
        for size in SIZES {
            add_seats(&**world.store(), "monday", seats..seats + size).await?;
            seats += size;
            let id = format!("student-{round}-{size}");
            let answers = race(size, |number| {
                let (desk, id) = (Arc::clone(&desks[number % 2]), id.clone());
                async move { assign(&desk, &id, "monday").await }
            })
            .await?;
            ensure!(!answers.contains(&Assigned::Empty), "Empty from a class with seats for all");
            let new = answers.iter().filter(|answer| matches!(answer, Assigned::New { .. })).count();
            ensure_eq!(new, 1, "callers of one id that are answered New");
            told.insert(id, one_item(&answers)?);
        }
    }
    ensure_settled(world, &told, seats).await
}

pub(super) async fn racing_calls_of_one_id_over_several_banks_share_one_item(world: &World) -> Verdict {
    let (desks, mut told, mut seats) = (desks(world).await?, Told::new(), 0);
    for round in 0..world.profile().rounds {
        for size in SIZES {
            for class in CLASSES {
                add_seats(&**world.store(), class, seats..seats + size).await?;
            }
            seats += size;
            let id = format!("student-{round}-{size}");
            let answers = race(size, |number| {
                let (desk, id) = (Arc::clone(&desks[number % 2]), id.clone());
                async move { assign(&desk, &id, CLASSES[number % 3]).await }
            })
            .await?;
            ensure!(!answers.contains(&Assigned::Empty), "Empty where every class has seats");
            told.insert(id, one_item(&answers)?);
        }
    }
    ensure_settled(world, &told, seats * 3).await
}

/// Twenty customers make five concurrent requests each, as in article 1, and each gets one item.
pub(super) async fn a_hundred_requests_of_twenty_customers(world: &World) -> Verdict {
    let (desks, mut told) = (desks(world).await?, Told::new());
    let rounds = world.profile().rounds;
    add_seats(&**world.store(), "monday", 0..100 * rounds).await?;
    for round in 0..rounds {
        let answers = race(100, |number| {
            let (desk, id) = (Arc::clone(&desks[number % 2]), format!("customer-{round}-{}", number % 20));
            async move { assign(&desk, &id, "monday").await }
        })
        .await?;
        for customer in 0..20 {
            let own: Vec<_> = answers.iter().skip(customer).step_by(20).cloned().collect();
            ensure_eq!(own.len(), 5, "requests of one customer");
            told.insert(format!("customer-{round}-{customer}"), one_item(&own)?);
        }
    }
    ensure_eq!(told.len(), 20 * rounds, "customers with a code");
    ensure_settled(world, &told, 100 * rounds).await
}

/// 150 students with wishes ask for seats in three classes of 50, as in article 1. In the end every student has a seat.
pub(super) async fn the_professors_three_classes(world: &World) -> Verdict {
    let (desks, mut rng) = (desks(world).await?, world.rng());
    for class in CLASSES {
        add_seats(&**world.store(), class, 0..50).await?;
    }
    let wishes: Vec<_> = std::iter::repeat_with(|| shuffled(&mut rng)).take(150).collect();
    let answers = race(150, |number| {
        let (desk, wishes) = (Arc::clone(&desks[number % 2]), wishes[number]);
        async move { assign_any(&desk, &format!("student-{number}"), &wishes).await }
    })
    .await?;
    let told = told_by(answers.iter().enumerate())?;
    ensure_eq!(told.len(), 150, "students with a seat");
    ensure_settled(world, &told, 150).await
}

fn shuffled(rng: &mut fastrand::Rng) -> [&'static str; 3] {
    let mut classes = CLASSES;
    rng.shuffle(&mut classes);
    classes
}

/// Returns the seat of each student, and checks that no student was given two seats.
fn told_by<'a>(answers: impl Iterator<Item = (usize, &'a Assigned)>) -> Result<Told, Failure> {
    let mut told = Told::new();
    for (student, answer) in answers {
        let Some(item) = answer.item() else { continue };
        let before = told.insert(format!("student-{student}"), item.clone());
        ensure!(before.is_none_or(|before| before == *item), "student {student} was given two seats");
    }
    Ok(told)
}

/// 150 students ask for a seat on three devices at once, with different wishes on each device. Each student gets one
/// seat.
pub(super) async fn three_classes_asked_for_from_three_devices(world: &World) -> Verdict {
    let (desks, mut rng) = (desks(world).await?, world.rng());
    for class in CLASSES {
        add_seats(&**world.store(), class, 0..50).await?;
    }
    let wishes: Vec<_> = std::iter::repeat_with(|| shuffled(&mut rng)).take(450).collect();
    let answers = race(450, |number| {
        let (desk, wishes) = (Arc::clone(&desks[number % 2]), wishes[number]);
        async move { assign_any(&desk, &format!("student-{}", number % 150), &wishes).await }
    })
    .await?;
    let told = told_by(answers.iter().enumerate().map(|(number, answer)| (number % 150, answer)))?;
    ensure_eq!(told.len(), 150, "students with a seat");
    ensure!(!answers.contains(&Assigned::Empty), "a device was answered Empty");
    ensure_settled(world, &told, 150).await
}

pub(super) async fn more_ids_than_items(world: &World) -> Verdict {
    let (desks, mut told, mut seats) = (desks(world).await?, Told::new(), 0);
    for round in 0..world.profile().rounds {
        for size in SIZES {
            add_seats(&**world.store(), "monday", seats..seats + size / 2).await?;
            seats += size / 2;
            let answers = race(size, |number| {
                let (desk, id) = (Arc::clone(&desks[number % 2]), format!("student-{round}-{size}-{number}"));
                async move { assign(&desk, &id, "monday").await }
            })
            .await?;
            let served = answers.iter().filter(|answer| matches!(answer, Assigned::New { .. })).count();
            let empty = answers.iter().filter(|answer| **answer == Assigned::Empty).count();
            ensure_eq!((served, empty), (size / 2, size - size / 2), "ids with a seat, and without");
            for (number, answer) in answers.iter().enumerate() {
                told.extend(answer.item().map(|item| (format!("student-{round}-{size}-{number}"), item.clone())));
            }
        }
    }
    ensure_settled(world, &told, seats).await
}

/// Each id asks for an empty class and for a class with seats at the same time, and gets one seat.
pub(super) async fn racing_choices_beside_an_empty_bank(world: &World) -> Verdict {
    let (desks, mut told, mut seats) = (desks(world).await?, Told::new(), 0);
    for round in 0..world.profile().rounds * 2 {
        add_seats(&**world.store(), "friday", seats..seats + 6).await?;
        seats += 6;
        let answers = race(24, |number| {
            let (desk, id) = (Arc::clone(&desks[number % 2]), format!("student-{round}-{}", number / 4));
            let class = if number % 4 < 2 { "monday" } else { "friday" };
            async move { assign(&desk, &id, class).await }
        })
        .await?;
        for student in 0..6 {
            let own = &answers[student * 4..student * 4 + 4];
            ensure!(!own[2..].contains(&Assigned::Empty), "Empty from the class that has a seat for everybody");
            told.insert(format!("student-{round}-{student}"), one_item(own)?);
        }
    }
    ensure_settled(world, &told, seats).await
}

/// Seats are added while ids ask for seats in classes that may be empty. In the end every id has one seat.
pub(super) async fn refills_while_ids_choose(world: &World) -> Verdict {
    let (desks, mut rng) = (desks(world).await?, world.rng());
    let (mut told, mut seats) = (Told::new(), 0);
    for round in 0..world.profile().rounds {
        let wishes: Vec<_> = std::iter::repeat_with(|| shuffled(&mut rng)).take(27).collect();
        race(27, |number| {
            let (desk, store) = (Arc::clone(&desks[number % 2]), Arc::clone(world.store()));
            let (id, wishes) = (format!("student-{round}-{}", number % 8), wishes[number]);
            async move {
                match number {
                    24.. => add_seats(&*store, CLASSES[number - 24], seats..seats + 3).await,
                    _ => assign_any(&desk, &id, &wishes).await.map(drop),
                }
            }
        })
        .await?;
        seats += 3;
        for student in 0..8 {
            let id = format!("student-{round}-{student}");
            let assigned = assign_any(&desks[0], &id, &CLASSES).await?;
            let item = assigned.item().ok_or_else(|| Failure::new(format!("{id} has no seat, of 9 for 8 ids")))?;
            told.insert(id, item.clone());
        }
        ensure_settled(world, &told, seats * 3).await?;
    }
    Ok(())
}
