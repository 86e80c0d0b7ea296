//! A client that loses, delays, refuses and repeats requests as DynamoDB and a network may, and records what it sends.
//!
//! It stands between the driver and its real HTTP client, for tests: no server that can be run at hand throttles,
//! conflicts or forgets to answer. Whoever builds on this backend can use it for tests of their own.
//!
//! ```
//! use aws_smithy_http_client::Builder;
//! use storagebox_dynamo::faults::{Fault, Faults};
//!
//! let faults = Faults::new(Builder::new().build_http());
//! let config = aws_sdk_dynamodb::Config::builder().behavior_version_latest().http_client(faults.clone());
//! // The next transaction is applied, and its reply is lost.
//! faults.script_for("TransactWriteItems", [Fault::DropAfter]);
//! # drop(config);
//! assert_eq!(faults.total(), 0);
//! ```

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

/// An HTTP client for the driver that injects faults.
///
/// Clones share one plan, one count and one record, so that a test keeps a clone of what it hands to the driver.
/// Requests that are not DynamoDB's, such as those for credentials, pass unharmed and uncounted.
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
    /// Passes every request on to this client until faults are planned.
    pub fn new(inner: impl HttpClient + 'static) -> Self {
        Self { inner: SharedHttpClient::new(inner), state: Arc::default() }
    }

    /// Plans these faults for the next requests, one each, after those that are planned already.
    ///
    /// A fault that does not fit the operation of its request is spent, does nothing and is not counted.
    pub fn script(&self, faults: impl IntoIterator<Item = Fault>) {
        lock(&self.state.plan).script(None, faults);
    }

    /// As [`Self::script`], for the next requests of one operation, such as `TransactWriteItems`.
    pub fn script_for(&self, operation: &str, faults: impl IntoIterator<Item = Fault>) {
        lock(&self.state.plan).script(Some(operation), faults);
    }

    /// Gives this share of all requests, in percent, one of these faults by chance, in place of all earlier plans.
    ///
    /// The seed decides in the order in which requests come.
    pub fn random(&self, seed: u64, percent: u8, faults: &[Fault]) {
        *lock(&self.state.plan) = Plan::random(seed, percent, faults);
    }

    /// Ends all faults; what is under way stays so.
    pub fn heal(&self) {
        *lock(&self.state.plan) = Plan::default();
    }

    /// How often each fault was injected, by its [name](Fault::name).
    pub fn injected(&self) -> BTreeMap<&'static str, u64> {
        lock(&self.state.record).injected().clone()
    }

    /// How many faults were injected.
    pub fn total(&self) -> u64 {
        self.injected().values().sum()
    }

    /// How many requests were sent to the server, by operation. Those that landed late count then.
    pub fn requests(&self) -> BTreeMap<String, u64> {
        lock(&self.state.record).requests().clone()
    }

    /// Forgets all counts and all that was recorded. Plans and requests under way stay.
    pub fn reset(&self) {
        lock(&self.state.record).reset();
    }

    /// Whether to record what is sent to the server from now on, and what it answers.
    pub fn record(&self, on: bool) {
        lock(&self.state.record).keep(on);
    }

    /// Takes what was recorded, in the order in which it was sent.
    ///
    /// What has no answer yet is taken without it.
    pub fn taken(&self) -> Vec<Exchange> {
        lock(&self.state.record).take()
    }

    /// How many requests are still under way: those of [`Fault::Late`].
    pub fn under_way(&self) -> usize {
        lock(&self.state.late).len()
    }

    /// Lands every request that is still under way, in the order of their calls.
    ///
    /// # Cancel safety
    ///
    /// Dropping it leaves the rest under way, and may lose the one that is landing.
    pub async fn land(&self) {
        while let Some(request) = self.first_late() {
            request.land(&self.state).await;
        }
    }

    fn first_late(&self) -> Option<late::Parked> {
        lock(&self.state.late).first()
    }
}

/// Only counts: requests hold items, and keys to sign with.
impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Faults");
        shown
            .field("injected", &self.injected())
            .field("under_way", &self.under_way())
            .finish_non_exhaustive()
    }
}

/// What a panic left behind is as good as before: every change is made in one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
