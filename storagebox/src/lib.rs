#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![doc(test(attr(deny(warnings))))]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::disallowed_methods))]
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod apply;
mod bank;
mod counters;
mod entities;
mod handle;
mod leases;
mod ledger;
mod open;
mod ordered_values;
mod policy;
mod processors;
mod records;
mod store;
mod timer;
mod tokens;

/// The traits that backends implement, and the items that backend authors and generic code need.
/// [`Ledger`](parts::Ledger) is the only trait here that shares its name with a handle.
pub mod parts {
    pub use crate::open::open;
    pub use storagebox_core::backend;
    pub use storagebox_core::{
        Backend, Change, Chosen, Combine, Combined, Combiner, Commit, Committed, Counter, DedupRepo, EntityLedger, Ids,
        ItemBank, Joins, LeaseRepo, Ledger, MAX_DURATION, MIN_DURATION, Opened, OrderedStore, OutboxEntry, Patience,
        RandomIds, Registered, Settles, Spawn, Spawner, Together, TokenStore, checked_duration, run, run_to_end,
        run_with_heartbeat,
    };
}

pub use apply::Apply;
pub use bank::Bank;
pub use counters::Counters;
pub use entities::Entities;
pub use handle::IntoValue;
pub use leases::Leases;
pub use ledger::Ledger;
pub use open::files;
pub use ordered_values::OrderedValues;
pub use processors::ProcessorBuilder;
pub use records::Records;
pub use store::Store;
pub use timer::TokioTimer;
pub use tokens::Tokens;

// Values.
pub use storagebox_core::{
    ClaimId, DedupId, Destination, Fingerprint, Item, Key, MAX_ID_BYTES, MAX_ITEM_BYTES, MAX_PAYLOAD_BYTES, MessageId,
    Namespace, OpId, Payload, Reason, TokenId, WriterId,
};

// Items and claims.
pub use storagebox_core::{
    Added, ClaimState, Confirmed, Counts, End, Extended, Held, HoldState, ItemState, ListedItem, Released, Restored,
    Retired, Taken, Withdrawn,
};

// Items from several banks.
pub use storagebox_core::{Assigned, Deduplicator, Recovery};

// Records, leases and runs.
pub use storagebox_core::{
    Aborted, Begun, Completed, Entry, Fence, Forgotten, Lease, LeaseExtended, ListedRecord, Ran, Recorded, Replaced,
    RunError, RunOptions, Version,
};

// Tokens.
pub use storagebox_core::{
    Consumed, Created, Discarded, OneTimeTokens, Peeked, TokenBegun, TokenCommitted, TokenLease,
};

// Messages, and what processes each of them once.
pub use storagebox_core::{
    Abandoned, BoxError, Decision, Dispatcher, EntityChange, EntryId, Handler, Message, MissingToken, Outcome,
    Outgoing, Output, ProcessError, Processor,
};

// Counters.
pub use storagebox_core::{Bounds, Cancelled, Counted, CounterPromise, LedgerEntry, Remember, Strategy};

// Ordered values.
pub use storagebox_core::{ListedValue, OrderedOptions, Reset, Stamp, Stamping, Versioned, Written};

// Pages, upkeep, promises.
pub use storagebox_core::{Cursor, Maintained, Page, Promise, Promises};

// Errors.
pub use storagebox_core::{Certainty, Error, ErrorKind, Result};

// Time.
pub use storagebox_core::{Clock, Hold, ManualClock, Retention, Retry, SystemClock, Timer};

// For custom layers.
pub use storagebox_core::{async_trait, layer};

#[cfg(feature = "dynamo")]
pub use storagebox_dynamo::{self as dynamo, DynamoStore};
#[cfg(feature = "memory")]
pub use storagebox_memory::{self as memory, MemoryStore};
#[cfg(feature = "postgres")]
pub use storagebox_postgres::{self as postgres, PostgresStore};
#[cfg(feature = "redis")]
pub use storagebox_redis::{self as redis, RedisStore};
#[cfg(feature = "sqlite")]
pub use storagebox_sqlite::{self as sqlite, SqliteStore};
