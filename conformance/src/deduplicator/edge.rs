//! Unusual ids, banks and items, and records of something else.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Assigned, Backend, Certainty, DedupId, Deduplicator, ErrorKind, Item, ItemBank, LeaseRepo, MAX_ID_BYTES, OpId,
};

use super::{add_seats, desk, new_seat};
use crate::failure::{Verdict, ensure, ensure_eq, ensure_matches};
use crate::values::{longest, nasty_items, nasty_texts};
use crate::world::World;

pub(super) async fn a_bank_that_it_does_not_have_is_refused(world: &World) -> Verdict {
    add_seats(&**world.store(), "monday", 0..2).await?;
    let (desk, records) = (desk(&**world.store())?, world.store().dedup_repo(&"students".parse()?)?);
    for strange in ["sunday", "Monday", "monday ", "mon"] {
        let error = ensure_matches!(desk.assign("ada", strange).await, Err(error) => error, "{strange:?}");
        ensure_eq!(error.kind(), ErrorKind::InvalidInput, "the kind of {error}");
        ensure_eq!(error.certainty(), Certainty::NotApplied, "the certainty of {error}");
        ensure!(error.to_string().contains("monday"), "{error} does not name the banks that there are");
    }
    for (id, bank) in [("", "monday"), ("ada", ""), ("a\0", "monday")] {
        let refused = desk.assign(id, bank).await;
        ensure_matches!(refused, Err(error) if error.kind() == ErrorKind::InvalidInput, "{id:?}, {bank:?}");
    }
    ensure!(records.list(None, 10).await?.entries.is_empty(), "a refused call left a record");
    // The other deduplicator uses another bank, so this one must not guess what the record means.
    let sundays =
        Deduplicator::new(Arc::clone(&records)).bank("sunday", world.store().item_bank(&"sunday".parse()?)?)?;
    world.store().item_bank(&"sunday".parse()?)?.add(&[Item::new("sun")?]).await?;
    new_seat(&sundays.assign("ada", "sunday").await?, "sunday")?;
    let again = desk.assign("ada", "monday").await?;
    ensure!(
        matches!(&again, Assigned::Again { bank, .. } if bank.as_str() == "sunday"),
        "the id does not get its item of sunday again: {again:?}"
    );
    Ok(())
}

pub(super) async fn nasty_ids_get_items_of_their_own(world: &World) -> Verdict {
    let texts = nasty_texts();
    add_seats(&**world.store(), "monday", 0..texts.len()).await?;
    let (desk, mut seats) = (desk(&**world.store())?, Vec::new());
    for id in &texts {
        seats.push(new_seat(&desk.assign(id.as_str(), "monday").await?, "monday")?);
    }
    ensure_eq!(seats.iter().collect::<BTreeSet<_>>().len(), texts.len(), "different seats");
    for (id, seat) in texts.iter().zip(&seats) {
        let again = desk.assign(id.as_str(), "friday").await?;
        ensure!(matches!(&again, Assigned::Again { item, .. } if item == seat), "{id:?} is answered {again:?}");
    }
    let left = world.store().item_bank(&"monday".parse()?)?.counts().await?.free;
    ensure_eq!(left, 0, "free seats");
    Ok(())
}

/// An assignment returns the item of the right bank, even if the names of banks and items look alike.
pub(super) async fn nasty_banks_and_items_are_told_apart(world: &World) -> Verdict {
    let (names, items) = (nasty_texts(), nasty_items());
    let mut desk = Deduplicator::new(world.dedup()?);
    for (name, item) in names.iter().zip(items.iter().rev()) {
        let bank = world.store().item_bank(&name.as_str().parse()?)?;
        bank.add(&[Item::new(item.as_str())?]).await?;
        desk = desk.bank(name.as_str(), bank)?;
    }
    for (number, (name, item)) in names.iter().zip(items.iter().rev()).enumerate() {
        let id = longest(&format!("{number}/"), MAX_ID_BYTES);
        let found = new_seat(&desk.assign(id.as_str(), name.as_str()).await?, name)?;
        ensure_eq!(found.as_str(), item.as_str(), "the item of {name:?}");
        let again = desk.assign(id.as_str(), "a").await?;
        let right = matches!(&again, Assigned::Again { bank, item } if bank.as_str() == name && *item == found);
        ensure!(right, "{id:?} is answered {again:?}");
    }
    Ok(())
}

/// If another program uses an id for a lease, an assignment for the id is refused and takes no item.
pub(super) async fn records_used_for_something_else_are_refused(world: &World) -> Verdict {
    add_seats(&**world.store(), "monday", 0..2).await?;
    let (leases, id) = (world.store().lease_repo(&"students".parse()?)?, DedupId::new("ada")?);
    let _ = leases.begin(&id, &OpId::new("op")?, Duration::from_secs(3_600), None).await?;
    let refused = desk(&**world.store())?.assign("ada", "monday").await;
    ensure_matches!(refused, Err(error) if error.kind() == ErrorKind::Misconfigured, "an id under a lease");
    ensure_eq!(world.store().item_bank(&"monday".parse()?)?.counts().await?.free, 2, "free seats");
    Ok(())
}
