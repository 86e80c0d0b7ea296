//! The way to a store, and what can go wrong on it: replies are lost, requests land late or twice, futures drop.
//!
//! A [`Link`] is a layer that decides the fate of each call. It works around any store.

mod gate;

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fastrand::Rng;
use storagebox_core::layer::{Answered, Call, Layer, Layered, LayeredPart, Next, OnePart};
use storagebox_core::{Backend, Error, Result, async_trait};

pub(crate) use gate::{drop_after, dropped};

/// A request that is still under way, to be landed later.
type Late = Pin<Box<dyn Future<Output = Result<Answered>> + Send>>;

/// What becomes of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It lands and its reply arrives.
    Delivered,
    /// It never lands; the caller learns nothing.
    RequestLost,
    /// It lands; the caller learns nothing.
    ReplyLost,
    /// It lands later; the caller learns nothing.
    Late,
    /// It lands and its reply arrives, and it lands once more later.
    Twice,
}

/// Decides the fate of calls.
pub struct Link {
    plan: Mutex<Plan>,
    late: Mutex<VecDeque<Late>>,
    gated: bool,
    /// How often a call is made at the most.
    attempts: usize,
}

enum Plan {
    /// Every call is delivered.
    Clean,
    /// The next calls have these fates, later ones are delivered.
    Script(VecDeque<Fate>),
    /// This share of the calls, in percent, has another fate.
    Random(Rng, u8),
}

impl Link {
    fn with(plan: Plan, gated: bool) -> Arc<Self> {
        Arc::new(Self { plan: Mutex::new(plan), late: Mutex::default(), gated, attempts: 1 })
    }

    /// Delivers every call, and makes it again for as long as its error says that it may be, up to so many times: as a
    /// caller does whose store is behind faults of its own.
    pub fn patient(attempts: usize) -> Arc<Self> {
        let plan = Mutex::new(Plan::Clean);
        Arc::new(Self { plan, late: Mutex::default(), gated: false, attempts: attempts.max(1) })
    }

    /// Gives the next calls these fates; all later ones are delivered.
    pub fn script(fates: impl IntoIterator<Item = Fate>) -> Arc<Self> {
        Self::with(Plan::Script(fates.into_iter().collect()), false)
    }

    /// Gives this share of the calls, in percent, a fate by chance.
    pub fn random(seed: u64, percent: u8) -> Arc<Self> {
        Self::with(Plan::Random(Rng::with_seed(seed), percent), false)
    }

    /// Delivers every call, but makes its future pend once before it lands and once before its reply, so that it
    /// can be dropped there.
    pub fn gated() -> Arc<Self> {
        Self::with(Plan::Clean, true)
    }

    /// Ends all faults; what is under way stays so.
    pub fn heal(&self) {
        *lock(&self.plan) = Plan::Clean;
    }

    /// How many requests are still under way.
    pub fn under_way(&self) -> usize {
        lock(&self.late).len()
    }

    /// Lands every request that is still under way, in the order of their calls.
    ///
    /// # Cancel safety
    ///
    /// Dropping it leaves the rest under way, and may lose the one that is landing.
    pub async fn land(&self) {
        while let Some(request) = self.next_late() {
            let _ = request.await;
        }
    }

    /// One part of a store, behind the link.
    pub(crate) fn before<P: OnePart + ?Sized>(self: &Arc<Self>, part: &Arc<P>) -> Arc<LayeredPart<P>> {
        Arc::new(LayeredPart::new(Arc::clone(part), Arc::clone(self) as _))
    }

    /// A store with all its parts, behind the link.
    pub(crate) fn before_store(self: &Arc<Self>, store: &Arc<dyn Backend>) -> Arc<Layered> {
        Arc::new(Layered::new(Arc::clone(store), Arc::clone(self) as _))
    }

    fn next_late(&self) -> Option<Late> {
        lock(&self.late).pop_front()
    }

    fn fate(&self) -> Fate {
        match &mut *lock(&self.plan) {
            Plan::Clean => Fate::Delivered,
            Plan::Script(fates) => fates.pop_front().unwrap_or(Fate::Delivered),
            Plan::Random(rng, percent) => draw(rng, *percent),
        }
    }

    async fn delivered(&self, request: Next<'_>) -> Result<Answered> {
        for _ in 1..self.attempts {
            match request.call().await {
                Err(error) if error.is_retryable() => {}
                answer => return answer,
            }
        }
        request.call().await
    }

    fn park(&self, request: Next<'_>) {
        lock(&self.late).push_back(Box::pin(request.detached()));
    }

    async fn meet(&self, fate: Fate, request: Next<'_>) -> Result<Answered> {
        match fate {
            Fate::Delivered => return self.delivered(request).await,
            Fate::Twice => {
                let answer = request.call().await;
                self.park(request);
                return answer;
            }
            Fate::RequestLost => {}
            Fate::ReplyLost => drop(request.call().await),
            Fate::Late => self.park(request),
        }
        Err(lost())
    }
}

#[async_trait]
impl Layer for Link {
    async fn around(&self, _: &Call<'_>, request: Next<'_>) -> Result<Answered> {
        gate::once(self.gated).await;
        let answer = self.meet(self.fate(), request).await;
        gate::once(self.gated).await;
        answer
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("under_way", &self.under_way()).finish_non_exhaustive()
    }
}

fn draw(rng: &mut Rng, percent: u8) -> Fate {
    let faults = [Fate::RequestLost, Fate::ReplyLost, Fate::Late, Fate::Twice];
    if rng.u8(..100) < percent { faults[rng.usize(..faults.len())] } else { Fate::Delivered }
}

fn lost() -> Error {
    Error::unknown("the reply was lost").on("link")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
