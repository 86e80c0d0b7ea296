#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![doc(test(attr(deny(warnings))))]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::disallowed_methods))]
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod handles;
mod open;
mod policy;
mod store;
mod timer;

/// The traits that backends implement, and the items that backend authors and generic code need.
pub mod parts {
    pub use crate::open::open;
    pub use storagebox_core::backend;
    pub use storagebox_core::{
        Attempt, Backend, Change, Chosen, Combine, Combined, Combiner, Commit, Committed, Counter, DedupRepo,
        EntityLedger, Ids, ItemBank, Joins, LeaseRepo, Ledger, Opened, OrderedStore, OutboxEntry, Promise, Promises,
        RandomIds, Registered, RunBatch, RunOptions, Spawn, Spawner, StallTimeout, TokenStore, run, run_to_end,
        run_with_heartbeat,
    };
}

pub use handles::{Bank, Counters, Dedup, OrderedValues, Tokens};
pub use open::files;
pub use store::{Capabilities, Store, Within};

// The types that most programs match on and build. The others are in the modules of their parts.
pub use storagebox_core::{
    Assigned, Certainty, Confirmed, Consumed, Counted, Cursor, Decision, Deduplicator, Error, ErrorKind, Fence,
    Fingerprint, Held, Lease, Maintained, Message, OneTimeTokens, OpId, Outcome, Page, Payload, Processor, Ran,
    Recorded, Released, Result, Retention, Retry, RunError, Stamp, Strategy, Taken, Written,
};

// For custom layers.
pub use storagebox_core::{async_trait, layer};

/// Transactions of the caller: the other types that [`Store::settle`] and [`Within`] take and return.
pub mod transactions {
    pub use storagebox_core::{CommitState, InTransaction, Receipt, Transaction, TransactionPart};
}

/// Banks: the other types that the calls of [`Bank`] and [`Deduplicator`] return.
pub mod bank {
    pub use crate::handles::Timed;
    pub use storagebox_core::{
        Added, ClaimState, Counts, End, Extended, Hold, HoldState, ItemState, ListedItem, Recovery, Restored, Retired,
        Withdrawn,
    };
}

/// Deduplication: the other types that the calls of [`Dedup`] take and return.
pub mod dedup {
    pub use crate::handles::{Begin, Record, Run, RunToEnd};
    pub use storagebox_core::{
        Aborted, Begun, Completed, Entry, Forgotten, LeaseExtended, ListedRecord, Replaced, Version,
    };
}

/// Tokens: the other types that the calls of [`Tokens`] and [`OneTimeTokens`] return.
pub mod tokens {
    pub use storagebox_core::{Created, Discarded, Peeked, TokenBegun, TokenCommitted, TokenLease};
}

/// Messages: the other types that a [`Processor`] takes, asks for and returns.
pub mod messages {
    pub use crate::handles::ProcessorBuilder;
    pub use storagebox_core::{
        Abandoned, BoxError, Destination, Dispatcher, EntityChange, EntryId, Handler, MessageId, MissingToken,
        Outgoing, Output, ProcessError,
    };
}

/// Counters: the other types that the calls of [`Counters`] take and return.
pub mod counters {
    pub use crate::handles::Add;
    pub use storagebox_core::{Bounds, Cancelled, CounterPromise, LedgerEntry, Reason, Remember};
}

/// Ordered values: the other types that the calls of [`OrderedValues`] take and return.
pub mod ordered {
    pub use crate::handles::{StampedWrite, Write};
    pub use storagebox_core::{ListedValue, OrderedOptions, Reset, Stamping, Versioned, WriterId};
}

/// The other texts and bytes that calls take.
pub mod values {
    pub use crate::handles::{IntoValue, Operation};
    pub use storagebox_core::backend::url::plain;
    pub use storagebox_core::{
        ClaimId, DedupId, Item, Key, Listing, MAX_ID_BYTES, MAX_ITEM_BYTES, MAX_PAYLOAD_BYTES, Namespace, TokenId,
    };
}

/// Durations, and clocks and timers, including a clock that a test moves by hand.
pub mod time {
    pub use crate::timer::TokioTimer;
    pub use storagebox_core::{Clock, MAX_DURATION, MIN_DURATION, ManualClock, SystemClock, Timer, checked_duration};
}

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
