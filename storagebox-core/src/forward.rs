//! `Arc<dyn Trait>` implements the trait, so a handle goes wherever an implementation goes.
//!
//! The methods hand on the inner future as it is. Written as `async fn` each would box it a second time.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::backend::Maintained;
use crate::counter::{Cancelled, Change, Counted, Counter};
use crate::dedup_repo::{DedupRepo, Entry, Forgotten, ListedRecord, Recorded, Replaced, Version};
use crate::error::Result;
use crate::item_bank::{
    Added, BankAdmin, ClaimState, Confirmed, Counts, Extended, ItemBank, ItemState, ListedItem, Released,
    Restored, Retired, Taken, Withdrawn,
};
use crate::lease_repo::{Aborted, Begun, Completed, Lease, LeaseExtended, LeaseRepo};
use crate::ledger::{Ledger, LedgerEntry};
use crate::ordered_store::{ListedValue, OrderedStore, Stamp, Versioned, Written};
use crate::page::{Cursor, Page};
use crate::strategy::CounterPromise;
use crate::time::{Hold, Retention};
use crate::token_store::{Consumed, Created, Discarded, TokenStore};
use crate::value::{ClaimId, DedupId, Fingerprint, Item, Key, OpId, Payload, TokenId};

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The lifetimes are those that `async_trait` gives a method: one for each reference, all outlived by the future.
macro_rules! forward {
    ($part:ident { $($method:ident<$($life:lifetime),*>($($arg:ident: $ty:ty),*) -> $out:ty;)* }) => {
        forward!($part { $($method<$($life),*>($($arg: $ty),*) -> $out;)* } also {});
    };
    ($part:ident { $($method:ident<$($life:lifetime),*>($($arg:ident: $ty:ty),*) -> $out:ty;)* }
        also { $($rest:item)* }) => {
        impl<T: $part + ?Sized> $part for Arc<T> {
            $(
                fn $method<'s, $($life,)* 'f>(&'s self, $($arg: $ty),*) -> BoxFuture<'f, Result<$out>>
                where
                    's: 'f,
                    $($life: 'f,)*
                    Self: 'f,
                {
                    (**self).$method($($arg),*)
                }
            )*
            $($rest)*
        }
    };
}

forward!(ItemBank {
    add<'a>(items: &'a [Item]) -> Added;
    take<'a>(claim: &'a ClaimId, hold: Hold) -> Taken;
    extend<'a>(claim: &'a ClaimId, hold: Hold) -> Extended;
    confirm<'a>(claim: &'a ClaimId) -> Confirmed;
    release<'a>(claim: &'a ClaimId) -> Released;
    get<'a>(claim: &'a ClaimId) -> ClaimState;
    counts<>() -> Counts;
});

forward!(BankAdmin {
    retire<'a>(claim: &'a ClaimId) -> Retired;
    holder<'a>(item: &'a Item) -> ItemState;
    list<'a>(cursor: Option<&'a Cursor>, limit: usize) -> Page<ListedItem>;
    withdraw<'a>(items: &'a [Item]) -> Withdrawn;
    restore<'a>(items: &'a [Item]) -> Restored;
});

forward!(DedupRepo {
    record<'a, 'b, 'c>(id: &'a DedupId, value: &'b Payload, op: &'c OpId, retention: Retention) -> Recorded;
    get<'a>(id: &'a DedupId) -> Option<Entry>;
    replace<'a, 'b, 'c>(id: &'a DedupId, version: Version, value: &'b Payload, op: &'c OpId) -> Replaced;
    forget<'a>(id: &'a DedupId, version: Version) -> Forgotten;
    list<'a>(cursor: Option<&'a Cursor>, limit: usize) -> Page<ListedRecord>;
});

forward!(LeaseRepo {
    begin<'a, 'b, 'c>(
        id: &'a DedupId, op: &'b OpId, duration: Duration, fingerprint: Option<&'c Fingerprint>
    ) -> Begun;
    complete<'a, 'b>(lease: &'a Lease, result: &'b Payload, retention: Retention) -> Completed;
    abort<'a>(lease: &'a Lease) -> Aborted;
    extend<'a>(lease: &'a Lease, duration: Duration) -> LeaseExtended;
});

forward!(TokenStore {
    create_tokens<'a>(tokens: &'a [TokenId]) -> Created;
    exists<'a>(token: &'a TokenId) -> bool;
    consume<'a, 'b>(token: &'a TokenId, op: &'b OpId) -> Consumed;
    discard<'a>(tokens: &'a [TokenId]) -> Discarded;
});

forward!(Counter {
    apply<'a, 'b>(key: &'a Key, change: &'b Change) -> Counted;
    cancel<'a, 'b>(key: &'a Key, op: &'b OpId) -> Cancelled;
    value<'a>(key: &'a Key) -> i64;
} also {
    fn promise(&self) -> CounterPromise {
        (**self).promise()
    }
});

forward!(Ledger {
    log<'a, 'b>(key: &'a Key, cursor: Option<&'b Cursor>, limit: usize) -> Page<LedgerEntry>;
    compact<'a>(key: &'a Key, older_than: Duration, limit: usize) -> Maintained;
    value_within<'a>(key: &'a Key, max_age: Duration) -> i64;
});

forward!(OrderedStore {
    put<'a, 'b, 'c>(key: &'a Key, value: &'b Payload, stamp: &'c Stamp) -> Written;
    delete<'a, 'b>(key: &'a Key, stamp: &'b Stamp) -> Written;
    get<'a>(key: &'a Key) -> Option<Versioned>;
    list<'a, 'b>(prefix: Option<&'a Key>, cursor: Option<&'b Cursor>, limit: usize) -> Page<ListedValue>;
    purge<>(age: Duration, limit: usize) -> Maintained;
});
