//! The model of a bank, for one caller.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::BoxedStrategy;
use storagebox_core::{
    Added, Backend, ClaimId, ClaimState, Confirmed, Counts, End, Extended, Held, Hold, HoldState, Item, ItemBank,
    ItemState, Released, Result, Retired, Taken,
};

use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::model::{self, compare, memory, minutes};
use crate::world::World;

pub(super) async fn random_calls_match_the_model(world: &World) -> Verdict {
    compare(world, Bank { retires: !world.loses_answers(), ..Bank::default() }).await
}

#[derive(Clone, Debug)]
enum Call {
    Add(Vec<Item>),
    Take(ClaimId, Hold),
    Extend(ClaimId, Hold),
    Confirm(ClaimId),
    Release(ClaimId),
    Retire(ClaimId),
    Withdraw(Item),
    Restore(Item),
    Get(ClaimId),
    Holder(Item),
    Counts,
}

#[derive(Clone, Debug, Default)]
struct Bank {
    /// Whether claims can be retired: only if no earlier call of a claim may still be in flight.
    retires: bool,
    now: Duration,
    items: BTreeMap<Item, Place>,
    claims: BTreeMap<ClaimId, Claim>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Free,
    Held(ClaimId),
    Spent(Option<ClaimId>),
    Withdrawn,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Claim {
    Holds(Item, Option<Duration>),
    Confirmed(Item),
    /// How a claim ended, and the earliest time at which the store may forget the claim.
    Ended(End, Duration),
}

impl Bank {
    fn lapse(&mut self) {
        for claim in self.claims.values_mut() {
            if let Claim::Holds(item, Some(until)) = claim
                && *until <= self.now
            {
                self.items.insert(item.clone(), Place::Free);
                *claim = Claim::Ended(End::Expired, *until + memory());
            }
        }
    }

    fn may_forget(&self, claim: &ClaimId) -> bool {
        matches!(self.claims.get(claim), Some(Claim::Ended(_, until)) if *until <= self.now)
    }

    /// Forgets the claim if its retention is over and the store does not know the claim.
    fn forget_if(&mut self, claim: &ClaimId, is_unknown: bool) {
        if is_unknown && self.may_forget(claim) {
            self.claims.remove(claim);
        }
    }

    fn count(&self, wanted: impl Fn(&Place) -> bool) -> u64 {
        self.items.values().filter(|place| wanted(place)).count() as u64
    }

    fn counts(&self) -> Counts {
        Counts {
            free: self.count(|place| *place == Place::Free),
            held: self.count(|place| matches!(place, Place::Held(_))),
            spent: self.count(|place| matches!(place, Place::Spent(_))),
            withdrawn: self.count(|place| *place == Place::Withdrawn),
        }
    }

    fn state(&self, item: &Item) -> ItemState {
        match self.items.get(item) {
            None => ItemState::Unknown,
            Some(Place::Free) => ItemState::Free,
            Some(Place::Held(claim)) => ItemState::Held(claim.clone()),
            Some(Place::Spent(claim)) => ItemState::Spent(claim.clone()),
            Some(Place::Withdrawn) => ItemState::Withdrawn,
        }
    }

    fn end_of(&self, hold: Hold) -> Option<Duration> {
        match hold {
            Hold::Forever => None,
            Hold::For(duration) => Some(self.now + duration),
        }
    }

    /// Checks the hold in a reply against the model.
    fn check_hold(&self, found: HoldState, until: Option<Duration>) -> Verdict {
        match (found, until) {
            (HoldState::Forever, None) => Ok(()),
            // On a real clock, some of the remaining time has already passed.
            (HoldState::Remaining(left), Some(until)) if left <= until - self.now => Ok(()),
            _ => Err(Failure::new(format!("at {:?} the reply is {found:?}, but the hold ends at {until:?}", self.now))),
        }
    }

    fn add(&mut self, items: &[Item], found: Added) -> Verdict {
        let before = self.items.len() as u64;
        for item in items {
            self.items.entry(item.clone()).or_insert(Place::Free);
        }
        let distinct = items.iter().collect::<std::collections::BTreeSet<_>>().len() as u64;
        let added = self.items.len() as u64 - before;
        ensure_eq!(found, Added { added, already_present: distinct - added }, "what was added");
        Ok(())
    }

