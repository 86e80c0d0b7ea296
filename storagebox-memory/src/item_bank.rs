//! The item bank. A claim changes under the lock of its stripe, an item under the lock of its own stripe. A call that
//! needs both locks takes the claim's first. The clock is read after taking the lock of what it decides about.

mod items;
mod void_claims;

use std::sync::MutexGuard;
use std::sync::atomic::{AtomicUsize, Ordering};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use storagebox_core::backend::rules::StoredTime;
use storagebox_core::{
    Added, Attempt, ClaimId, ClaimState, Confirmed, Counts, Cursor, End, Extended, Held, Hold, HoldState, Item,
    ItemBank, ItemState, ListedItem, Page, Released, Restored, Result, Retired, Taken, Withdrawn, async_trait,
};
use tracing::instrument;

use crate::clock::Time;
use crate::config::Settings;
use crate::striped::{STRIPES, Striped, not_ours, position};

use items::{Place, Stripe};
use void_claims::VoidClaims;

/// A bank of a [`MemoryStore`](crate::MemoryStore).
///
/// Its methods `add_now` and `take_now` need no future and no runtime.
#[derive(Debug)]
pub struct MemoryBank {
    settings: Settings,
    claims: Striped<Claims>,
    items: Striped<Stripe>,
    walk: AtomicUsize,
}

#[derive(Debug)]
struct Claim {
    id: ClaimId,
    /// Kept so that a growing table need not hash every id again.
    hash: u64,
    state: State,
}

impl Claim {
    fn is(&self, id: &ClaimId, hash: u64) -> bool {
        self.hash == hash && self.id == *id
    }
}

/// The state in a claim's record. A hold is stored at the item as well, and both change together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Holds { at: Slot, until: Option<Time> },
    Confirmed { at: Slot },
    Ended { why: End, since: Time },
}

/// The location of an item, which never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    stripe: u8,
    index: u32,
}

/// The state of a claim at the present time.
enum ClaimStatus {
    Unknown,
    Held { at: Slot, held: Held },
    Ended { why: End },
}

/// The claims of a stripe.
#[derive(Debug, Default)]
struct Claims {
    table: HashTable<Claim>,
    void: VoidClaims,
}

type LockedClaims<'a> = MutexGuard<'a, Claims>;

