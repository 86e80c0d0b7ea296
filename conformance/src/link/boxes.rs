//! Every box's trait, with each call handed to the link.

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

use super::Link;

/// A store, or one of its boxes, behind a [`Link`].
#[derive(Clone, Debug)]
pub struct Linked<T: ?Sized> {
    pub(super) inner: Arc<T>,
    pub(super) link: Arc<Link>,
}

impl<T: ?Sized> Linked<T> {
    /// The same, behind the link.
    pub fn new(inner: Arc<T>, link: Arc<Link>) -> Arc<Self> {
        Arc::new(Self { inner, link })
    }
}

/// Makes a request out of a call: owned arguments, each lent to the inner call anew.
macro_rules! pass {
    ($self:ident.$method:ident($($own:ident = $value:expr => $lent:expr),*)) => {{
        let inner = Arc::clone(&$self.inner);
        // An argument that is `Copy` is bound under its own name, like the others.
        $(#[allow(clippy::redundant_locals)] let $own = $value;)*
        let request = move || -> crate::link::BoxFuture<Result<_>> {
            let inner = Arc::clone(&inner);
            $(let $own = $own.clone();)*
            Box::pin(async move { inner.$method($($lent),*).await })
        };
        $self.link.pass(request).await
    }};
}

pub(super) use pass;

#[async_trait]
impl<B: ItemBank + ?Sized + 'static> ItemBank for Linked<B> {
    async fn add(&self, items: &[Item]) -> Result<Added> {
        pass!(self.add(items = items.to_vec() => &items))
    }

    async fn take(&self, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        pass!(self.take(claim = claim.clone() => &claim, hold = hold => hold))
    }

    async fn extend(&self, claim: &ClaimId, hold: Hold) -> Result<Extended> {
        pass!(self.extend(claim = claim.clone() => &claim, hold = hold => hold))
    }

    async fn confirm(&self, claim: &ClaimId) -> Result<Confirmed> {
        pass!(self.confirm(claim = claim.clone() => &claim))
    }

    async fn release(&self, claim: &ClaimId) -> Result<Released> {
        pass!(self.release(claim = claim.clone() => &claim))
    }

    async fn get(&self, claim: &ClaimId) -> Result<ClaimState> {
        pass!(self.get(claim = claim.clone() => &claim))
    }

    async fn counts(&self) -> Result<Counts> {
        pass!(self.counts())
    }
}

#[async_trait]
impl<B: BankAdmin + ?Sized + 'static> BankAdmin for Linked<B> {
    async fn retire(&self, claim: &ClaimId) -> Result<Retired> {
        pass!(self.retire(claim = claim.clone() => &claim))
    }

    async fn holder(&self, item: &Item) -> Result<ItemState> {
        pass!(self.holder(item = item.clone() => &item))
    }

    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedItem>> {
        pass!(self.list(cursor = cursor.cloned() => cursor.as_ref(), limit = limit => limit))
    }

    async fn withdraw(&self, items: &[Item]) -> Result<Withdrawn> {
        pass!(self.withdraw(items = items.to_vec() => &items))
    }

    async fn restore(&self, items: &[Item]) -> Result<Restored> {
        pass!(self.restore(items = items.to_vec() => &items))
    }
}

#[async_trait]
impl<R: DedupRepo + ?Sized + 'static> DedupRepo for Linked<R> {
    async fn record(
        &self,
        id: &DedupId,
        value: &Payload,
        op: &OpId,
        retention: Retention,
    ) -> Result<Recorded> {
        pass!(self.record(
            id = id.clone() => &id, value = value.clone() => &value, op = op.clone() => &op,
            retention = retention => retention
        ))
    }

    async fn get(&self, id: &DedupId) -> Result<Option<Entry>> {
        pass!(self.get(id = id.clone() => &id))
    }

    async fn replace(&self, id: &DedupId, version: Version, value: &Payload, op: &OpId) -> Result<Replaced> {
        pass!(self.replace(
            id = id.clone() => &id, version = version => version, value = value.clone() => &value,
            op = op.clone() => &op
        ))
    }

    async fn forget(&self, id: &DedupId, version: Version) -> Result<Forgotten> {
        pass!(self.forget(id = id.clone() => &id, version = version => version))
    }

    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedRecord>> {
        pass!(self.list(cursor = cursor.cloned() => cursor.as_ref(), limit = limit => limit))
    }
}

