//! Regression cases for the eight faults that were found in the Python package.

use storagebox_core::{Added, Assigned, Backend, Certainty, ErrorKind, Hold, Item, ItemBank, Taken};

use super::{Told, add_seats, assign, crash_after, desk, ensure_settled, new_seat};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::{Fate, Link};
use crate::world::{World, items};

/// A returning user gets the same item from an empty bank. The Python package tried to take an item before it looked
/// for the record.
pub(super) async fn python_fault_1_returning_user_from_an_empty_bank(world: &World) -> Verdict {
    add_seats(&**world.store(), "monday", 0..1).await?;
    let desk = desk(&**world.store())?;
    let seat = new_seat(&desk.assign("ada", "monday").await?, "monday")?;
    ensure_eq!(world.store().item_bank(&"monday".parse()?)?.counts().await?.free, 0, "free seats");
    for class in ["monday", "friday", "monday"] {
        let again = desk.assign("ada", class).await?;
        ensure_eq!(again.item(), Some(&seat), "a returning user's item");
    }
    let bank = world.filled(1).await?;
    let first = bank.take(&"ada".parse()?, Hold::Forever).await?;
    let again = bank.take(&"ada".parse()?, Hold::Forever).await?;
    ensure_eq!(again.item(), first.item(), "a returning user's item by the bank alone");
    Ok(())
}

/// If the write of the record fails, the outcome is unknown, and a retry gets the item. The Python package concluded
/// that the id already had an item.
pub(super) async fn python_fault_2_error_on_the_record_is_not_assigned_already(world: &World) -> Verdict {
    add_seats(&**world.store(), "monday", 0..9).await?;
    let mut told = Told::new();
    for fate in [Fate::RequestLost, Fate::ReplyLost, Fate::Late] {
        for step in [0, 2] {
            let id = format!("{fate:?}-{step}");
            let link = Link::script(std::iter::repeat_n(Fate::Delivered, step).chain([fate]));
            let far = desk(&*link.before_store(world.store()))?;
            let failed = far.assign(id.as_str(), "monday").await;
            let error = ensure_matches!(failed, Err(error) => error, "a record that cannot be written");
            ensure_eq!(error.kind(), ErrorKind::OutcomeUnknown, "the kind of {error}");
            ensure_eq!(error.certainty(), Certainty::Unknown, "the certainty of {error}");
            let assigned = far.assign(id.as_str(), "monday").await?;
            let item = assigned.item().ok_or_else(|| Failure::new(format!("{id} gets nothing: {assigned:?}")))?;
            told.insert(id, item.clone());
            link.land().await;
            ensure_settled(world, &told, 9).await?;
        }
    }
    Ok(())
}

/// No item of an acknowledged batch is lost. The Python package lost 15 of 25 items of a batch.
pub(super) async fn python_fault_4_lost_part_of_a_batch(world: &World) -> Verdict {
    let (bank, all) = (world.bank()?, items(1_000)?);
    let mut rng = world.rng();
    let link = Link::random(rng.u64(..), 30);
    let far = link.before(&bank);
    let mut acknowledged = 0;
    for part in all.chunks(25) {
        match far.add(part).await {
            Ok(report) => {
                ensure_eq!(report.added + report.already_present, 25, "items of a part that are accounted for");
                acknowledged += 25;
            }
            Err(error) => ensure_eq!(error.certainty(), Certainty::Unknown, "the certainty of {error}"),
        }
        let there = bank.counts().await?.free;
        ensure!(there >= acknowledged, "{acknowledged} items are acknowledged, and {there} are there");
    }
    let report = bank.add(&all).await?;
    ensure_eq!(report.added + report.already_present, 1_000, "items of all that are accounted for");
    link.heal();
    link.land().await;
    ensure_eq!(bank.counts().await?.free, 1_000, "free items when all were added again");
    let mut listed: Vec<_> = bank.list(None, 2_000).await?.entries.into_iter().map(|entry| entry.item).collect();
    let mut expected = all;
    listed.sort();
    expected.sort();
    ensure!(listed == expected, "the items listed are not those that were added");
    Ok(())
}

