//! The composition of several banks. Tests the library's own [`Deduplicator`] on the world's stores.

mod ambiguous;
mod calls;
mod cancel;
mod concurrent;
mod crash;
mod edge;
mod model;
mod network;
mod python_faults;
mod recovery;
mod sequential;

use std::collections::BTreeMap;
use std::sync::Arc;

use storagebox_core::{Assigned, Backend, Deduplicator, Item, ItemState, Namespace, Recovery, Result};

use crate::case::cases;
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::link::{Fate, Link};
use crate::pages::after;
use crate::race::answered;
use crate::world::World;

cases! { Deduplicator:
    "A-1" Sequential sequential:
        same_id_same_item, same_id_same_item_whichever_bank_is_asked, same_id_same_item_from_an_empty_bank,
        another_process_answers_the_same_item, banks_and_records_may_be_in_different_stores;
    "A-1" Sequential model: random_calls_match_the_model;
    "A-1" Edge edge:
        a_bank_that_it_does_not_have_is_refused, nasty_ids_get_items_of_their_own, nasty_banks_and_items_are_told_apart,
        records_used_for_something_else_are_refused;
    "A-1" Concurrent concurrent:
        racing_calls_of_one_id_share_one_item, racing_calls_of_one_id_over_several_banks_share_one_item;
    "A-1" Sequential python_faults: python_fault_1_returning_user_from_an_empty_bank;
    "A-2" Sequential sequential: two_ids_have_two_items;
    "A-2" Concurrent concurrent:
        a_hundred_requests_of_twenty_customers, the_professors_three_classes,
        three_classes_asked_for_from_three_devices, more_ids_than_items;
    "A-3" Sequential recovery:
        recovery_finishes_what_was_abandoned, recovery_gives_up_where_the_bank_is_empty, recovery_goes_page_by_page,
        recovery_changes_nothing_that_is_finished;
    "A-3" Concurrent recovery: recovery_beside_live_callers_disturbs_nobody;
    "A-3" Ambiguous ambiguous:
        a_loss_at_any_step_of_an_assignment_loses_nothing, a_loss_at_any_step_of_giving_up_loses_nothing,
        random_faults_lose_and_double_nothing;
    "A-3" Cancel cancel:
        dropping_an_assignment_at_any_point_loses_nothing, dropping_a_giving_up_at_any_point_loses_nothing,
        dropping_a_second_choice_at_any_point_loses_nothing, dropping_a_recovery_at_any_point_loses_nothing;
    "A-3" Network network: a_cut_connection_loses_nothing;
    "A-3" Crash crash: what_was_assigned_survives_a_restart;
    "A-3" Ambiguous python_faults:
        python_fault_2_error_on_the_record_is_not_assigned_already, python_fault_5_lost_reply_of_the_take;
    "A-3" Cancel python_faults: python_fault_6_crash_between_take_and_record;
    "A-4" Sequential sequential:
        an_id_that_met_an_empty_bank_chooses_another, an_empty_bank_may_be_asked_again_after_a_refill,
        empty_leaves_nothing_behind;
    "A-4" Concurrent concurrent: racing_choices_beside_an_empty_bank, refills_while_ids_choose;
    "A-4" Ambiguous ambiguous: a_late_take_of_a_bank_that_was_given_up_gets_nothing;
    "IB-5" Ambiguous python_faults: python_fault_4_lost_part_of_a_batch;
    "IB-5" Edge python_faults: python_fault_7_duplicate_in_one_call;
    "IB-5" Sequential python_faults: python_fault_8_assigned_item_added_again;
}

const CLASSES: [&str; 3] = ["monday", "wednesday", "friday"];

fn desk(store: &dyn Backend) -> Result<Deduplicator> {
    let mut desk = Deduplicator::new(store.dedup_repo(&"students".parse()?)?);
    for class in CLASSES {
        desk = desk.bank(class, store.item_bank(&class.parse()?)?)?;
    }
    Ok(desk)
}

