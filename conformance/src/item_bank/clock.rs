//! Calls that are held while they read the clock, while other calls proceed.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    ClaimId, ClaimState, Confirmed, Extended, Hold, Item, ItemBank, ItemState, Released, Result, Taken,
};

use super::take_new;
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::pause::{Held, with_call_held};
use crate::race::answered;
use crate::world::World;

const HOUR: Duration = Duration::from_secs(3_600);
/// The maximum number of attempts to delay a call until other calls have overtaken it.
const ATTEMPTS: usize = 3;

#[derive(Clone, Copy, Debug)]
enum Look {
    Claim,
    Holder,
    Listing,
    Counts,
    AnothersTake,
}

const LOOKS: [Look; 5] = [Look::Claim, Look::Holder, Look::Listing, Look::Counts, Look::AnothersTake];

impl Look {
    /// Makes this call, and returns whether it finds that the claim `ada` holds the item.
    async fn finds_it_held(self, bank: Arc<dyn ItemBank>, item: Item) -> Result<bool, Failure> {
        let ada = ClaimId::new("ada")?;
        Ok(match self {
            Self::Claim => matches!(answered(|| bank.get(&ada)).await?, ClaimState::Held(_)),
            Self::Holder => answered(|| bank.holder(&item)).await? == ItemState::Held(ada),
            Self::Listing => {
                let listed = answered(|| bank.list(None, 10)).await?.entries;
                listed.iter().all(|listed| listed.state == ItemState::Held(ada.clone()))
            }
            Self::Counts => answered(|| bank.counts()).await?.held == 1,
            Self::AnothersTake => {
                let bob = ClaimId::new("bob")?;
                answered(|| bank.take(&bob, Hold::Forever)).await? == Taken::Empty
            }
        })
    }
}

/// If a hold is extended while a call reads the clock, the call sees the extension. So a call must not compare a hold
/// with a time that was read after the hold.
pub(super) async fn a_hold_that_is_extended_while_a_call_reads_the_clock_is_seen(world: &World) -> Verdict {
    let clock = world.clock()?;
    for look in LOOKS {
        for attempt in 0..ATTEMPTS {
            let bank = world.filled_bank(&format!("{look:?}-{attempt}"), 1).await?;
            let ada = ClaimId::new("ada")?;
            let item = take_new(&bank, &ada, Hold::For(HOUR)).await?;
            let call = look.finds_it_held(Arc::clone(&bank), item);
            let extend = async {
                let extended = answered(|| bank.extend(&ada, Hold::For(HOUR * 3))).await?;
                ensure_matches!(extended, Extended::Extended(_), "extending it");
                clock.advance(HOUR * 2);
                Ok(())
            };
            let (is_held, was_held) = with_call_held(&*clock, Held::BeforeItReads, call, extend).await?;
            ensure!(is_held, "{look:?} shows the end of a hold that was extended in time");
            if was_held {
                break;
            }
        }
    }
    Ok(())
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Confirm,
    Extend,
    Release,
    Take,
}

const CHANGES: [Change; 4] = [Change::Confirm, Change::Extend, Change::Release, Change::Take];

impl Change {
    /// Makes this change with the claim `ada`, and returns whether the answer says that `ada` still has the item.
    async fn keeps_it(self, bank: Arc<dyn ItemBank>) -> Result<bool, Failure> {
        let ada = ClaimId::new("ada")?;
        Ok(match self {
            Self::Confirm => matches!(answered(|| bank.confirm(&ada)).await?, Confirmed::Confirmed(_)),
            Self::Extend => matches!(answered(|| bank.extend(&ada, Hold::Forever)).await?, Extended::Extended(_)),
            Self::Release => {
                let _: Released = answered(|| bank.release(&ada)).await?;
                false
            }
            Self::Take => {
                let taken = answered(|| bank.take(&ada, Hold::Forever)).await?;
                matches!(taken, Taken::New(_) | Taken::Again(_))
            }
        })
    }
}

/// A call that is delayed after it has read the clock does not give an item to two claims. So a call must not compare a
/// hold with a time that was read before the call waited.
pub(super) async fn a_call_that_was_held_after_it_read_the_clock_gives_no_item_twice(world: &World) -> Verdict {
    let clock = world.clock()?;
    for change in CHANGES {
        for attempt in 0..ATTEMPTS {
            let bank = world.filled_bank(&format!("{change:?}-{attempt}"), 1).await?;
            let (ada, bob) = (ClaimId::new("ada")?, ClaimId::new("bob")?);
            let item = take_new(&bank, &ada, Hold::For(HOUR)).await?;
            let mut taken = None;
            let take = async {
                clock.advance(HOUR * 2);
                taken = Some(answered(|| bank.take(&bob, Hold::Forever)).await?);
                Ok(())
            };
            let call = change.keeps_it(Arc::clone(&bank));
            let (keeps_it, was_held) = with_call_held(&*clock, Held::AfterItHasRead, call, take).await?;
            let is_bobs = matches!(taken, Some(Taken::New(_) | Taken::Again(_)));
            // A take that is made before the other claim's take gets the same item again and changes nothing.
            let may_be_first = !was_held && matches!(change, Change::Take);
            ensure!(
                !(is_bobs && keeps_it) || may_be_first,
                "{change:?} gave its claim an item that another claim had taken"
            );
            let expected = if is_bobs { ItemState::Held(bob) } else { bank.holder(&item).await? };
            ensure_eq!(bank.holder(&item).await?, expected, "the holder after {change:?} of the lapsed claim");
            if was_held {
                break;
            }
        }
    }
    Ok(())
}