/// If the reply to a take is lost, a retry returns the item. In the Python package the item was lost.
pub(super) async fn python_fault_5_lost_reply_of_the_take(world: &World) -> Verdict {
    add_seats(&**world.store(), "monday", 0..1).await?;
    let link = Link::script([Fate::Delivered, Fate::ReplyLost]);
    let far = desk(&*link.before_store(world.store()))?;
    let failed = far.assign("ada", "monday").await;
    ensure_matches!(failed, Err(error) if error.certainty() == Certainty::Unknown, "a take whose reply is lost");
    ensure_eq!(world.store().item_bank(&"monday".parse()?)?.counts().await?.held, 1, "seats held after the lost reply");
    let assigned = assign(&desk(&*world.client().await?)?, "ada", "monday").await?;
    let seat = new_seat(&assigned, "monday")?;
    ensure_settled(world, &Told::from([("ada".into(), seat)]), 1).await?;

    let bank = world.filled(1).await?;
    let far = Link::script([Fate::ReplyLost]).before(&bank);
    ensure!(far.take(&"ada".parse()?, Hold::Forever).await.is_err(), "a take whose reply is lost was answered");
    ensure_matches!(
        far.take(&"ada".parse()?, Hold::Forever).await?,
        Taken::Again(_),
        "the same take by the bank alone"
    );
    Ok(())
}

/// After a crash between the take and the record, the id gets the item that was taken. In the Python package the item
/// was lost.
pub(super) async fn python_fault_6_crash_between_take_and_record(world: &World) -> Verdict {
    add_seats(&**world.store(), "monday", 0..2).await?;
    let mut told = Told::new();
    for (id, recovers) in [("ada", false), ("bob", true)] {
        crash_after(world.store(), id, "monday", 2).await?;
        let held = world.store().item_bank(&"monday".parse()?)?.counts().await?.held;
        ensure_eq!(held, told.len() as u64 + 1, "seats held after the crash, the one without a record among them");
        let fresh = desk(&*world.client().await?)?;
        if recovers {
            ensure_eq!(fresh.recover(None, 10).await?.finished, 1, "ids that a recovery finished");
        }
        let assigned = fresh.assign(id, "monday").await?;
        ensure_eq!(matches!(assigned, Assigned::Again { .. }), recovers, "whether {id} has its seat already");
        told.extend(assigned.item().map(|item| (id.to_owned(), item.clone())));
        ensure_settled(world, &told, 2).await?;
    }
    Ok(())
}

/// A batch that names an item twice adds it once. In the Python package the store refused the whole batch.
pub(super) async fn python_fault_7_duplicate_in_one_call(world: &World) -> Verdict {
    let (bank, code) = (world.bank()?, Item::new("SAVE-10")?);
    let report = bank.add(&[code.clone(), code.clone()]).await?;
    ensure_eq!(report, Added { added: 1, already_present: 0 }, "one code twice in one call");
    let many = [items(30)?, vec![code.clone(); 30], items(30)?].concat();
    ensure_eq!(bank.add(&many).await?, Added { added: 30, already_present: 1 }, "duplicates across parts of 25");
    ensure_eq!(bank.counts().await?.free, 31, "free items");
    ensure_eq!(bank.withdraw(&[code.clone(), code]).await?.withdrawn, 1, "one code twice in one withdrawal");
    Ok(())
}

/// An assigned item that is added again is not assigned again. The bank of the Python package forgot assigned items.
pub(super) async fn python_fault_8_assigned_item_added_again(world: &World) -> Verdict {
    add_seats(&**world.store(), "monday", 0..1).await?;
    let desk = desk(&**world.store())?;
    let seat = new_seat(&desk.assign("ada", "monday").await?, "monday")?;
    let bank = world.store().item_bank(&"monday".parse()?)?;
    let known = Added { added: 0, already_present: 1 };
    ensure_eq!(bank.add(std::slice::from_ref(&seat)).await?, known, "an assigned item added again");
    ensure_eq!(desk.assign("bob", "monday").await?, Assigned::Empty, "a second user");
    let stranger = bank.take(&"eve".parse()?, Hold::Forever).await?;
    ensure_eq!(stranger, Taken::Empty, "a second user by the bank alone");
    ensure_settled(world, &Told::from([("ada".into(), seat)]), 1).await
}
