//! A table of every call of every part.

/// Passes each part to `$write`: its trait, its calls, and its methods that make no call. The kinds are the variants of
/// [`Kind`](crate::layer::Kind). The lifetimes are those that `async_trait` gives a method: one per reference, each
/// outliving the future.
macro_rules! calls {
    ($write:ident) => {
        use std::time::Duration;

        use $crate::counter::{Cancelled, Change, Counted, Counter};
        use $crate::dedup_repo::{DedupRepo, Entry, Forgotten, ListedRecord, Recorded, Replaced, Version};
        use $crate::entity_ledger::{
            Chosen, Commit, Committed, EntityLedger, EntryId, Joins, Opened, Registered,
        };
        use $crate::item_bank::{
            Added, ClaimState, Confirmed, Counts, Extended, ItemBank, ItemState, ListedItem,
            Released, Restored, Retired, Taken, Withdrawn,
        };
        use $crate::lease_repo::{Aborted, Begun, Completed, Lease, LeaseExtended, LeaseRepo};
        use $crate::ledger::{Ledger, LedgerEntry};
        use $crate::ordered_store::{ListedValue, OrderedStore, Reset, Stamp, Versioned, Written};
        use $crate::page::{Cursor, Page};
        use $crate::strategy::CounterPromise;
        use $crate::time::{Hold, Retention};
        use $crate::token_store::{Consumed, Created, Discarded, TokenStore};
        use $crate::value::{ClaimId, DedupId, Fingerprint, Item, Key, MessageId, OpId, Payload, TokenId};

        $write!(ItemBank {
            Batch add<'a>(items: &'a [Item]) -> Added;
            Change take<'a>(claim: &'a ClaimId, hold: Hold) -> Taken;
            Change extend<'a>(claim: &'a ClaimId, hold: Hold) -> Extended;
            Change confirm<'a>(claim: &'a ClaimId) -> Confirmed;
            Change release<'a>(claim: &'a ClaimId) -> Released;
            Read get<'a>(claim: &'a ClaimId) -> ClaimState;
            Read counts<>() -> Counts;
            Change retire<'a>(claim: &'a ClaimId) -> Retired;
            Read holder<'a>(item: &'a Item) -> ItemState;
            Read list<'a>(cursor: Option<&'a Cursor>, limit: usize) -> Page<ListedItem>;
            Batch withdraw<'a>(items: &'a [Item]) -> Withdrawn;
            Batch restore<'a>(items: &'a [Item]) -> Restored;
        });

        $write!(DedupRepo {
            Change record<'a, 'b, 'c>(
                id: &'a DedupId, value: &'b Payload, op: &'c OpId, retention: Retention
            ) -> Recorded;
            Read get<'a>(id: &'a DedupId) -> Option<Entry>;
            Change replace<'a, 'b, 'c>(
                id: &'a DedupId, version: Version, value: &'b Payload, op: &'c OpId
            ) -> Replaced;
            Change forget<'a>(id: &'a DedupId, version: Version) -> Forgotten;
            Read list<'a>(cursor: Option<&'a Cursor>, limit: usize) -> Page<ListedRecord>;
        });

        $write!(LeaseRepo {
            Change begin<'a, 'b, 'c>(
                id: &'a DedupId, op: &'b OpId, duration: Duration, fingerprint: Option<&'c Fingerprint>
            ) -> Begun;
            Change complete<'a, 'b>(lease: &'a Lease, result: &'b Payload, retention: Retention) -> Completed;
            Change abort<'a>(lease: &'a Lease) -> Aborted;
            Change extend<'a>(lease: &'a Lease, duration: Duration) -> LeaseExtended;
        });

        $write!(TokenStore {
            Batch create_tokens<'a>(tokens: &'a [TokenId]) -> Created;
            Read exists<'a>(token: &'a TokenId) -> bool;
            Change consume<'a, 'b>(token: &'a TokenId, op: &'b OpId) -> Consumed;
            Batch discard<'a>(tokens: &'a [TokenId]) -> Discarded;
        });

        $write!(EntityLedger {
            Read open<'a, 'b, 'c>(
                key: &'a Key, message: &'b MessageId, token: Option<&'c TokenId>
            ) -> Opened;
            Change commit<'a>(commit: &'a Commit) -> Committed;
            Change register<'a, 'b>(entry: &'a EntryId, attempt: &'b OpId) -> Registered;
            Change choose<'a, 'b>(entry: &'a EntryId, attempt: &'b OpId) -> Chosen;
            Change remove<'a>(entry: &'a EntryId) -> bool;
            Read pending<'a>(cursor: Option<&'a Cursor>, limit: usize) -> Page<EntryId>;
        } joins -> Joins);

        $write!(Counter {
            Change apply<'a, 'b>(key: &'a Key, change: &'b Change) -> Counted;
            Change cancel<'a, 'b>(key: &'a Key, op: &'b OpId) -> Cancelled;
            Read value<'a>(key: &'a Key) -> i64;
        } promise -> CounterPromise);

        $write!(Ledger {
            Read log<'a, 'b>(key: &'a Key, cursor: Option<&'b Cursor>, limit: usize) -> Page<LedgerEntry>;
            Batch compact<'a>(key: &'a Key, older_than: Duration, limit: usize) -> Maintained;
            Read value_within<'a>(key: &'a Key, max_age: Duration) -> i64;
        });

        $write!(OrderedStore {
            Change put<'a, 'b, 'c>(key: &'a Key, value: &'b Payload, stamp: &'c Stamp) -> Written;
            Change delete<'a, 'b>(key: &'a Key, stamp: &'b Stamp) -> Written;
            Read get<'a>(key: &'a Key) -> Option<Versioned>;
            Read list<'a, 'b>(
                prefix: Option<&'a Key>, cursor: Option<&'b Cursor>, limit: usize
            ) -> Page<ListedValue>;
            Change reset<'a, 'b>(key: &'a Key, stamp: &'b Stamp) -> Reset;
            Batch purge<>(age: Duration, limit: usize) -> Maintained;
        });
    };
}

pub(crate) use calls;
