//! Banks with more items than a statement, a page or a number of a store may hold.

use std::collections::BTreeSet;

use storagebox_core::{Added, Backend, ClaimId, Counts, Hold, Item, ItemBank, Restored, Withdrawn};

use super::take_new;
use crate::failure::{Verdict, ensure_eq};
use crate::pages::Listing;
use crate::world::{World, items};

/// The number of items at which the Python package failed, because it called itself for each chunk of a batch.
const MANY: usize = 26_000;

/// The items from this index on are added twice.
const LAST: usize = 25_000;

/// A page limit above the page length of any store.
const PAGE: usize = 7_000;

/// The number of items in one restore: more than most stores accept in one statement.
const RESTORED: usize = 1_100;

pub(super) async fn a_bank_of_26_000_items(world: &World) -> Verdict {
    let (bank, all, count) = (world.bank()?, items(MANY)?, MANY as u64);
    ensure_eq!(bank.add(&all).await?, Added { added: count, already_present: 0 }, "one load");
    ensure_eq!(bank.counts().await?, Counts { free: count, ..Counts::default() }, "the counts");
    let again = Added { added: 0, already_present: (MANY - LAST) as u64 };
    ensure_eq!(bank.add(&all[LAST..]).await?, again, "the end of the load again");
    let held = take_new(&bank, &ClaimId::new("ada")?, Hold::Forever).await?;
    let names = || all.iter().map(|item| item.as_str().to_owned());
    Listing::Items(&*bank).ensure_shows(names(), &[PAGE]).await?;
    withdraw_and_restore(&*bank, &first_of(&all), &held).await?;
    let other = world.client().await?.item_bank(&"bank".parse()?)?;
    ensure_eq!(other.counts().await?.total(), count, "items in all, as another client counts them");
    Ok(())
}

/// Returns the first items by load order and the first items by name.
fn first_of(all: &[Item]) -> Vec<Item> {
    // A store may begin its search for a free item at any of these items.
    let mut named = all.to_vec();
    named.sort();
    let first: BTreeSet<_> = all[..1_000].iter().chain(&named[..1_100]).collect();
    first.into_iter().cloned().collect()
}

async fn withdraw_and_restore(bank: &dyn ItemBank, part: &[Item], held: &Item) -> Verdict {
    let total = part.len() as u64;
    let in_use = u64::from(part.contains(held));
    let withdrawn = total - in_use;
    let expected = Withdrawn { withdrawn, in_use, ..Withdrawn::default() };
    ensure_eq!(bank.withdraw(part).await?, expected, "{total} items, withdrawn at once");
    take_new(bank, &ClaimId::new("bob")?, Hold::Forever).await?;
    let free = MANY as u64 - withdrawn - 2;
    ensure_eq!(bank.counts().await?, Counts { free, held: 2, withdrawn, ..Counts::default() }, "the counts then");
    let not_withdrawn = u64::from(part[..RESTORED].contains(held));
    let restored = RESTORED as u64 - not_withdrawn;
    let expected = Restored { restored, not_withdrawn, ..Restored::default() };
    ensure_eq!(bank.restore(&part[..RESTORED]).await?, expected, "{RESTORED} of them, restored at once");
    let (free, withdrawn) = (free + restored, withdrawn - restored);
    ensure_eq!(bank.counts().await?, Counts { free, held: 2, withdrawn, ..Counts::default() }, "the counts in the end");
    Ok(())
}
