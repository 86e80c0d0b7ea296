//! What a case works with: an empty sandbox, its clients, time and random numbers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;
use storagebox_core::{
    Backend, Counter, DedupRepo, EntityLedger, Item, ItemBank, Joins, LeaseRepo, ListedItem, Namespace, OrderedOptions,
    OrderedStore, Result, Retention, Strategy, TokenStore,
};

use crate::failure::{Failure, Verdict};
use crate::harness::{Harness, Restart, Sandbox, TestClock};
use crate::part::Part;
use crate::race::answered;
use crate::stop::Over;

/// How thoroughly a case tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The number of random sequences that a model-based case runs.
    pub sequences: u32,
    /// The greatest length of such a sequence.
    pub steps: usize,
    /// The number of rounds of a race or a random fault test.
    pub rounds: usize,
}

impl Profile {
    /// For stores whose calls cost little, and for the long checks of other stores.
    pub const QUICK: Self = Self { sequences: 64, steps: 60, rounds: 8 };
    /// For every test run of a store that writes to a disk or calls a server: fewer random sequences and rounds.
    pub const BRIEF: Self = Self { sequences: 24, steps: 40, rounds: 4 };
    /// The shortest profile with which every deliberately broken store is still caught, whatever the seed. For broken
    /// stores, for stores whose calls are expensive, and for variations of a tested set-up.
    pub const SMOKE: Self = Self { sequences: 16, steps: 30, rounds: 2 };

    const NAMED: [(&'static str, Self); 3] = [("quick", Self::QUICK), ("brief", Self::BRIEF), ("smoke", Self::SMOKE)];

    /// Returns the profile that `STORAGEBOX_PROFILE` names, or `self` if the variable is not set.
    pub(crate) fn or_chosen(self) -> Result<Self, String> {
        match std::env::var(PROFILE) {
            Ok(name) => Self::named(&name),
            Err(_) => Ok(self),
        }
    }

    fn named(name: &str) -> Result<Self, String> {
        let found = Self::NAMED.into_iter().find(|(known, _)| *known == name);
        let known = Self::NAMED.map(|(name, _)| name).join(", ");
        found.map(|(_, profile)| profile).ok_or(format!("{PROFILE}={name}: the value must be one of {known}"))
    }
}

/// The environment variable that names the profile of a run.
pub(crate) const PROFILE: &str = "STORAGEBOX_PROFILE";

/// The sandbox of a case, with its first client, its profile and its seed.
pub struct World {
    harness: Arc<dyn Harness>,
    sandbox: Box<dyn Sandbox>,
    store: Arc<dyn Backend>,
    seed: u64,
    profile: Profile,
    over: Over,
    drawn: AtomicU64,
    short: Duration,
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").field("harness", &self.harness.name()).field("seed", &self.seed).finish_non_exhaustive()
    }
}

impl World {
    pub(crate) async fn of(
        harness: Arc<dyn Harness>,
        sandbox: Box<dyn Sandbox>,
        seed: u64,
        profile: Profile,
        over: Over,
    ) -> Result<Self> {
        let store = sandbox.open().await?;
        let short = if sandbox.clock().is_some() { SHORT } else { short_on_a_real_clock(&*store).await };
        Ok(Self { harness, sandbox, store, seed, profile, over, drawn: AtomicU64::new(0), short })
    }

    /// Creates another `World` with the same harness and seed.
    pub(crate) async fn another(&self) -> Result<Self> {
        let (harness, sandbox) = (Arc::clone(&self.harness), self.harness.fresh().await?);
        Self::of(harness, sandbox, self.seed, self.profile, self.over.clone()).await
    }

    /// Creates a sandbox that is not set up.
    pub(crate) async fn bare(&self) -> Result<Box<dyn Sandbox>> {
        self.harness.bare().await
    }

    /// Returns the condition that ends the run, for work that cannot be dropped because it blocks its thread.
    pub(crate) fn over(&self) -> &Over {
        &self.over
    }