/// Runs an assignment that ends after this many steps, as if its caller had crashed.
async fn crash_after(store: &Arc<dyn Backend>, id: &str, class: &str, steps: usize) -> Verdict {
    let link = Link::script(std::iter::repeat_n(Fate::Delivered, steps).chain([Fate::RequestLost]));
    let ended = desk(&*link.before_store(store))?.assign(id, class).await;
    ensure!(ended.is_err(), "{id} finished before it crashed after {steps} steps: {ended:?}");
    Ok(())
}

/// Adds seats with these numbers to a class.
async fn add_seats(store: &dyn Backend, class: &str, numbers: std::ops::Range<usize>) -> Verdict {
    let seats: Result<Vec<_>> = numbers.map(|number| Item::new(format!("{class}-{number}"))).collect();
    let (bank, seats) = (store.item_bank(&class.parse()?)?, seats?);
    answered(|| bank.add(&seats)).await?;
    Ok(())
}

/// Repeats the assignment until it is answered.
async fn assign(desk: &Deduplicator, id: &str, class: &str) -> Result<Assigned, Failure> {
    for _ in 0..200 {
        match desk.assign(id, class).await {
            Err(error) if error.is_retryable() => tokio::task::yield_now().await,
            answer => return Ok(answer?),
        }
    }
    Err(Failure::new(format!("{id} has no answer in 200 attempts")))
}

async fn assign_any(desk: &Deduplicator, id: &str, classes: &[&str]) -> Result<Assigned, Failure> {
    for class in classes {
        let assigned = assign(desk, id, class).await?;
        if assigned != Assigned::Empty {
            return Ok(assigned);
        }
    }
    Ok(Assigned::Empty)
}

fn new_seat(assigned: &Assigned, class: &str) -> Result<Item, Failure> {
    match assigned {
        Assigned::New { bank, item } if bank.as_str() == class => Ok(item.clone()),
        other => Err(Failure::new(format!("expected a new seat of {class}, found {other:?}"))),
    }
}

async fn recover_all(desk: &Deduplicator, limit: usize) -> Result<Recovery, Failure> {
    let (mut total, mut cursor) = (Recovery::default(), None);
    loop {
        let page = desk.recover(cursor.as_ref(), limit).await?;
        ensure!(page.failed.is_empty(), "recovery could not finish {:?}", page.failed);
        total.seen += page.seen;
        total.finished += page.finished;
        total.given_up += page.given_up;
        cursor = after(cursor.as_ref(), page.next)?;
        if cursor.is_none() {
            return Ok(total);
        }
    }
}

/// Returns how many records were seen, finished and given up.
fn counts(recovery: &Recovery) -> [u64; 3] {
    [recovery.seen, recovery.finished, recovery.given_up]
}

type Told = BTreeMap<String, Item>;

/// Checks that every id has its own item, that no other item is held, and that there are `seats` items.
async fn ensure_settled(world: &World, told: &Told, seats: usize) -> Verdict {
    let mut held = Vec::new();
    let mut all = 0;
    for class in CLASSES {
        let audited = world.sandbox().audit(&Namespace::new(class)?).await?;
        all += audited.len();
        for entry in audited {
            let right = matches!(entry.state, ItemState::Held(_) | ItemState::Free);
            ensure!(right, "a seat of {class} is {:?}", entry.state);
            held.extend(matches!(entry.state, ItemState::Held(_)).then_some(entry.item));
        }
    }
    ensure_eq!(all, seats, "seats of all classes");
    let mut expected: Vec<_> = told.values().cloned().collect();
    held.sort();
    expected.sort();
    let names = |items: &[Item]| items.iter().map(|item| item.as_str().to_owned()).collect::<Vec<_>>();
    ensure_eq!(names(&held), names(&expected), "the held seats, and the seats that ids were given");
    let desk = desk(&*world.client().await?)?;
    for (id, item) in told {
        let again = assign(&desk, id, CLASSES[0]).await?;
        ensure!(matches!(&again, Assigned::Again { item: found, .. } if found == item), "{id} is answered {again:?}");
    }
    Ok(())
}

async fn desks(world: &World) -> Result<[Arc<Deduplicator>; 2]> {
    Ok([Arc::new(desk(&**world.store())?), Arc::new(desk(&*world.client().await?)?)])
}
