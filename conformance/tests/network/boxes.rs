//! The boxes: what changes something goes over the connection, what only reads takes the short way.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Aborted, Added, BankAdmin, Begun, Cancelled, Change, ClaimId, ClaimState, Completed, Confirmed, Consumed,
    Counted, Counter, CounterPromise, Counts, Created, Cursor, DedupId, DedupRepo, Discarded, Entry,
    Extended, Fingerprint, Forgotten, Hold, Item, ItemBank, ItemState, Key, Lease, LeaseExtended, LeaseRepo,
    Ledger, LedgerEntry, ListedItem, ListedRecord, ListedValue, Maintained, OpId, OrderedStore, Page,
    Payload, Recorded, Released, Replaced, Restored, Result, Retention, Retired, Stamp, Taken, TokenId,
    TokenStore, Version, Versioned, Withdrawn, Written, async_trait,
};

use crate::client::{Client, Mistake};
use crate::harness::Remembered;
use crate::server::lock;

/// A box, and the connections to it.
pub(crate) struct Wired<T: ?Sized> {
    pub(crate) inner: Arc<T>,
    pub(crate) client: Arc<Client>,
    pub(crate) remembered: Arc<Remembered>,
}

/// Sends a call with the text of its id: owned arguments, each lent to the inner call.
macro_rules! send {
    ($self:ident.$method:ident[$id:expr]($($own:ident = $value:expr => $lent:expr),*)) => {{
        let (inner, text) = (Arc::clone(&$self.inner), String::from($id));
        $(#[allow(clippy::redundant_locals)] let $own = $value;)*
        $self.client.call(&text, async move { inner.$method($($lent),*).await }).await
    }};
}

fn texts<'a, T: 'a>(all: &'a [T], text: impl Fn(&'a T) -> &'a str) -> String {
    all.iter().map(text).collect::<Vec<_>>().join(" ")
}

#[async_trait]
impl ItemBank for Wired<dyn BankAdmin> {
    async fn add(&self, items: &[Item]) -> Result<Added> {
        send!(self.add[&texts(items, Item::as_str)](items = items.to_vec() => &items))
    }

    async fn take(&self, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        send!(self.take[claim.as_str()](claim = claim.clone() => &claim, hold = hold => hold))
    }

    async fn extend(&self, claim: &ClaimId, hold: Hold) -> Result<Extended> {
        send!(self.extend[claim.as_str()](claim = claim.clone() => &claim, hold = hold => hold))
    }

    async fn confirm(&self, claim: &ClaimId) -> Result<Confirmed> {
        send!(self.confirm[claim.as_str()](claim = claim.clone() => &claim))
    }

    async fn release(&self, claim: &ClaimId) -> Result<Released> {
        send!(self.release[claim.as_str()](claim = claim.clone() => &claim))
    }

    async fn get(&self, claim: &ClaimId) -> Result<ClaimState> {
        self.inner.get(claim).await
    }

    async fn counts(&self) -> Result<Counts> {
        self.inner.counts().await
    }
}

#[async_trait]
impl BankAdmin for Wired<dyn BankAdmin> {
    async fn retire(&self, claim: &ClaimId) -> Result<Retired> {
        send!(self.retire[claim.as_str()](claim = claim.clone() => &claim))
    }

    async fn holder(&self, item: &Item) -> Result<ItemState> {
        self.inner.holder(item).await
    }

    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedItem>> {
        self.inner.list(cursor, limit).await
    }

    async fn withdraw(&self, items: &[Item]) -> Result<Withdrawn> {
        send!(self.withdraw[&texts(items, Item::as_str)](items = items.to_vec() => &items))
    }

    async fn restore(&self, items: &[Item]) -> Result<Restored> {
        send!(self.restore[&texts(items, Item::as_str)](items = items.to_vec() => &items))
    }
}

#[async_trait]
impl DedupRepo for Wired<dyn DedupRepo> {
    async fn record(
        &self,
        id: &DedupId,
        value: &Payload,
        op: &OpId,
        retention: Retention,
    ) -> Result<Recorded> {
        send!(self.record[id.as_str()](
            id = id.clone() => &id, value = value.clone() => &value, op = op.clone() => &op,
            retention = retention => retention
        ))
    }

    async fn get(&self, id: &DedupId) -> Result<Option<Entry>> {
        self.inner.get(id).await
    }

    async fn replace(&self, id: &DedupId, version: Version, value: &Payload, op: &OpId) -> Result<Replaced> {
        send!(self.replace[id.as_str()](
            id = id.clone() => &id, version = version => version, value = value.clone() => &value,
            op = op.clone() => &op
        ))
    }

    async fn forget(&self, id: &DedupId, version: Version) -> Result<Forgotten> {
        send!(self.forget[id.as_str()](id = id.clone() => &id, version = version => version))
    }

    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedRecord>> {
        self.inner.list(cursor, limit).await
    }
}