    fn take(&mut self, claim: &ClaimId, hold: Hold, found: Taken) -> Verdict {
        self.forget_if(claim, matches!(found, Taken::New(_) | Taken::Empty));
        match (self.claims.get(claim), found) {
            (Some(Claim::Ended(end, _)), Taken::Ended(why)) if why == *end => Ok(()),
            (Some(Claim::Holds(item, until)), Taken::Again(held)) if held.item == *item => {
                self.check_hold(held.hold, *until)
            }
            (Some(Claim::Confirmed(item)), Taken::Again(Held { item: found, hold: HoldState::Confirmed }))
                if found == *item =>
            {
                Ok(())
            }
            (None, Taken::Empty) => {
                ensure_eq!(self.counts().free, 0, "free items at an Empty");
                Ok(())
            }
            (None, Taken::New(held)) => self.take_new(claim, hold, held),
            (known, found) => Err(Failure::new(format!("{claim:?} is {known:?}, and the reply is {found:?}"))),
        }
    }

    fn take_new(&mut self, claim: &ClaimId, hold: Hold, held: Held) -> Verdict {
        ensure_eq!(self.items.get(&held.item), Some(&Place::Free), "where the item was that is handed out");
        let until = self.end_of(hold);
        self.check_hold(held.hold, until)?;
        self.items.insert(held.item.clone(), Place::Held(claim.clone()));
        self.claims.insert(claim.clone(), Claim::Holds(held.item, until));
        Ok(())
    }

    fn extend(&mut self, claim: &ClaimId, hold: Hold, found: Extended) -> Verdict {
        self.forget_if(claim, found == Extended::Unknown);
        let asked = self.end_of(hold);
        let now = self.now;
        let (until, left) = match (self.claims.get_mut(claim), found) {
            (None, Extended::Unknown) => return Ok(()),
            (Some(Claim::Ended(end, _)), Extended::Ended(why)) if why == *end => return Ok(()),
            (Some(Claim::Confirmed(item)), Extended::Confirmed(held)) if held.item == *item => return Ok(()),
            (Some(Claim::Holds(item, until)), Extended::Extended(held)) if held.item == *item => (until, held.hold),
            (known, found) => {
                return Err(Failure::new(format!("{claim:?} is {known:?}, and the reply is {found:?}")));
            }
        };
        *until = until.zip(asked).map(|(one, other)| one.max(other));
        let until = *until;
        ensure!(until.is_none_or(|until| until > now), "an extended hold ends in the future");
        self.check_hold(left, until)
    }

    fn confirm(&mut self, claim: &ClaimId, found: &Confirmed) -> Verdict {
        self.forget_if(claim, *found == Confirmed::Unknown);
        let expected = match self.claims.get(claim) {
            None => Confirmed::Unknown,
            Some(Claim::Ended(end, _)) => Confirmed::Ended(*end),
            Some(Claim::Holds(item, _) | Claim::Confirmed(item)) => {
                let item = item.clone();
                self.items.insert(item.clone(), Place::Spent(Some(claim.clone())));
                self.claims.insert(claim.clone(), Claim::Confirmed(item.clone()));
                Confirmed::Confirmed(item)
            }
        };
        ensure_eq!(*found, expected, "confirming");
        Ok(())
    }

    fn release(&mut self, claim: &ClaimId, found: Released) -> Verdict {
        self.forget_if(claim, found == Released::Released);
        let expected = match self.claims.get(claim) {
            Some(Claim::Ended(End::Expired, _)) => Released::Expired,
            Some(Claim::Confirmed(_)) => Released::Confirmed,
            Some(Claim::Ended(End::Released, _)) => Released::Released,
            known => {
                if let Some(Claim::Holds(item, _)) = known {
                    self.items.insert(item.clone(), Place::Free);
                }
                let until = self.now + memory();
                self.claims.insert(claim.clone(), Claim::Ended(End::Released, until));
                Released::Released
            }
        };
        ensure_eq!(found, expected, "releasing");
        Ok(())
    }

    fn retire(&mut self, claim: &ClaimId, found: Retired) -> Verdict {
        self.forget_if(claim, found == Retired::Unknown);
        let expected = match self.claims.get(claim) {
            None => Retired::Unknown,
            Some(Claim::Holds(..)) => Retired::Holding,
            Some(Claim::Confirmed(item)) => {
                self.items.insert(item.clone(), Place::Spent(None));
                Retired::Retired
            }
            Some(Claim::Ended(..)) => Retired::Retired,
        };
        if expected == Retired::Retired {
            self.claims.remove(claim);
        }
        ensure_eq!(found, expected, "retiring");
        Ok(())
    }

