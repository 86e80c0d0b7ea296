//! A layer in front of the server: mutating calls go over the connection, reads go to the store directly.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use storagebox_core::layer::{Call, Kind, Layer, Next, Request, Response};
use storagebox_core::{
    Attempt, Backend, Change, ClaimId, ClaimState, Counted, Error, Hold, Item, ItemBank, Key, OpId, Result, Retired,
    TokenId, Written, async_trait,
};
use storagebox_memory::MemoryStore;

use crate::client::{Client, Mistake};
use crate::server::lock;

/// The counters of a server with the mistake `RemembersBeforeItCounts`: their operations and their values.
#[derive(Debug, Default)]
pub(crate) struct Remembered {
    operations: HashSet<(Key, OpId, i64)>,
    values: HashMap<Key, i64>,
}

#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) client: Client,
    pub(crate) remembered: Arc<Mutex<Remembered>>,
    pub(crate) store: MemoryStore,
}

#[async_trait]
impl Layer for Wire {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        match (call.request, self.client.mistake) {
            (Request::Ping, _) => self.send(call, next).await,
            (Request::Close, _) => next.run().await,
            _ if call.kind() == Kind::Read => next.run().await,
            (Request::Put { .. }, _) if self.client.is_swallowed() => Ok(Response::Put(Written::Applied)),
            (Request::Apply { key, change, .. }, Mistake::RemembersBeforeItCounts) => {
                self.remember_and_count(key, change, next).await
            }
            (Request::Take { attempt, claim, hold, .. }, Mistake::CommitsWhatWasRefused) => {
                let bank = self.store.item_bank(call.namespace.ok_or_else(no_namespace)?)?;
                match self.client.call(claim.as_str(), look(&bank, attempt, claim.clone(), next)).await? {
                    Response::Retire(_) => self.client.call("COMMIT", take(bank, claim.clone(), hold)).await,
                    taken => Ok(taken),
                }
            }
            (Request::Apply { .. }, Mistake::RepeatsInDoubt) => match self.send(call, next).await {
                Err(_) => self.send(call, next).await,
                answer => answer,
            },
            _ => self.send(call, next).await,
        }
    }
}

impl Wire {
    async fn send(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        self.client.call(&text(call.request), next.detached()).await
    }

    /// Remembers the operation in one request, and applies the change in the next request.
    async fn remember_and_count(&self, key: &Key, change: &Change, next: Next<'_>) -> Result<Response> {
        match self.client.call(key.as_str(), self.remember(key.clone(), change.clone())).await? {
            Response::Apply(Counted::AlreadyApplied { value }) => {
                Ok(Response::Apply(Counted::AlreadyApplied { value }))
            }
            _ => self.client.call(key.as_str(), self.count(key.clone(), next)).await,
        }
    }

    /// Remembers the operation. The response is `AlreadyApplied` if the operation was remembered before.
    fn remember(&self, key: Key, change: Change) -> impl Future<Output = Result<Response>> + Send + use<> {
        let remembered = Arc::clone(&self.remembered);
        async move {
            let mut remembered = lock(&remembered);
            let value = remembered.values.get(&key).copied().unwrap_or(0);
            let is_new = remembered.operations.insert((key, change.op, change.delta));
            Ok(Response::Apply(match is_new {
                true => Counted::Applied { value: None },
                false => Counted::AlreadyApplied { value: Some(value) },
            }))
        }
    }

    fn count(&self, key: Key, next: Next<'_>) -> impl Future<Output = Result<Response>> + Send + use<> {
        let (remembered, counting) = (Arc::clone(&self.remembered), next.detached());
        async move {
            let response = counting.await?;
            if let Response::Apply(Counted::Applied { value: Some(value) }) = response {
                lock(&remembered).values.insert(key, value);
            }
            Ok(response)
        }
    }
}

/// Returns the answer to a take that gets no new item. If the take would get one, the response is `Retire`, and nothing
/// has changed.
fn look(
    bank: &Arc<dyn ItemBank>,
    attempt: Attempt,
    claim: ClaimId,
    next: Next<'_>,
) -> impl Future<Output = Result<Response>> + Send + use<> {
    let (bank, taking) = (Arc::clone(bank), next.detached());
    async move {
        let may_take = bank.get(&claim).await? == ClaimState::Unknown && bank.counts().await?.free > 0;
        // A void call may not even retire the claim.
        let is_void = may_take && bank.attempt_retire(attempt, &claim).await? == Retired::Holding;
        match may_take && !is_void {
            true => Ok(Response::Retire(Retired::Unknown)),
            false => taking.await,
        }
    }
}

/// Takes an item as another call, for which no refusal counts.
async fn take(bank: Arc<dyn ItemBank>, claim: ClaimId, hold: Hold) -> Result<Response> {
    bank.take(&claim, hold).await.map(Response::Take)
}

fn no_namespace() -> Error {
    Error::corrupt("a take", "it names no bank")
}

/// Returns the text by which a proxy recognises the request: its id, its items or tokens, or the operation's name.
fn text(request: Request<'_>) -> String {
    match request {
        Request::Take { claim, .. }
        | Request::ExtendClaim { claim, .. }
        | Request::Confirm { claim, .. }
        | Request::Release { claim, .. }
        | Request::Retire { claim, .. } => claim.to_string(),
        Request::Record { id, .. }
        | Request::Replace { id, .. }
        | Request::Forget { id, .. }
        | Request::Begin { id, .. } => id.to_string(),
        Request::Complete { lease, .. } | Request::Abort { lease, .. } | Request::ExtendLease { lease, .. } => {
            lease.id.to_string()
        }
        Request::Consume { token, .. } => token.to_string(),
        Request::Apply { key, .. }
        | Request::Cancel { key, .. }
        | Request::Compact { key, .. }
        | Request::Put { key, .. }
        | Request::Delete { key, .. }
        | Request::Reset { key, .. } => key.to_string(),
        Request::AddItems { items, .. } | Request::Withdraw { items, .. } | Request::Restore { items, .. } => {
            joined(items.iter().map(Item::as_str))
        }
        Request::CreateTokens { tokens, .. } | Request::Discard { tokens, .. } => {
            joined(tokens.iter().map(TokenId::as_str))
        }
        other => other.operation().to_owned(),
    }
}

fn joined<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.collect::<Vec<_>>().join(" ")
}