impl MemoryBank {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { settings, claims: Striped::default(), items: Striped::default(), walk: AtomicUsize::new(0) }
    }

    /// Does the same as [`ItemBank::add`], without a future.
    #[instrument(name = "add", level = "trace", skip_all)]
    pub fn add_now(&self, items: &[Item]) -> Added {
        let mut report = Added::default();
        for item in distinct(items) {
            let hash = self.items.hash(item);
            let hasher = |item: &Item| self.items.hash(item);
            match self.items.lock(Striped::<Stripe>::stripe_of(hash)).add(item, hash, hasher) {
                true => report.added += 1,
                false => report.already_present += 1,
            }
        }
        report
    }

    /// Does the same as [`ItemBank::take`], without a future.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the hold is out of range.
    pub fn take_now(&self, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        self.attempt_take_now(Attempt::first(), claim, hold)
    }

    #[instrument(name = "take", level = "trace", skip_all)]
    fn attempt_take_now(&self, attempt: Attempt, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        hold.checked()?;
        let (mut claims, hash) = self.claims_of(claim);
        match self.judge(&mut claims, claim, hash) {
            ClaimStatus::Held { held, .. } => Ok(Taken::Again(held)),
            ClaimStatus::Ended { why } => Ok(Taken::Ended(why)),
            ClaimStatus::Unknown if claims.void.contain(claim, attempt, &self.settings) => Ok(Taken::Empty),
            ClaimStatus::Unknown => match self.take_free(&mut claims, claim, hash, hold) {
                Taken::Empty => claims.void.refuse(claim, attempt, &self.settings, Taken::Empty),
                taken => Ok(taken),
            },
        }
    }

    /// Visits every stripe once, so that an item that stays free is found (IB-4). Each call starts one stripe further.
    fn take_free(&self, claims: &mut Claims, claim: &ClaimId, hash: u64, hold: Hold) -> Taken {
        let start = self.walk.fetch_add(1, Ordering::Relaxed);
        for stripe in (0..STRIPES).map(|step| start.wrapping_add(step) % STRIPES) {
            let mut items = self.items.lock(stripe);
            if let Some(index) = items.pop(&*self.settings.clock) {
                let until = self.end_of(hold);
                items.hold(index, claim, until);
                let held = Held { item: items.item(index).clone(), hold: remaining(hold) };
                let at = Slot { stripe: stripe as u8, index };
                self.set(claims, claim, hash, State::Holds { at, until });
                return Taken::New(held);
            }
        }
        Taken::Empty
    }

    #[instrument(name = "extend", level = "trace", skip_all)]
    fn extend_now(&self, attempt: Attempt, claim: &ClaimId, hold: Hold) -> Result<Extended> {
        hold.checked()?;
        let (mut claims, hash) = self.claims_of(claim);
        if claims.void.contain(claim, attempt, &self.settings) {
            return Ok(Extended::Unknown);
        }
        let (at, held) = match self.judge(&mut claims, claim, hash) {
            ClaimStatus::Held { at, held } => (at, held),
            ClaimStatus::Ended { why } => return Ok(Extended::Ended(why)),
            ClaimStatus::Unknown => return claims.void.refuse(claim, attempt, &self.settings, Extended::Unknown),
        };
        if held.hold == HoldState::Confirmed {
            return Ok(Extended::Confirmed(held));
        }
        let mut items = self.items.lock(at.stripe.into());
        let now = self.settings.now();
        let Some(current) = items.held_by(at.index, claim, now) else {
            return Ok(Extended::Ended(End::Expired));
        };
        let until = later(current, self.end_of(hold));
        items.hold(at.index, claim, until);
        self.set(&mut claims, claim, hash, State::Holds { at, until });
        let hold = until.map_or(HoldState::Forever, |until| HoldState::Remaining(now.until(until)));
        Ok(Extended::Extended(Held { hold, ..held }))
    }

    #[instrument(name = "confirm", level = "trace", skip_all)]
    fn confirm_now(&self, attempt: Attempt, claim: &ClaimId) -> Result<Confirmed> {
        let (mut claims, hash) = self.claims_of(claim);
        if claims.void.contain(claim, attempt, &self.settings) {
            return Ok(Confirmed::Unknown);
        }
        let (at, held) = match self.judge(&mut claims, claim, hash) {
            ClaimStatus::Held { at, held } => (at, held),
            ClaimStatus::Ended { why } => return Ok(Confirmed::Ended(why)),
            ClaimStatus::Unknown => return claims.void.refuse(claim, attempt, &self.settings, Confirmed::Unknown),
        };
        if held.hold == HoldState::Confirmed {
            return Ok(Confirmed::Confirmed(held.item));
        }
        let mut items = self.items.lock(at.stripe.into());
        if items.held_by(at.index, claim, self.settings.now()).is_none() {
            return Ok(Confirmed::Ended(End::Expired));
        }
        items.set(at.index, Place::Spent(Some(claim.clone())));
        self.set(&mut claims, claim, hash, State::Confirmed { at });
        Ok(Confirmed::Confirmed(held.item))
    }

    #[instrument(name = "release", level = "trace", skip_all)]
    fn release_now(&self, claim: &ClaimId) -> Released {
        let (mut claims, hash) = self.claims_of(claim);
        let fence = |claims: &mut Claims| {
            let ended = State::Ended { why: End::Released, since: self.settings.now() };
            self.set(claims, claim, hash, ended);
            Released::Released
        };
        match self.judge(&mut claims, claim, hash) {
            ClaimStatus::Unknown => fence(&mut claims),
            ClaimStatus::Ended { why: End::Released } => Released::Released,
            ClaimStatus::Ended { why: End::Expired } => Released::Expired,
            ClaimStatus::Held { held, .. } if held.hold == HoldState::Confirmed => Released::Confirmed,
            ClaimStatus::Held { at, .. } => {
                let mut items = self.items.lock(at.stripe.into());
                if items.held_by(at.index, claim, self.settings.now()).is_none() {
                    return Released::Expired;
                }
                items.free(at.index);
                fence(&mut claims)
            }
        }
    }

    #[instrument(name = "get", level = "trace", skip_all)]
    fn get_now(&self, claim: &ClaimId) -> ClaimState {
        let (mut claims, hash) = self.claims_of(claim);
        match self.judge(&mut claims, claim, hash) {
            ClaimStatus::Unknown => ClaimState::Unknown,
            ClaimStatus::Ended { why } => ClaimState::Ended(why),
            ClaimStatus::Held { held, .. } => ClaimState::Held(held),
        }
    }

    #[instrument(name = "counts", level = "trace", skip_all)]
    fn counts_now(&self) -> Counts {
        let mut counts = Counts::default();
        for stripe in 0..STRIPES {
            self.items.lock(stripe).count(self.settings.now(), &mut counts);
        }
        counts
    }

    #[instrument(name = "retire", level = "trace", skip_all)]
    fn retire_now(&self, attempt: Attempt, claim: &ClaimId) -> Result<Retired> {
        let (mut claims, hash) = self.claims_of(claim);
        if claims.void.contain(claim, attempt, &self.settings) {
            return Ok(Retired::Holding);
        }
        match self.judge(&mut claims, claim, hash) {
            ClaimStatus::Unknown => return Ok(Retired::Unknown),
            ClaimStatus::Ended { .. } => {}
            ClaimStatus::Held { at, held } if held.hold == HoldState::Confirmed => {
                self.items.lock(at.stripe.into()).set(at.index, Place::Spent(None));
            }
            ClaimStatus::Held { .. } => {
                return claims.void.refuse(claim, attempt, &self.settings, Retired::Holding);
            }
        }
        if let Ok(entry) = claims.table.find_entry(hash, |known| known.is(claim, hash)) {
            entry.remove();
        }
        claims.void.forget(claim);
        Ok(Retired::Retired)
    }

    #[instrument(name = "list", level = "trace", skip_all)]
    fn list_now(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedItem>> {
        let (mut stripe, first) = position(cursor, limit)?;
        let mut first = first.map_or(Ok(0), |index| index.parse()).map_err(|_| not_ours())?;
        let mut entries = Vec::new();
        while stripe < STRIPES {
            let room = limit - entries.len();
            let seen = self.items.lock(stripe).list(first, room, self.settings.now(), &mut entries);
            if entries.len() == limit {
                let next = Cursor::new(format!("{stripe}:{}", first + seen));
                return Ok(Page { entries, next: Some(next) });
            }
            (stripe, first) = (stripe + 1, 0);
        }
        Ok(Page { entries, next: None })
    }

    /// Calls `change` with the stripe and the index of each distinct known item. Returns the number of unknown items.
    fn with_known(&self, items: &[Item], mut change: impl FnMut(&mut Stripe, u32)) -> u64 {
        let mut unknown = 0;
        for item in distinct(items) {
            let hash = self.items.hash(item);
            let mut stripe = self.items.lock(Striped::<Stripe>::stripe_of(hash));
            match stripe.find(item, hash) {
                Some(index) => change(&mut stripe, index),
                None => unknown += 1,
            }
        }
        unknown
    }

    #[instrument(name = "withdraw", level = "trace", skip_all)]
    fn withdraw_now(&self, items: &[Item]) -> Withdrawn {
        let mut report = Withdrawn::default();
        report.unknown = self.with_known(items, |stripe, index| match stripe.state(index, self.settings.now()) {
            ItemState::Free => {
                stripe.withdraw(index);
                report.withdrawn += 1;
            }
            ItemState::Withdrawn => report.already_withdrawn += 1,
            _ => report.in_use += 1,
        });
        report
    }

    #[instrument(name = "restore", level = "trace", skip_all)]
    fn restore_now(&self, items: &[Item]) -> Restored {
        let mut report = Restored::default();
        report.unknown = self.with_known(items, |stripe, index| {
            if stripe.state(index, self.settings.now()) == ItemState::Withdrawn {
                stripe.restore(index);
                report.restored += 1;
            } else {
                report.not_withdrawn += 1;
            }
        });
        report
    }

    /// Forgets at most `budget` ended claims that are past their retention, and returns how many.
    pub(crate) fn maintain(&self, budget: usize) -> usize {
        let now = self.settings.now();
        self.claims.spend(budget, |claims, budget| {
            let mut used = 0;
            claims.table.retain(|claim| {
                let forget = used < budget && self.is_forgotten(claim.state, now);
                used += usize::from(forget);
                !forget
            });
            used + claims.void.maintain(budget - used, &self.settings)
        })
    }

    fn claims_of(&self, claim: &ClaimId) -> (LockedClaims<'_>, u64) {
        let hash = self.claims.hash(claim);
        (self.claims.lock(Striped::<Claims>::stripe_of(hash)), hash)
    }

    fn set(&self, claims: &mut Claims, claim: &ClaimId, hash: u64, state: State) {
        match claims.table.entry(hash, |known| known.is(claim, hash), |known| known.hash) {
            Entry::Occupied(mut entry) => entry.get_mut().state = state,
            Entry::Vacant(entry) => {
                entry.insert(Claim { id: claim.clone(), hash, state });
            }
        }
    }

    fn judge(&self, claims: &mut Claims, claim: &ClaimId, hash: u64) -> ClaimStatus {
        let Some(known) = claims.table.find(hash, |known| known.is(claim, hash)) else {
            return ClaimStatus::Unknown;
        };
        match known.state {
            State::Confirmed { at } => self.held(at, HoldState::Confirmed),
            State::Holds { at, until: None } => self.held(at, HoldState::Forever),
            state => self.judge_by_clock(state),
        }
    }

    fn judge_by_clock(&self, state: State) -> ClaimStatus {
        let now = self.settings.now();
        match state {
            state if self.is_forgotten(state, now) => ClaimStatus::Unknown,
            State::Holds { at, until: Some(until) } if now < until => {
                self.held(at, HoldState::Remaining(now.until(until)))
            }
            State::Ended { why, .. } => ClaimStatus::Ended { why },
            _ => ClaimStatus::Ended { why: End::Expired },
        }
    }

    fn held(&self, at: Slot, hold: HoldState) -> ClaimStatus {
        let item = self.items.lock(at.stripe.into()).item(at.index).clone();
        ClaimStatus::Held { at, held: Held { item, hold } }
    }

    fn is_forgotten(&self, state: State, now: Time) -> bool {
        match state {
            State::Holds { until: Some(until), .. } => self.settings.is_forgotten(until, now),
            State::Ended { since, .. } => self.settings.is_forgotten(since, now),
            State::Holds { until: None, .. } | State::Confirmed { .. } => false,
        }
    }

    fn end_of(&self, hold: Hold) -> Option<Time> {
        match hold {
            Hold::Forever => None,
            Hold::For(duration) => Some(self.settings.now().after(duration)),
        }
    }
}

