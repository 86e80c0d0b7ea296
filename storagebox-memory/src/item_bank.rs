//! The item bank. A claim changes under the lock of its stripe, an item under the lock of its own stripe. A call that
//! needs both locks takes the claim's first. A call reads the clock after it takes the lock of the claim or item whose
//! expiry it decides.

mod batches;
mod claims;
mod items;
mod void_claims;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, MutexGuard};

use storagebox_core::backend::rules::StoredTime;
use storagebox_core::{
    Added, Attempt, ClaimId, ClaimState, Confirmed, Counts, Cursor, End, Extended, Held, Hold, HoldState, Item,
    ItemBank, ItemState, ListedItem, Page, Released, Restored, Result, Retired, Taken, Withdrawn, async_trait,
};
use tracing::instrument;

use crate::clock::Time;
use crate::config::Settings;
use crate::striped::{STRIPES, Striped, not_ours, position};
use crate::transaction::{Open, Touched};

use claims::{Claims, Slot, State};
use items::{Place, Stripe};

/// A bank of a [`MemoryStore`](crate::MemoryStore).
///
/// Its methods `add_now` and `take_now` need no future and no runtime.
#[derive(Debug)]
pub struct MemoryBank {
    settings: Settings,
    claims: Arc<Striped<Claims>>,
    items: Arc<Striped<Stripe>>,
    walk: Arc<AtomicUsize>,
    by: Option<Open>,
}

/// The state of a claim at the current time.
enum ClaimStatus {
    Unknown,
    Held { at: Slot, held: Held },
    Ended { why: End },
}

type LockedClaims<'a> = MutexGuard<'a, Claims>;
type LockedItems<'a> = MutexGuard<'a, Stripe>;