#[async_trait]
impl LeaseRepo for Wired<dyn LeaseRepo> {
    async fn begin(
        &self,
        id: &DedupId,
        op: &OpId,
        duration: Duration,
        fingerprint: Option<&Fingerprint>,
    ) -> Result<Begun> {
        send!(self.begin[id.as_str()](
            id = id.clone() => &id, op = op.clone() => &op, duration = duration => duration,
            fingerprint = fingerprint.cloned() => fingerprint.as_ref()
        ))
    }

    async fn complete(&self, lease: &Lease, result: &Payload, retention: Retention) -> Result<Completed> {
        send!(self.complete[lease.id.as_str()](
            lease = lease.clone() => &lease, result = result.clone() => &result, retention = retention => retention
        ))
    }

    async fn abort(&self, lease: &Lease) -> Result<Aborted> {
        send!(self.abort[lease.id.as_str()](lease = lease.clone() => &lease))
    }

    async fn extend(&self, lease: &Lease, duration: Duration) -> Result<LeaseExtended> {
        send!(self.extend[lease.id.as_str()](lease = lease.clone() => &lease, duration = duration => duration))
    }
}

#[async_trait]
impl TokenStore for Wired<dyn TokenStore> {
    async fn create_tokens(&self, tokens: &[TokenId]) -> Result<Created> {
        send!(self.create_tokens[&texts(tokens, TokenId::as_str)](tokens = tokens.to_vec() => &tokens))
    }

    async fn exists(&self, token: &TokenId) -> Result<bool> {
        self.inner.exists(token).await
    }

    async fn consume(&self, token: &TokenId, op: &OpId) -> Result<Consumed> {
        send!(self.consume[token.as_str()](token = token.clone() => &token, op = op.clone() => &op))
    }

    async fn discard(&self, tokens: &[TokenId]) -> Result<Discarded> {
        send!(self.discard[&texts(tokens, TokenId::as_str)](tokens = tokens.to_vec() => &tokens))
    }
}

impl<C: Counter + ?Sized + 'static> Wired<C> {
    /// In a request of its own, and the count in the next.
    async fn remembers(&self, key: &Key, change: &Change) -> Result<bool> {
        let remembered = Arc::clone(&self.remembered);
        let operation = (key.clone(), change.op.clone(), change.delta);
        self.client.call(key.as_str(), async move { Ok(!lock(&remembered).insert(operation)) }).await
    }
}

#[async_trait]
impl<C: Counter + ?Sized + 'static> Counter for Wired<C> {
    async fn apply(&self, key: &Key, change: &Change) -> Result<Counted> {
        let mistaken = self.client.mistake == Mistake::RemembersBeforeItCounts;
        if mistaken && self.remembers(key, change).await? {
            return Ok(Counted::AlreadyApplied { value: Some(self.inner.value(key).await?) });
        }
        let applied: Result<Counted> =
            send!(self.apply[key.as_str()](key = key.clone() => &key, change = change.clone() => &change));
        match self.client.mistake {
            Mistake::RepeatsInDoubt => applied,
            _ => applied.map_err(|error| self.promise().failed(error)),
        }
    }

    async fn cancel(&self, key: &Key, op: &OpId) -> Result<Cancelled> {
        send!(self.cancel[key.as_str()](key = key.clone() => &key, op = op.clone() => &op))
    }

    async fn value(&self, key: &Key) -> Result<i64> {
        self.inner.value(key).await
    }

    fn promise(&self) -> CounterPromise {
        self.inner.promise()
    }
}

#[async_trait]
impl Ledger for Wired<dyn Ledger> {
    async fn log(&self, key: &Key, cursor: Option<&Cursor>, limit: usize) -> Result<Page<LedgerEntry>> {
        self.inner.log(key, cursor, limit).await
    }

    async fn compact(&self, key: &Key, older_than: Duration, limit: usize) -> Result<Maintained> {
        send!(self.compact[key.as_str()](
            key = key.clone() => &key, older_than = older_than => older_than, limit = limit => limit
        ))
    }

    async fn value_within(&self, key: &Key, max_age: Duration) -> Result<i64> {
        self.inner.value_within(key, max_age).await
    }
}

#[async_trait]
impl OrderedStore for Wired<dyn OrderedStore> {
    async fn put(&self, key: &Key, value: &Payload, stamp: &Stamp) -> Result<Written> {
        if self.client.is_swallowed() {
            return Ok(Written::Applied);
        }
        send!(self.put[key.as_str()](
            key = key.clone() => &key, value = value.clone() => &value, stamp = stamp.clone() => &stamp
        ))
    }

    async fn delete(&self, key: &Key, stamp: &Stamp) -> Result<Written> {
        send!(self.delete[key.as_str()](key = key.clone() => &key, stamp = stamp.clone() => &stamp))
    }

    async fn get(&self, key: &Key) -> Result<Option<Versioned>> {
        self.inner.get(key).await
    }

    async fn list(
        &self,
        prefix: Option<&Key>,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<ListedValue>> {
        self.inner.list(prefix, cursor, limit).await
    }

    async fn purge(&self, age: Duration, limit: usize) -> Result<Maintained> {
        send!(self.purge["purge"](age = age => age, limit = limit => limit))
    }
}
