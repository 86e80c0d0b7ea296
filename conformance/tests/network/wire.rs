//! A layer in front of the server: mutating calls go over the connection, reads go to the store directly.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use storagebox_core::layer::{Answered, Call, Kind, Layer, Next};
use storagebox_core::{
    Change, ClaimId, Counted, DedupId, Error, Item, Key, Lease, OpId, Result, TokenId, Written, async_trait,
};

use crate::client::{Client, Mistake};
use crate::server::lock;

/// The memory of a server whose counters remember operations before they count them.
#[derive(Debug, Default)]
pub(crate) struct Remembered {
    operations: HashSet<(Key, OpId, i64)>,
    values: HashMap<Key, i64>,
}

#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) client: Client,
    pub(crate) remembered: Arc<Mutex<Remembered>>,
}

#[async_trait]
impl Layer for Wire {
    async fn around(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        match (call.operation, self.client.mistake) {
            ("ping", _) => self.send(call, next).await,
            ("close", _) => next.call().await,
            _ if call.kind == Kind::Read => next.call().await,
            ("put", _) if self.client.is_swallowed() => Ok(Answered::of(Written::Applied)),
            ("apply", Mistake::RemembersBeforeItCounts) => self.remember_and_count(call, next).await,
            ("apply", Mistake::RepeatsInDoubt) => match self.send(call, next).await {
                Err(_) => self.send(call, next).await,
                answer => answer,
            },
            _ => self.send(call, next).await,
        }
    }
}

impl Wire {
    async fn send(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        self.client.call(&text(call), next.detached()).await
    }

    /// Remembers the operation in one request, and counts it in the next.
    async fn remember_and_count(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        let (Some(key), Some(change)) = (call.argument::<Key>(), call.argument::<Change>()) else {
            return Err(Error::corrupt(call.operation, "it is no change"));
        };
        let (at, operation) = (key.clone(), (key.clone(), change.op, change.delta));
        let remembered = Arc::clone(&self.remembered);
        let remember = async move {
            let mut remembered = lock(&remembered);
            let is_new = remembered.operations.insert(operation);
            let value = remembered.values.get(&at).copied().unwrap_or(0);
            Ok(Answered::of((!is_new).then_some(Counted::AlreadyApplied { value: Some(value) })))
        };
        let known = self.client.call(key.as_str(), remember).await?;
        match known.outcome::<Option<Counted>>() {
            Some(Some(counted)) => Ok(Answered::of(*counted)),
            _ => self.client.call(key.as_str(), self.count(key.clone(), next)).await,
        }
    }

    fn count(&self, key: Key, next: Next<'_>) -> impl Future<Output = Result<Answered>> + Send + use<> {
        let (remembered, counting) = (Arc::clone(&self.remembered), next.detached());
        async move {
            let answered = counting.await?;
            if let Some(Counted::Applied { value: Some(value) }) = answered.outcome() {
                lock(&remembered).values.insert(key, *value);
            }
            Ok(answered)
        }
    }
}

/// Returns the text by which a proxy recognises the request: an id, some items or tokens, or only the call.
fn text(call: &Call<'_>) -> String {
    macro_rules! first {
        ($($value:ty => $text:expr),* $(,)?) => {{
            $(if let Some(value) = call.argument::<$value>() {
                let text: fn(&$value) -> String = $text;
                return text(&value);
            })*
        }};
    }
    first! {
        ClaimId => |claim| claim.as_str().to_owned(),
        DedupId => |id| id.as_str().to_owned(),
        Lease => |lease| lease.id.as_str().to_owned(),
        TokenId => |token| token.as_str().to_owned(),
        Key => |key| key.as_str().to_owned(),
        Vec<Item> => |items| joined(items.iter().map(Item::as_str)),
        Vec<TokenId> => |tokens| joined(tokens.iter().map(TokenId::as_str)),
    }
    call.operation.to_owned()
}

fn joined<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.collect::<Vec<_>>().join(" ")
}
