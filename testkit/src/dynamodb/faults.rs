//! An HTTP client for the driver that loses, delays, refuses and repeats requests as DynamoDB and a network may, and
//! records them. No server that can run locally throttles, reports conflicts or fails to reply.

mod answer;
mod batch;
mod client;
mod fault;
mod late;
mod plan;
mod record;
mod request;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_smithy_runtime_api::client::http::{HttpClient, SharedHttpClient};

pub use fault::Fault;
use late::Late;
use plan::Plan;
pub use record::Exchange;
use record::Record;

/// A client that injects faults. Clones share one plan, one count and one record.
///
/// Requests that are not for DynamoDB, such as requests for credentials, pass unchanged and are not counted.
#[derive(Clone)]
pub struct Faults {
    inner: SharedHttpClient,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    plan: Mutex<Plan>,
    late: Mutex<Late>,
    record: Mutex<Record>,
}

impl Faults {
    /// Creates a client that passes every request to `inner` until faults are planned.
    pub fn new(inner: impl HttpClient + 'static) -> Self {
        Self { inner: SharedHttpClient::new(inner), state: Arc::default() }
    }

    /// Plans these faults for the next requests, one per request, after the faults that are already planned.
    ///
    /// A fault that does not fit the operation of its request is used up, does nothing and is not counted.
    pub fn script(&self, faults: impl IntoIterator<Item = Fault>) {
        lock(&self.state.plan).script(None, faults);
    }

    /// Plans these faults as [`Self::script`] does, for the next requests of one operation, such as
    /// `TransactWriteItems`.
    pub fn script_for(&self, operation: &str, faults: impl IntoIterator<Item = Fault>) {
        lock(&self.state.plan).script(Some(operation), faults);
    }

    /// Injects one of these faults at random into this percentage of all requests. Replaces all earlier plans.
    ///
    /// The seed decides the faults, in the order in which requests arrive.
    pub fn random(&self, seed: u64, percent: u8, faults: &[Fault]) {
        *lock(&self.state.plan) = Plan::random(seed, percent, faults);
    }

    /// Ends all faults. Requests in progress stay in progress.
    pub fn heal(&self) {
        *lock(&self.state.plan) = Plan::default();
    }

    /// Returns how often each fault was injected, by its [name](Fault::name).
    pub fn injected(&self) -> BTreeMap<String, u64> {
        lock(&self.state.record).injected().clone()
    }

    /// Returns how many faults were injected.
    pub fn total(&self) -> u64 {
        self.injected().values().sum()
    }

    /// Returns how many requests were sent to the server, by operation. A late request counts when it is applied.
    pub fn requests(&self) -> BTreeMap<String, u64> {
        lock(&self.state.record).requests().clone()
    }

    /// Deletes all counts and all recorded requests. Plans and requests in progress stay.
    pub fn reset(&self) {
        lock(&self.state.record).reset();
    }

    /// Sets whether to record the requests that are sent to the server from now on, and the server's replies.
    pub fn record(&self, on: bool) {
        lock(&self.state.record).keep(on);
    }

    /// Takes the recorded requests, in the order in which they were sent.
    ///
    /// A request that has no reply yet is taken without a reply.
    pub fn taken(&self) -> Vec<Exchange> {
        lock(&self.state.record).take()
    }

    /// Sends every request that is still in progress, in the order of their calls.
    pub async fn land(&self) {
        loop {
            let first = lock(&self.state.late).parked.pop_front();
            let Some(request) = first else { return };
            request.land(&self.state).await;
        }
    }
}

/// Shows only counts, because requests contain items and signing keys.
impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faults").field("injected", &self.injected()).finish_non_exhaustive()
    }
}

/// Locks a mutex, even after a panic of another thread.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The value is still consistent, because every change is one step.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
