//! Seats that are held for a limited time: extended, released, or left to lapse.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use storagebox::bank::{End, Extended, HoldState};
use storagebox::{Bank, Held, Released, Result, Store, Taken};
use tokio::time::{Instant, sleep};

use super::{Shared, wrong};
use crate::caller::{Caller, MEMORY, Wrong};

/// The number of seats, which is less than the number of claims.
pub(crate) const SEATS: usize = 12;
/// The number of claims per caller.
const CLAIMS: u32 = 300;

pub(super) struct Taking {
    bank: Bank,
    shared: Arc<Shared>,
}

/// A hold of this caller, which ends at `until` or later.
struct Mine {
    claim: String,
    item: String,
    until: Instant,
}

impl Taking {
    pub(super) fn of(store: &Store, shared: &Arc<Shared>) -> Result<Self> {
        Ok(Self { bank: store.bank("soak-seats")?, shared: Arc::clone(shared) })
    }

    pub(super) async fn one(&self, caller: &Caller) -> Result<(), Wrong> {
        let Some(mut mine) = self.take(caller).await? else { return Ok(()) };
        sleep(some(200)).await;
        if fastrand::bool() {
            self.extend(caller, &mut mine).await?;
        }
        match fastrand::bool() {
            true => self.release(caller, &mine).await,
            false => Ok(()),
        }
    }

    async fn take(&self, caller: &Caller) -> Result<Option<Mine>, Wrong> {
        let (claim, hold) = (caller.again(CLAIMS), Duration::from_millis(200) + some(2_000));
        let before = Instant::now();
        match caller.answer("take", || self.bank.take(claim.as_str()).for_at_most(hold)).await? {
            Taken::New(held) | Taken::Again(held) => self.mine(claim, &held, before).map(Some),
            Taken::Empty | Taken::Ended(_) => Ok(None),
        }
    }

    /// Adds a hold to the shared list of holds. `before` is the time at which the call that returned `held` began, so
    /// the hold lasts at least until `before` plus the remaining time.
    fn mine(&self, claim: String, held: &Held, before: Instant) -> Result<Mine, Wrong> {
        let HoldState::Remaining(left) = held.hold else { return Err(wrong("a hold", held)) };
        let mine = Mine { claim, item: held.item.as_str().to_owned(), until: before + left };
        self.shared.seats.taken(&mine.item, &mine.claim, Instant::now(), mine.until)?;
        Ok(mine)
    }

    async fn extend(&self, caller: &Caller, mine: &mut Mine) -> Result<(), Wrong> {
        let before = Instant::now();
        let hold = Duration::from_secs(2);
        match caller.answer("extend", || self.bank.extend(mine.claim.as_str()).for_at_most(hold)).await? {
            Extended::Extended(held) if held.item.as_str() == mine.item => {
                *mine = self.mine(mine.claim.clone(), &held, before)?;
                Ok(())
            }
            Extended::Ended(End::Expired) if mine.until <= Instant::now() => Ok(()),
            other => Err(wrong("extend", other)),
        }
    }

    async fn release(&self, caller: &Caller, mine: &Mine) -> Result<(), Wrong> {
        self.shared.seats.let_go(&mine.item, &mine.claim);
        match caller.answer("release", || self.bank.release(mine.claim.as_str())).await? {
            Released::Released => Ok(()),
            Released::Expired if mine.until <= Instant::now() => Ok(()),
            other => Err(wrong("release", other)),
        }
    }
}

/// Returns a random duration of less than `millis` milliseconds.
fn some(millis: u64) -> Duration {
    Duration::from_millis(fastrand::u64(..millis))
}

/// An interval in which a claim certainly held an item.
#[derive(Clone, Debug)]
struct Sure {
    claim: String,
    from: Instant,
    until: Instant,
}

/// The known holds of all callers, by item.
#[derive(Debug, Default)]
pub(crate) struct Seats(Mutex<HashMap<String, Vec<Sure>>>);

impl Seats {
    /// Adds a hold. Returns an error if another claim certainly held the item at the same time.
    pub(crate) fn taken(&self, item: &str, claim: &str, from: Instant, until: Instant) -> Result<(), String> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let holds = all.entry(item.to_owned()).or_default();
        // No call asks about moments that long ago.
        holds.retain(|hold| hold.until + MEMORY > from);
        let meets = |hold: &&Sure| hold.claim != claim && hold.from < until && from < hold.until;
        if let Some(other) = holds.iter().find(meets) {
            return Err(format!("{claim} held {item} while {} held it", other.claim));
        }
        if from < until {
            holds.push(Sure { claim: claim.to_owned(), from, until });
        }
        Ok(())
    }

    /// Ends the known hold of the claim now, because the caller is about to release the item.
    pub(crate) fn let_go(&self, item: &str, claim: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let own = all.get_mut(item).into_iter().flatten().filter(|hold| hold.claim == claim);
        own.for_each(|hold| hold.until = hold.until.min(now));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn overlapping_holds_of_two_claims_are_an_error() {
        let (seats, now, second) = (Seats::default(), Instant::now(), Duration::from_secs(1));
        seats.taken("a", "one", now, now + second).unwrap();
        seats.taken("a", "one", now, now + 2 * second).unwrap();
        seats.taken("b", "two", now, now + second).unwrap();
        seats.taken("a", "two", now + 2 * second, now + 3 * second).unwrap();
        assert!(seats.taken("a", "three", now + second, now + 4 * second).is_err());
    }

    #[test]
    fn a_released_item_may_be_held_by_another_claim() {
        let (seats, now) = (Seats::default(), Instant::now());
        let until = now + Duration::from_secs(60);
        seats.taken("a", "one", now, until).unwrap();
        seats.let_go("a", "one");
        seats.taken("a", "two", Instant::now(), until).unwrap();
    }
}
