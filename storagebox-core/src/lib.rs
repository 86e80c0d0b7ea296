#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![doc(test(attr(deny(warnings))))]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::disallowed_methods))]
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod backend;
mod composites;
mod contract;
mod values;

pub use async_trait::async_trait;

pub use backend::combine::{Combine, Combined, Combiner, RunBatch, Spawn, Spawner, StallTimeout};
pub use backend::retry::Retry;
#[doc(inline)]
pub use backend::{Backend, Maintained, Promise, Promises};
pub use composites::deduplicator::{Assigned, Deduplicator, Recovery};
#[doc(inline)]
pub use composites::layer;
pub use composites::listing::{Listing, ReadPage};
pub use composites::one_time_tokens::{OneTimeTokens, Peeked, TokenBegun, TokenCommitted, TokenLease};
pub use composites::processor::{
    Abandoned, BoxError, Dispatcher, Handler, MissingToken, Outcome, ProcessError, Processor,
};
pub use composites::run::{Ran, RunError, RunOptions, run, run_to_end, run_with_heartbeat};
pub use composites::transaction::{CommitState, InTransaction, Receipt, Transaction, TransactionPart, settle};
pub use contract::counter::{Bounds, Cancelled, Change, Counted, Counter};
pub use contract::dedup_repo::{DedupRepo, Entry, Forgotten, ListedRecord, Recorded, Replaced, Version};
pub use contract::entity_ledger::{
    Chosen, Commit, Committed, EntityChange, EntityLedger, EntryId, Joins, Opened, OutboxEntry, Registered,
};
pub use contract::item_bank::{
    Added, ClaimState, Confirmed, Counts, End, Extended, Held, HoldState, ItemBank, ItemState, ListedItem, Released,
    Restored, Retired, Taken, Withdrawn,
};
pub use contract::lease_repo::{Aborted, Begun, Completed, Fence, Lease, LeaseExtended, LeaseRepo};
pub use contract::ledger::{Ledger, LedgerEntry};
pub use contract::ordered_store::{
    ListedValue, OrderedOptions, OrderedStore, Reset, Stamp, Stamping, Versioned, Written,
};
pub use contract::strategy::{CounterPromise, Remember, Strategy};
pub use contract::token_store::{Consumed, Created, Discarded, TokenStore};
pub use values::attempt::Attempt;
pub use values::clock::{Clock, ManualClock, Reading, SystemClock};
pub use values::error::{Certainty, Error, ErrorKind, Result};
pub use values::ids::{Ids, RandomIds};
pub use values::message::{Decision, Message, Outgoing, Output};
pub use values::page::{Cursor, Page};
pub use values::time::{Hold, MAX_DURATION, MIN_DURATION, Retention, Timer, checked_duration};
pub use values::value::{
    ClaimId, DedupId, Destination, Fingerprint, Item, Key, MAX_ID_BYTES, MAX_ITEM_BYTES, MAX_PAYLOAD_BYTES, MessageId,
    Namespace, OpId, Payload, Reason, TokenId, WriterId,
};