#[async_trait]
impl<R: LeaseRepo + ?Sized + 'static> LeaseRepo for Linked<R> {
    async fn begin(
        &self,
        id: &DedupId,
        op: &OpId,
        duration: Duration,
        fingerprint: Option<&Fingerprint>,
    ) -> Result<Begun> {
        pass!(self.begin(
            id = id.clone() => &id, op = op.clone() => &op, duration = duration => duration,
            fingerprint = fingerprint.cloned() => fingerprint.as_ref()
        ))
    }

    async fn complete(&self, lease: &Lease, result: &Payload, retention: Retention) -> Result<Completed> {
        pass!(self.complete(
            lease = lease.clone() => &lease, result = result.clone() => &result, retention = retention => retention
        ))
    }

    async fn abort(&self, lease: &Lease) -> Result<Aborted> {
        pass!(self.abort(lease = lease.clone() => &lease))
    }

    async fn extend(&self, lease: &Lease, duration: Duration) -> Result<LeaseExtended> {
        pass!(self.extend(lease = lease.clone() => &lease, duration = duration => duration))
    }
}

#[async_trait]
impl<S: TokenStore + ?Sized + 'static> TokenStore for Linked<S> {
    async fn create_tokens(&self, tokens: &[TokenId]) -> Result<Created> {
        pass!(self.create_tokens(tokens = tokens.to_vec() => &tokens))
    }

    async fn exists(&self, token: &TokenId) -> Result<bool> {
        pass!(self.exists(token = token.clone() => &token))
    }

    async fn consume(&self, token: &TokenId, op: &OpId) -> Result<Consumed> {
        pass!(self.consume(token = token.clone() => &token, op = op.clone() => &op))
    }

    async fn discard(&self, tokens: &[TokenId]) -> Result<Discarded> {
        pass!(self.discard(tokens = tokens.to_vec() => &tokens))
    }
}

#[async_trait]
impl<C: Counter + ?Sized + 'static> Counter for Linked<C> {
    async fn apply(&self, key: &Key, change: &Change) -> Result<Counted> {
        let applied: Result<Counted> =
            pass!(self.apply(key = key.clone() => &key, change = change.clone() => &change));
        applied.map_err(|error| self.promise().failed(error))
    }

    async fn cancel(&self, key: &Key, op: &OpId) -> Result<Cancelled> {
        pass!(self.cancel(key = key.clone() => &key, op = op.clone() => &op))
    }

    async fn value(&self, key: &Key) -> Result<i64> {
        pass!(self.value(key = key.clone() => &key))
    }

    fn promise(&self) -> CounterPromise {
        self.inner.promise()
    }
}

#[async_trait]
impl<L: Ledger + ?Sized + 'static> Ledger for Linked<L> {
    async fn log(&self, key: &Key, cursor: Option<&Cursor>, limit: usize) -> Result<Page<LedgerEntry>> {
        pass!(self.log(key = key.clone() => &key, cursor = cursor.cloned() => cursor.as_ref(), limit = limit => limit))
    }

    async fn compact(&self, key: &Key, older_than: Duration, limit: usize) -> Result<Maintained> {
        pass!(self.compact(key = key.clone() => &key, older_than = older_than => older_than, limit = limit => limit))
    }

    async fn value_within(&self, key: &Key, max_age: Duration) -> Result<i64> {
        pass!(self.value_within(key = key.clone() => &key, max_age = max_age => max_age))
    }
}

#[async_trait]
impl<S: OrderedStore + ?Sized + 'static> OrderedStore for Linked<S> {
    async fn put(&self, key: &Key, value: &Payload, stamp: &Stamp) -> Result<Written> {
        pass!(self.put(key = key.clone() => &key, value = value.clone() => &value, stamp = stamp.clone() => &stamp))
    }

    async fn delete(&self, key: &Key, stamp: &Stamp) -> Result<Written> {
        pass!(self.delete(key = key.clone() => &key, stamp = stamp.clone() => &stamp))
    }

    async fn get(&self, key: &Key) -> Result<Option<Versioned>> {
        pass!(self.get(key = key.clone() => &key))
    }

    async fn list(
        &self,
        prefix: Option<&Key>,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<ListedValue>> {
        pass!(self.list(
            prefix = prefix.cloned() => prefix.as_ref(), cursor = cursor.cloned() => cursor.as_ref(),
            limit = limit => limit
        ))
    }

    async fn purge(&self, age: Duration, limit: usize) -> Result<Maintained> {
        pass!(self.purge(age = age => age, limit = limit => limit))
    }
}