fn remaining(hold: Hold) -> HoldState {
    match hold {
        Hold::Forever => HoldState::Forever,
        Hold::For(duration) => HoldState::Remaining(duration),
    }
}

/// Returns the later of two ends, where `None` means never.
fn later(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    one.zip(other).map(|(one, other)| one.max(other))
}

/// Returns each item once, in the order of its first occurrence.
fn distinct(items: &[Item]) -> impl Iterator<Item = &Item> {
    let mut seen = hashbrown::HashSet::with_capacity_and_hasher(items.len(), std::hash::RandomState::new());
    items.iter().filter(move |item| seen.insert(*item))
}

#[async_trait]
impl ItemBank for MemoryBank {
    async fn add(&self, items: &[Item]) -> Result<Added> {
        Ok(self.add_now(items))
    }

    async fn attempt_take(&self, attempt: Attempt, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        self.attempt_take_now(attempt, claim, hold)
    }

    async fn attempt_extend(&self, attempt: Attempt, claim: &ClaimId, hold: Hold) -> Result<Extended> {
        self.extend_now(attempt, claim, hold)
    }

    async fn attempt_confirm(&self, attempt: Attempt, claim: &ClaimId) -> Result<Confirmed> {
        self.confirm_now(attempt, claim)
    }

    async fn release(&self, claim: &ClaimId) -> Result<Released> {
        Ok(self.release_now(claim))
    }

    async fn get(&self, claim: &ClaimId) -> Result<ClaimState> {
        Ok(self.get_now(claim))
    }

    async fn counts(&self) -> Result<Counts> {
        Ok(self.counts_now())
    }

    async fn attempt_retire(&self, attempt: Attempt, claim: &ClaimId) -> Result<Retired> {
        self.retire_now(attempt, claim)
    }

    #[instrument(level = "trace", skip_all)]
    async fn holder(&self, item: &Item) -> Result<ItemState> {
        let mut state = ItemState::Unknown;
        self.with_known(std::slice::from_ref(item), |stripe, index| {
            state = stripe.state(index, self.settings.now());
        });
        Ok(state)
    }

    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedItem>> {
        self.list_now(cursor, limit)
    }

    async fn withdraw(&self, items: &[Item]) -> Result<Withdrawn> {
        Ok(self.withdraw_now(items))
    }

    async fn restore(&self, items: &[Item]) -> Result<Restored> {
        Ok(self.restore_now(items))
    }
}