    pub(crate) fn profile(&self) -> Profile {
        self.profile
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns a new random number generator, determined by the seed and the number of earlier calls.
    pub(crate) fn rng(&self) -> Rng {
        let draw = self.drawn.fetch_add(1, Ordering::Relaxed);
        Rng::with_seed(self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(draw))
    }

    pub(crate) fn sandbox(&self) -> &dyn Sandbox {
        &*self.sandbox
    }

    /// Returns the first client.
    pub(crate) fn store(&self) -> &Arc<dyn Backend> {
        &self.store
    }

    pub(crate) async fn client(&self) -> Result<Arc<dyn Backend>> {
        self.sandbox.open().await
    }

    /// Restarts the server, and waits until the first client has reconnected.
    pub(crate) async fn restart(&self, how: Restart) -> Verdict {
        self.sandbox.restart(how).await?;
        answered(|| self.store.ping()).await
    }

    pub(crate) fn bank(&self) -> Result<Arc<dyn ItemBank>> {
        self.store.item_bank(&"bank".parse()?)
    }

    /// Creates the bank with `count` items, named `item-0` and so on.
    pub(crate) async fn filled(&self, count: usize) -> Result<Arc<dyn ItemBank>> {
        self.filled_bank("bank", count).await
    }

    pub(crate) async fn filled_bank(&self, name: &str, count: usize) -> Result<Arc<dyn ItemBank>> {
        let bank = self.store.item_bank(&name.parse()?)?;
        bank.add(&items(count)?).await?;
        Ok(bank)
    }

    pub(crate) fn dedup(&self) -> Result<Arc<dyn DedupRepo>> {
        self.store.dedup_repo(&"records".parse()?)
    }

    pub(crate) fn leases(&self) -> Result<Arc<dyn LeaseRepo>> {
        self.store.lease_repo(&"records".parse()?)
    }

    pub(crate) fn tokens(&self) -> Result<Arc<dyn TokenStore>> {
        self.store.token_store(&"tokens".parse()?)
    }

    pub(crate) fn entities(&self, joins: &Joins) -> Result<Arc<dyn EntityLedger>> {
        self.store.entity_ledger(&"entities".parse()?, joins)
    }

    pub(crate) fn counter(&self, strategy: Strategy) -> Result<Arc<dyn Counter>> {
        self.store.counter(&"counters".parse()?, strategy)
    }

    pub(crate) fn ordered(&self, options: OrderedOptions) -> Result<Arc<dyn OrderedStore>> {
        self.store.ordered_store(&"ordered".parse()?, options)
    }

    /// Returns the whole contents of the default bank, read without the library where the harness can.
    pub(crate) async fn audit(&self) -> Result<Vec<ListedItem>, Failure> {
        let audit = self.sandbox.audit(&Namespace::new("bank")?).await;
        audit.map_err(|error| Failure::from(error).during("the audit of a bank with items"))
    }

    /// Returns whether the suite can move the clock instead of waiting.
    pub(crate) fn can_travel(&self) -> bool {
        self.sandbox.clock().is_some()
    }

    /// Moves the store's clock forward, or waits if the clock cannot be moved.
    #[allow(clippy::disallowed_methods, reason = "a store on a real clock expires things in real time alone")]
    pub(crate) async fn pass(&self, duration: Duration) {
        match self.sandbox.clock() {
            Some(clock) => clock.advance(duration),
            None => tokio::time::sleep(duration).await,
        }
    }

    /// Returns the store's clock, for a case that declares `@Clock`.
    pub(crate) fn clock(&self) -> Result<Arc<dyn TestClock>, Failure> {
        self.sandbox
            .clock()
            .ok_or_else(|| Failure::new("a case that moves the clock does not declare the basis `@Clock`"))
    }

    pub(crate) fn has(&self, part: Part) -> bool {
        !self.left_out().contains(&part)
    }

    pub(crate) fn left_out(&self) -> Vec<Part> {
        self.harness.declared().left_out().collect()
    }

    /// Returns whether an earlier attempt of a call may still be in flight after the call was answered.
    pub(crate) fn loses_answers(&self) -> bool {
        self.harness.declared().loses_answers()
    }

    /// Returns whether a case may move the clock until the store forgets ended entries.
    pub(crate) fn can_forget(&self) -> bool {
        // After a lost answer, a store that has forgotten the call would take a late attempt for a new call.
        self.can_travel() && !self.loses_answers()
    }

    /// If [`can_forget`](Self::can_forget) is true, lets time pass until the store may forget what has ended.
    pub(crate) async fn pass_memory(&self) {
        if let (true, Retention::For(week)) = (self.can_forget(), Retention::DEFAULT) {
            self.pass(week + self.short()).await;
        }
    }

    /// Lets time pass as [`pass_memory`](Self::pass_memory) does, and then runs upkeep until nothing is left to delete.
    pub(crate) async fn outlast_memory(&self) -> Verdict {
        self.pass_memory().await;
        self.upkeep().await?;
        Ok(())
    }

    /// Runs upkeep until nothing is left to delete, and returns the number of deleted entries. One call of `maintain`
    /// covers only a part of a large or shared store.
    pub(crate) async fn upkeep(&self) -> Result<u64> {
        let mut deleted = 0;
        loop {
            let done = self.store.maintain(1_000).await?;
            deleted += done.deleted;
            if !done.more {
                return Ok(deleted);
            }
        }
    }

    /// Returns a time that is short enough to wait for, and too long to pass by itself during a few calls.
    pub(crate) fn short(&self) -> Duration {
        self.short
    }
}

/// The short time of a clock that the suite can move.
const SHORT: Duration = Duration::from_secs(10);

/// Returns the short time for a store on a real clock. The calls that a case makes before a short time is over take
/// fewer round trips than this time has.
#[allow(clippy::disallowed_methods, reason = "how far away the store is for real")]
async fn short_on_a_real_clock(store: &dyn Backend) -> Duration {
    const ROUND_TRIPS: u32 = 40;
    // Not longer, because a case that waits for many short times would count as a case without progress.
    const RANGE: (Duration, Duration) = (Duration::from_millis(400), Duration::from_secs(15));
    let mut slowest = Duration::ZERO;
    for number in 0..4 {
        let begun = Instant::now();
        // A store that does not answer fails its case anyway.
        let _ = store.ping().await;
        // The first call may open the connection.
        slowest = if number == 0 { slowest } else { slowest.max(begun.elapsed()) };
    }
    (slowest * ROUND_TRIPS).clamp(RANGE.0, RANGE.1)
}

/// Returns the items `item-0` and so on.
pub(crate) fn items(count: usize) -> Result<Vec<Item>> {
    (0..count).map(|index| Item::new(format!("item-{index}"))).collect()
}
