#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![doc(test(attr(deny(warnings))))]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::disallowed_methods))]
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod backend;
mod calls;
mod clock;
mod combine;
mod counter;
mod dedup_repo;
mod deduplicator;
mod entity_ledger;
mod error;
mod fields;
mod forward;
mod ids;
mod item_bank;
pub mod layer;
mod lease_repo;
mod ledger;
mod listing;
mod message;
mod one_time_tokens;
mod ordered_store;
mod page;
mod processor;
mod race;
mod retry;
mod run;
mod settles;
mod strategy;
mod time;
mod token_store;
mod value;

pub use async_trait::async_trait;

#[doc(inline)]
pub use backend::{Backend, Maintained, Promise, Promises};
pub use clock::{Clock, ManualClock, Reading, SystemClock};
pub use combine::{Combine, Combined, Combiner, RunBatch, Spawn, Spawner, StallTimeout};
pub use counter::{Bounds, Cancelled, Change, Counted, Counter};
pub use dedup_repo::{DedupRepo, Entry, Forgotten, ListedRecord, Recorded, Replaced, Version};
pub use deduplicator::{Assigned, Deduplicator, Recovery};
pub use entity_ledger::{
    Chosen, Commit, Committed, EntityChange, EntityLedger, EntryId, Joins, Opened, OutboxEntry, Registered,
};
pub use error::{Certainty, Error, ErrorKind, Result};
pub use ids::{Ids, RandomIds};
pub use item_bank::{
    Added, ClaimState, Confirmed, Counts, End, Extended, Held, HoldState, ItemBank, ItemState, ListedItem, Released,
    Restored, Retired, Taken, Withdrawn,
};
pub use lease_repo::{Aborted, Begun, Completed, Fence, Lease, LeaseExtended, LeaseRepo};
pub use ledger::{Ledger, LedgerEntry};
pub use listing::{Listing, ReadPage};
pub use message::{Decision, Message, Outgoing, Output};
pub use one_time_tokens::{OneTimeTokens, Peeked, TokenBegun, TokenCommitted, TokenLease};
pub use ordered_store::{ListedValue, OrderedOptions, OrderedStore, Reset, Stamp, Stamping, Versioned, Written};
pub use page::{Cursor, Page};
pub use processor::{Abandoned, BoxError, Dispatcher, Handler, MissingToken, Outcome, ProcessError, Processor};
pub use retry::Retry;
pub use run::{Ran, RunError, RunOptions, run, run_to_end, run_with_heartbeat};
pub use settles::Settles;
pub use strategy::{CounterPromise, Remember, Strategy};
pub use time::{Hold, MAX_DURATION, MIN_DURATION, Retention, Timer, checked_duration};
pub use token_store::{Consumed, Created, Discarded, TokenStore};
pub use value::{
    ClaimId, DedupId, Destination, Fingerprint, Item, Key, MAX_ID_BYTES, MAX_ITEM_BYTES, MAX_PAYLOAD_BYTES, MessageId,
    Namespace, OpId, Payload, Reason, TokenId, WriterId,
};
