//! The connection to a store and its faults: replies are lost, requests land late or twice, futures are dropped.
//!
//! A [`Link`] is a layer that decides the fate of each call. It works with any store.

mod gate;

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fastrand::Rng;
use storagebox_core::layer::{Call, Layer, Layered, LayeredPart, Next, OnePart, Response};
use storagebox_core::{Backend, Certainty, Error, Result, async_trait};

pub(crate) use gate::{drop_after, dropped};

type Late = Pin<Box<dyn Future<Output = Result<Response>> + Send>>;

/// What happens to one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The request lands and its reply arrives.
    Delivered,
    /// The request never lands, and the caller does not learn whether it did.
    RequestLost,
    /// The request lands, and the caller does not learn whether it did.
    ReplyLost,
    /// The request lands later, and the caller does not learn whether it will.
    Late,
    /// The request lands and its reply arrives, and later the request lands once more.
    Twice,
}

/// A layer that decides the fate of calls.
pub struct Link {
    plan: Mutex<Plan>,
    late: Mutex<VecDeque<Late>>,
    gated: bool,
    /// The maximum number of attempts of a call.
    attempts: usize,
}

enum Plan {
    Clean,
    /// Gives the next calls these fates, and delivers all later calls.
    Script(VecDeque<Fate>),
    /// Gives this percentage of the calls a random fault, and delivers the others.
    Random(Rng, u8),
}

impl Link {
    fn with(plan: Plan, gated: bool) -> Arc<Self> {
        Arc::new(Self { plan: Mutex::new(plan), late: Mutex::default(), gated, attempts: 1 })
    }

    /// Creates a link that delivers every call, and repeats it up to `attempts` times while its error allows that.
    /// Callers do the same if another layer with faults is between them and the store.
    pub fn patient(attempts: usize) -> Arc<Self> {
        let plan = Mutex::new(Plan::Clean);
        Arc::new(Self { plan, late: Mutex::default(), gated: false, attempts: attempts.max(1) })
    }

    /// Creates a link that gives the next calls these fates, and delivers all later ones.
    pub fn script(fates: impl IntoIterator<Item = Fate>) -> Arc<Self> {
        Self::with(Plan::Script(fates.into_iter().collect()), false)
    }

    /// Creates a link that gives this percentage of the calls a random fate.
    pub fn random(seed: u64, percent: u8) -> Arc<Self> {
        Self::with(Plan::Random(Rng::with_seed(seed), percent), false)
    }

    /// Creates a link that delivers every call, but whose futures are pending once before the request lands and once
    /// before its reply, so that a caller can drop them there.
    pub fn gated() -> Arc<Self> {
        Self::with(Plan::Clean, true)
    }

    /// Ends all faults. Requests in flight stay in flight.
    pub fn heal(&self) {
        *lock(&self.plan) = Plan::Clean;
    }

    /// Returns the number of requests that are still in flight.
    pub fn under_way(&self) -> usize {
        lock(&self.late).len()
    }

    /// Lands every request that is still in flight, in the order of the calls.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the other requests in flight, and may lose the request that is landing.
    pub async fn land(&self) {
        while let Some(request) = self.next_late() {
            let _ = request.await;
        }
    }

    pub(crate) fn before<P: OnePart + ?Sized>(self: &Arc<Self>, part: &Arc<P>) -> Arc<LayeredPart<P>> {
        Arc::new(LayeredPart::new(Arc::clone(part), Arc::clone(self) as _))
    }

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

    async fn delivered(&self, request: Next<'_>) -> Result<Response> {
        let mut is_any_lost = false;
        for _ in 1..self.attempts {
            match request.after_lost(is_any_lost).run().await {
                Err(error) if error.is_retryable() => is_any_lost |= error.certainty() == Certainty::Unknown,
                answer => return answer,
            }
        }
        request.after_lost(is_any_lost).run().await
    }

    fn park(&self, request: Next<'_>) {
        lock(&self.late).push_back(Box::pin(request.detached()));
    }

    async fn meet(&self, fate: Fate, request: Next<'_>) -> Result<Response> {
        match fate {
            Fate::Delivered => return self.delivered(request).await,
            Fate::Twice => {
                let answer = request.run().await;
                self.park(request);
                return answer;
            }
            Fate::RequestLost => {}
            Fate::ReplyLost => drop(request.run().await),
            Fate::Late => self.park(request),
        }
        Err(lost())
    }
}

#[async_trait]
impl Layer for Link {
    async fn call(&self, _: &Call<'_>, request: Next<'_>) -> Result<Response> {
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