impl MemoryBank {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { settings, claims: Arc::default(), items: Arc::default(), walk: Arc::default(), by: None }
    }

    pub(crate) fn joined(&self, by: &Open) -> Self {
        Self {
            settings: self.settings.clone(),
            claims: Arc::clone(&self.claims),
            items: Arc::clone(&self.items),
            walk: Arc::clone(&self.walk),
            by: Some(by.clone()),
        }
    }

    /// Does the same as [`ItemBank::take`], without a future.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the hold is out of range, and `Contention` if an open transaction has the claim or the
    /// last item that is free.
    pub fn take_now(&self, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        self.attempt_take_now(Attempt::first(), claim, hold)
    }

    #[instrument(name = "take", level = "trace", skip_all)]
    fn attempt_take_now(&self, attempt: Attempt, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        hold.checked()?;
        let (mut claims, hash) = self.claims_of(claim)?;
        match self.judge(claims.find(claim, hash)) {
            ClaimStatus::Held { held, .. } => Ok(Taken::Again(held)),
            ClaimStatus::Ended { why } => Ok(Taken::Ended(why)),
            ClaimStatus::Unknown if claims.void.contain(claim, attempt, &self.settings) => Ok(Taken::Empty),
            ClaimStatus::Unknown => match self.take_free(&mut claims, claim, hash, hold)? {
                Taken::Empty => claims.void.refuse(claim, attempt, &self.settings, Taken::Empty),
                taken => Ok(taken),
            },
        }
    }

    /// Takes a free item (IB-4). Returns `Contention` instead of `Empty` if a rollback of an open transaction would
    /// free an item (J-1).
    fn take_free(&self, claims: &mut Claims, claim: &ClaimId, hash: u64, hold: Hold) -> Result<Taken> {
        // Each call starts one stripe further than the call before it, and visits every stripe once.
        let start = self.walk.fetch_add(1, Ordering::Relaxed);
        let (by, mut taken_by) = (self.by.as_ref(), None);
        for stripe in (0..STRIPES).map(|step| start.wrapping_add(step) % STRIPES) {
            let mut items = self.items.lock(stripe);
            if let Some(index) = items.pop(by, &*self.settings.clock) {
                let at = Slot { stripe: stripe as u8, index };
                return self.take_at(claims, (claim, hash), &mut items, at, hold);
            }
            taken_by = taken_by.or_else(|| items.taken_by_another(by, &*self.settings.clock).cloned());
        }
        taken_by.map_or(Ok(Taken::Empty), |transaction| Err(transaction.refuse(by)))
    }

    fn take_at(
        &self,
        claims: &mut Claims,
        (claim, hash): (&ClaimId, u64),
        items: &mut Stripe,
        at: Slot,
        hold: Hold,
    ) -> Result<Taken> {
        // `pop` removed the slot from the list of free slots. A refusal puts it back.
        self.own(items, at).inspect_err(|_| items.free(at.index))?;
        let until = self.end_of(hold);
        items.hold(at.index, claim, until);
        claims.set(claim, hash, State::Holds { at, until });
        Ok(Taken::New(Held { item: items.item(at.index).clone(), hold: remaining(hold) }))
    }

    #[instrument(name = "extend", level = "trace", skip_all)]
    fn extend_now(&self, attempt: Attempt, claim: &ClaimId, hold: Hold) -> Result<Extended> {
        hold.checked()?;
        let (mut claims, hash) = self.claims_of(claim)?;
        if claims.void.contain(claim, attempt, &self.settings) {
            return Ok(Extended::Unknown);
        }
        let (at, held) = match self.judge(claims.find(claim, hash)) {
            ClaimStatus::Held { at, held } => (at, held),
            ClaimStatus::Ended { why } => return Ok(Extended::Ended(why)),
            ClaimStatus::Unknown => return claims.void.refuse(claim, attempt, &self.settings, Extended::Unknown),
        };
        if held.hold == HoldState::Confirmed {
            return Ok(Extended::Confirmed(held));
        }
        let mut items = self.items_at(at)?;
        let now = self.settings.now();
        let Some(current) = items.held_by(at.index, claim, now) else {
            return Ok(Extended::Ended(End::Expired));
        };
        let until = later(current, self.end_of(hold));
        items.hold(at.index, claim, until);
        claims.set(claim, hash, State::Holds { at, until });
        let hold = until.map_or(HoldState::Forever, |until| HoldState::Remaining(now.until(until)));
        Ok(Extended::Extended(Held { hold, ..held }))
    }

    #[instrument(name = "confirm", level = "trace", skip_all)]
    fn confirm_now(&self, attempt: Attempt, claim: &ClaimId) -> Result<Confirmed> {
        let (mut claims, hash) = self.claims_of(claim)?;
        if claims.void.contain(claim, attempt, &self.settings) {
            return Ok(Confirmed::Unknown);
        }
        let (at, held) = match self.judge(claims.find(claim, hash)) {
            ClaimStatus::Held { at, held } => (at, held),
            ClaimStatus::Ended { why } => return Ok(Confirmed::Ended(why)),
            ClaimStatus::Unknown => return claims.void.refuse(claim, attempt, &self.settings, Confirmed::Unknown),
        };
        if held.hold == HoldState::Confirmed {
            return Ok(Confirmed::Confirmed(held.item));
        }
        let mut items = self.items_at(at)?;
        if items.held_by(at.index, claim, self.settings.now()).is_none() {
            return Ok(Confirmed::Ended(End::Expired));
        }
        items.set(at.index, Place::Spent(Some(claim.clone())));
        claims.set(claim, hash, State::Confirmed { at });
        Ok(Confirmed::Confirmed(held.item))
    }

    #[instrument(name = "release", level = "trace", skip_all)]
    fn release_now(&self, claim: &ClaimId) -> Result<Released> {
        let (mut claims, hash) = self.claims_of(claim)?;
        let fence = |claims: &mut Claims| {
            let ended = State::Ended { why: End::Released, since: self.settings.now() };
            claims.set(claim, hash, ended);
            Released::Released
        };
        Ok(match self.judge(claims.find(claim, hash)) {
            ClaimStatus::Unknown => fence(&mut claims),
            ClaimStatus::Ended { why: End::Released } => Released::Released,
            ClaimStatus::Ended { why: End::Expired } => Released::Expired,
            ClaimStatus::Held { held, .. } if held.hold == HoldState::Confirmed => Released::Confirmed,
            ClaimStatus::Held { at, .. } => {
                let mut items = self.items_at(at)?;
                if items.held_by(at.index, claim, self.settings.now()).is_none() {
                    return Ok(Released::Expired);
                }
                items.free(at.index);
                fence(&mut claims)
            }
        })
    }

    #[instrument(name = "get", level = "trace", skip_all)]
    fn get_now(&self, claim: &ClaimId) -> ClaimState {
        let (claims, hash) = self.locked_claims(claim);
        match self.judge(claims.seen_by(self.by.as_ref(), claim, hash)) {
            ClaimStatus::Unknown => ClaimState::Unknown,
            ClaimStatus::Ended { why } => ClaimState::Ended(why),
            ClaimStatus::Held { held, .. } => ClaimState::Held(held),
        }
    }

    #[instrument(name = "counts", level = "trace", skip_all)]
    fn counts_now(&self) -> Counts {
        let mut counts = Counts::default();
        for stripe in 0..STRIPES {
            self.items.lock(stripe).count(self.by.as_ref(), self.settings.now(), &mut counts);
        }
        counts
    }

    #[instrument(name = "retire", level = "trace", skip_all)]
    fn retire_now(&self, attempt: Attempt, claim: &ClaimId) -> Result<Retired> {
        let (mut claims, hash) = self.claims_of(claim)?;
        if claims.void.contain(claim, attempt, &self.settings) {
            return Ok(Retired::Holding);
        }
        match self.judge(claims.find(claim, hash)) {
            ClaimStatus::Unknown => return Ok(Retired::Unknown),
            ClaimStatus::Ended { .. } => {}
            ClaimStatus::Held { at, held } if held.hold == HoldState::Confirmed => {
                self.items_at(at)?.set(at.index, Place::Spent(None));
            }
            ClaimStatus::Held { .. } => {
                return claims.void.refuse(claim, attempt, &self.settings, Retired::Holding);
            }
        }
        claims.remove(claim, hash);
        claims.void.forget(claim);
        Ok(Retired::Retired)
    }

    #[instrument(name = "list", level = "trace", skip_all)]
    fn list_now(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedItem>> {
        let (mut stripe, first) = position(cursor, limit)?;
        let mut first = first.map_or(Ok(0), |index| index.parse()).map_err(|_| not_ours())?;
        let mut entries = Vec::new();
        while stripe < STRIPES {
            let items = self.items.lock(stripe);
            let next = items.list(first, limit, (self.by.as_ref(), self.settings.now()), &mut entries);
            if entries.len() == limit {
                let next = Cursor::new(format!("{stripe}:{next}"));
                return Ok(Page { entries, next: Some(next) });
            }
            (stripe, first) = (stripe + 1, 0);
        }
        Ok(Page { entries, next: None })
    }

    pub(crate) fn maintain(&self, budget: usize) -> usize {
        let now = self.settings.now();
        self.claims.spend(budget, |claims, budget| {
            claims.maintain(budget, &self.settings, |state| self.is_forgotten(state, now))
        })
    }

    /// Locks the claims that share a lock with `claim`, and reserves `claim` for a change. Returns the locked claims
    /// and the hash of `claim`.
    fn claims_of(&self, claim: &ClaimId) -> Result<(LockedClaims<'_>, u64)> {
        let (mut claims, hash) = self.locked_claims(claim);
        let touched = || Touched::stripe(&self.claims, Striped::<Claims>::stripe_of(hash));
        claims.own((claim, hash), self.by.as_ref(), touched)?;
        Ok((claims, hash))
    }

    fn locked_claims(&self, claim: &ClaimId) -> (LockedClaims<'_>, u64) {
        let hash = self.claims.hash(claim);
        (self.claims.lock(Striped::<Claims>::stripe_of(hash)), hash)
    }

    /// Locks the items that share a lock with the slot, and reserves the slot for a change.
    fn items_at(&self, at: Slot) -> Result<LockedItems<'_>> {
        let mut items = self.items.lock(at.stripe.into());
        self.own(&mut items, at)?;
        Ok(items)
    }

    fn own(&self, items: &mut Stripe, at: Slot) -> Result<()> {
        items.own(at.index, self.by.as_ref(), || Touched::stripe(&self.items, at.stripe.into()))
    }

    fn judge(&self, state: Option<State>) -> ClaimStatus {
        match state {
            None => ClaimStatus::Unknown,
            Some(State::Confirmed { at }) => self.held(at, HoldState::Confirmed),
            Some(State::Holds { at, until: None }) => self.held(at, HoldState::Forever),
            Some(state) => self.judge_by_clock(state),
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

/// Returns the later of two times; `None` is later than any time.
fn later(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    one.zip(other).map(|(one, other)| one.max(other))
}

#[async_trait]
impl ItemBank for MemoryBank {
    async fn add(&self, items: &[Item]) -> Result<Added> {
        self.add_now(items)
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
        self.release_now(claim)
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

    async fn holder(&self, item: &Item) -> Result<ItemState> {
        Ok(self.holder_now(item))
    }

    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedItem>> {
        self.list_now(cursor, limit)
    }

    async fn withdraw(&self, items: &[Item]) -> Result<Withdrawn> {
        self.withdraw_now(items)
    }

    async fn restore(&self, items: &[Item]) -> Result<Restored> {
        self.restore_now(items)
    }
}
