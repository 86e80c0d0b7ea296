//! A table of every call of every part.

pub(crate) mod names {
    pub(crate) use std::time::Duration;

    pub(crate) use crate::contract::counter::{Cancelled, Change, Counted, Counter};
    pub(crate) use crate::contract::dedup_repo::{
        DedupRepo, Entry, Forgotten, ListedRecord, Recorded, Replaced, Version,
    };
    pub(crate) use crate::contract::entity_ledger::{
        Chosen, Commit, Committed, EntityLedger, EntryId, Joins, Opened, Registered,
    };
    pub(crate) use crate::contract::item_bank::{
        Added, ClaimState, Confirmed, Counts, Extended, ItemBank, ItemState, ListedItem, Released, Restored, Retired,
        Taken, Withdrawn,
    };
    pub(crate) use crate::contract::lease_repo::{Aborted, Begun, Completed, Lease, LeaseExtended, LeaseRepo};
    pub(crate) use crate::contract::ledger::{Ledger, LedgerEntry};
    pub(crate) use crate::contract::ordered_store::{ListedValue, OrderedStore, Reset, Stamp, Versioned, Written};
    pub(crate) use crate::contract::promises::Maintained;
    pub(crate) use crate::contract::strategy::CounterPromise;
    pub(crate) use crate::contract::token_store::{Consumed, Created, Discarded, TokenStore};
    pub(crate) use crate::values::attempt::Attempt;
    pub(crate) use crate::values::page::{Cursor, Page};
    pub(crate) use crate::values::time::{Hold, Retention};
    pub(crate) use crate::values::value::{
        ClaimId, DedupId, Fingerprint, Item, Key, MessageId, OpId, Payload, TokenId,
    };
}

