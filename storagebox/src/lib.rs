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
        Backend, Change, Chosen, Combine, Combined, Combiner, Commit, Committed, Counter, DedupRepo, EntityLedger, Ids,
        ItemBank, Joins, LeaseRepo, Ledger, Opened, OrderedStore, OutboxEntry, Promise, Promises, RandomIds,
        Registered, RunBatch, RunOptions, Settles, Spawn, Spawner, StallTimeout, TokenStore, run, run_to_end,
        run_with_heartbeat,
    };
}

pub use handles::{Bank, Counters, Dedup, OrderedValues, Tokens};
pub use open::files;
pub use store::{Capabilities, Store};

// What most programs match on, and what they build. The rest stands in the module of its part.
pub use storagebox_core::{
    Assigned, Certainty, Confirmed, Consumed, Counted, Cursor, Decision, Deduplicator, Error, ErrorKind, Fence,
    Fingerprint, Held, Lease, Maintained, Message, OneTimeTokens, OpId, Outcome, Page, Payload, Processor, Ran,
    Recorded, Released, Result, Retention, Retry, RunError, Stamp, Strategy, Taken, Written,
};

// For custom layers.
pub use storagebox_core::{async_trait, layer};

/// Banks: what the calls of [`Bank`] and [`Deduplicator`] answer, beside what stands at the root.
pub mod bank {
    pub use crate::handles::Timed;
    pub use storagebox_core::{
        Added, ClaimState, Counts, End, Extended, Hold, HoldState, ItemState, ListedItem, Recovery, Restored, Retired,
        Withdrawn,
    };
}

/// Deduplication: what the calls of [`Dedup`] take and answer, beside what stands at the root.
pub mod dedup {
    pub use crate::handles::{Begin, Record, Run, RunToEnd};
    pub use storagebox_core::{
        Aborted, Begun, Completed, Entry, Forgotten, LeaseExtended, ListedRecord, Replaced, Version,
    };
}

/// Tokens: what the calls of [`Tokens`] and [`OneTimeTokens`] answer, beside what stands at the root.
pub mod tokens {
    pub use storagebox_core::{Created, Discarded, Peeked, TokenBegun, TokenCommitted, TokenLease};
}

/// Messages: what a [`Processor`] is given, asks for and answers, beside what stands at the root.
pub mod messages {
    pub use crate::handles::ProcessorBuilder;
    pub use storagebox_core::{
        Abandoned, BoxError, Destination, Dispatcher, EntityChange, EntryId, Handler, MessageId, MissingToken,
        Outgoing, Output, ProcessError,
    };
}

/// Counters: what the calls of [`Counters`] take and answer, beside what stands at the root.
pub mod counters {
    pub use crate::handles::Add;
    pub use storagebox_core::{Bounds, Cancelled, CounterPromise, LedgerEntry, Reason, Remember};
}

/// Ordered values: what the calls of [`OrderedValues`] take and answer, beside what stands at the root.
pub mod ordered {
    pub use crate::handles::{StampedWrite, Write};
    pub use storagebox_core::{ListedValue, OrderedOptions, Reset, Stamping, Versioned, WriterId};
}

/// The texts and bytes that calls take, beside what stands at the root.
pub mod values {
    pub use crate::handles::{IntoValue, Operation};
    pub use storagebox_core::backend::url::plain;
    pub use storagebox_core::{
        ClaimId, DedupId, Item, Key, Listing, MAX_ID_BYTES, MAX_ITEM_BYTES, MAX_PAYLOAD_BYTES, Namespace, TokenId,
    };
}

/// Durations, and the clocks and timers that a test moves by hand.
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
