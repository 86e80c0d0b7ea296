#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::disallowed_methods))]
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod apply;
mod bank;
mod counters;
mod handle;
mod leases;
mod ledger;
mod open;
mod ordered_values;
mod policy;
mod records;
mod store;
mod timer;
mod tokens;

/// The traits that backends implement, for generic code. [`Ledger`](parts::Ledger) is the one whose name a handle has too.
pub mod parts {
    pub use storagebox_core::{
        Backend, BankAdmin, Counter, DedupRepo, ItemBank, LeaseRepo, Ledger, OrderedStore, TokenStore,
    };
}

pub use apply::Apply;
pub use bank::Bank;
pub use counters::Counters;
pub use leases::Leases;
pub use ledger::Ledger;
pub use open::{files, open};
pub use ordered_values::OrderedValues;
pub use records::Records;
pub use storagebox_core::*;
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
pub use store::Store;
pub use timer::TokioTimer;
pub use tokens::Tokens;