/// Calls the macro `$write` with the table of all calls. Each part has its trait, its method that does no I/O (if any),
/// and its calls. Each call has its [`Kind`](crate::layer::Kind), its name in [`Request`](crate::layer::Request), and
/// the signature of its method, with the lifetimes that `async_trait` adds.
macro_rules! calls {
    ($write:ident) => {
        #[allow(clippy::wildcard_imports, reason = "each use of the table needs some of its names")]
        use $crate::backend::calls::names::*;

        // The types of arguments are in brackets, so that `$write` can replace their lifetimes.
        $write! {
            ItemBank {
                Batch AddItems = add<'a>(items: [&'a [Item]]) -> Added;
                Change Take = attempt_take<'a>(attempt: [Attempt], claim: [&'a ClaimId], hold: [Hold]) -> Taken;
                Change ExtendClaim = attempt_extend<'a>(
                    attempt: [Attempt], claim: [&'a ClaimId], hold: [Hold]
                ) -> Extended;
                Change Confirm = attempt_confirm<'a>(attempt: [Attempt], claim: [&'a ClaimId]) -> Confirmed;
                Change Release = release<'a>(claim: [&'a ClaimId]) -> Released;
                Read GetClaim = get<'a>(claim: [&'a ClaimId]) -> ClaimState;
                Read CountItems = counts<>() -> Counts;
                Change Retire = attempt_retire<'a>(attempt: [Attempt], claim: [&'a ClaimId]) -> Retired;
                Read GetHolder = holder<'a>(item: [&'a Item]) -> ItemState;
                Read ListItems = list<'a>(cursor: [Option<&'a Cursor>], limit: [usize]) -> Page<ListedItem>;
                Batch Withdraw = withdraw<'a>(items: [&'a [Item]]) -> Withdrawn;
                Batch Restore = restore<'a>(items: [&'a [Item]]) -> Restored;
            }

            DedupRepo {
                Change Record = record<'a, 'b, 'c>(
                    id: [&'a DedupId], value: [&'b Payload], op: [&'c OpId], retention: [Retention]
                ) -> Recorded;
                Read GetRecord = get<'a>(id: [&'a DedupId]) -> Option<Entry>;
                Change Replace = replace<'a, 'b, 'c>(
                    id: [&'a DedupId], version: [Version], value: [&'b Payload], op: [&'c OpId]
                ) -> Replaced;
                Change Forget = forget<'a>(id: [&'a DedupId], version: [Version]) -> Forgotten;
                Read ListRecords = list<'a>(cursor: [Option<&'a Cursor>], limit: [usize]) -> Page<ListedRecord>;
            }

            LeaseRepo {
                Change Begin = begin<'a, 'b, 'c>(
                    id: [&'a DedupId], op: [&'b OpId], duration: [Duration], fingerprint: [Option<&'c Fingerprint>]
                ) -> Begun;
                Change Complete = complete<'a, 'b>(
                    lease: [&'a Lease], result: [&'b Payload], retention: [Retention]
                ) -> Completed;
                Change Abort = abort<'a>(lease: [&'a Lease]) -> Aborted;
                Change ExtendLease = extend<'a>(lease: [&'a Lease], duration: [Duration]) -> LeaseExtended;
            }

            TokenStore {
                Batch CreateTokens = create_tokens<'a>(tokens: [&'a [TokenId]]) -> Created;
                Read TokenExists = exists<'a>(token: [&'a TokenId]) -> bool;
                Change Consume = consume<'a, 'b>(token: [&'a TokenId], op: [&'b OpId]) -> Consumed;
                Batch Discard = discard<'a>(tokens: [&'a [TokenId]]) -> Discarded;
            }

            EntityLedger joins -> Joins {
                Read Open = open<'a, 'b, 'c>(
                    key: [&'a Key], message: [&'b MessageId], token: [Option<&'c TokenId>]
                ) -> Opened;
                Change Commit = commit<'a>(commit: [&'a Commit]) -> Committed;
                Change Register = register<'a, 'b>(entry: [&'a EntryId], attempt: [&'b OpId]) -> Registered;
                Change Choose = choose<'a, 'b>(entry: [&'a EntryId], attempt: [&'b OpId]) -> Chosen;
                Change Remove = remove<'a>(entry: [&'a EntryId]) -> bool;
                Read ListPending = pending<'a>(cursor: [Option<&'a Cursor>], limit: [usize]) -> Page<EntryId>;
            }

            Counter promise -> CounterPromise {
                Change Apply = attempt_apply<'a, 'b>(
                    attempt: [Attempt], key: [&'a Key], change: [&'b Change]
                ) -> Counted;
                Change Cancel = cancel<'a, 'b>(key: [&'a Key], op: [&'b OpId]) -> Cancelled;
                Read GetCounter = value<'a>(key: [&'a Key]) -> i64;
            }

            Ledger {
                Read ListLog = log<'a, 'b>(
                    key: [&'a Key], cursor: [Option<&'b Cursor>], limit: [usize]
                ) -> Page<LedgerEntry>;
                Batch Compact = compact<'a>(key: [&'a Key], older_than: [Duration], limit: [usize]) -> Maintained;
                Read GetCounterWithin = value_within<'a>(key: [&'a Key], max_age: [Duration]) -> i64;
            }

            OrderedStore {
                Change Put = put<'a, 'b, 'c>(key: [&'a Key], value: [&'b Payload], stamp: [&'c Stamp]) -> Written;
                Change Delete = delete<'a, 'b>(key: [&'a Key], stamp: [&'b Stamp]) -> Written;
                Read GetValue = get<'a>(key: [&'a Key]) -> Option<Versioned>;
                Read ListValues = list<'a, 'b>(
                    prefix: [Option<&'a Key>], cursor: [Option<&'b Cursor>], limit: [usize]
                ) -> Page<ListedValue>;
                Change Reset = reset<'a, 'b>(key: [&'a Key], stamp: [&'b Stamp]) -> Reset;
                Batch Purge = purge<>(age: [Duration], limit: [usize]) -> Maintained;
            }
        }
    };
}

pub(crate) use calls;
