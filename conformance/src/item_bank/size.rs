//! Banks of more items than one statement, one page or one number of a store may take.

use storagebox_core::{Added, Backend, ClaimId, Counts, Hold, ItemBank, Restored, Withdrawn};

use super::take_new;
use crate::failure::{Verdict, ensure_eq};
use crate::pages::Listing;
use crate::world::{World, items};

const MANY: usize = 10_500;

/// More than a batch of a store may have.
const BATCH: usize = 2_500;

pub(super) async fn a_bank_of_more_than_ten_thousand_items(world: &World) -> Verdict {
    let (bank, all, count) = (world.bank()?, items(MANY)?, MANY as u64);
    ensure_eq!(bank.add(&all).await?, Added { added: count, already_present: 0 }, "one load");
    ensure_eq!(bank.counts().await?, Counts { free: count, ..Counts::default() }, "the counts");
    let again = bank.add(&all[..BATCH]).await?;
    ensure_eq!(again, Added { added: 0, already_present: BATCH as u64 }, "a part of the load again");
    let held = take_new(&bank, &ClaimId::new("ada")?, Hold::Forever).await?;
    let names = || all.iter().map(|item| item.as_str().to_owned());
    // More than a page may have.
    Listing::Items(&*bank).ensure_shows(names(), &[1_000, MANY * 2]).await?;
    let (last, batch) = (&all[MANY - BATCH..], BATCH as u64);
    let in_use = u64::from(last.contains(&held));
    let expected = Withdrawn { withdrawn: batch - in_use, in_use, ..Withdrawn::default() };
    ensure_eq!(bank.withdraw(last).await?, expected, "a part, withdrawn at once");
    let (free, withdrawn) = (count - batch - 1 + in_use, batch - in_use);
    ensure_eq!(bank.counts().await?, Counts { free, held: 1, withdrawn, ..Counts::default() }, "the counts then");
    let expected = Restored { restored: withdrawn, not_withdrawn: in_use, ..Restored::default() };
    ensure_eq!(bank.restore(last).await?, expected, "that part, restored at once");
    ensure_eq!(bank.counts().await?, Counts { free: count - 1, held: 1, ..Counts::default() }, "the counts in the end");
    let other = world.client().await?.item_bank(&"bank".parse()?)?;
    ensure_eq!(other.counts().await?.total(), count, "items in all, as another client counts them");
    Ok(())
}
