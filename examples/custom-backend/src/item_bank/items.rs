//! The place of each item, and the items that can be taken.

use std::ops::Bound;

use redb::{ReadableTable, TableDefinition};
use storagebox_core::backend::PageRequest;
use storagebox_core::{Added, ClaimId, Counts, Item, ItemState, ListedItem, Restored, Withdrawn};

use crate::client::{Look, Step};
use crate::error::{Stepped, unreadable};
use crate::time::NEVER;

/// A row: the state of the item as a number, the claim that holds or has confirmed the item, and the end of the hold.
type Row<'a> = (u8, Option<&'a str>, i64);

/// The items, by bank and item.
pub(crate) const ITEMS: TableDefinition<(&str, &str), Row<'static>> = TableDefinition::new("items");

/// The free and held items, by bank, time and item. The time is the end of the hold, or `EVER` for a free item. `take`
/// reads only the first entry (IB-4, IB-8).
pub(crate) const AVAILABLE: TableDefinition<(&str, i64, &str), ()> = TableDefinition::new("available");
const EVER: i64 = i64::MIN;

const FREE: u8 = 0;
const HELD: u8 = 1;
const SPENT: u8 = 2;
const WITHDRAWN: u8 = 3;

/// The stored state of an item, which remains `Held` after the hold has lapsed.
#[derive(Debug)]
pub(crate) enum Place {
    Free,
    Held { by: String, until: i64 },
    Spent(Option<String>),
    Withdrawn,
}

impl Place {
    fn of_row((place, by, until): Row<'_>) -> Stepped<Self> {
        let by = by.map(str::to_owned);
        match (place, by) {
            (FREE, _) => Ok(Self::Free),
            (HELD, Some(by)) => Ok(Self::Held { by, until }),
            (SPENT, by) => Ok(Self::Spent(by)),
            (WITHDRAWN, _) => Ok(Self::Withdrawn),
            _ => Err(unreadable("an item")),
        }
    }

    fn row(&self) -> Row<'_> {
        match self {
            Self::Free => (FREE, None, NEVER),
            Self::Held { by, until } => (HELD, Some(by.as_str()), *until),
            Self::Spent(by) => (SPENT, by.as_deref(), NEVER),
            Self::Withdrawn => (WITHDRAWN, None, NEVER),
        }
    }

    fn available_from(&self) -> Option<i64> {
        match self {
            Self::Free => Some(EVER),
            Self::Held { until, .. } => Some(*until).filter(|until| *until != NEVER),
            Self::Spent(_) | Self::Withdrawn => None,
        }
    }

    /// Returns the state of the item. An item whose hold has lapsed is free (IB-6).
    fn state(self, now: i64) -> Stepped<ItemState> {
        Ok(match self {
            Self::Free => ItemState::Free,
            Self::Held { until, .. } if until <= now => ItemState::Free,
            Self::Held { by, .. } => ItemState::Held(ClaimId::new(by)?),
            Self::Spent(by) => ItemState::Spent(by.map(ClaimId::new).transpose()?),
            Self::Withdrawn => ItemState::Withdrawn,
        })
    }
}

fn place(step: &Step, key: (&str, &str)) -> Stepped<Option<Place>> {
    step.table(ITEMS)?.get(key)?.map(|row| Place::of_row(row.value())).transpose()
}

/// Stores a new state of an item, and updates the item's entry in `AVAILABLE`.
pub(super) fn move_to(step: &Step, (bank, item): (&str, &str), to: &Place) -> Stepped<()> {
    let mut available = step.edit(AVAILABLE)?;
    if let Some(from) = place(step, (bank, item))?.and_then(|place| place.available_from()) {
        available.remove((bank, from, item))?;
    }
    if let Some(from) = to.available_from() {
        available.insert((bank, from, item), ())?;
    }
    step.edit(ITEMS)?.insert((bank, item), to.row())?;
    Ok(())
}

/// Returns an item that can be taken now.
pub(super) fn available(step: &Step, bank: &str) -> Stepped<Option<String>> {
    let available = step.table(AVAILABLE)?;
    let mut free = available.range((bank, EVER, "")..(bank, step.now.saturating_add(1), ""))?;
    Ok(free.next().transpose()?.map(|(key, _)| key.value().2.to_owned()))
}

fn state(step: &Step, key: (&str, &str)) -> Stepped<ItemState> {
    place(step, key)?.map_or(Ok(ItemState::Unknown), |place| place.state(step.now))
}

pub(super) fn add(step: &Step, bank: &str, item: &Item, added: &mut Added) -> Stepped<()> {
    let key = (bank, item.as_str());
    if place(step, key)?.is_some() {
        added.already_present += 1;
        return Ok(());
    }
    added.added += 1;
    move_to(step, key, &Place::Free)
}

pub(super) fn withdraw(step: &Step, bank: &str, item: &Item, withdrawn: &mut Withdrawn) -> Stepped<()> {
    let key = (bank, item.as_str());
    match state(step, key)? {
        ItemState::Unknown => withdrawn.unknown += 1,
        ItemState::Withdrawn => withdrawn.already_withdrawn += 1,
        ItemState::Held(_) | ItemState::Spent(_) => withdrawn.in_use += 1,
        ItemState::Free => {
            withdrawn.withdrawn += 1;
            move_to(step, key, &Place::Withdrawn)?;
        }
    }
    Ok(())
}

pub(super) fn restore(step: &Step, bank: &str, item: &Item, restored: &mut Restored) -> Stepped<()> {
    let key = (bank, item.as_str());
    match state(step, key)? {
        ItemState::Unknown => restored.unknown += 1,
        ItemState::Free | ItemState::Held(_) | ItemState::Spent(_) => restored.not_withdrawn += 1,
        ItemState::Withdrawn => {
            restored.restored += 1;
            move_to(step, key, &Place::Free)?;
        }
    }
    Ok(())
}

pub(super) fn holder(look: &Look, bank: &str, item: &Item) -> Stepped<ItemState> {
    let row = look.table(ITEMS)?.get((bank, item.as_str()))?;
    row.map_or(Ok(ItemState::Unknown), |row| Place::of_row(row.value())?.state(look.now))
}

fn after(look: &Look, bank: &str, item: &str) -> Stepped<impl Iterator<Item = Stepped<ListedItem>>> {
    let now = look.now;
    let rows = look.rows(ITEMS, bank, Bound::Excluded(item))?;
    Ok(rows.map(move |row| {
        let (item, row) = row?;
        Ok(ListedItem { item: Item::new(item)?, state: Place::of_row(row.value())?.state(now)? })
    }))
}

pub(super) fn list(look: &Look, bank: &str, listing: &PageRequest) -> Stepped<Vec<ListedItem>> {
    after(look, bank, listing.after())?.take(listing.limit() as usize).collect()
}

pub(super) fn counts(look: &Look, bank: &str) -> Stepped<Counts> {
    let mut counts = Counts::default();
    for entry in after(look, bank, "")? {
        match entry?.state {
            ItemState::Free => counts.free += 1,
            ItemState::Held(_) => counts.held += 1,
            ItemState::Spent(_) => counts.spent += 1,
            ItemState::Withdrawn => counts.withdrawn += 1,
            ItemState::Unknown => {}
        }
    }
    Ok(counts)
}