    /// Moves the item from `from` to `to` and returns 1, or returns 0 if the item is not at `from`.
    fn shift(&mut self, item: &Item, from: &Place, to: Place) -> u64 {
        let there = self.items.get(item) == Some(from);
        if there {
            self.items.insert(item.clone(), to);
        }
        u64::from(there)
    }

    fn check_claim(&mut self, claim: &ClaimId, found: ClaimState) -> Verdict {
        self.forget_if(claim, found == ClaimState::Unknown);
        match (self.claims.get(claim), found) {
            (None, ClaimState::Unknown) => Ok(()),
            (Some(Claim::Ended(end, _)), ClaimState::Ended(why)) if why == *end => Ok(()),
            (Some(Claim::Holds(item, until)), ClaimState::Held(held)) if held.item == *item => {
                self.check_hold(held.hold, *until)
            }
            (Some(Claim::Confirmed(item)), ClaimState::Held(Held { item: found, hold: HoldState::Confirmed }))
                if found == *item =>
            {
                Ok(())
            }
            (known, found) => Err(Failure::new(format!("{claim:?} is {known:?}, and the reply is {found:?}"))),
        }
    }
}

impl model::Model for Bank {
    type Call = Call;
    type Namespaces = Arc<dyn ItemBank>;

    fn calls() -> BoxedStrategy<Call> {
        let claim = || "[a-d]".prop_map(claim_id);
        let item = || "[1-6]".prop_map(an_item);
        let hold = || prop_oneof![Just(Hold::Forever), hold_for(3), hold_for(10)];
        prop_oneof![
            3 => prop::collection::vec(item(), 0..4).prop_map(Call::Add),
            6 => (claim(), hold()).prop_map(|(claim, hold)| Call::Take(claim, hold)),
            2 => (claim(), hold()).prop_map(|(claim, hold)| Call::Extend(claim, hold)),
            2 => claim().prop_map(Call::Confirm),
            3 => claim().prop_map(Call::Release),
            2 => claim().prop_map(Call::Retire),
            1 => item().prop_map(Call::Withdraw),
            1 => item().prop_map(Call::Restore),
            1 => claim().prop_map(Call::Get),
            1 => item().prop_map(Call::Holder),
            1 => Just(Call::Counts),
        ]
        .boxed()
    }

    fn open(&self, store: &Arc<dyn Backend>) -> Result<Arc<dyn ItemBank>> {
        store.item_bank(&"bank".parse()?)
    }

    async fn step(&mut self, bank: &Arc<dyn ItemBank>, call: &Call) -> Verdict {
        self.lapse();
        match call {
            Call::Add(items) => self.add(items, bank.add(items).await?),
            Call::Take(claim, hold) => self.take(claim, *hold, bank.take(claim, *hold).await?),
            Call::Extend(claim, hold) => self.extend(claim, *hold, bank.extend(claim, *hold).await?),
            Call::Confirm(claim) => self.confirm(claim, &bank.confirm(claim).await?),
            Call::Release(claim) => self.release(claim, bank.release(claim).await?),
            Call::Retire(_) if !self.retires => Ok(()),
            Call::Retire(claim) => self.retire(claim, bank.retire(claim).await?),
            Call::Withdraw(item) => {
                let found = bank.withdraw(std::slice::from_ref(item)).await?.withdrawn;
                ensure_eq!(found, self.shift(item, &Place::Free, Place::Withdrawn), "items withdrawn");
                Ok(())
            }
            Call::Restore(item) => {
                let found = bank.restore(std::slice::from_ref(item)).await?.restored;
                ensure_eq!(found, self.shift(item, &Place::Withdrawn, Place::Free), "items restored");
                Ok(())
            }
            Call::Get(claim) => self.check_claim(claim, bank.get(claim).await?),
            Call::Holder(item) => {
                ensure_eq!(bank.holder(item).await?, self.state(item), "where the item is");
                Ok(())
            }
            Call::Counts => {
                ensure_eq!(bank.counts().await?, self.counts(), "the counts");
                Ok(())
            }
        }
    }

    fn pass(&mut self, duration: Duration) {
        self.now += duration;
    }
}

fn hold_for(number: u64) -> BoxedStrategy<Hold> {
    Just(Hold::For(minutes(number))).boxed()
}

fn claim_id(text: String) -> ClaimId {
    ClaimId::new(text).expect("one letter")
}

fn an_item(text: String) -> Item {
    Item::new(text).expect("one digit")
}
